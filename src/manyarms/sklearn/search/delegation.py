"""What a search offers of the estimators it searches: their methods, where all of them, or the fitted one, have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def estimators_of(search: Any) -> dict[str, Any]:
    """The estimators of a search by name; a single one has none."""
    if isinstance(search.estimator, Mapping):
        return {name: given[0] for name, given in search.estimator.items()}
    return {"": search.estimator}


def _has(name: str) -> Callable[[Any], bool]:
    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs a model that is trained on all rows, but refit is {search.refit!r}")
        models = [search.best_estimator_] if hasattr(search, "best_estimator_") else estimators_of(search).values()
        for model in models:
            getattr(model, name)  # its own AttributeError says most
        return True

    return check


def _offered(name: str, text: str) -> Any:
    """A method of the fitted model, there if it has it."""

    def method(self: Any, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    method.__name__ = name
    method.__qualname__ = f"Offered.{name}"
    method.__doc__ = text
    return available_if(_has(name))(method)


class Offered:
    """The methods of the best estimator."""

    predict = _offered("predict", "Labels or numbers, by the best estimator.")
    predict_proba = _offered("predict_proba", "Probabilities of the classes, by the best estimator.")
    predict_log_proba = _offered("predict_log_proba", "Their logarithms, by the best estimator.")
    decision_function = _offered("decision_function", "How far the rows lie from the border of the classes.")
    score_samples = _offered("score_samples", "How usual the rows are, by the best estimator.")
    transform = _offered("transform", "The rows, transformed by the best estimator.")
    inverse_transform = _offered("inverse_transform", "Transformed rows, as they were before.")
