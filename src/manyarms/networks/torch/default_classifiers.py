"""Classifiers for images, sequences and tables, each with the default space for its data."""

from __future__ import annotations

from typing import Any

from ..graphs.default_spaces import image_space, sequence_space, table_space
from ..graphs.network_space import NetworkSpace
from .arrays import Array, as_array, labels
from .classifier import Classifier


def image_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """A classifier of images, with networks from `image_space`.

    Images whose channels seem to come first raise an error. `Classifier` accepts any images that fit its space.

    Args:
        x_train, y_train, x_valid, y_valid: See `Classifier`. Images are rows x height x width, optionally x channels.
        space: Space of networks to use instead.
        options: Further arguments of `Classifier`.

    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).integers(0, 256, (30, 8, 8)), np.arange(30) % 3
    >>> classifier = image_classifier(x[:20], y[:20], x[20:], y[20:], epochs=5)
    >>> classifier.space.input_shape, classifier.space.n_outputs
    ((1, 8, 8), 3)
    """
    _check_channels_last(x_train)
    height, width, channels = _example_shape(x_train, 2, "rows x height x width, optionally x channels")
    space = space or image_space((channels, height, width), _n_classes(y_train, y_valid))
    return Classifier(space, x_train, y_train, x_valid, y_valid, **options)


def sequence_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """A classifier of sequences, with networks from `sequence_space`.

    Args:
        x_train, y_train, x_valid, y_valid: See `Classifier`. Sequences are rows x length, optionally x channels.
        space: Space of networks to use instead.
        options: Further arguments of `Classifier`.

    >>> import numpy as np
    >>> x, y = np.random.default_rng(0).normal(size=(30, 17, 2)), np.arange(30) % 3
    >>> sequence_classifier(x[:20], y[:20], x[20:], y[20:]).space.input_shape
    (2, 17)
    """
    length, channels = _example_shape(x_train, 1, "rows x length, optionally x channels")
    space = space or sequence_space((channels, length), _n_classes(y_train, y_valid))
    return Classifier(space, x_train, y_train, x_valid, y_valid, **options)


def table_classifier(
    x_train: Array, y_train: Array, x_valid: Array, y_valid: Array, space: NetworkSpace | None = None, **options: Any
) -> Classifier:
    """A classifier of numeric tables, with networks from `table_space`.

    Args:
        x_train, y_train, x_valid, y_valid: See `Classifier`. Tables are rows x features.
        space: Space of networks to use instead.
        options: Further arguments of `Classifier`.

    >>> import numpy as np, manyarms as ma
    >>> x = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = x[:, 0] > 0
    >>> classifier = table_classifier(x[:100], y[:100], x[100:], y[100:])
    >>> with ma.tune(classifier, classifier.space, budget=10, max_steps=2, seed=0, progress=False) as study:
    ...     study.best_reward > 0.8
    True
    """
    (n_features,) = _example_shape(x_train, 0, "rows x features")
    space = space or table_space(n_features, _n_classes(y_train, y_valid))
    return Classifier(space, x_train, y_train, x_valid, y_valid, **options)


def _example_shape(x: Array, dimensions: int, wanted: str) -> list[int]:
    """Shape of one example, channels last; 1 channel if they are omitted."""
    x = as_array("x_train", x)
    sizes = list(x.shape[1:]) + [1] * (dimensions + 2 - x.ndim)
    if len(sizes) != dimensions + 1 or x.ndim < max(2, dimensions + 1) or 0 in x.shape:
        raise ValueError(f"x_train must be {wanted}, got shape {x.shape}")
    return sizes


def _check_channels_last(x: Array) -> None:
    shape = as_array("x_train", x).shape
    if len(shape) == 4 and shape[1] in (1, 3) and shape[3] > 4:
        raise ValueError(
            f"x_train must be rows x height x width x channels, got shape {shape}; "
            "move the channels to the end with np.moveaxis(x, 1, -1)"
        )


def _n_classes(y_train: Array, y_valid: Array) -> int:
    """Number of classes: the largest label of either data set, plus 1."""
    found = {"y_train": labels("y_train", y_train), "y_valid": labels("y_valid", y_valid)}
    n_labels = sum(map(len, found.values()))
    for name, y in found.items():
        if y.max() >= n_labels:
            raise ValueError(
                f"{name} must be 0, 1, 2 and so on, below the total number of labels, {n_labels}, got {y.max()}; "
                "if there are more classes than labels, pass a space"
            )
    return 1 + int(max(y.max() for y in found.values()))
