"""Spaces of networks that are ready to use: for images, as in the Mutant-UCB paper, for sequences and for tables."""

from __future__ import annotations

from ...spaces import Choice, Float, Space
from ..layers import Attention, AveragePool, Convolution, Dense, Dropout, Identity, MaxPool, Normalisation, Recurrent
from .graph_space import Part
from .network_space import NetworkSpace

TRAINING = Space(
    learning_rate=Float(3e-4, 3e-2, log=True),
    batch_size=Choice(32, 64, 128, 256, ordered=True),
    optimiser=Choice("sgd", "adam", "adamw", "rmsprop"),
)
"""What is searched beside the graphs: the learning rate that a cycle begins with, the batch size and the optimiser."""


def image_space(
    shape: tuple[int, int, int],
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = 50_000_000,
    training: Space = TRAINING,
) -> NetworkSpace:
    """Two graphs and a head (section 5.1 of the paper): of images, then of what the first gives, flattened.

    Args:
        shape: channels, height and width of an image.
        n_classes: of the labels.
        max_nodes: of the graph of images; the other has half as many.
        max_parameters, max_flops: limits of each network.
        training: what is searched beside the graphs.

    >>> list(image_space((3, 32, 32), 10).parts)
    ['image', 'vector']
    """
    layers = [Convolution(), MaxPool(), AveragePool(), Normalisation(), Dropout(), Identity()]
    parts = {"image": Part(layers, dimensions=2, max_nodes=max_nodes), "vector": _vectors(max(1, max_nodes // 2))}
    return NetworkSpace(shape, n_classes, parts, training, max_parameters=max_parameters, max_flops=max_flops)


def sequence_space(
    shape: tuple[int, int],
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = 50_000_000,
    training: Space = TRAINING,
) -> NetworkSpace:
    """Like `image_space`, for sequences: channels and length. Convolutions, recurrent layers and attention.

    >>> sequence_space((3, 50), 4).parts["sequence"].operations[:3]
    ('convolution', 'recurrent', 'attention')
    """
    layers = [Convolution(), Recurrent(), Attention(), MaxPool(), AveragePool(), Normalisation(), Dropout(), Identity()]
    parts = {"sequence": Part(layers, dimensions=1, max_nodes=max_nodes), "vector": _vectors(max(1, max_nodes // 2))}
    return NetworkSpace(shape, n_classes, parts, training, max_parameters=max_parameters, max_flops=max_flops)


def table_space(
    n_features: int,
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = None,
    training: Space = TRAINING,
) -> NetworkSpace:
    """One graph of dense layers and a head, for the columns of a table.

    >>> import numpy as np
    >>> space = table_space(4, 3, max_parameters=500)
    >>> network = space.sample(np.random.default_rng(0))
    >>> list(network.graphs), space.layout(network).n_parameters <= 500
    (['vector'], True)
    """
    parts = {"vector": _vectors(max_nodes)}
    return NetworkSpace((n_features,), n_classes, parts, training, max_parameters=max_parameters, max_flops=max_flops)


def _vectors(max_nodes: int) -> Part:
    return Part([Dense(), Normalisation(), Dropout(), Identity()], dimensions=0, max_nodes=max_nodes)
