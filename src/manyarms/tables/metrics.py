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
    try:
        constant_score(lambda model, *judged: score(model, metric, *judged), task, target)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"--metric {metric} does not suit the target {target.name!r} ({reason}): try {EXAMPLES[task]}"
        ) from None


def constant_score(scorer: Callable[..., float], task: str, target: Any) -> float:
    """The score of a model that always says the same; an error of the scorer's where it does not suit the target."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    dummy = DummyClassifier(strategy="prior") if task == CLASSIFICATION else DummyRegressor()
    rows = np.zeros((len(target), 1))
    return float(scorer(dummy.fit(rows, target), rows, target))


def score(model: Any, metric: str, rows: Any, target: Any) -> float:
    """What the metric says of the model's predictions; larger is better."""
    from sklearn.metrics import get_scorer

    with warnings.catch_warnings(action="ignore"):  # that a class was never predicted, say
        return float(get_scorer(metric)(model, rows, target))
