"""What `fit` writes and prints once a search has ended."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import ManyarmsError
from ..study.view import load_study
from ..tables import Facts, save_model
from ..tables.columns import column_kind, dtype_kind
from ..tables.metrics import score
from ..tables.problem import Problem
from ..tables.saved import read_facts
from ..tables.versions import installed, versions_of
from ..tables.writing import write_frame, write_text
from .job import STUDY, Job
from .judging import Judged, judge
from .look import print_table
from .terminal import say

if TYPE_CHECKING:
    import pandas as pd

_TOP = 10
_IMPORTANCE_SECONDS, _IMPORTANCE_SHARE = (3.0, 20.0), 0.1  # what it may take: a share of the training, within limits
_MOST_COLUMNS = 200  # that are looked at closely: as many as the page shows
_PAGE_SECONDS = 0.5  # for the page itself
_HURRY = 0.1  # seconds that it may take after Ctrl-C
_DONE = {
    "number": "as it is; gaps filled where a model needs it",
    "category": "a column for each category",
    "many categories": "the average target of each category",
    "date": "a time, and its year, month, day, weekday and hour",
    "text": "topics",
    "nothing": "left out: always the same, empty, or only names rows",
}
"""By kind of column."""

_SNIPPET = """from manyarms.tables import load_model
model = load_model({out!r})
print(model.predict({data!r}))
"""


def finished_before(job: Job) -> int | None:
    """The steps spent by an earlier run of as much time or as many steps as are asked for now; None if it goes on."""
    try:
        settings = read_facts(job.out).settings
        with load_study(job.storage, STUDY) as study:
            steps = study.counts.steps
    except (ManyarmsError, OSError):
        return None
    spent = settings.get("seconds") if job.seconds is not None else settings.get("budget")
    asked = job.seconds if job.seconds is not None else job.budget
    done = steps and not settings.get("interrupted") and spent is not None and asked is not None and asked <= spent
    return steps if done else None


@dataclass(frozen=True)
class Fitted:
    """A model and what it was made of.

    Args:
        job: that was to be done.
        problem: that was solved.
        metric: it was searched by.
        model: an Auto estimator, fitted.
        notes: on what was odd about the table.
    """

    job: Job
    problem: Problem
    metric: str
    model: Any
    notes: list[str]

    @property
    def _was_interrupted(self) -> bool:
        return bool(getattr(self.model, "interrupted_", False))

    def publish(self, done: int | None) -> int:
        """Write everything into the folder, and show the best of it; the exit code."""
        interrupted = self._was_interrupted
        if done is not None:
            print(f"the search was finished before, after {done:,} steps: a longer --time or a larger --budget goes on")
        judged = self._judged()
        out, facts = self.job.out, self._facts(interrupted, judged)
        save_model(out, self.model, facts)
        write_frame(out / "leaderboard.csv", self.model.leaderboard_)
        snippet = _SNIPPET.format(out=str(out), data=str(self.job.path))
        write_text(out / "snippet.py", snippet)
        reported = self._report(facts, judged)
        self._show(facts)
        print(
            f"\nwritten to {out}: the model, leaderboard.csv{', report.html' if reported else ''} and snippet.py:\n\n{snippet}",
            end="",
        )
        return 130 if interrupted else 0

    def _judged(self) -> Judged | None:
        """The predictions for the rows held out."""
        if self.problem.judged is None:
            return None
        judged = judge(self.model, *self.problem.judged, self.job.left, self.job.clock)
        if (note := judged.note()) is not None:
            self._say(note)
        return judged

    def _say(self, note: str) -> None:
        self.notes.append(note)
        say(note)

    def _facts(self, interrupted: bool, judged: Judged | None) -> Facts:
        problem, model, rows = self.problem, self.model, self.problem.rows
        return Facts(
            task=problem.task,
            target=str(problem.target.name),
            columns={str(name): dtype_kind(dtype) for name, dtype in rows.dtypes.items()},
            dtypes={str(name): str(dtype) for name, dtype in rows.dtypes.items()},
            target_kind=column_kind(problem.target),
            classes=model.classes_.tolist() if problem.task == "classification" else None,
            metric=self.metric,
            scores={
                "held out": self._held_out_score(judged),
                "search": float(model.ensemble_score_),
                "best single model": float(model.best_score_),
                "always the same": float(model.baseline_score_),
            },
            rows={"trained on": len(rows), "held out": len(judged.target) if judged is not None else 0},
            members=[{"family": member.family, "weight": member.weight, "arm": member.arm} for member in model.members_],
            versions=versions_of(_one_of_each(model)),
            python=installed("python") or "",
            command=self.job.command,
            settings=self._settings(interrupted),
        )

    def _settings(self, interrupted: bool) -> dict[str, Any]:
        job = self.job
        given = {"data": str(job.path), "seconds": job.seconds, "budget": job.budget, "interrupted": interrupted}
        return given | {name: getattr(job.options, name) for name in ("families", "workers", "holdout", "seed", "rows")}

    def _held_out_score(self, judged: Judged | None) -> float | None:
        if judged is None:
            return None
        try:
            return judged.score(self.metric)
        except ValueError as error:  # classes that are not among the few rows held out, say
            self._say(f"no score on the rows held out: {' '.join(str(error).split())}")
            return None

    # -- the report

    def _report(self, facts: Facts, judged: Judged | None) -> bool:
        """Write the report, if that can be done here."""
        from ..tables.report import Findings, charts, report_page

        if not charts.available():
            say('no report.html, which needs plotly: pip install "manyarms[report]"')
            return False
        pulls = self._pulls()
        findings = Findings(
            title=self.job.path.name,
            facts=facts,
            leaderboard=self.model.leaderboard_,
            pulls=pulls,
            columns=self._columns(),
            held_out=None if judged is None else judged.frame(),
            importance=self._importance(float(pulls["seconds"].sum())),
            notes=self.notes,
        )
        write_text(self.job.out / "report.html", report_page(findings))
        return True

    def _pulls(self) -> pd.DataFrame:
        """The pulls of the journal, with the family of each."""
        with load_study(self.job.storage, STUDY) as study:
            families = {id: record.arm.config["algorithm"] for id, record in study.counts.arms.items()}
            pulls = study.pulls_dataframe()
        numbers = {name: pulls[name].astype(float) for name in ("reward", "seconds")}
        return pulls.assign(family=pulls["arm"].map(families), **numbers)

    def _columns(self) -> pd.DataFrame:
        """What is known of each column; of very many, what takes long to find out only for the first."""
        import pandas as pd

        rows, kinds = self.problem.rows, list(self.model.columns_["kind"])
        first = rows.iloc[:, :_MOST_COLUMNS]
        rest = [""] * (rows.shape[1] - first.shape[1])
        return pd.DataFrame(
            {
                "column": [str(name) for name in rows.columns],
                "type": [str(dtype) for dtype in rows.dtypes],
                "taken as": kinds,
                "missing": [f"{share:.0%}" if share else "" for share in first.isna().mean()] + rest,
                "distinct": [f"{number:,}" for number in first.nunique()] + rest,
                "what is done": [_DONE.get(kind, "") for kind in kinds],
            }
        )

    def _importance(self, trained: float) -> Any:
        """What the columns are worth, within a share of the training and what is left of the time."""
        from ..tables.report.importance import column_importance

        if self.problem.judged is None:
            return None
        left = _PAGE_SECONDS + _HURRY if self._was_interrupted else self.job.left()
        seconds = importance_seconds(trained, left)
        return column_importance(lambda *judged: score(self.model, self.metric, *judged), *self.problem.judged, seconds)

    # -- what is printed

    def _show(self, facts: Facts) -> None:
        """The best models, and how good all of it is."""
        board, scores = self.model.leaderboard_, facts.scores
        print()
        print_table([_line(row) for _, row in board.head(_TOP).iterrows()])
        if len(board) > _TOP:
            print(f"{len(board) - _TOP:,} more in leaderboard.csv")
        parts = f"{len(facts.members)} models together" if len(facts.members) > 1 else "the best model"
        plain = f"always saying the same gives {scores['always the same']:.4f}"
        print(f"\n{facts.metric} in the search: {scores['search']:.4f} by {parts}; {plain}")
        if scores["held out"] is not None:
            print(f"{facts.metric} on {facts.rows['held out']:,} rows held out: {scores['held out']:.4f}")


def _one_of_each(model: Any) -> Any:
    """The estimator with one model of each family: it needs the same packages, and is quicker to look through."""
    slim = copy.copy(model)
    slim.members_ = [replace(m, models=m.models[:1]) for m in {m.family: m for m in model.members_}.values()]
    return slim


def importance_seconds(trained: float, left: float) -> float:
    """How long measuring the columns may take: a share of the training, within limits, if the page can still be written.

    >>> importance_seconds(100.0, 20.0), importance_seconds(1.0, 20.0), importance_seconds(100.0, 0.5)
    (10.0, 3.0, 0.0)
    """
    low, high = _IMPORTANCE_SECONDS
    return max(0.0, min(max(low, min(high, _IMPORTANCE_SHARE * trained)), left - _PAGE_SECONDS))


def _line(row: Any) -> dict[str, Any]:
    """A row of the leaderboard as it is shown."""
    return {
        "rank": int(row["rank"]),
        "family": str(row["family"]),
        "score": float(f"{row['score']:.4g}"),
        "std": float(f"{row['std']:.2g}"),
        "steps": f"{row['steps']}/{row['max_steps']}",
        "seconds": round(float(row["seconds"]), 1),
        "weight": f"{row['weight']:.0%}" if row["weight"] else "",
    }
