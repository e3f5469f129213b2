"""Methods that a search delegates to its best estimator, or before fitting exist if all its estimators have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def estimators_of(search: Any) -> dict[str, Any]:
    """The estimators of a search by name; the name of a single estimator is empty."""
    if isinstance(search.estimator, Mapping):
        return {name: given[0] for name, given in search.estimator.items()}
    return {"": search.estimator}


def _has(name: str) -> Callable[[Any], bool]:
    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs a refitted model, but refit is {search.refit!r}")
        models = [search.best_estimator_] if hasattr(search, "best_estimator_") else estimators_of(search).values()
        for model in models:
            getattr(model, name)  # its own AttributeError is the most helpful one
        return True

    return check


def _delegated(name: str, text: str) -> Any:
    """A method that exists if the fitted model has it."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__ = name
    method.__qualname__ = f"DelegatedMethods.{name}"
    method.__doc__ = text
    return available_if(_has(name))(method)


class DelegatedMethods:
    """The methods that are delegated to the best estimator."""

    predict = _delegated("predict", "Predictions of the best estimator.")
    predict_proba = _delegated("predict_proba", "Class probabilities of the best estimator.")
    predict_log_proba = _delegated("predict_log_proba", "Logarithms of the class probabilities of the best estimator.")
    decision_function = _delegated("decision_function", "Decision function of the best estimator.")
    score_samples = _delegated("score_samples", "Sample scores of the best estimator.")
    transform = _delegated("transform", "Rows transformed by the best estimator.")
    inverse_transform = _delegated("inverse_transform", "Inverse transform of the best estimator.")
