"""The space of one graph of a network: its layer types and size limit, and random graphs made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ... import checks
from ..layers import ALL_DIMENSIONS, Layer
from .graph import ACTIVATIONS, COMBINERS, INPUT, Graph, Node, sorted_inputs

Option = TypeVar("Option")

_PREVIOUS = 0.8  # probability that the previous node is an input of a random node
_SKIP = 0.15  # probability of each other earlier node


class GraphSpace:
    """The space of one graph of a network: the layer types it may contain, and its maximum size.

    Args:
        layers: Layer types, each with a unique name.
        dimensions: 0 for a graph of vectors, 1 of sequences, 2 of images.
        max_nodes: Maximum number of layers.
        combiners: How several inputs may be combined: some of add, multiply and concatenate.
        activations: Activation functions: some of relu, leaky_relu, elu, gelu, silu, tanh, sigmoid and identity.

    >>> import numpy as np
    >>> from manyarms.networks import Dense, Dropout
    >>> space = GraphSpace([Dense(), Dropout()], dimensions=0, max_nodes=4)
    >>> [node.operation for node in space.sample(np.random.default_rng(1)).nodes]
    ['dropout', 'dense', 'dense']
    """

    def __init__(
        self,
        layers: Iterable[Layer],
        *,
        dimensions: int,
        max_nodes: int = 8,
        combiners: Sequence[str] = COMBINERS,
        activations: Sequence[str] = ACTIVATIONS,
    ) -> None:
        if not isinstance(layers, Iterable):
            raise TypeError(f"layers must be a list of objects such as Dense(), got {layers!r}")
        types = tuple(layers)
        self.dimensions = checks.whole("dimensions", dimensions)
        if self.dimensions not in ALL_DIMENSIONS:
            raise ValueError(f"dimensions must be 0 (vectors), 1 (sequences) or 2 (images), got {dimensions}")
        _check_layers(types, self.dimensions)
        self.layers = {layer.name: layer for layer in types}
        self.max_nodes = checks.whole("max_nodes", max_nodes, 1)
        self.combiners = _names("combiners", combiners, COMBINERS)
        self.activations = _names("activations", activations, ACTIVATIONS)
        self.operations = tuple(self.layers)

    def sample(self, rng: np.random.Generator) -> Graph:
        """A random graph with 1 to `max_nodes` nodes."""
        nodes: list[Node] = []
        order = [INPUT]
        for id in range(1, 2 + int(rng.random() * self.max_nodes)):
            nodes.append(self.random_node(id, random_inputs(order, rng), rng))
            order.append(id)
        return Graph(connect_unused(nodes, rng), len(order))

    def random_node(self, id: int, inputs: tuple[int, ...], rng: np.random.Generator) -> Node:
        """A random node with the given id and inputs."""
        operation = choose(self.operations, rng)
        settings = self.layers[operation].space.sample(rng)
        return Node(id, inputs, operation, settings, choose(self.combiners, rng), choose(self.activations, rng))

    def describe(self) -> dict[str, Any]:
        """The space as JSON data, used to compare spaces."""
        return {
            "layers": {name: layer.space.describe() for name, layer in self.layers.items()},
            "dimensions": self.dimensions,
            "max_nodes": self.max_nodes,
            "combiners": list(self.combiners),
            "activations": list(self.activations),
        }

    def __repr__(self) -> str:
        return f"GraphSpace([{', '.join(self.operations)}], dimensions={self.dimensions}, max_nodes={self.max_nodes})"


def random_inputs(order: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Random inputs for a node that follows the given ids: usually the previous one, sometimes earlier ones."""
    draws = rng.random(len(order)).tolist()
    chosen = tuple(id for id, u in zip(order, draws, strict=True) if u < (_PREVIOUS if id == order[-1] else _SKIP))
    return chosen or (choose(order, rng),)


def connect_unused(nodes: Sequence[Node], rng: np.random.Generator) -> tuple[Node, ...]:
    """The nodes, with every unused node made an input of a random later one."""
    order = [INPUT, *(node.id for node in nodes)]
    inputs = [set(node.inputs) for node in nodes]
    used = set().union(*inputs)
    for place, node in enumerate(nodes[:-1]):
        if node.id not in used:
            inputs[place + 1 + int(rng.random() * (len(nodes) - place - 1))].add(node.id)
    return tuple(
        node if len(sources) == len(node.inputs) else node.with_inputs(sorted_inputs(sources, order))
        for node, sources in zip(nodes, inputs, strict=True)
    )


def choose(options: Sequence[Option], rng: np.random.Generator) -> Option:
    """One of the options, with equal probabilities."""
    return options[int(rng.random() * len(options))]


def check_graph_spaces(spaces: Mapping[str, GraphSpace], dimensions: int) -> None:
    """Raise an error unless each graph can take the output of the one before it.

    Args:
        spaces: Spaces by the name of their graph.
        dimensions: Dimensions of the input of the first graph.
    """
    if not spaces:
        raise ValueError("graphs must name at least one graph, got none")
    for name, space in spaces.items():
        if not isinstance(space, GraphSpace):
            raise TypeError(f"graphs must be a dict of name to GraphSpace, got {space!r} for {name!r}")
        if not name.isidentifier():
            raise ValueError(f"the name of a graph must be a Python identifier, got {name!r}")
        if space.dimensions not in (0, dimensions):
            raise ValueError(f"graph {name!r} must have {dimensions} dimensions like its input, or 0, got {space.dimensions}")
        dimensions = space.dimensions
    _check_module_names(spaces)


def _check_module_names(spaces: Mapping[str, GraphSpace]) -> None:
    """Modules are named after their graph and layer type, and the names must be unique."""
    owners: dict[str, tuple[str, str]] = {}
    for name, space in spaces.items():
        for operation in space.operations:
            first = owners.setdefault(f"{name}_{operation}", (name, operation))
            if first != (name, operation):
                raise ValueError(
                    f"names of graphs and layers must differ when joined by an underscore, got {'_'.join(first)!r} "
                    f"for graph {first[0]!r} and for graph {name!r}"
                )


def _check_layers(layers: Sequence[Layer], dimensions: int) -> None:
    if not layers:
        raise ValueError("layers must contain at least one layer type, got none")
    for layer in layers:
        if not isinstance(layer, Layer):
            raise TypeError(f"layers must be objects such as Dense(), got {layer!r}")
        if not layer.name.isidentifier():
            raise ValueError(f"the name of a layer must be a Python identifier, got {layer.name!r}")
        if dimensions not in layer.dimensions:
            raise ValueError(
                f"layer {layer.name!r} takes inputs with {sorted(layer.dimensions)} dimensions, got a graph with {dimensions}"
            )
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"layers must have unique names, got {name!r} twice")


def _names(name: str, given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of some of {', '.join(known)}, got {given!r}")
    if not given:
        raise ValueError(f"{name} must contain at least one of {', '.join(known)}, got none")
    return tuple(dict.fromkeys(checks.one_of(name, each, known) for each in given))
