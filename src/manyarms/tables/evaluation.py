"""The predictions of a model for the held-out rows: made once, within a time limit, and scored as often as needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..sklearn.automl.scoring import score
from ..sklearn.automl.stored_predictions import StoredNumbers, StoredProbabilities

_FIRST = 500  # rows that show how long the others take
_SHARE = 0.5  # of the time left that predicting may take
_CELLS = 20_000_000  # probabilities, at most


@dataclass(frozen=True)
class Evaluation:
    """Held-out rows and the predictions for them.

    Attributes:
        target: The actual values of the rows that were predicted.
        model: Returns the stored predictions.
        n_rows: Number of rows held out.
    """

    target: pd.Series[Any]
    model: Any
    n_rows: int

    def score(self, scoring: str) -> float:
        """The score of the predictions; a `ValueError` if these rows cannot be scored."""
        return score(self.model, scoring, np.zeros((len(self.target), 1)), self.target)

    def frame(self) -> pd.DataFrame:
        """The actual and the predicted values."""
        return pd.DataFrame({"actual": self.target.to_numpy(), "predicted": self.model.predict(None)})

    def note(self) -> str | None:
        """A note if not all held-out rows were predicted."""
        if len(self.target) == self.n_rows:
            return None
        return f"Scored {len(self.target):,} of {self.n_rows:,} held-out rows, to stay within the time and memory limits."


def evaluate(
    model: Any, rows: pd.DataFrame, target: pd.Series[Any], left: Callable[[], float], clock: Callable[[], float]
) -> Evaluation:
    """Predict the held-out rows, or a random sample of them if that takes long.

    Args:
        model: A fitted model.
        rows: Rows that the model was not trained on.
        target: The target of these rows.
        left: Returns the seconds that are left.
        clock: Returns the time in seconds.
    """
    order = np.random.default_rng(0).permutation(len(rows))
    classes = getattr(model, "classes_", None)
    predict = model.predict if classes is None else model.predict_proba
    began = clock()
    parts = [predict(rows.iloc[order[:_FIRST]])]
    most = min(len(rows), max(_FIRST, _CELLS // (1 if classes is None else len(classes))))
    more = affordable(most, clock() - began, _SHARE * left())
    if more:
        parts.append(predict(rows.iloc[order[_FIRST : _FIRST + more]]))
    predictions = np.concatenate(parts)
    stored = StoredNumbers(predictions) if classes is None else StoredProbabilities(predictions, classes)
    return Evaluation(target.iloc[order[: _FIRST + more]].reset_index(drop=True), stored, len(rows))


def affordable(n: int, seconds: float, left: float) -> int:
    """How many of n rows can be predicted in the time left, after the first rows took this many seconds.

    >>> affordable(400, 0.1, 10.0), affordable(2_500, 0.1, 10.0), affordable(2_500, 1.0, 1.0), affordable(2_500, 1.0, -5.0)
    (0, 2000, 500, 0)
    """
    fitting = int(_FIRST * min(max(left, 0.0) / max(seconds, 1e-9), 1e9))
    return max(0, min(n - _FIRST, fitting))
