"""The directory of a fitted table: whether it can be used, and whether the search in it is finished."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ManyarmsError, StudyMismatch
from ..study.view import load_study
from .errors import DirectoryMismatch
from .saved import FACTS, read_facts

JOURNAL, STUDY = "study.db", "auto"
"""The storage in a directory, and the name of the study in it."""

_DIFFERENCES = {
    "data": "on different data or for a different target",
    "scoring": "with a different scoring",
    "seed": "with a different seed",
    "space": "over different model families",
    "children": "over different model families",
}
_EXTENSIONS = (".gz", ".bz2", ".xz", ".csv", ".tsv", ".txt", ".parquet")


def default_directory(table: Path) -> Path:
    """The directory for the model of a table: the name of the file without its extensions, followed by `-model`.

    >>> default_directory(Path("data/wine.csv.gz")).as_posix()
    'wine-model'
    """
    name = table.name
    for extension in _EXTENSIONS:
        if name.lower().endswith(extension) and len(name) > len(extension):
            name = name[: -len(extension)]
    return Path(f"{name}-model")


def check_directory(directory: Path) -> Path:
    """The directory. Raises an error if it cannot be written, or if it holds other files."""
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"The output directory {str(directory)!r} is a file.")
    nearest = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(f"The output directory {str(directory)!r} cannot be written.")
    known = any((directory / name).exists() for name in (JOURNAL, FACTS))
    if directory.is_dir() and any(directory.iterdir()) and not known:
        raise ValueError(
            f"The output directory {str(directory)!r} holds other files. Choose a new directory, or one from an earlier fit."
        )
    return directory


def finished_steps(directory: Path, seconds: float | None, budget: int | None) -> int | None:
    """The steps of a finished search in this directory that had at least this time or budget; None if there is none."""
    try:
        settings = read_facts(directory).settings
        with load_study(str(directory / JOURNAL), STUDY) as study:
            steps = study.counts.steps
    except (ManyarmsError, OSError):
        return None
    spent = settings.get("seconds") if seconds is not None else settings.get("budget")
    asked = seconds if seconds is not None else budget
    done = steps and not settings.get("interrupted") and spent is not None and asked is not None and asked <= spent
    return steps if done else None


def better_score(directory: Path, score: float) -> float | None:
    """The validation score of the model that an earlier fit saved in this directory, if it is better than this score."""
    try:
        saved = read_facts(directory).scores.get("search")
    except (ManyarmsError, OSError):
        return None
    return saved if saved is not None and saved > score else None


def mismatch(directory: Path, error: StudyMismatch) -> DirectoryMismatch:
    """The error for a directory with another search."""
    setting = error.setting
    default = "with different settings" if setting is None else f"with different settings ({setting})"
    return DirectoryMismatch(directory, _DIFFERENCES.get(setting or "", default))
