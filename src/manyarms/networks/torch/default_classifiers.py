"""Classifiers that are ready to use: for images, sequences and tables, each with the space that suits it."""

from __future__ import annotations

from typing import Any

from ..graphs.default_spaces import image_space, sequence_space, table_space
from ..graphs.network_space import NetworkSpace
from .classifier import Classifier
from .dataset import Array, as_array, labels


def image_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """For images, with networks of the space of the Mutant-UCB paper, `image_space`.

    What looks as if its channels came first is refused; `Classifier` takes any images that fit its space.

    Args:
        x_train, y_train, x_valid, y_valid: as in `Classifier`: rows x height x width, or with channels after these.
        space: another one.
        options: of `Classifier`.

    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).integers(0, 256, (30, 8, 8)), np.arange(30) % 3
    >>> classifier = image_classifier(x[:20], y[:20], x[20:], y[20:], epochs=5)
    >>> classifier.space.input_shape, classifier.space.n_outputs
    ((1, 8, 8), 3)
    """
    _check_channels(x_train)
    height, width, channels = _extents(x_train, 2, "rows x height x width, or with channels after these")
    shape = channels, height, width
    return Classifier(space or image_space(shape, _n_classes(y_train, y_valid)), x_train, y_train, x_valid, y_valid, **options)


def sequence_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """For sequences, rows x length or rows x length x channels, with networks of `sequence_space`.

    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).normal(size=(30, 17, 2)), np.arange(30) % 3
    >>> sequence_classifier(x[:20], y[:20], x[20:], y[20:]).space.input_shape
    (2, 17)
    """
    length, channels = _extents(x_train, 1, "rows x length, or with channels after these")
    shape = channels, length
    return Classifier(
        space or sequence_space(shape, _n_classes(y_train, y_valid)), x_train, y_train, x_valid, y_valid, **options
    )


def table_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """For tables of numbers, rows x features, with networks of `table_space`.

    >>> import numpy as np, manyarms as ma
    >>> x = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = x[:, 0] > 0
    >>> classifier = table_classifier(x[:100], y[:100], x[100:], y[100:])
    >>> ma.tune(classifier, classifier.space, budget=10, max_steps=2, seed=0, progress=False).best_reward > 0.8
    True
    """
    (n_features,) = _extents(x_train, 0, "rows x features")
    space = space or table_space(n_features, _n_classes(y_train, y_valid))
    return Classifier(space, x_train, y_train, x_valid, y_valid, **options)


def _extents(x: Array, dimensions: int, wanted: str) -> list[int]:
    """The shape of an example, channels last; 1 where they are left out."""
    x = as_array("x_train", x)
    sizes = list(x.shape[1:]) + [1] * (dimensions + 2 - x.ndim)
    if len(sizes) != dimensions + 1 or x.ndim < max(2, dimensions + 1) or 0 in x.shape:
        raise ValueError(f"x_train must be {wanted}, got the shape {x.shape}")
    return sizes


def _check_channels(x: Array) -> None:
    shape = as_array("x_train", x).shape
    if len(shape) == 4 and shape[1] in (1, 3) and shape[3] > 4:
        found = f"got the shape {shape}; np.moveaxis(x, 1, -1) moves them"
        raise ValueError(f"channels come last: x_train must be rows x height x width x channels, {found}")


def _n_classes(y_train: Array, y_valid: Array) -> int:
    """As the largest label says, though none of that class may be among the training examples."""
    found = {"y_train": labels("y_train", y_train), "y_valid": labels("y_valid", y_valid)}
    n_labels = sum(map(len, found.values()))
    for name, y in found.items():
        if y.max() >= n_labels:
            raise ValueError(
                f"{name} must be 0, 1, 2 and so on, below the number of all labels, {n_labels}, got {y.max()}; "
                "where there are more classes than labels, give a space"
            )
    return 1 + int(max(y.max() for y in found.values()))
