"""`fit`: from a table in a file to a trained model in a directory."""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ManyarmsError, ManyarmsWarning
from .output import print_table
from .terminal import print_line, print_note

if TYPE_CHECKING:
    from ..tables.problem import Problem
    from ..tables.result import TableFit

_TIME, _HOLDOUT = "5m", 0.2
_CLASSES, _LONGEST = 5, 60  # classes that are shown, and characters of each
_MODELS = 10  # rows of the leaderboard that are shown

_EXAMPLES = """examples:
  manyarms fit wine.csv --target quality
  manyarms fit wine.csv --target quality --time 1h --workers 4 --scoring balanced_accuracy --out wine
  manyarms predict wine new.csv --out predictions.csv

To resume after an interruption, run the same command again. To extend the search, use a longer --time or a larger --budget.
The output directory contains model.joblib, model.json, requirements.txt, leaderboard.csv, report.html, snippet.py and the
journal study.db, which `manyarms status`, `arms` and `best` can inspect."""


def add_command(commands: Any) -> None:
    """Add `fit`."""
    fit = commands.add_parser(
        "fit",
        help="find and train the best model for a table",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.add_argument("data", help="a CSV file, plain or compressed, or a Parquet file")
    fit.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    fit.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="predict a class or a number (default: auto, inferred from the target)",
    )
    limit = fit.add_mutually_exclusive_group()
    limit.add_argument("--time", default=_TIME, help='total time, such as "90s" or "2h" (default: %(default)s)')
    limit.add_argument("--budget", type=int, metavar="N", help="training steps instead of a time; same seed, same model")
    fit.add_argument("--scoring", metavar="NAME", help="a scikit-learn scorer (default: accuracy, or r2)")
    fit.add_argument("--metric", dest="scoring", help=argparse.SUPPRESS)  # its earlier name
    fit.add_argument("--families", nargs="+", metavar="NAME", help="the model families to try (default: all)")
    fit.add_argument("--workers", type=int, default=1, metavar="N", help="processes that train in parallel (default: 1)")
    fit.add_argument(
        "--holdout",
        type=float,
        default=_HOLDOUT,
        metavar="SHARE",
        help="share of the rows held out for testing (default: %(default)s); 0 trains on all rows",
    )
    fit.add_argument("--split", default="random", help='"random", "time:COLUMN" or "group:COLUMN" (default: %(default)s)')
    fit.add_argument("--ignore", action="append", default=[], metavar="COLUMN", help="exclude a column (may be repeated)")
    fit.add_argument(
        "--keep", action="append", default=[], metavar="COLUMN", help="use a column that looks like a leak (may be repeated)"
    )
    fit.add_argument("--out", metavar="DIRECTORY", help="output directory (default: the name of the file plus -model)")
    fit.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    fit.add_argument("--force", action="store_true", help="accept a target that looks like an identifier or free text")
    fit.add_argument("--quiet", action="store_true", help="show no progress")
    add_reading(fit)
    fit.set_defaults(command=_fit)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading a table."""
    parser.add_argument("--rows", type=int, metavar="N", help="use a random sample of N rows, if the table is too large")
    parser.add_argument("--delimiter", help='delimiter of a CSV file, such as ";" or "tab" (default: detected)')
    parser.add_argument("--encoding", help="encoding of a CSV file, such as utf-8 or cp1252 (default: detected)")


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options for reading a table, as arguments of `read_table`."""
    return {name: getattr(options, name) for name in ("rows", "delimiter", "encoding")}


def _fit(options: argparse.Namespace) -> int:
    began = time.monotonic()  # before scikit-learn is imported, which takes seconds on a busy machine
    check_packages("fit")
    from ..tables import fit_table
    from ..tables.directory import default_directory

    path = Path(options.data)

    def on_start(problem: Problem, scoring: str) -> None:
        _describe(path.name, problem, scoring, options.task == "auto")

    with own_warnings(), advice_as_options():
        fitted = fit_table(
            path,
            options.target,
            time=_number_or_text(options.time),
            budget=options.budget,
            task=options.task,
            scoring=options.scoring,
            families=options.families,
            workers=options.workers,
            holdout=options.holdout,
            split=options.split,
            ignore=options.ignore,
            keep=options.keep,
            directory=default_directory(path) if options.out is None else Path(options.out),
            seed=options.seed,
            force=options.force,
            progress=not options.quiet,
            notify=print_note,
            on_start=on_start,
            began=began,
            **reading_options(options),
        )
        if fitted.finished_before is not None:
            print(f"The search was already finished after {fitted.finished_before:,} steps. ", end="")
            print("Use a longer --time or a larger --budget to continue it.")
        if fitted.better_saved_score is not None:
            return _keep(fitted, fitted.better_saved_score)
        written = fitted.save(command=shlex.join(["manyarms", *sys.argv[1:]]), time=fitted.time.left())
    _show(fitted, written)
    return 130 if fitted.interrupted else 0


def check_packages(command: str) -> None:
    """Raise an error if a package that tables need is missing."""
    if any(importlib.util.find_spec(name) is None for name in ("pandas", "psutil", "sklearn")):
        raise ImportError(f'manyarms {command} needs pandas, psutil and scikit-learn: pip install "manyarms[sklearn]"')


