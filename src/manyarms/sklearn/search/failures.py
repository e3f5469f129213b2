"""What a search does about fits that fail."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

from sklearn.exceptions import FitFailedWarning

from ...core import Outcome
from ...errors import ManyarmsError, NoResult
from ...study.counts import Counts


class FitsFailed(NoResult, ValueError):
    """Every pull failed: there is nothing to choose from. Also the `ValueError` that scikit-learn's searches raise then."""


class FirstError:
    """A training whose first failure ends the study, and is raised.

    Args:
        training: the function of the study.
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

    def look(self, study: Any, outcome: Outcome) -> None:
        """Called with each outcome: stops the study at the first that failed."""
        if outcome.reward is None and self._outcome is None:
            self._outcome = outcome
            study.stop()

    def raise_it(self) -> None:
        """The error itself or, where it happened in a worker process, one like it; nothing if there was none."""
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
    except TypeError:  # one that is made of more than a text
        return ManyarmsError(f"{kind.__name__}: {text}")
    return error


def warn_of(counts: Counts, error_score: Any) -> None:
    """Say how many pulls failed, and why most of them did."""
    if counts.failures:
        reason, times = counts.reasons.most_common(1)[0]
        warnings.warn(
            f"{counts.failures} of {counts.failures + counts.pulls} pulls failed; their arms have the score {error_score}. "
            f'Most often ({times} times): {reason}. error_score="raise" ends the search at the first.',
            FitFailedWarning,
            stacklevel=5,  # where `fit` is called
        )
