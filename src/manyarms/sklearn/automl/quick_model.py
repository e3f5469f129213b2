"""A quick model on a few rows: it shows how fast training is, and is the fallback if no other model can be trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import _safe_indexing

from ..training.fitting import count_rows, row_order
from ..training.time_limit import Clock, first_rows
from .constant import NO_ARM
from .ensemble import Member, probabilities
from .prepare import Prepare
from .scoring import score_of
from .sparse_tables import PrepareSparse, is_sparse
from .targets import Target

_DEPTH = 8  # of the tree
_SPARSE_COLUMNS = 1_000  # columns of a sparse table that a split considers, at most
_POOL = 20_000  # random rows from which its rows are chosen, because ordering very many rows takes long


@dataclass(frozen=True, slots=True)
class QuickModel:
    """A quick model, and what it showed.

    Args:
        seconds_per_row: Time per row to prepare, train and predict.
        member: The model, as an ensemble of one; None if it could not be trained.
        score: Its score on rows that it was not trained on; None if there are none.
        demoted: For columns that could not be converted, the kinds before and after, by position.
    """

    seconds_per_row: float
    member: Member | None
    score: float | None
    demoted: dict[int, tuple[str, str]]


def fit_quick_model(
    table: Any, kinds: Sequence[str], target: Target, scorer: Any, columns: int, seed: int, clock: Clock
) -> QuickModel:
    """Train a small tree on a few rows, and score it on a few others.

    Args:
        table: The rows, as a frame or a sparse matrix.
        kinds: What each column holds.
        target: What to predict.
        scorer: Scorer of the predictions.
        columns: Approximate number of columns after preparation.
        seed: Random seed for the choice of rows.
        clock: Returns the time in seconds.
    """
    n = count_rows(table)
    pool = np.arange(n) if n <= _POOL else np.random.default_rng(seed).choice(n, _POOL, replace=False)
    order = pool[row_order(target.values[pool] if target.n_classes else None, len(pool), seed)[0]]
    some = min(first_rows(n, columns), max(2, n - n // 3))
    rows, others = order[:some], order[some : 2 * some]
    kind: Any = DecisionTreeClassifier if target.n_classes else DecisionTreeRegressor
    prepare = Prepare(kinds=list(kinds), target_type=target.target_type, random_state=seed)
    model = kind(max_depth=_DEPTH, min_samples_leaf=3, random_state=seed)
    if is_sparse(table):
        prepare, model = PrepareSparse(), model.set_params(max_features=min(_SPARSE_COLUMNS, table.shape[1]))
    pipeline = Pipeline([("prepare", prepare), ("model", model)])
    began = clock()
    try:
        pipeline.fit(_safe_indexing(table, rows), target.values[rows])
        predictions = _predictions(pipeline, _safe_indexing(table, others), target)
    except MemoryError:
        raise
    except Exception:  # anything, depending on the table
        return QuickModel((clock() - began) / some, None, None, {})
    seconds_per_row = (clock() - began) / (some + len(others))
    score = _score(predictions, scorer, target, others)
    return QuickModel(seconds_per_row, Member(1.0, "tree", NO_ARM, [pipeline]), score, getattr(prepare, "demoted_", {}))


def _predictions(pipeline: Pipeline, rows: Any, target: Target) -> Any:
    """Class probabilities or numbers for these rows."""
    prepared, model = pipeline[0].transform(rows), pipeline[-1]
    return probabilities(model, prepared, target.n_classes) if target.n_classes else model.predict(prepared)


def _score(predictions: Any, scorer: Any, target: Target, rows: Any) -> float | None:
    try:
        score = score_of(np.asarray(predictions), scorer, target, rows)
    except ValueError:  # for example, a class is missing in these rows
        return None
    return score if np.isfinite(score) else None
