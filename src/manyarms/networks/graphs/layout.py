"""Shapes and costs of a network, computed from its graphs without building it.

Inputs of different shapes are made to fit without weights. Larger inputs are average-pooled to the smallest height, width or
length. For sums, inputs with fewer channels are padded with zeros; for products, with ones. Concatenation keeps all channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..layers import Layer, Shape, is_shape
from ..layers.blueprint import Blueprint
from .graph import INPUT, Graph, Node
from .graph_space import GraphSpace


class Fit(NamedTuple):
    """How one of several inputs is made to fit: pooled to these sizes, if any, and padded by this number of channels."""

    pooled: Shape | None
    padded: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A node with its layer type and shapes.

    Attributes:
        node: The node.
        layer: Its layer type.
        fits: How each of its inputs is made to fit.
        before: Shape of the combined inputs.
        after: Shape of the output.
    """

    node: Node
    layer: Layer
    fits: tuple[Fit, ...]
    before: Shape
    after: Shape

    @property
    def n_parameters(self) -> int:
        """Number of learned parameters."""
        return self.layer.n_parameters(self.before, self.node.settings)

    @property
    def n_flops(self) -> int:
        """Multiplications and additions for one example."""
        return self.layer.n_flops(self.before, self.node.settings)

    @property
    def blueprint(self) -> Blueprint:
        """How the module of the node is constructed."""
        return self.layer.blueprint(self.before, self.node.settings)


@dataclass(frozen=True, slots=True)
class Layout:
    """Shapes and costs of a network.

    Attributes:
        input_shape: Shape of one example.
        entries: Input shape of each graph.
        stages: Nodes of each graph with their shapes.
        n_features: Number of inputs of the head, which is the flattened size of the last graph's output.
        n_outputs: Number of outputs of the head.
        n_parameters: Number of learned parameters, as PyTorch counts them.
        n_flops: Multiplications and additions in convolutions and matrix products for one example, as PyTorch counts them.

    >>> from manyarms.networks import Graph, Network, Node, table_space
    >>> network = Network({"vector": Graph((Node(1, (0,), "dense", {"units": 8}),), 2)}, {})
    >>> layout = table_space(4, 3).layout(network)
    >>> layout.stages["vector"][0].after, layout.n_parameters, layout.n_flops
    ((8,), 67, 112)
    """

    input_shape: Shape
    entries: dict[str, Shape]
    stages: dict[str, tuple[Stage, ...]]
    n_features: int
    n_outputs: int
    n_parameters: int
    n_flops: int

    @property
    def all_stages(self) -> list[Stage]:
        """The stages of all graphs."""
        return [stage for stages in self.stages.values() for stage in stages]


def network_layout(graphs: Mapping[str, Graph], spaces: Mapping[str, GraphSpace], input_shape: Shape, n_outputs: int) -> Layout:
    """The layout of graphs that follow each other, with a dense head after the last one."""
    entries, stages, shape = {}, {}, input_shape
    for name, space in spaces.items():
        shape = (math.prod(shape),) if space.dimensions == 0 else shape
        entries[name] = shape
        stages[name] = graph_stages(name, graphs[name], space, shape)
        shape = stages[name][-1].after
    n_features = math.prod(shape)
    all_stages = [stage for graph in stages.values() for stage in graph]
    n_parameters = sum(stage.n_parameters for stage in all_stages) + (n_features + 1) * n_outputs
    n_flops = sum(stage.n_flops for stage in all_stages) + 2 * n_features * n_outputs
    return Layout(input_shape, entries, stages, n_features, n_outputs, n_parameters, n_flops)


def graph_stages(name: str, graph: Graph, space: GraphSpace, shape: Shape) -> tuple[Stage, ...]:
    """The nodes of a graph with their shapes.

    Args:
        name: Name of the graph, for error messages.
        graph: The graph.
        space: Its space.
        shape: Shape of its input.
    """
    shapes = {INPUT: shape}
    stages = []
    for node in graph.nodes:
        layer = space.layers[node.operation]
        fits, before = fit_shapes([shapes[source] for source in node.inputs], node.combiner)
        shapes[node.id] = after = layer.output_shape(before, node.settings)
        if after is not before and not is_shape(after, len(before)):
            raise ValueError(
                f"node {node.id} ({node.operation}) of graph {name!r}: output_shape of {layer!r} must return a tuple of "
                f"positive integers of length {len(before)} for {before}, got {after!r}"
            )
        stages.append(Stage(node, layer, fits, before, after))
    return tuple(stages)


_UNCHANGED = Fit(None, 0)


def fit_shapes(shapes: Sequence[Shape], combiner: str) -> tuple[tuple[Fit, ...], Shape]:
    """How inputs of these shapes are made to fit, and the shape of their combination.

    >>> fit_shapes([(3, 28, 28), (16, 14, 14)], "add")
    ((Fit(pooled=(14, 14), padded=13), Fit(pooled=None, padded=0)), (16, 14, 14))
    >>> fit_shapes([(3, 28, 28), (16, 14, 14)], "concatenate")[1]
    (19, 14, 14)
    """
    if len(shapes) == 1:
        return (_UNCHANGED,), shapes[0]
    sizes = tuple(map(min, zip(*(shape[1:] for shape in shapes), strict=True)))
    concatenated = combiner == "concatenate"
    channels = (sum if concatenated else max)(shape[0] for shape in shapes)
    fits = tuple(Fit(None if shape[1:] == sizes else sizes, 0 if concatenated else channels - shape[0]) for shape in shapes)
    return fits, (channels, *sizes)
