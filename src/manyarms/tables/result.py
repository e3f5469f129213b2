"""The result of `fit_table`: the model, its scores and leaderboard, and the files written from them."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..html.writing import write_text
from ..sklearn.automl.column_kinds import NOTHING, dtype_kind
from .directory import better_score
from .evaluation import Evaluation, stored
from .names import with_text_names
from .problem import Problem
from .report import Findings, column_importance, columns_frame, importance_seconds, report_page, unused_columns
from .saved import Facts, save_model
from .time_budget import TimeBudget
from .versions import installed, versions_of
from .writing import write_frame

REPORT, LEADERBOARD, SNIPPET = "report.html", "leaderboard.csv", "snippet.py"

_SNIPPET = """from manyarms.tables import load_model
model = load_model({directory!r})
print(model.predict({data!r}))
"""


@dataclass(frozen=True)
class TableFit:
    """A model that was fitted to a table. Returned by `fit_table`.

    Attributes:
        model: The fitted `AutoClassifier` or `AutoRegressor`.
        score: The score on the held-out rows; None if there are none, or if they cannot be scored.
        notes: Irregularities in the table and in the search.
        problem: The rows, the target and the task.
        scoring: Name of the scorer.
        evaluation: The predictions for the held-out rows; None if there are none.
        source: The file of the table; None if it was a data frame.
        directory: Where the journal is kept; None if nowhere.
        settings: The settings of the fit.
        time: The time that the fit had.
        finished_before: Number of steps, if the search was already finished and nothing was trained; else None.
    """

    model: Any
    score: float | None
    notes: list[str]
    problem: Problem
    scoring: str
    evaluation: Evaluation | None
    source: Path | None
    directory: Path | None
    settings: dict[str, Any]
    time: TimeBudget
    finished_before: int | None = None

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row for each model that was tried, the best first."""
        return self.model.leaderboard_  # type: ignore[no-any-return]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return bool(getattr(self.model, "interrupted_", False))

    @property
    def better_saved_score(self) -> float | None:
        """The validation score of the model that an earlier fit saved in the directory, if this fit was interrupted and its
        own score is lower; None otherwise.

        After Ctrl-C there is little time for an ensemble, so a resumed search may end with a worse model than it began with.
        """
        if self.directory is None or not self.interrupted:
            return None
        return better_score(self.directory, float(self.model.ensemble_score_))

    def predict(self, table: pd.DataFrame) -> Any:
        """Predictions for a data frame."""
        return self.model.predict(with_text_names(table, lambda note: None)[list(self.problem.rows.columns)])

    def facts(self, command: str = "") -> Facts:
        """What is stored with the model; `command` is the command line that made it, if any."""
        problem, model, rows = self.problem, self.model, self.problem.rows
        n_tested = 0 if self.evaluation is None else len(self.evaluation.target)
        return Facts(
            task=problem.task,
            target=str(problem.target.name),
            columns={str(name): dtype_kind(dtype) for name, dtype in rows.dtypes.items()},
            dtypes={str(name): str(dtype) for name, dtype in rows.dtypes.items()},
            target_kind=dtype_kind(problem.target.dtype),
            classes=model.classes_.tolist() if hasattr(model, "classes_") else None,
            scoring=self.scoring,
            scores={
                "held out": self.score,
                "search": float(model.ensemble_score_),
                "best single model": float(model.best_score_),
                "baseline": float(model.baseline_score_),
                "held-out baseline": None
                if self.evaluation is None
                else self.evaluation.baseline(self.scoring, self.constant()),
            },
            rows={"trained on": len(rows), "held out": n_tested},
            members=[{"family": member.family, "weight": member.weight, "arm": member.arm} for member in model.members_],
            versions=versions_of(_one_of_each(model)),
            python=installed("python") or "",
            command=command,
            settings={**self.settings, "interrupted": self.interrupted},
        )

    def save(
        self, directory: str | os.PathLike[str] | None = None, *, command: str = "", time: float | None = None
    ) -> list[Path]:
        """Write the model, the leaderboard, a snippet that loads the model, and the report.

        Args:
            directory: Where to write them. By default the directory of the fit.
            command: The command line to record with the model.
            time: Seconds for the feature importance in the report, at most.

        Returns:
            The files besides the model, in the order above.
        """
        place = self.directory if directory is None else Path(directory)
        if place is None:
            raise ValueError("directory must be given, because the fit had none")
        place.mkdir(parents=True, exist_ok=True)
        facts = self.facts(command)
        save_model(place, self.model, facts)
        write_frame(place / LEADERBOARD, self.leaderboard)
        data = "table.csv" if self.source is None else str(self.source)
        write_text(place / SNIPPET, _SNIPPET.format(directory=str(place), data=data))
        self._write_report(place / REPORT, facts, time)
        return [place / LEADERBOARD, place / SNIPPET, place / REPORT]

    def report(self, path: str | os.PathLike[str], *, time: float | None = None) -> Path:
        """Write the report, one HTML page that opens offline.

        Args:
            path: File to write.
            time: Seconds for measuring the feature importance, at most.
        """
        self._write_report(Path(path), self.facts(), time)
        return Path(path)

    def _write_report(self, path: Path, facts: Facts, time: float | None) -> None:
        rows, kinds = self.problem.rows, list(self.model.columns_["kind"])
        used = [kind != NOTHING for kind in kinds]
        findings = Findings(
            title="table" if self.source is None else self.source.name,
            facts=facts,
            leaderboard=self.leaderboard,
            pulls=self.model.pulls_,
            columns=columns_frame(rows.loc[:, used], [kind for kind in kinds if kind != NOTHING]),
            held_out=None if self.evaluation is None else self.evaluation.frame(),
            importance=self.importance(time),
            notes=self.notes,
            probabilities=None if self.evaluation is None else self.evaluation.probabilities(),
            constant=self.constant(),
            excluded={**self.problem.excluded, **unused_columns(rows, kinds)},
        )
        write_text(path, report_page(findings))

    def constant(self) -> Any:
        """The constant baseline: the share of each class in the training rows, or the mean of their target."""
        target = self.problem.target
        if not hasattr(self.model, "classes_"):
            return float(target.astype(float).mean())
        return target.value_counts(normalize=True).reindex(self.model.classes_, fill_value=0.0).to_numpy(dtype=float)

    def importance(self, time: float | None = None) -> pd.DataFrame | None:
        """The permutation importance of the columns on the held-out rows, the largest first; None if it was not measured.

        The table has a row for each column, with the `mean` and the standard deviation `std` of several shuffles. It is not
        measured if Ctrl-C ended the search, so that the results are written at once.

        Args:
            time: Seconds it may take, at most. Never more than a share of the time of the training.
        """
        if self.problem.test is None or self.interrupted:
            return None
        seconds = importance_seconds(float(self.model.pulls_["seconds"].sum()), time)
        used = self.problem.rows.columns[(self.model.columns_["kind"] != NOTHING).to_numpy()]
        classes = getattr(self.model, "classes_", None)

        def scored(predictions: Any, target: Any) -> float:
            return Evaluation(target, stored(predictions, classes), len(target)).score(self.scoring)

        predict = self.model.predict if classes is None else self.model.predict_proba
        return column_importance(predict, scored, *self.problem.test, seconds, columns=list(used))


def _one_of_each(model: Any) -> Any:
    """The estimator with one model of each family, which needs the same packages and is inspected faster."""
    slim = copy.copy(model)
    members: Sequence[Any] = model.members_
    slim.members_ = [replace(m, models=m.models[:1]) for m in {m.family: m for m in members}.values()]
    return slim
