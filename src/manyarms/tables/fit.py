"""`fit_table`: find, train and test a model for a table."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .. import checks
from ..errors import StudyMismatch
from ..sklearn.automl.auto import AutoClassifier, AutoRegressor
from ..sklearn.automl.scoring import DEFAULT_SCORING, check_fits, check_scoring
from ..sklearn.automl.task import CLASSIFICATION
from ..sklearn.automl.wording import one_line
from .directory import JOURNAL, STUDY, check_directory, finished_steps, mismatch
from .evaluation import Evaluation, evaluate
from .names import Notify, with_text_names
from .problem import Problem, Selection, problem_of
from .reading.memory import explained
from .reading.table import read_table, warn
from .result import TableFit
from .splits import RANDOM, Split
from .time_budget import TimeBudget

HOLDOUT = 0.2
_AFTER_INTERRUPT = 1.0  # seconds to test and save what was found
_TASKS = ("auto", "classification", "regression")


def fit_table(
    source: pd.DataFrame | str | os.PathLike[str],
    target: str,
    *,
    time: float | str = "5m",
    budget: int | None = None,
    task: str = "auto",
    scoring: str | None = None,
    families: Sequence[str] | None = None,
    workers: int = 1,
    holdout: float = HOLDOUT,
    split: str = RANDOM,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    directory: str | os.PathLike[str] | None = None,
    seed: int = 0,
    force: bool = False,
    progress: bool = False,
    notify: Notify = warn,
    on_start: Callable[[Problem, str], object] = lambda problem, scoring: None,
    began: float | None = None,
    **reading: Any,
) -> TableFit:
    """Find, train and test a model for a table. `manyarms fit` on the command line does the same.

    Args:
        source: A CSV or Parquet file, or a data frame.
        target: Name of the column to predict.
        time: Total time, in seconds or as a string such as "90s" or "2h". Ignored if `budget` is set.
        budget: Number of training steps, instead of a time limit. The same seed then gives the same model.
        task: "classification", "regression", or "auto" to infer it from the target.
        scoring: Name of a scikit-learn scorer. By default "accuracy" or "r2".
        families: Names of the model families to try. By default all that are installed.
        workers: Number of processes that train in parallel.
        holdout: Share of the rows held out for an unbiased test score; 0 to train on all rows.
        split: How rows are divided for testing and validation: "random"; "time:COLUMN" to train on earlier rows and test on
            the latest; or "group:COLUMN" to keep the rows of a group together.
        ignore: Names of columns to exclude.
        keep: Names of columns to use even if they look like leaks.
        directory: Where to keep the journal of the search. If it holds an unfinished search for the same table, the search is
            resumed. `TableFit.save` writes the model there.
        seed: Random seed.
        force: Accept a target that looks like a row identifier or free text.
        progress: Show the progress of the search.
        notify: Receives a note for each irregularity in the table. By default each is a `ManyarmsWarning`.
        on_start: Called with the problem and the scoring when the table has been read, before the search starts.
        began: Start of the time limit, from `time.monotonic`; now by default. `manyarms fit` includes the import of libraries.
        reading: Options of `read_table`: `rows`, `encoding` and `delimiter`.

    Returns:
        The fitted model, with its leaderboard and scores.
    """
    settings = _Settings(
        None if budget is not None else checks.seconds("time", time),
        None if budget is None else checks.whole("budget", budget, 1),
        None if scoring is None else check_scoring(scoring),
        families,
        checks.whole("workers", workers, 1),
        checks.between("holdout", holdout, 0, 0.5),
        Selection(_names("ignore", ignore), _names("keep", keep), Split.parse(split)),
        checks.whole("seed", seed, 0),
        checks.flag("progress", progress),
        None if directory is None else check_directory(Path(directory)),
    )
    checks.one_of("task", task, _TASKS)
    checks.flag("force", force)
    limit, notes = TimeBudget.since(began, settings.seconds), list[str]()

    def note(text: str) -> None:
        notes.append(text)
        notify(text)

    path = None if isinstance(source, pd.DataFrame) else Path(source)
    with explained(path or "The table"), _explained_mismatch(settings.directory):
        copies = 3.0 + workers  # the table, its two parts, and one prepared for training in each process
        frame: Any = (
            with_text_names(source, note)  # type: ignore[arg-type]
            if path is None
            else read_table(path, seed=seed, copies=copies, notify=note, **reading)
        )
        problem = problem_of(frame, str(target), task, holdout, seed, note, force, settings.selection)
        scoring = scoring or DEFAULT_SCORING[problem.task]
        check_fits(scoring, problem.task, problem.target)
        on_start(problem, scoring)
        done = None if settings.directory is None else finished_steps(settings.directory, settings.seconds, settings.budget)
        model = _searched(problem, scoring, settings, limit, done)
        notes += model.notes_
        if model.interrupted_:
            limit = limit.ending_within(_AFTER_INTERRUPT)
        evaluation, score = _evaluated(model, problem, scoring, limit, note)
    known = {"data": None if path is None else str(path), **settings.recorded(), "rows": reading.get("rows")}
    return TableFit(model, score, notes, problem, scoring, evaluation, path, settings.directory, known, limit, done)


def _names(argument: str, names: Sequence[str]) -> list[str]:
    """The names of columns; an error for a single name, which would be read letter by letter."""
    if isinstance(names, str):
        raise TypeError(f"{argument} must be a list of column names, got {names!r}: use [{names!r}]")
    return list(map(str, names))


@dataclass(frozen=True)
class _Settings:
    """The arguments of `fit_table`, checked."""

    seconds: float | None
    budget: int | None
    scoring: str | None
    families: Sequence[str] | None
    workers: int
    holdout: float
    selection: Selection
    seed: int
    progress: bool
    directory: Path | None

    def recorded(self) -> dict[str, Any]:
        """What is stored with the model."""
        names = ("seconds", "budget", "families", "workers", "holdout", "seed")
        chosen = self.selection
        selected = {"split": str(chosen.split), "ignore": list(chosen.ignore), "keep": list(chosen.keep)}
        return {name: getattr(self, name) for name in names} | selected


def _searched(problem: Problem, scoring: str, settings: _Settings, limit: TimeBudget, done: int | None) -> Any:
    """The fitted estimator. If the search had already finished, its results are only collected again."""
    directory = settings.directory
    make = AutoClassifier if problem.task == CLASSIFICATION else AutoRegressor
    model = make(
        limit.search_seconds() if done is None else None,
        budget=settings.budget if done is None else done,
        scoring=scoring,
        families=settings.families,
        n_jobs=settings.workers,
        storage=None if directory is None else str(directory / JOURNAL),
        name=STUDY,
        random_state=settings.seed,
        progress=settings.progress,
        force=True,  # doubtful targets are refused already
        cv=problem.folds() or "auto",
        exclude_leaks=False,  # they are excluded already
    )
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    try:
        return model.fit(problem.rows, problem.target, groups=problem.groups)
    finally:
        if directory is not None:
            with suppress(OSError):
                directory.rmdir()  # succeeds only if it is empty, because the search never started


def _evaluated(
    model: Any, problem: Problem, scoring: str, limit: TimeBudget, note: Notify
) -> tuple[Evaluation | None, float | None]:
    """The predictions for the held-out rows, and their score."""
    if problem.test is None:
        return None, None
    evaluation = evaluate(model, *problem.test, limit.left, limit.clock)
    if (text := evaluation.note()) is not None:
        note(text)
    try:
        score, reason = evaluation.score(scoring), "it is undefined for these rows, which may be too few or of a single class."
    except ValueError as error:  # for example, a class that is not among the few held-out rows
        score, reason = math.nan, one_line(error)
    if math.isfinite(score):
        return evaluation, score
    note(f"No score on the held-out rows: {reason}")
    return evaluation, None


@contextmanager
def _explained_mismatch(directory: Path | None) -> Iterator[None]:
    """Name the directory in the error for a search with different settings."""
    try:
        yield
    except StudyMismatch as error:
        if directory is None:
            raise
        raise mismatch(directory, error) from error
