"""`fit`: from a table in a file to a trained model in a folder."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import ManyarmsError, ManyarmsWarning, StudyMismatch
from .job import HOLDOUT, STUDY, TIME, Job, job_of
from .terminal import say, show

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.problem import Problem

_SHOWN, _LONGEST = 5, 60  # classes, and characters of each
_OTHER = {
    "data": "on other data, or for another target",
    "metric": "by another metric",
    "seed": "with another seed",
    "space": "over other kinds of models",
    "children": "over other kinds of models",
}
"""How a study may differ from the one in the folder."""

_FIT = """examples:
  manyarms fit wine.csv --target quality
  manyarms fit wine.csv --target quality --time 1h --workers 4 --metric balanced_accuracy --out wine
  manyarms predict wine new.csv --out predictions.csv

Run the same line again after any interruption: it goes on. With a longer --time, or a larger --budget, it goes on further.
The folder gets model.joblib, model.json, requirements.txt, leaderboard.csv, report.html, snippet.py, and the journal study.db,
which `manyarms status`, `arms` and `best` can look at."""


def add_commands(commands: Any) -> None:
    """Add `fit`."""
    fit = commands.add_parser(
        "fit",
        help="find and train the best model for a table",
        epilog=_FIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.add_argument("data", help="a CSV file, also with tabs or semicolons and also packed, or a Parquet file")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    fit.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="predict a class or a number (default: auto, by the target)",
    )
    spent = fit.add_mutually_exclusive_group()
    spent.add_argument("--time", help=f'time for everything, over all runs, such as "90s" or "2h" (default: {TIME})')
    spent.add_argument("--budget", type=int, metavar="N", help="steps of training instead: same seed, same model")
    fit.add_argument("--metric", help="a scorer of scikit-learn's (default: accuracy, or r2)")
    fit.add_argument("--families", nargs="+", metavar="NAME", help="the kinds of models to try (default: all)")
    fit.add_argument("--workers", type=int, default=1, metavar="N", help="processes that train at once (default: 1)")
    fit.add_argument(
        "--holdout",
        type=float,
        default=HOLDOUT,
        metavar="SHARE",
        help="of the rows that is kept aside for an honest score (default: %(default)s); 0 trains on all",
    )
    fit.add_argument("--out", metavar="FOLDER", help="where the model goes (default: the name of the file, with -model)")
    fit.add_argument("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (default: 0)")
    fit.add_argument("--force", action="store_true", help="accept a target that looks like names of rows or free text")
    fit.add_argument("--quiet", action="store_true", help="show no progress")
    add_reading(fit)
    fit.set_defaults(command=_fit)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How a table is read, where that is not plain."""
    parser.add_argument("--rows", type=int, metavar="N", help="use so many rows, drawn at random, of a table that is too large")
    parser.add_argument("--delimiter", help='between the fields of a CSV file, such as ";" or "tab" (default: guessed)')
    parser.add_argument("--encoding", help="of a CSV file, such as utf-8 or cp1252 (default: guessed)")


def _fit(options: argparse.Namespace) -> int:
    job = job_of(options)
    from .fitted import Fitted, finished_before

    notes: list[str] = []
    with own_warnings(), _explained(job):
        problem, metric = _problem(job, notes)
        done = finished_before(job)
        model = _model(job, problem, metric, done)
        try:
            model.fit(problem.rows, problem.target)
        finally:
            with suppress(OSError):
                job.out.rmdir()  # which only an empty folder lets happen: nothing was begun
        notes += model.notes_
        return Fitted(job, problem, metric, model, notes).publish(done)


@contextmanager
def own_warnings() -> Iterator[None]:
    """Only our own are shown: those of the libraries are for programmers, and come by the hundred."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", ManyarmsWarning)
        yield


@contextmanager
def _explained(job: Job) -> Iterator[None]:
    """What may go wrong in a search, in the words of this command."""
    from ..tables.reading.memory import explained

    try:
        with explained(job.path):
            yield
    except StudyMismatch as error:
        found = re.search(r"with (?:other )?(\w+)", str(error))
        other = _OTHER.get(found[1], f"with other {found[1]}") if found is not None else "with other settings"
        raise ManyarmsError(f"{job.out} holds a search {other}: give another --out, or delete the folder") from error


def _problem(job: Job, notes: list[str]) -> tuple[Problem, str]:
    """Read the table, decide what is to be learned and by which metric, and say so."""
    from ..tables import read_table
    from ..tables.metrics import DEFAULT, check_suits
    from ..tables.problem import problem_of

    def note(text: str) -> None:
        notes.append(text)
        say(text)

    options = job.options
    reading = {"rows": options.rows, "seed": options.seed, "encoding": options.encoding, "delimiter": options.delimiter}
    copies = 3.0 + options.workers  # the table, its two parts, and one prepared for training in each process
    frame = read_table(job.path, **reading, copies=copies, say=note)
    problem = problem_of(frame, options.target, options.task, options.holdout, options.seed, note, options.force)
    metric = options.metric or DEFAULT[problem.task]
    check_suits(metric, problem.task, problem.target)
    _describe(job, problem, metric, frame)
    return problem, metric


def _describe(job: Job, problem: Problem, metric: str, frame: pd.DataFrame) -> None:
    """A few lines on what was found in the table."""
    from ..tables.names import counted

    target = problem.target
    show(f"{job.path.name}: {counted(len(frame), 'row')}, {counted(len(frame.columns), 'column')}")
    show(f"{problem.task} of {target.name}, as {problem.why}, by {metric}")
    if problem.task == "classification":
        counts = target.value_counts()
        shown = ", ".join(f"{_short(label)} ({count:,})" for label, count in counts.head(_SHOWN).items())
        more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
        show(f"{counted(len(counts), 'class')}: {shown}{more}")
    aside = f", {len(problem.judged[0]):,} held out for the score" if problem.judged else ""
    show(f"{counted(len(problem.rows), 'row')} to train on{aside}", flush=True)


def _short(label: object) -> str:
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _model(job: Job, problem: Problem, metric: str, done: int | None) -> Any:
    """The estimator that does the work. Of a search that is finished, only the results are put together again."""
    from ..sklearn.automl.auto import AutoClassifier, AutoRegressor

    options = job.options
    job.out.mkdir(parents=True, exist_ok=True)
    make = AutoClassifier if problem.task == "classification" else AutoRegressor
    return make(
        job.search_seconds() if done is None else None,
        budget=job.budget if done is None else done,
        metric=metric,
        families=options.families,
        n_jobs=options.workers,
        storage=job.storage,
        name=STUDY,
        random_state=options.seed,
        progress=not options.quiet,
        force=options.force,
    )
