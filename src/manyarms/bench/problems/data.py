"""The directory of published data: learning curves, surrogates, images and UCI datasets."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from ...errors import ManyarmsError


def expected_data_directory() -> Path:
    """The directory named by MANYARMS_DATA, or else the user's data directory. It may not exist."""
    given = os.environ.get("MANYARMS_DATA")
    return Path(given) if given else user_data_path("manyarms", appauthor=False)


def data_directory() -> Path:
    """The directory of published data.

    Raises:
        ManyarmsError: The directory does not exist.
    """
    directory = expected_data_directory()
    if not directory.is_dir():
        raise ManyarmsError(
            f"The data directory {str(directory)!r} does not exist. Set MANYARMS_DATA to the directory that holds "
            "bench/lcbench_table.npz and the other tables."
        )
    return directory
