"""A network as a point of the unit cube: what it is made of, for forecasts of what it is worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ...spaces import Space
from ..layers import Layer
from .graph import INPUT, Graph, Node
from .graph_space import Part
from .network import Network

Cost = tuple[int, int | None]
"""Parameters or operations, and the most there may be."""

_UNKNOWN = 0.5  # a coordinate that does not apply
_LARGE = 1e9  # parameters or operations of a network that has no limit


def features(network: Network, parts: Mapping[str, Part], training: Space, costs: Sequence[Cost]) -> list[float]:
    """Its training, what it costs, and of each graph: how deep it is, how much it branches, and what its nodes are.

    Different networks may have the same features: where nodes stand in a graph is not told.

    Args:
        network: the network.
        parts: what its graphs are made of.
        training: the space of its training.
        costs: what it costs.
    """
    values = [float(u) for u in training.encode(network.training)]
    values += [min(1.0, math.log1p(cost) / math.log1p(most or _LARGE)) for cost, most in costs]
    for name, part in parts.items():
        values += _of_graph(network.graphs[name], part)
    return values


def n_features(parts: Mapping[str, Part], training: Space, n_costs: int) -> int:
    """How many features a network has."""
    per_part = (
        3 + len(part.activations) + len(part.combiners) + sum(1 + layer.space.dimension for layer in part.layers.values())
        for part in parts.values()
    )
    return training.dimension + n_costs + sum(per_part)


def _of_graph(graph: Graph, part: Part) -> Iterator[float]:
    """Numbers from 0 to 1."""
    nodes = graph.nodes
    yield len(nodes) / part.max_nodes
    yield _depth(graph) / len(nodes)
    yield sum(len(node.inputs) > 1 for node in nodes) / len(nodes)
    yield from _shares([node.activation for node in nodes], part.activations)
    yield from _shares([node.combiner for node in nodes if len(node.inputs) > 1], part.combiners)
    for name, layer in part.layers.items():
        alike = [node for node in nodes if node.operation == name]
        yield len(alike) / part.max_nodes
        yield from _mean_settings(alike, layer)


def _depth(graph: Graph) -> int:
    """The nodes of the longest way through."""
    depths = {INPUT: 0}
    for node in graph.nodes:
        depths[node.id] = 1 + max(depths[source] for source in node.inputs)
    return max(depths.values())


def _shares(found: Sequence[str], options: Sequence[str]) -> list[float]:
    """How much of what was found each option is."""
    return [found.count(option) / len(found) if found else 0.0 for option in options]


def _mean_settings(nodes: Sequence[Node], layer: Layer) -> list[float]:
    """The means of the settings of nodes of one type."""
    codes = [layer.space.encode(node.settings) for node in nodes]
    return [sum(column) / len(codes) for column in zip(*codes, strict=True)] if codes else [_UNKNOWN] * layer.space.dimension
