"""What the three searches of candidates share with `AutoClassifier`: families, spaces, folds and seeds."""

from __future__ import annotations

import tempfile
from collections.abc import ItemsView
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from manyarms.sklearn.automl.families import Family, families
from manyarms.sklearn.automl.folds import count_folds, make_folds

from .sets import Task

families(classes=2)  # imports their libraries, before any clock is started


class Candidates:
    """Families of models by name, each with its space, and the rows to score them on.

    Attributes:
        X, y: the rows; labels are numbers, as XGBoost wants them.
        folds: rows to train on and rows to score, for each.
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
        """By name."""
        return self._families.items()

    def estimator(self, family: str, config: dict[str, Any]) -> Any:
        """Not fitted yet, and seeded. What its preparation makes of the same rows is kept: ours prepares them once, too."""
        estimator = clone(self._families[family].estimator).set_params(**config, memory=self._memory)
        seeds = [name for name in estimator.get_params() if name.endswith("__random_state")]
        return estimator.set_params(**dict.fromkeys(seeds, self._seed))

    def refit(self, family: str, config: dict[str, Any]) -> Any:
        """Fitted on all rows; it predicts the labels of the task."""
        return _Labelled(self.estimator(family, config).fit(self.X, self.y), self._classes)


class _Labelled:
    """A model of numbered classes that says their labels."""

    def __init__(self, model: Any, classes: Any) -> None:
        self._model, self._classes = model, classes

    def predict(self, X: Any) -> Any:
        return self._classes[np.asarray(self._model.predict(X), dtype=int)]
