"""`upgrade`: upgrade a storage that an older version wrote."""

from __future__ import annotations

import argparse
from typing import Any

from ..journal.database import shown_storage
from ..journal.storage import upgrade_storage
from .studies import add_storage
from .terminal import print_line


def add_command(commands: Any) -> None:
    """Add `upgrade`."""
    upgrade = commands.add_parser("upgrade", help="upgrade a storage that an older version wrote")
    add_storage(upgrade)
    upgrade.set_defaults(command=_upgrade)


def _upgrade(options: argparse.Namespace) -> int:
    print_line(f"{shown_storage(options.storage)}: {'upgraded' if upgrade_storage(options.storage) else 'up to date'}")
    return 0
