"""The predictions of a model for the held-out rows: made once, within a time limit, and scored as often as needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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

    def probabilities(self) -> NDArray[np.float64] | None:
        """The class probabilities; None for regression."""
        return self.model.predict_proba(None) if hasattr(self.model, "classes_") else None

    def baseline(self, scoring: str, constant: Any) -> float | None:
        """The score of a constant prediction, class frequencies or a number; None if these rows cannot be scored."""
        classes = getattr(self.model, "classes_", None)
        model = stored(np.repeat(np.asarray([constant], dtype=float), len(self.target), axis=0), classes)
        try:
            score = replace(self, model=model).score(scoring)
        except ValueError:
            return None
        return score if np.isfinite(score) else None

    def note(self) -> str | None:
        """A note if not all held-out rows were predicted."""
        if len(self.target) == self.n_rows:
            return None
        return f"Scored {len(self.target):,} of {self.n_rows:,} held-out rows, to stay within the time and memory limits."


def stored(predictions: Any, classes: Any) -> Any:
    """A model that returns these predictions: probabilities of the classes, or numbers if there are none."""
    return StoredNumbers(predictions) if classes is None else StoredProbabilities(predictions, classes)


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
    most = len(rows) if classes is None else min(len(rows), max(_FIRST, _CELLS // len(classes)))
    predictions: Any = None
    done, size, end = 0, min(_FIRST, most), clock() + _SHARE * left()
    while size:
        began = clock()
        part = predict(rows.iloc[order[done : done + size]])
        if predictions is None:
            predictions = np.empty((most, *part.shape[1:]), part.dtype)
        predictions[done : done + size] = part
        done += size
        size = next_batch(most - done, size, clock() - began, end - clock())
    predictions = predictions[:done]
    return Evaluation(target.iloc[order[:done]].reset_index(drop=True), stored(predictions, classes), len(rows))


def next_batch(n: int, size: int, seconds: float, left: float) -> int:
    """How many of the next n rows to predict at once, after a batch of this size took this many seconds; 0 to stop.

    A batch is at most twice as large as the last one, because large arrays take longer for each row.

    >>> next_batch(9_500, 500, 0.1, 10.0), next_batch(300, 500, 0.1, 10.0), next_batch(9_500, 8_000, 2.0, 1.0)
    (1000, 300, 4000)
    >>> next_batch(9_500, 500, 1.0, 0.5), next_batch(0, 500, 0.1, 10.0)
    (0, 0)
    """
    fitting = int(size * min(max(left, 0.0) / max(seconds, 1e-9), 2.0))
    return min(n, fitting) if fitting >= min(n, _FIRST) else 0
