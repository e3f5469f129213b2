"""A network as a point of the unit cube: its features, from which strategies predict its reward."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ...spaces import Space
from ..layers import Layer
from .graph import INPUT, Graph, Node
from .graph_space import GraphSpace
from .network import Network

Cost = tuple[int, int | None]
"""Number of parameters or operations, and its limit."""

_UNUSED = 0.5  # mean setting of a layer type that does not occur in the graph
_LARGE = 1e9  # scale of costs without a limit


def encode_network(network: Network, spaces: Mapping[str, GraphSpace], training: Space, costs: Sequence[Cost]) -> list[float]:
    """Features between 0 and 1: the training, the costs, and the size, depth, branching and layers of each graph.

    Different networks can have the same features, because the positions of nodes are not encoded.

    Args:
        network: The network.
        spaces: Space of each graph, by name.
        training: Space of the hyperparameters of the training.
        costs: Costs of the network.
    """
    values = [float(u) for u in training.encode(network.training)]
    values += [min(1.0, math.log1p(cost) / math.log1p(limit or _LARGE)) for cost, limit in costs]
    for name, space in spaces.items():
        values += _graph_features(network.graphs[name], space)
    return values


def n_features(spaces: Mapping[str, GraphSpace], training: Space, n_costs: int) -> int:
    """Number of features of a network."""
    per_graph = (
        3 + len(space.activations) + len(space.combiners) + sum(1 + layer.space.dimension for layer in space.layers.values())
        for space in spaces.values()
    )
    return training.dimension + n_costs + sum(per_graph)


def _graph_features(graph: Graph, space: GraphSpace) -> Iterator[float]:
    nodes = graph.nodes
    yield len(nodes) / space.max_nodes
    yield _depth(graph) / len(nodes)
    yield sum(len(node.inputs) > 1 for node in nodes) / len(nodes)
    yield from _fractions([node.activation for node in nodes], space.activations)
    yield from _fractions([node.combiner for node in nodes if len(node.inputs) > 1], space.combiners)
    for name, layer in space.layers.items():
        same_type = [node for node in nodes if node.operation == name]
        yield len(same_type) / space.max_nodes
        yield from _mean_settings(same_type, layer)


def _depth(graph: Graph) -> int:
    """Number of nodes on the longest path."""
    depths = {INPUT: 0}
    for node in graph.nodes:
        depths[node.id] = 1 + max(depths[source] for source in node.inputs)
    return max(depths.values())


def _fractions(values: Sequence[str], options: Sequence[str]) -> list[float]:
    """Fraction of the values that equal each option."""
    return [values.count(option) / len(values) if values else 0.0 for option in options]


def _mean_settings(nodes: Sequence[Node], layer: Layer) -> list[float]:
    """Mean encoded settings of nodes of one layer type."""
    codes = [layer.space.encode(node.settings) for node in nodes]
    return [sum(column) / len(codes) for column in zip(*codes, strict=True)] if codes else [_UNUSED] * layer.space.dimension