@contextmanager
def own_warnings() -> Iterator[None]:
    """Show only our own warnings: those of other libraries are for programmers, and there can be hundreds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", ManyarmsWarning)
        yield


@contextmanager
def advice_as_options() -> Iterator[None]:
    """Name command-line options in the advice of errors."""
    from ..tables import DirectoryMismatch, DoubtfulTarget, TableTooLarge

    try:
        yield
    except DoubtfulTarget as error:
        raise ValueError(f"Nothing useful can be predicted: {error.doubt}. Choose another --target, or add --force.") from error
    except DirectoryMismatch as error:
        raise ManyarmsError(
            f"{error.directory} holds a search {error.difference}. Choose another --out, or delete the directory."
        ) from error
    except TableTooLarge as error:
        rows = "N" if error.rows is None else error.rows
        raise ManyarmsError(
            f"{error.problem}. Use a random sample of its rows (--rows {rows}), drop columns, or use a larger machine."
        ) from error


def _describe(name: str, problem: Problem, scoring: str, decided: bool) -> None:
    """Print what was found in the table."""
    from ..sklearn.automl.wording import counted

    target, n_test = problem.target, 0 if problem.test is None else len(problem.test[0])
    print_line(f"{name}: {counted(len(problem.rows) + n_test, 'row')}, {counted(len(problem.rows.columns) + 1, 'column')}")
    print_line(f"Target {target.name}: {problem.task} ({problem.reason}), scoring {scoring}")
    if problem.task == "classification":
        counts = target.value_counts()
        shown = ", ".join(f"{_shortened(label)} ({count:,})" for label, count in counts.head(_CLASSES).items())
        more = f" and {len(counts) - _CLASSES} more" if len(counts) > _CLASSES else ""
        print_line(f"{counted(len(counts), 'class')}: {shown}{more}")
        if decided and len(counts) > 2 and target.dtype.kind in "iuf":
            print_line("Use --task regression to predict it as a number.")
    held_out = f", {counted(n_test, 'row')} held out for testing" if n_test else ""
    print_line(f"Training on {counted(len(problem.rows), 'row')}{held_out}", flush=True)


def _shortened(label: object) -> str:
    text = str(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _show(fitted: TableFit, written: list[Path]) -> None:
    """Print the best models and the members of the ensemble, their scores and what was written."""
    import numpy as np

    board, model, scoring = fitted.leaderboard, fitted.model, fitted.scoring
    print()
    shown = board[(np.arange(len(board)) < _MODELS) | (board["weight"] > 0)]  # an ensemble has at most 25 members
    print_table([_line(row, model.n_folds_ > 1) for _, row in shown.iterrows()])
    if len(board) > len(shown):
        print(f"{len(board) - len(shown):,} more in leaderboard.csv")
    source, baseline = _source(model.members_), model.baseline_score_
    mean = float(board["score"][board["weight"] > 0].iloc[0])
    if source.startswith("one model") and round(model.ensemble_score_, 4) != round(mean, 4):
        source += ", on the rows of all folds together"  # the leaderboard has the mean over the folds
    kind = "Cross-validated" if model.n_folds_ > 1 else "Validation"
    print(f"\n{kind} {scoring}: {model.ensemble_score_:.4f} ({source}; baseline {baseline:.4f})")
    if fitted.score is not None and fitted.evaluation is not None:
        print(f"Held-out {scoring}: {fitted.score:.4f} ({len(fitted.evaluation.target):,} rows)")
    names = sorted(file.name for file in written)
    print(f"\nWrote the model, {', '.join(names[:-1])} and {names[-1]} to {written[0].parent}. To use the model:\n")
    snippet = next(file for file in written if file.name == "snippet.py")
    print(snippet.read_text(encoding="utf-8"), end="")


def _keep(fitted: TableFit, score: float) -> int:
    """Print that the model of an earlier fit is kept, because it is better than what was found before Ctrl-C."""
    print_line(
        f"Interrupted. The model in {fitted.directory} was kept: its validation score is {score:.4f}, "
        f"and there was only time for a model with {fitted.model.ensemble_score_:.4f}. "
        "What was trained is stored, so run the same command again to continue."
    )
    return 130


def _source(members: Sequence[Any]) -> str:
    """What the predictions come from."""
    from ..sklearn.automl.constant import CONSTANT

    if len(members) > 1:
        return f"ensemble of {len(members)} models"
    return "constant predictions" if members[0].family == CONSTANT else f"one model, {members[0].family}"


def _line(row: Any, has_folds: bool) -> dict[str, Any]:
    """A row of the leaderboard as it is printed. Without folds, there is no deviation over them."""
    return {
        "rank": int(row["rank"]),
        "family": str(row["family"]),
        "score": float(f"{row['score']:.4g}"),
        **({"std": float(f"{row['std']:.2g}")} if has_folds else {}),
        "steps": f"{row['steps']}/{row['max_steps']}",
        "seconds": round(float(row["seconds"]), 1),
        "weight": f"{row['weight']:.0%}" if row["weight"] else "",
    }


def _number_or_text(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value
