"""Where published data are: tables of learning curves, surrogates, images, and tables of UCI."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from ...errors import ManyarmsError


def expected_data_directory() -> Path:
    """The directory in MANYARMS_DATA, or else the user's data directory; it may not exist."""
    given = os.environ.get("MANYARMS_DATA")
    return Path(given) if given else user_data_path("manyarms", appauthor=False)


def data_directory() -> Path:
    """The directory with the published data. `ManyarmsError` if it does not exist."""
    directory = expected_data_directory()
    if not directory.is_dir():
        raise ManyarmsError(
            f"The data directory {str(directory)!r} does not exist. Set MANYARMS_DATA to the directory that holds "
            "bench/lcbench_table.npz and the other tables."
        )
    return directory
