"""A quick model on a few rows: tells what the others will cost, and stands in where none of them can be trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ..training.fitting import row_order
from ..training.time_limit import Clock, first_rows
from .constant import NO_ARM
from .ensemble import Member, probabilities
from .prepare import Prepare
from .scoring import score_of
from .targets import Target

_DEPTH = 8  # of its tree


@dataclass(frozen=True, slots=True)
class Pilot:
    """The result of the pilot.

    Args:
        seconds_a_row: What it took to prepare a row, to train and to predict.
        member: The model as an ensemble of one; None if it could not be trained.
        score: Of the model, on rows that it was not trained on; None without any.
        demoted: The kinds, before and after, of columns that could not be converted, by place.
    """

    seconds_a_row: float
    member: Member | None
    score: float | None
    demoted: dict[int, tuple[str, str]]


def fly(table: pd.DataFrame, kinds: Sequence[str], target: Target, scorer: Any, columns: int, seed: int, clock: Clock) -> Pilot:
    """Train a small tree on a few of the rows, and judge it on a few others.

    Args:
        table: The rows.
        kinds: What each column holds.
        target: What to predict.
        scorer: Of the predictions.
        columns: About how many numbers a row becomes.
        seed: Random seed of the choice of rows.
        clock: Gives the time in seconds.
    """
    n = len(table)
    order, _ = row_order(target.values if target.n_classes else None, n, seed)
    some = min(first_rows(n, columns), max(2, n - n // 3))
    rows, others = order[:some], order[some : 2 * some]
    kind: Any = DecisionTreeClassifier if target.n_classes else DecisionTreeRegressor
    prepare = Prepare(kinds=list(kinds), target_type=target.target_type, random_state=seed)
    pipeline = Pipeline([("prepare", prepare), ("model", kind(max_depth=_DEPTH, min_samples_leaf=3, random_state=seed))])
    began = clock()
    try:
        pipeline.fit(table.iloc[rows], target.values[rows])
        said = _said(pipeline, table.iloc[others], target)
    except MemoryError:
        raise
    except Exception:  # whatever is in the table
        return Pilot((clock() - began) / some, None, None, {})
    seconds_a_row = (clock() - began) / (some + len(others))
    score = _score(said, scorer, target, others)
    return Pilot(seconds_a_row, Member(1.0, "tree", NO_ARM, [pipeline]), score, pipeline[0].demoted_)


def _said(pipeline: Pipeline, rows: pd.DataFrame, target: Target) -> Any:
    """The probabilities of the classes, or the numbers, for these rows."""
    prepared, model = pipeline[0].transform(rows), pipeline[-1]
    return probabilities(model, prepared, target.n_classes) if target.n_classes else model.predict(prepared)


def _score(said: Any, scorer: Any, target: Target, rows: Any) -> float | None:
    try:
        score = score_of(np.asarray(said), scorer, target, rows)
    except ValueError:  # a class is missing among these rows, say
        return None
    return score if np.isfinite(score) else None
