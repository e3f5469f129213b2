"""How well a model does on the rows held out: predicted once, however often it is asked for, and within the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables.metrics import score

if TYPE_CHECKING:
    import pandas as pd

_FIRST = 500  # rows that tell what predicting the others takes
_SHARE = 0.5  # of the time left that predicting may take
_CELLS = 20_000_000  # probabilities, at most


@dataclass(frozen=True)
class Judged:
    """The rows held out that were predicted.

    Args:
        target: What they are.
        model: Gives the predictions that were made, as a model would.
        n_rows: How many rows were held out.
    """

    target: pd.Series[Any]
    model: Remembered
    n_rows: int

    def score(self, metric: str) -> float:
        """What the metric says of the predictions; an error where it cannot be told of these rows."""
        return score(self.model, metric, np.zeros((len(self.target), 1)), self.target)

    def frame(self) -> pd.DataFrame:
        """The actual and the predicted values."""
        import pandas as pd

        return pd.DataFrame({"actual": self.target.to_numpy(), "predicted": self.model.predict(None)})

    def note(self) -> str | None:
        """What is missing, if not all rows were predicted."""
        if len(self.target) == self.n_rows:
            return None
        return f"{len(self.target):,} of {self.n_rows:,} rows held out were scored, as many as time and memory allow"


def judge(
    model: Any, rows: pd.DataFrame, target: pd.Series[Any], left: Callable[[], float], clock: Callable[[], float]
) -> Judged:
    """Predict the rows held out, or a random part of them where that takes long.

    Args:
        model: Fitted.
        rows: The model never saw.
        target: Of these rows.
        left: Gives the seconds that are left.
        clock: Gives the time in seconds.
    """
    order = np.random.default_rng(0).permutation(len(rows))
    began = clock()
    said = [_said(model, rows.iloc[order[:_FIRST]])]
    most = min(len(rows), max(_FIRST, _CELLS // len(getattr(model, "classes_", "y"))))
    more = affordable(most, clock() - began, _SHARE * left())
    if more:
        said.append(_said(model, rows.iloc[order[_FIRST : _FIRST + more]]))
    return Judged(
        target.iloc[order[: _FIRST + more]].reset_index(drop=True),
        Remembered(np.concatenate(said), getattr(model, "classes_", None), model),
        len(rows),
    )


def affordable(n: int, seconds: float, left: float) -> int:
    """How many of n rows are predicted after the first ones, which took so many seconds.

    >>> affordable(400, 0.1, 10.0), affordable(2_500, 0.1, 10.0), affordable(2_500, 1.0, 1.0), affordable(2_500, 1.0, -5.0)
    (0, 2000, 500, 0)
    """
    fitting = int(_FIRST * min(max(left, 0.0) / max(seconds, 1e-9), 1e9))
    return max(0, min(n - _FIRST, fitting))


def _said(model: Any, rows: pd.DataFrame) -> Any:
    """The probabilities of the classes, or the numbers."""
    return model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)


class Remembered:
    """A fitted model that returns stored predictions, and ignores the rows that it is given."""

    def __init__(self, said: Any, classes: Any, model: Any) -> None:
        self._said, self._model = said, model
        if classes is not None:
            self.classes_ = classes

    def predict(self, rows: Any) -> Any:
        return self.classes_[self._said.argmax(axis=1)] if hasattr(self, "classes_") else self._said

    def predict_proba(self, rows: Any) -> Any:
        return self._said

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True
