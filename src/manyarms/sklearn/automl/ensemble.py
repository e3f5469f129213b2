"""Ensembles: selecting models and weights, and averaging their predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

Array = NDArray[np.float64]


def ensemble_weights(
    outputs: Sequence[Array],
    loss: Callable[[Array], float],
    rounds: int,
    is_late: Callable[[], bool] = lambda: False,
    costs: Array | None = None,
    limits: Array | None = None,
) -> Array:
    """The weights of an ensemble by greedy selection: each round adds the model that helps most (Caruana et al., 2004).

    Args:
        outputs: The predictions of each model for the same rows.
        loss: Returns the loss of an average of predictions.
        rounds: Number of rounds. The best average of all rounds is used.
        is_late: Returns whether to stop after the current round.
        costs: The costs of each model, such as its size. At least one model must be within the limits.
        limits: Maximum total costs of the models with a nonzero weight.

    >>> import numpy as np
    >>> target = np.array([1.0, 2.0, 3.0])
    >>> ensemble_weights([target + 1, target - 1, target + 5], lambda output: float(np.abs(output - target).sum()), 4)
    array([0.5, 0.5, 0. ])
    """
    counts = np.zeros((rounds, len(outputs)))
    losses = []
    total = np.zeros_like(outputs[0])
    for number in range(rounds):
        joins = np.ones(len(outputs), dtype=bool)
        if costs is not None and limits is not None:
            joins = within_limits(counts[number - 1] > 0 if number else np.zeros(len(outputs), dtype=bool), costs, limits)
        found = [loss((total + output) / (number + 1)) if joins[i] else np.inf for i, output in enumerate(outputs)]
        chosen = int(np.argmin(found))
        total = total + outputs[chosen]
        counts[number] = counts[number - 1] if number else 0.0
        counts[number, chosen] += 1
        losses.append(found[chosen])
        if is_late():
            break
    best = counts[int(np.argmin(losses))]
    return np.asarray(best / best.sum())


def within_limits(members: NDArray[np.bool_], costs: Array, limits: Array) -> NDArray[np.bool_]:
    """Which models may join an ensemble without exceeding its limits.

    Args:
        members: Whether each model is already a member.
        costs: The costs of each model, one row for each.
        limits: Maximum total of each cost.

    >>> import numpy as np
    >>> costs = np.array([[1.0], [2.0], [3.0]])
    >>> within_limits(np.array([True, False, False]), costs, np.array([3.0])).tolist()
    [True, True, False]
    """
    spent = costs[members].sum(axis=0)
    return np.asarray(members | (spent + costs <= limits).all(axis=1))


def pruned(weights: Array, outputs: Sequence[Array], loss: Callable[[Array], float], tolerance: float) -> Array:
    """The weights after dropping models that hardly matter: the loss increases by at most the tolerance.

    Args:
        weights: The weights of the models, which sum to 1.
        outputs: The predictions of each model for the same rows.
        loss: Returns the loss of an average of predictions.
        tolerance: Maximum increase of the loss, in total.

    >>> import numpy as np
    >>> target = np.array([1.0, 2.0, 3.0])
    >>> outputs = [target + 0.1, target + 0.11, target - 0.1]
    >>> pruned(np.array([0.45, 0.05, 0.5]), outputs, lambda output: float(np.abs(output - target).mean()), 0.01).round(3)
    array([0.474, 0.   , 0.526])
    """
    most = loss(_mean(weights, outputs)) + tolerance
    for place in np.argsort(weights, kind="stable"):
        fewer = np.where(np.arange(len(weights)) == place, 0.0, weights)
        if weights[place] > 0 and fewer.sum() > 0 and loss(_mean(fewer / fewer.sum(), outputs)) <= most:
            weights = fewer / fewer.sum()
    return weights


def _mean(weights: Array, outputs: Sequence[Array]) -> Array:
    """The weighted average of the outputs."""
    return np.asarray(sum(weight * output for weight, output in zip(weights, outputs, strict=True) if weight > 0))


def class_scores(model: Any, X: Any, classes: int) -> tuple[Array, bool]:
    """A score for each row and class, and whether the scores are probabilities.

    Args:
        model: A fitted model whose labels are class indices. Some classes may be missing.
        X: Rows prepared for the model.
        classes: Number of classes.
    """
    if hasattr(model, "predict_proba"):
        return _spread(np.asarray(model.predict_proba(X), dtype=float), model.classes_, classes, 0.0), True
    scores = np.asarray(model.decision_function(X), dtype=float)
    scores = np.column_stack([-scores, scores]) / 2.0 if scores.ndim == 1 else scores
    return _spread(scores, model.classes_, classes, float(scores.min(initial=0.0)) - 1.0), False


def _spread(scores: Array, known: Any, classes: int, missing: float) -> Array:
    """The scores for all classes, from those for the classes that a model knows."""
    if len(known) == classes:
        return scores
    result = np.full((len(scores), classes), missing)
    result[:, np.asarray(known, dtype=int)] = scores
    return result


def calibration_factor(scores: Array, labels: NDArray[np.int64]) -> float:
    """The factor of the scores that makes the labels most likely under their softmax (temperature scaling).

    >>> import numpy as np
    >>> round(calibration_factor(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), np.array([1, 0, 1])), 1)
    0.7
    """

    def loss(log_factor: float) -> float:
        return -float(log_softmax(np.exp(log_factor) * scores, axis=1)[np.arange(len(labels)), labels].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x))


@dataclass(frozen=True, slots=True)
class Member:
    """A model of an ensemble: the average of the models of its folds.

    Args:
        weight: Its weight in the ensemble.
        family: Name of its family.
        arm: Id of its arm in the study.
        models: Fitted pipelines.
        factor: Calibration factor of its scores, if it does not predict probabilities.
        predict_ms: Milliseconds to predict 1,000 prepared rows, as measured during the search.
        model_mb: Size of its models in megabytes.
    """

    weight: float
    family: str
    arm: int
    models: Sequence[Any]
    factor: float = 1.0
    predict_ms: float = 0.0
    model_mb: float = 0.0


def average(members: Sequence[Member], X: Any, predict: Callable[[Any, Any, float], Array]) -> Array:
    """The weighted average of the members' predictions. Members with the same preparation share the prepared rows.

    Args:
        members: Members whose weights sum to 1.
        X: A table.
        predict: Called with a model, the rows prepared for it, and its calibration factor.
    """
    prepared: dict[int, Any] = {}
    total: Any = 0.0
    for member in members:
        for pipeline in member.models:
            prepare, model = pipeline.steps[0][1], pipeline.steps[-1][1]
            if id(prepare) not in prepared:
                prepared[id(prepare)] = prepare.transform(X)
            total = total + member.weight / len(member.models) * predict(model, prepared[id(prepare)], member.factor)
    return np.asarray(total)


def probabilities(model: Any, X: Any, classes: int, factor: float = 1.0) -> Array:
    """Class probabilities of a model, computed from its scores if it predicts none."""
    scores, are_probabilities = class_scores(model, X, classes)
    return scores if are_probabilities else np.asarray(softmax(factor * scores, axis=1))
