"""What the three searches share with `AutoClassifier`: model families, spaces, folds and seeds."""

from __future__ import annotations

import tempfile
from collections.abc import ItemsView
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from manyarms.sklearn.automl.family_choice import Family, families
from manyarms.sklearn.automl.folds import count_folds, make_folds

from .datasets import Task

families(classes=2)  # imports their libraries before the time is measured


class Candidates:
    """Model families with their spaces, and the rows to score candidates on.

    Attributes:
        X, y: Rows and labels. Labels are numbers, which XGBoost needs.
        folds: Pairs of rows to train on and rows to score.
    """

    def __init__(self, task: Task) -> None:
        rows = len(task.y)
        folds = count_folds("auto", rows)
        self.X = task.X
        self._classes, self.y = np.unique(task.y, return_inverse=True)
        self.folds = make_folds(self.y, rows, folds, task.seed)
        self._families = families(classes=len(self._classes), rows=rows - rows // max(folds, 5))
        self._seed, self._memory = task.seed, str(Path(tempfile.gettempdir()) / "prepared")

    def families(self) -> ItemsView[str, Family]:
        """Model families by name."""
        return self._families.items()

    def estimator(self, family: str, config: dict[str, Any]) -> Any:
        """A seeded estimator, not fitted. Its preprocessing is cached, because ours preprocesses the rows only once, too."""
        estimator = clone(self._families[family].estimator).set_params(**config, memory=self._memory)
        seeds = [name for name in estimator.get_params() if name.endswith("__random_state")]
        return estimator.set_params(**dict.fromkeys(seeds, self._seed))

    def refit(self, family: str, config: dict[str, Any]) -> Any:
        """The estimator fitted on all rows. It predicts the labels of the task."""
        return _Labelled(self.estimator(family, config).fit(self.X, self.y), self._classes)


class _Labelled:
    """A model of numbered classes that predicts their labels."""

    def __init__(self, model: Any, classes: Any) -> None:
        self._model, self._classes = model, classes

    def predict(self, X: Any) -> Any:
        return self._classes[np.asarray(self._model.predict(X), dtype=int)]
