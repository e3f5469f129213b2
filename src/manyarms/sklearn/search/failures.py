"""How a search handles fits that fail."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from ...core import Outcome
from ...errors import ManyarmsError, NoResult
from ...study.counts import Counts


class FitsFailed(NoResult, ValueError):
    """Every pull failed. It is also a `ValueError`, as scikit-learn's searches raise."""


class FirstError:
    """Stops a study at the first failed pull, and raises its error.

    Args:
        training: The training function of the study.
    """

    def __init__(self, training: Any) -> None:
        self._training = training
        self._error: Exception | None = None
        self._outcome: Outcome | None = None

    def __call__(self, pull: Any) -> Any:
        try:
            return self._training(pull)
        except Exception as error:
            self._error = error
            raise

    def stop_at_failure(self, study: Any, outcome: Outcome) -> None:
        """A callback of the study: stops it at the first failed outcome."""
        if outcome.reward is None and self._outcome is None:
            self._outcome = outcome
            study.stop()

    def raise_it(self) -> None:
        """Raise the error, or a similar one if it happened in a worker process. Does nothing if there was none."""
        if self._error is not None:
            raise self._error
        if self._outcome is None:
            return
        name, _, text = (self._outcome.reason or "").partition(": ")
        kind = getattr(builtins, name, None)
        is_error = isinstance(kind, type) and issubclass(kind, Exception)
        error = _made(kind, text) if is_error else ManyarmsError(self._outcome.reason)
        if self._outcome.details is not None:
            error.add_note(f"In a worker process:\n{self._outcome.details}")
        raise error


def _made(kind: Any, text: str) -> Exception:
    try:
        error: Exception = kind(text)
    except TypeError:  # an exception that needs more arguments
        return ManyarmsError(f"{kind.__name__}: {text}")
    return error


def warn_about_failures(counts: Counts, error_score: Any) -> None:
    """Warn about failed pulls, with the most frequent reason."""
    if counts.failures:
        reason, times = counts.reasons.most_common(1)[0]
        warnings.warn(
            f"{counts.failures} of {counts.failures + counts.pulls} pulls failed; their arms get the score {error_score}. "
            f'Most frequent reason ({times} times): {reason}. Use error_score="raise" to stop at the first failure.',
            FitFailedWarning,
            stacklevel=5,  # the call of `fit`
        )


def give_error_score(results: dict[str, Any], failed: Any, error_score: float) -> None:
    """Give failed arms the error score in `cv_results_`. Their rank stays the lowest, even if the error score is a high one.

    Args:
        results: Results in which the scores of failed arms are NaN.
        failed: Whether each arm failed.
        error_score: The error score.
    """
    for name, values in results.items():
        which, _, rest = name.partition("_")
        if rest.startswith(("test_", "train_")) and which.startswith(("split", "mean")):
            values[failed] = error_score
        elif rest.startswith(("test_", "train_")) and which == "std" and not np.isnan(error_score):
            values[failed] = 0.0
