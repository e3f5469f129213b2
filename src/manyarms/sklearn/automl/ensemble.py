"""Several models as one: which to take, how much of each, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

Array = NDArray[np.float64]


def greedy_weights(
    outputs: Sequence[Array], loss: Callable[[Array], float], rounds: int, is_late: Callable[[], bool] = lambda: False
) -> Array:
    """The weights of an average of outputs: in each round the one that helps most is added once more (Caruana et al., 2004).

    Args:
        outputs: what each model says of the same rows.
        loss: of an average of them.
        rounds: how many are added in all; the best average on the way is taken.
        is_late: Whether to stop after the round that has begun.

    >>> import numpy as np
    >>> target = np.array([1.0, 2.0, 3.0])
    >>> greedy_weights([target + 1, target - 1, target + 5], lambda output: float(np.abs(output - target).sum()), 4)
    array([0.5, 0.5, 0. ])
    """
    counts = np.zeros((rounds, len(outputs)))
    losses = []
    total = np.zeros_like(outputs[0])
    for number in range(rounds):
        found = [loss((total + output) / (number + 1)) for output in outputs]
        chosen = int(np.argmin(found))
        total = total + outputs[chosen]
        counts[number] = counts[number - 1] if number else 0.0
        counts[number, chosen] += 1
        losses.append(found[chosen])
        if is_late():
            break
    best = counts[int(np.argmin(losses))]
    return np.asarray(best / best.sum())


def class_scores(model: Any, X: Any, classes: int) -> tuple[Array, bool]:
    """A number for each row and class, and whether they are probabilities or, for models without, the larger the likelier.

    Args:
        model: Fitted, with the places of classes as its labels; it need not know all of them.
        X: Rows, as prepared for the model.
        classes: How many there are.
    """
    if hasattr(model, "predict_proba"):
        return _spread(np.asarray(model.predict_proba(X), dtype=float), model.classes_, classes, 0.0), True
    scores = np.asarray(model.decision_function(X), dtype=float)
    scores = np.column_stack([-scores, scores]) / 2.0 if scores.ndim == 1 else scores
    return _spread(scores, model.classes_, classes, float(scores.min(initial=0.0)) - 1.0), False


def _spread(scores: Array, known: Any, classes: int, missing: float) -> Array:
    """The scores of the classes that a model knows, among those of all classes."""
    if len(known) == classes:
        return scores
    result = np.full((len(scores), classes), missing)
    result[:, np.asarray(known, dtype=int)] = scores
    return result


def sharpness(scores: Array, labels: NDArray[np.int64]) -> float:
    """The factor that makes scores tell the classes of rows best, as probabilities: by the likelihood of what the rows are.

    >>> import numpy as np
    >>> round(sharpness(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), np.array([1, 0, 1])), 1)
    0.7
    """

    def loss(log_factor: float) -> float:
        return -float(log_softmax(np.exp(log_factor) * scores, axis=1)[np.arange(len(labels)), labels].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-5.0, 5.0), method="bounded").x))


@dataclass(frozen=True, slots=True)
class Member:
    """A model of an ensemble: the average of the models of its folds.

    Args:
        weight: of it in the ensemble.
        family: its name.
        arm: of the study.
        models: fitted pipelines.
        factor: that makes probabilities of its scores, where it has none.
    """

    weight: float
    family: str
    arm: int
    models: Sequence[Any]
    factor: float = 1.0


def average(members: Sequence[Member], X: Any, say: Callable[[Any, Any, float], Array]) -> Array:
    """What the members say together of the rows of X. What several of them prepare alike is prepared once.

    Args:
        members: whose weights sum to 1.
        X: a table.
        say: called with a model, rows prepared for it, and its member's factor.
    """
    prepared: dict[int, Any] = {}
    total: Any = 0.0
    for member in members:
        for pipeline in member.models:
            prepare, model = pipeline.steps[0][1], pipeline.steps[-1][1]
            if id(prepare) not in prepared:
                prepared[id(prepare)] = prepare.transform(X)
            total = total + member.weight / len(member.models) * say(model, prepared[id(prepare)], member.factor)
    return np.asarray(total)


def probabilities(model: Any, X: Any, classes: int, factor: float = 1.0) -> Array:
    """Of the classes, by one model; of scores where it gives none."""
    scores, are_probabilities = class_scores(model, X, classes)
    return scores if are_probabilities else np.asarray(softmax(factor * scores, axis=1))
