"""The model families for sparse tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from ...spaces import Choice, Float, Space
from .family import Family, Task
from .sparse_tables import PrepareSparse

DENSE_ONLY = ("discriminant", "boosting", "catboost")
"""Families that cannot be trained on sparse tables, or are too slow with many columns."""

_PREPARE = "prepare__"
_SCALE = f"{_PREPARE}scale"
_FEATURES = "model__max_features"
_SPREAD = 10.0  # factor between the smallest or largest number of columns of a split and its default


def sparse_family(name: str, family: Family, task: Task) -> Family:
    """The family with a preparation that keeps tables sparse, and without the parameters of the dense one.

    Args:
        name: Name of the family.
        family: The family for dense tables.
        task: The size of the problem.
    """
    if name == "naive_bayes":
        return _naive_bayes()
    steps = dict(family.estimator.steps)
    parameters = {name: part for name, part in family.space.parameters.items() if not name.startswith(_PREPARE)}
    first = {name: value for name, value in family.space.firsts[0].items() if not name.startswith(_PREPARE)}
    if (scaled := steps["prepare"].scale) is not None:
        parameters, first = {_SCALE: Choice("max_abs", "standard"), **parameters}, {_SCALE: "max_abs", **first}
    if _FEATURES in parameters:
        least, usual, most = split_shares(task.sparse_columns)
        parameters[_FEATURES], first[_FEATURES] = Float(least, most, log=True), usual
    prepare = PrepareSparse("max_abs" if scaled else None, fill=steps["prepare"].fill)
    estimator = Pipeline([("prepare", prepare), ("model", steps["model"])])
    return replace(family, estimator=estimator, space=Space(**parameters).first(first))


def split_shares(columns: int) -> tuple[float, float, float]:
    """The smallest, default and largest share of the columns that a split of a tree considers, around the square root.

    >>> split_shares(10_000)
    (0.001, 0.01, 0.1)
    """
    usual = columns**-0.5
    return usual / _SPREAD, usual, min(1.0, usual * _SPREAD)


def _naive_bayes() -> Family:
    """Multinomial naive Bayes, because Gaussian naive Bayes needs dense tables."""
    from sklearn.naive_bayes import MultinomialNB

    space: dict[str, Any] = {"model__alpha": Float(1e-3, 10, log=True)}
    estimator = Pipeline([("prepare", PrepareSparse(clip=True)), ("model", MultinomialNB())])
    return Family(estimator, Space(**space).first({"model__alpha": 0.1}))
