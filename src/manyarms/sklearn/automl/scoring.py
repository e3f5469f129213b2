"""Metrics by name, as scikit-learn has them: whether one exists, suits a target, and what it says of a model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .names import closest
from .task import CLASSIFICATION, REGRESSION

if TYPE_CHECKING:
    import pandas as pd

DEFAULT = {CLASSIFICATION: "accuracy", REGRESSION: "r2"}
EXAMPLES = {
    CLASSIFICATION: "accuracy, balanced_accuracy, f1_macro, neg_log_loss or roc_auc_ovr",
    REGRESSION: "r2, neg_root_mean_squared_error or neg_mean_absolute_error",
}
_ENOUGH = 10_000  # rows that tell whether a metric suits a target
_OF_NUMBERS = re.compile(
    r"r2|explained_variance|(neg_)?max_error|neg_(mean|median|root_mean)_.*|d2_(absolute|pinball|tweedie).*"
)


def check_metric(metric: str) -> str:
    """The name of a scorer; an error that names the closest ones if there is none."""
    from sklearn.metrics import get_scorer_names

    if metric in get_scorer_names():
        return metric
    close = closest(metric, get_scorer_names())
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"such as {' or '.join(DEFAULT.values())}"
    raise ValueError(f"--metric must be the name of a scorer of scikit-learn's, got {metric!r}: {hint}")


def check_suits(metric: str, task: str, target: pd.Series[Any]) -> None:
    """Refuse a metric that cannot tell how well this target is predicted, before anything is trained."""
    if (_OF_NUMBERS.fullmatch(metric) is not None) != (task == REGRESSION):
        raise ValueError(f"--metric must be one of {task}, such as {EXAMPLES[task]}, got {metric!r}")
    some = _some(target, task)
    values = some.factorize(sort=True)[0] if task == CLASSIFICATION and are_fractions(some) else some
    try:
        constant_score(lambda model, *judged: score(model, metric, *judged), task, values)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"--metric {metric} does not suit the target {target.name!r} ({reason}): try {EXAMPLES[task]}"
        ) from None


def _some(target: pd.Series[Any], task: str) -> pd.Series[Any]:
    """Rows enough to see whether a metric suits all of them: every class is among them, or the smallest number is."""
    if len(target) <= _ENOUGH:
        return target
    import pandas as pd

    first = target.drop_duplicates() if task == CLASSIFICATION else target.sort_values().iloc[[0, -1]]
    return pd.concat([first, target.iloc[:_ENOUGH]], ignore_index=True)


def constant_score(scorer: Callable[..., float], task: str, target: Any) -> float:
    """The score of a model that always says the same; an error of the scorer's where it does not suit the target."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    dummy = DummyClassifier(strategy="prior") if task == CLASSIFICATION else DummyRegressor()
    rows = np.zeros((len(target), 1))
    return float(scorer(dummy.fit(rows, target), rows, target))


def score(model: Any, metric: str, rows: Any, target: Any) -> float:
    """What the metric says of the model's predictions; larger is better."""
    from sklearn.metrics import get_scorer

    if hasattr(model, "classes_") and are_fractions(model.classes_):
        model, target = _Numbered(model), _places(model.classes_, target)
    with warnings.catch_warnings(action="ignore"):  # that a class was never predicted, say
        return float(get_scorer(metric)(model, rows, target))


def are_fractions(classes: Any) -> bool:
    """Whether classes are numbers such as 0.5, which metrics would take for a regression."""
    values = np.asarray(classes)
    return values.dtype.kind == "f" and bool((values % 1 != 0).any())


def _places(classes: Any, labels: Any) -> Any:
    """The place of each label among the classes; -1 for one that is none of them."""
    known = {label: place for place, label in enumerate(np.asarray(classes).tolist())}
    return np.array([known.get(label, -1) for label in np.asarray(labels).tolist()])


class _Numbered:
    """A fitted classifier whose classes are numbered."""

    _estimator_type = "classifier"

    def __init__(self, model: Any) -> None:
        self._model, self.classes_ = model, np.arange(len(model.classes_))

    def predict(self, rows: Any) -> Any:
        return _places(self._model.classes_, self._model.predict(rows))

    def predict_proba(self, rows: Any) -> Any:
        return self._model.predict_proba(rows)

    def __sklearn_tags__(self) -> Any:
        return self._model.__sklearn_tags__()
