"""The UCI sets as frames, their five outer splits, and what an method gets of one."""

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
_SHUFFLE = 20  # seed of the order of rows and of the splits: never change it, or results are no longer comparable
_IDENTIFIERS = {"cylinder_bands": ["timestamp", "cylinder_number", "customer", "job_number"]}


@dataclass(frozen=True, eq=False)
class Task:
    """What an method gets: rows to learn from, and for how long it may.

    Attributes:
        X: a frame; nominal columns are categories, missing cells NaN.
        y: the labels, as text.
        seconds: of the clock, for all of it, with the refit of the model it chooses.
        cores: how many it may keep busy.
        seed: the same for all methods.
        began: when the clock was started.
    """

    X: pd.DataFrame
    y: Any
    seconds: float
    cores: int
    seed: int
    began: float = field(default_factory=time.perf_counter)

    @property
    def deadline(self) -> float:
        """By `time.perf_counter`."""
        return self.began + self.seconds


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to be judged by."""

    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any

    def accuracy(self, predictions: Any) -> float:
        """The share of test rows that are right."""
        return float(np.mean(np.asarray(predictions, dtype=object).ravel() == self.y_test))

    def majority(self) -> float:
        """The accuracy of always naming the commonest class."""
        labels, counts = np.unique(self.y, return_counts=True)
        return self.accuracy([labels[counts.argmax()]] * len(self.y_test))


def names() -> list[str]:
    """All sets, small ones first, so that a first look at the table comes early."""
    return sorted(_index(), key=lambda name: (_index()[name]["n"], name))


def split(name: str, number: int) -> Split:
    """One of the five outer splits of a set: stratified folds of the shuffled rows, the same for everybody."""
    X, y = _table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some classes have fewer rows than there are splits
        train, test = list(StratifiedKFold(SPLITS, shuffle=True, random_state=_SHUFFLE).split(X, y))[number]
    return Split(X.iloc[train].reset_index(drop=True), y[train], X.iloc[test].reset_index(drop=True), y[test])


def check(chosen: Sequence[str]) -> list[str]:
    """The sets of these names."""
    if unknown := sorted(set(chosen) - set(_index())):
        raise ValueError(f"sets must be among {', '.join(names())}; got {', '.join(unknown)}")
    return list(chosen)


@cache
def _table(name: str) -> tuple[pd.DataFrame, Any]:
    kinds = _index()[name]["column_kinds"]
    types = {column: "category" for column, kind in kinds.items() if kind == "cat"}
    table = pd.read_csv(data_directory() / "uci" / f"{name}.csv.gz", dtype={**types, "class": str})
    table = table.sample(frac=1, random_state=_SHUFFLE, ignore_index=True)  # many are sorted by class
    X = table.drop(columns=["class", *_IDENTIFIERS.get(name, [])])
    # LightGBM refuses brackets and commas in names.
    X.columns = [re.sub(r"\W", "_", f"{i}_{column}") for i, column in enumerate(X.columns)]
    return X, table["class"].to_numpy(dtype=object)


@cache
def _index() -> dict[str, Any]:
    return {entry["name"]: entry for entry in json.loads((data_directory() / "uci" / "index.json").read_text())}
