"""What one graph of a network may be made of, and random graphs of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ... import checks
from ..layers import EVERY, Layer
from .graph import ACTIVATIONS, COMBINERS, INPUT, Graph, Node, sorted_inputs

Option = TypeVar("Option")

_FOLLOWS = 0.8  # how often a random node takes the one before it
_SKIPS = 0.15  # how often it takes another earlier one, each


class Part:
    """One graph of a network: its layers, and how many at most.

    Args:
        layers: the types of layers, all with names of their own.
        dimensions: 0 if the graph is of vectors, 1 of sequences, 2 of images.
        max_nodes: the most layers of the graph.
        combiners: what can make one of several inputs; some of add, multiply and concatenate.
        activations: what can follow a layer; some of relu, leaky_relu, elu, gelu, silu, tanh, sigmoid and identity.

    >>> import numpy as np
    >>> from manyarms.networks import Dense, Dropout
    >>> part = Part([Dense(), Dropout()], dimensions=0, max_nodes=4)
    >>> [node.operation for node in part.sample(np.random.default_rng(1)).nodes]
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
        if self.dimensions not in EVERY:
            raise ValueError(f"dimensions must be 0 (vectors), 1 (sequences) or 2 (images), got {dimensions}")
        _check_layers(types, self.dimensions)
        self.layers = {layer.name: layer for layer in types}
        self.max_nodes = checks.whole("max_nodes", max_nodes, 1)
        self.combiners = _names("combiners", combiners, COMBINERS)
        self.activations = _names("activations", activations, ACTIVATIONS)
        self.operations = tuple(self.layers)

    def sample(self, rng: np.random.Generator) -> Graph:
        """A random graph of one to `max_nodes` nodes."""
        nodes: list[Node] = []
        order = [INPUT]
        for id in range(1, 2 + int(rng.random() * self.max_nodes)):
            nodes.append(self.node(id, random_inputs(order, rng), rng))
            order.append(id)
        return Graph(leading_on(nodes, rng), len(order))

    def node(self, id: int, inputs: tuple[int, ...], rng: np.random.Generator) -> Node:
        """A random node with these inputs."""
        operation = any_of(self.operations, rng)
        settings = self.layers[operation].space.sample(rng)
        return Node(id, inputs, operation, settings, any_of(self.combiners, rng), any_of(self.activations, rng))

    def describe(self) -> dict[str, Any]:
        """The part as JSON, to tell it from others."""
        return {
            "layers": {name: layer.space.describe() for name, layer in self.layers.items()},
            "dimensions": self.dimensions,
            "max_nodes": self.max_nodes,
            "combiners": list(self.combiners),
            "activations": list(self.activations),
        }

    def __repr__(self) -> str:
        return f"Part([{', '.join(self.operations)}], dimensions={self.dimensions}, max_nodes={self.max_nodes})"


def random_inputs(order: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """For a node after these: mostly the one before it, now and then earlier ones, at least one."""
    draws = rng.random(len(order)).tolist()
    chosen = tuple(id for id, u in zip(order, draws, strict=True) if u < (_FOLLOWS if id == order[-1] else _SKIPS))
    return chosen or (any_of(order, rng),)


def leading_on(nodes: Sequence[Node], rng: np.random.Generator) -> tuple[Node, ...]:
    """The nodes, each that led nowhere made an input of a random later one."""
    order = [INPUT, *(node.id for node in nodes)]
    inputs = [set(node.inputs) for node in nodes]
    used = set().union(*inputs)
    for place, node in enumerate(nodes[:-1]):
        if node.id not in used:
            inputs[place + 1 + int(rng.random() * (len(nodes) - place - 1))].add(node.id)
    return tuple(
        node if len(taken) == len(node.inputs) else rewired(node, sorted_inputs(taken, order))
        for node, taken in zip(nodes, inputs, strict=True)
    )


def rewired(node: Node, inputs: tuple[int, ...], id: int | None = None) -> Node:
    """The node with other inputs and, if given, under another identity."""
    return Node(node.id if id is None else id, inputs, node.operation, node.settings, node.combiner, node.activation)


def any_of(options: Sequence[Option], rng: np.random.Generator) -> Option:
    """One of the options, each as likely as another."""
    return options[int(rng.random() * len(options))]


def check_parts(parts: Mapping[str, Part], dimensions: int) -> None:
    """Refuse parts that cannot follow each other, the first given inputs of so many dimensions."""
    if not parts:
        raise ValueError("parts must name at least one graph, got none")
    for name, part in parts.items():
        if not isinstance(part, Part):
            raise TypeError(f"parts must be a dict of name to Part, got {part!r} for {name!r}")
        if not name.isidentifier():
            raise ValueError(f"the name of a part must be a Python name, got {name!r}")
        if part.dimensions not in (0, dimensions):
            raise ValueError(
                f"part {name!r} must have {dimensions} dimensions like what it is given, or 0; got {part.dimensions}"
            )
        dimensions = part.dimensions
    _check_joined_names(parts)


def _check_joined_names(parts: Mapping[str, Part]) -> None:
    """Modules are named after their graph and layer, and no two may share one."""
    owners: dict[str, tuple[str, str]] = {}
    for name, part in parts.items():
        for operation in part.operations:
            first = owners.setdefault(f"{name}_{operation}", (name, operation))
            if first != (name, operation):
                raise ValueError(
                    f"parts and layers must have names that differ when joined, got {'_'.join(first)!r} of part {first[0]!r} "
                    f"and of part {name!r}"
                )


def _check_layers(layers: Sequence[Layer], dimensions: int) -> None:
    if not layers:
        raise ValueError("layers must name at least one type of layer, got none")
    for layer in layers:
        if not isinstance(layer, Layer):
            raise TypeError(f"layers must be objects such as Dense(), got {layer!r}")
        if not layer.name.isidentifier():
            raise ValueError(f"the name of a layer must be a Python name, got {layer.name!r}")
        if dimensions not in layer.dimensions:
            raise ValueError(f"layer {layer.name!r} takes inputs of {sorted(layer.dimensions)} dimensions, got {dimensions}")
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"layers must have names of their own, got {name!r} twice")


def _names(name: str, given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of some of {', '.join(known)}, got {given!r}")
    if not given:
        raise ValueError(f"{name} must name at least one of {', '.join(known)}, got none")
    return tuple(dict.fromkeys(checks.one_of(name, each, known) for each in given))
