"""Shapes and costs of a network, from its genotype alone: what every layer is given and gives, and what that takes.

Inputs of different shape are made to fit without weights. Extents: the larger inputs are pooled by their mean to the smallest.
Channels: the narrower inputs of a sum are padded with zeros, those of a product with ones; concatenated ones stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..layers import Layer, Shape, is_shape
from .graph import INPUT, Graph, Node
from .graph_space import Part


class Fit(NamedTuple):
    """What is done to one of several inputs: pooled to these extents, if any, and padded by so many channels."""

    pooled: Shape | None
    padded: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A node in its place.

    Attributes:
        node: the node.
        layer: its type.
        fits: what is done to each of its inputs.
        before: the shape of what they are combined to.
        after: the shape of what it gives.
    """

    node: Node
    layer: Layer
    fits: tuple[Fit, ...]
    before: Shape
    after: Shape

    @property
    def n_parameters(self) -> int:
        """How many numbers it learns."""
        return self.layer.n_parameters(self.before, self.node.settings)

    @property
    def n_flops(self) -> int:
        """Multiplications and additions for one example."""
        return self.layer.n_flops(self.before, self.node.settings)


@dataclass(frozen=True, slots=True)
class Layout:
    """All stages of a network, graph by graph.

    Attributes:
        input_shape: of one example.
        entries: the shape of what comes into each graph.
        stages: of each graph.
        n_features: what the last graph gives, flattened: the inputs of the head.
        n_outputs: of the head.
        n_parameters: numbers that the network learns, as PyTorch counts them.
        n_flops: multiplications and additions of its convolutions and matrix products for one example, as PyTorch counts them.

    >>> from manyarms.networks import Graph, Network, Node, table_space
    >>> network = Network({"vector": Graph((Node(1, (0,), "dense", {"units": 8}),), 2)}, {})
    >>> plan = table_space(4, 3).layout(network)
    >>> plan.stages["vector"][0].after, plan.n_parameters, plan.n_flops
    ((8,), 67, 112)
    """

    input_shape: Shape
    entries: dict[str, Shape]
    stages: dict[str, tuple[Stage, ...]]
    n_features: int
    n_outputs: int
    n_parameters: int
    n_flops: int


def layout(graphs: Mapping[str, Graph], parts: Mapping[str, Part], input_shape: Shape, n_outputs: int) -> Layout:
    """The stages of graphs that follow each other, and of the dense head after the last."""
    entries, stages, shape = {}, {}, input_shape
    for name, part in parts.items():
        shape = (math.prod(shape),) if part.dimensions == 0 else shape
        entries[name] = shape
        stages[name] = graph_stages(name, graphs[name], part, shape)
        shape = stages[name][-1].after
    n_features = math.prod(shape)
    everything = [stage for graph in stages.values() for stage in graph]
    n_parameters = sum(stage.n_parameters for stage in everything) + (n_features + 1) * n_outputs
    n_flops = sum(stage.n_flops for stage in everything) + 2 * n_features * n_outputs
    return Layout(input_shape, entries, stages, n_features, n_outputs, n_parameters, n_flops)


def graph_stages(name: str, graph: Graph, part: Part, shape: Shape) -> tuple[Stage, ...]:
    """The nodes of a graph in their places, for inputs of this shape; the name of the graph is for messages."""
    shapes = {INPUT: shape}
    stages = []
    for node in graph.nodes:
        layer = part.layers[node.operation]
        fits, before = fitted([shapes[source] for source in node.inputs], node.combiner)
        shapes[node.id] = after = layer.output_shape(before, node.settings)
        if after is not before and not is_shape(after, len(before)):
            raise ValueError(
                f"node {node.id} ({node.operation}) of graph {name!r}: output_shape of {layer!r} must give {len(before)} whole "
                f"sizes, each at least 1, for {before}, got {after!r}"
            )
        stages.append(Stage(node, layer, fits, before, after))
    return tuple(stages)


_AS_IT_IS = Fit(None, 0)


def fitted(shapes: Sequence[Shape], combiner: str) -> tuple[tuple[Fit, ...], Shape]:
    """How inputs of these shapes are made to fit, and the shape they are combined to.

    >>> fitted([(3, 28, 28), (16, 14, 14)], "add")
    ((Fit(pooled=(14, 14), padded=13), Fit(pooled=None, padded=0)), (16, 14, 14))
    >>> fitted([(3, 28, 28), (16, 14, 14)], "concatenate")[1]
    (19, 14, 14)
    """
    if len(shapes) == 1:
        return (_AS_IT_IS,), shapes[0]
    extents = tuple(map(min, zip(*(shape[1:] for shape in shapes), strict=True)))
    concatenated = combiner == "concatenate"
    channels = (sum if concatenated else max)(shape[0] for shape in shapes)
    fits = tuple(Fit(None if shape[1:] == extents else extents, 0 if concatenated else channels - shape[0]) for shape in shapes)
    return fits, (channels, *extents)
