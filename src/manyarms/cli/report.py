"""`report`: write a study as one HTML file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from ..errors import ManyarmsError
from .studies import add_study, chosen_name, stored_journal
from .terminal import print_line

_LONGEST = 100  # characters of a file name


def add_command(commands: Any) -> None:
    """Add `report`."""
    parser = commands.add_parser(
        "report",
        help="export a study as one HTML file",
        description="Write the views of the dashboard for one study to one HTML file. The file opens in any browser, without a "
        "server or an internet connection.",
    )
    add_study(parser)
    parser.add_argument("-o", "--out", metavar="FILE", help="file to write (default: the name of the study plus .html)")
    parser.add_argument("--force", action="store_true", help="overwrite the file even if it is not a report")
    parser.set_defaults(command=_report)


def _report(options: argparse.Namespace) -> int:
    from ..dashboard.reader import Unreadable  # here: they import NumPy, which takes time
    from ..html.format import size
    from ..html.writing import write_text
    from ..report.content import read_content
    from ..report.page import study_page

    name = chosen_name(options)
    path = Path(options.out or default_file(name))
    _check_file(path, options.force)
    with stored_journal(options.storage, name):  # compares checksums, as the other commands do
        try:
            page = study_page(read_content(options.storage, name))
        except Unreadable as error:
            raise ManyarmsError(str(error)) from error
    write_text(path, page)
    print_line(f"Wrote {path} ({size(path.stat().st_size)}).")
    return 0


def default_file(name: str) -> str:
    """The file for the report on a study.

    >>> default_file("first"), default_file("../a b/ü"), default_file("...")
    ('first.html', 'a-b-ü.html', 'study.html')
    """
    plain = re.sub(r"[^\w.]+", "-", name)[:_LONGEST].strip(".-")
    return f"{plain or 'study'}.html"


def _check_file(path: Path, force: bool) -> None:
    """Raise an error if the file must not be written. An earlier report is replaced."""
    from ..html.page import is_own_page

    if path.is_dir():
        raise ManyarmsError(f"{path} is a directory. Name a file with --out.")
    if not path.parent.is_dir():
        raise ManyarmsError(f"The directory {path.parent} does not exist.")
    if path.exists() and not force and not is_own_page(path):
        raise ManyarmsError(f"{path} exists and is not a report. Choose another file with --out, or replace it with --force.")
