"""What `fit` is asked to do, checked before anything is read."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .. import checks

TIME, HOLDOUT = "5m", 0.2
JOURNAL, STUDY = "study.db", "auto"
"""The storage in the folder of a model, and the name of the study there."""

_LEAST = 0.2  # of the time that is for the search, however long reading took
_WRITING, _LEAST_WRITING, _MOST_WRITING = 0.1, 1.5, 20.0  # of the time for writing the results, and limits in seconds
_ENDINGS = (".gz", ".bz2", ".xz", ".csv", ".tsv", ".txt", ".parquet")


@dataclass(frozen=True)
class Job:
    """All of it, checked.

    Args:
        path: of the table.
        out: the folder for the model.
        seconds, budget: to spend; one of them is None.
        command: the line that asked for it.
        options: the others.
        clock: Gives the time in seconds.
        began: When the command began, by the clock.
    """

    path: Path
    out: Path
    seconds: float | None
    budget: int | None
    command: str
    options: argparse.Namespace
    clock: Callable[[], float] = time.monotonic
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        """Seconds that are left of the time for everything; infinite without such a limit."""
        return math.inf if self.seconds is None else self.seconds - (self.clock() - self.began)

    def search_seconds(self) -> float | None:
        """The time for the search: without what the command took so far, and what it will take to write the results."""
        if self.seconds is None:
            return None
        return max(_LEAST * self.seconds, self.left() - min(_MOST_WRITING, max(_LEAST_WRITING, _WRITING * self.seconds)))

    @property
    def storage(self) -> str:
        """Where the journal is."""
        return str(self.out / JOURNAL)


def job_of(options: argparse.Namespace) -> Job:
    """What the options ask for; an error if that cannot be."""
    check_packages("fit")
    from ..tables.metrics import check_metric

    checks.whole("--workers", options.workers, 1)
    checks.between("--holdout", options.holdout, 0, 0.5)
    checks.whole("--seed", options.seed, 0)
    if options.rows is not None:
        checks.whole("--rows", options.rows, 1)
    if options.metric is not None:
        check_metric(options.metric)
    budget = None if options.budget is None else checks.whole("--budget", options.budget, 1)
    seconds = None if budget is not None else checks.seconds("--time", _number_or_text(options.time or TIME))
    path = Path(options.data)
    out = Path(options.out) if options.out is not None else Path(f"{_stem(path)}-model")
    _check_folder(out)
    return Job(path, out, seconds, budget, shlex.join(["manyarms", *sys.argv[1:]]), options)


def check_packages(command: str) -> None:
    """Refuse where the packages that tables need are missing."""
    if any(importlib.util.find_spec(name) is None for name in ("pandas", "sklearn")):
        raise ImportError(f'manyarms {command} needs pandas and scikit-learn: pip install "manyarms[sklearn]"')


def _stem(path: Path) -> str:
    """The name of a file without what tells its format."""
    name = path.name
    for ending in _ENDINGS:
        name = name[: -len(ending)] if name.lower().endswith(ending) and len(name) > len(ending) else name
    return name


def _check_folder(out: Path) -> None:
    """Refuse a folder that holds something else, or cannot be written."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got {str(out)!r}, which is a file")
    nearest = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(f"--out must be a folder that can be written, got {str(out)!r}")
    if out.is_dir() and any(out.iterdir()) and not any((out / name).exists() for name in (JOURNAL, "model.json")):
        raise ValueError(f"--out must be a new folder, or one of an earlier fit, got {str(out)!r}, which holds other files")


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
