"""Predefined spaces of networks: for images, as in the Mutant-UCB paper, for sequences and for tables."""

from __future__ import annotations

from ...spaces import Choice, Float, Space
from ..layers import Attention, AveragePool, Convolution, Dense, Dropout, Identity, MaxPool, Normalization, Recurrent
from .graph_space import GraphSpace
from .network_space import NetworkSpace

TRAINING = Space(
    learning_rate=Float(3e-4, 3e-2, log=True),
    batch_size=Choice(32, 64, 128, 256, ordered=True),
    optimiser=Choice("sgd", "adam", "adamw", "rmsprop"),  # spelled as in stored studies
)
"""The default space of the training: the learning rate at the start of a cycle, the batch size and the optimizer."""


def image_space(
    shape: tuple[int, int, int],
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = 50_000_000,
    training: Space = TRAINING,
) -> NetworkSpace:
    """Networks for images: a graph of images, a graph of vectors, and a head (section 5.1 of the Mutant-UCB paper).

    Args:
        shape: Channels, height and width of an image.
        n_classes: Number of classes.
        max_nodes: Maximum number of layers of the graph of images. The graph of vectors has at most half as many.
        max_parameters: Maximum number of learned parameters of a network.
        max_flops: Maximum number of multiplications and additions for one image.
        training: Space of the hyperparameters of the training.

    >>> list(image_space((3, 32, 32), 10).graphs)
    ['image', 'vector']
    """
    layers = [Convolution(), MaxPool(), AveragePool(), Normalization(), Dropout(), Identity()]
    graphs = {
        "image": GraphSpace(layers, dimensions=2, max_nodes=max_nodes),
        "vector": _vector_graph_space(max(1, max_nodes // 2)),
    }
    return NetworkSpace(shape, n_classes, graphs, training, max_parameters=max_parameters, max_flops=max_flops)


def sequence_space(
    shape: tuple[int, int],
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = 50_000_000,
    training: Space = TRAINING,
) -> NetworkSpace:
    """Networks for sequences, with convolutions, recurrent layers and attention.

    Args:
        shape: Channels and length of a sequence.
        n_classes: Number of classes.
        max_nodes: Maximum number of layers of the graph of sequences. The graph of vectors has at most half as many.
        max_parameters, max_flops, training: See `image_space`.

    >>> sequence_space((3, 50), 4).graphs["sequence"].operations[:3]
    ('convolution', 'recurrent', 'attention')
    """
    layers = [Convolution(), Recurrent(), Attention(), MaxPool(), AveragePool(), Normalization(), Dropout(), Identity()]
    graphs = {
        "sequence": GraphSpace(layers, dimensions=1, max_nodes=max_nodes),
        "vector": _vector_graph_space(max(1, max_nodes // 2)),
    }
    return NetworkSpace(shape, n_classes, graphs, training, max_parameters=max_parameters, max_flops=max_flops)


def table_space(
    n_features: int,
    n_classes: int,
    *,
    max_nodes: int = 8,
    max_parameters: int | None = 1_000_000,
    max_flops: int | None = None,
    training: Space = TRAINING,
) -> NetworkSpace:
    """Networks for tables: a graph of dense layers and a head.

    Args:
        n_features: Number of columns.
        n_classes: Number of classes.
        max_nodes: Maximum number of layers.
        max_parameters, max_flops, training: See `image_space`.

    >>> import numpy as np
    >>> space = table_space(4, 3, max_parameters=500)
    >>> network = space.sample(np.random.default_rng(0))
    >>> list(network.graphs), space.layout(network).n_parameters <= 500
    (['vector'], True)
    """
    graphs = {"vector": _vector_graph_space(max_nodes)}
    return NetworkSpace((n_features,), n_classes, graphs, training, max_parameters=max_parameters, max_flops=max_flops)


def _vector_graph_space(max_nodes: int) -> GraphSpace:
    return GraphSpace([Dense(), Normalization(), Dropout(), Identity()], dimensions=0, max_nodes=max_nodes)
