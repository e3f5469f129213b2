"""The UCI datasets, their five outer splits, and the task that a method gets."""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from manyarms.bench.problems.data import data_directory

SPLITS = 5
_SHUFFLE = 20  # seed of the shuffle and of the splits; results with another seed are not comparable
_IDENTIFIERS = {"cylinder_bands": ["timestamp", "cylinder_number", "customer", "job_number"]}


@dataclass(frozen=True, eq=False)
class Task:
    """What a method gets: training rows and limits.

    Attributes:
        X: Features. Nominal columns are categorical, missing cells are NaN.
        y: Labels, as text.
        seconds: Time limit, including the refit of the chosen model.
        cores: Number of cores that it may use.
        seed: Random seed, the same for all methods.
        began: Start time, by `time.perf_counter`.
    """

    X: pd.DataFrame
    y: Any
    seconds: float
    cores: int
    seed: int
    began: float = field(default_factory=time.perf_counter)

    @property
    def deadline(self) -> float:
        """End of the time limit, by `time.perf_counter`."""
        return self.began + self.seconds


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows."""

    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any

    def accuracy(self, predictions: Any) -> float:
        """Share of test rows that are predicted correctly."""
        return float(np.mean(np.asarray(predictions, dtype=object).ravel() == self.y_test))

    def majority(self) -> float:
        """Accuracy of the constant baseline, which always predicts the most frequent class."""
        labels, counts = np.unique(self.y, return_counts=True)
        return self.accuracy([labels[counts.argmax()]] * len(self.y_test))


def names() -> list[str]:
    """Names of all datasets, small ones first, so that first results come early."""
    return sorted(_index(), key=lambda name: (_index()[name]["n"], name))


def split(name: str, number: int) -> Split:
    """One of the five outer splits of a dataset: stratified folds of the shuffled rows, the same for all methods."""
    X, y = _table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some classes have fewer rows than splits
        train, test = list(StratifiedKFold(SPLITS, shuffle=True, random_state=_SHUFFLE).split(X, y))[number]
    return Split(X.iloc[train].reset_index(drop=True), y[train], X.iloc[test].reset_index(drop=True), y[test])


def check(chosen: Sequence[str]) -> list[str]:
    """The names, if all of them exist."""
    if unknown := sorted(set(chosen) - set(_index())):
        raise ValueError(f"datasets must be among {', '.join(names())}; got {', '.join(unknown)}")
    return list(chosen)


@cache
def _table(name: str) -> tuple[pd.DataFrame, Any]:
    kinds = _index()[name]["column_kinds"]
    types = {column: "category" for column, kind in kinds.items() if kind == "cat"}
    table = pd.read_csv(data_directory() / "uci" / f"{name}.csv.gz", dtype={**types, "class": str})
    table = table.sample(frac=1, random_state=_SHUFFLE, ignore_index=True)  # many are sorted by class
    X = table.drop(columns=["class", *_IDENTIFIERS.get(name, [])])
    # LightGBM does not accept brackets and commas in names.
    X.columns = [re.sub(r"\W", "_", f"{i}_{column}") for i, column in enumerate(X.columns)]
    return X, table["class"].to_numpy(dtype=object)


@cache
def _index() -> dict[str, Any]:
    return {entry["name"]: entry for entry in json.loads((data_directory() / "uci" / "index.json").read_text())}
