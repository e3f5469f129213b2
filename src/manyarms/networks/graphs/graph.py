"""A graph of layers: which operations it applies and how they are connected, without weights."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

INPUT = 0
"""The id of the input of a graph. Nodes are numbered from 1."""

COMBINERS = ("add", "multiply", "concatenate")
ACTIVATIONS = ("relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid", "identity")
"""All except the last are functions of torch.nn.functional."""


@dataclass(frozen=True, slots=True)
class Node:
    """One layer: combines its inputs, applies the operation, then the activation.

    Args:
        id: Identifies the node within the graph. Mutants keep the ids of their parent and inherit weights by them.
        inputs: Ids of earlier nodes or `INPUT`, in the order of the graph.
        operation: Name of a layer type.
        settings: Hyperparameters of the operation.
        combiner: How several inputs are combined into one.
        activation: Activation function, applied last.

    >>> Node(3, (0, 1), "dropout", {"rate": 0.5})
    Node(id=3, inputs=(0, 1), operation='dropout', settings={'rate': 0.5}, combiner='add', activation='identity')
    """

    id: int
    inputs: tuple[int, ...]
    operation: str
    settings: dict[str, Any]
    combiner: str = "add"
    activation: str = "identity"

    def with_inputs(self, inputs: tuple[int, ...], id: int | None = None) -> Node:
        """The node with other inputs and, optionally, another id."""
        return Node(self.id if id is None else id, inputs, self.operation, self.settings, self.combiner, self.activation)

    def to_json(self) -> dict[str, Any]:
        """The node as JSON data."""
        return {
            "id": self.id,
            "inputs": list(self.inputs),
            "operation": self.operation,
            "settings": dict(self.settings),
            "combiner": self.combiner,
            "activation": self.activation,
        }


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in the order they are computed. The inputs of a node come before it; the last node is the output.

    Args:
        nodes: The nodes. Every node leads to the last one.
        next_id: Id of the next node that is added. An id is never reused within a line of descent. Otherwise a mutant could
            inherit the weights of a different node.

    >>> graph = Graph((Node(1, (0,), "identity", {}), Node(2, (0, 1), "identity", {})), next_id=3)
    >>> graph.edges
    [(0, 1), (0, 2), (1, 2)]
    """

    nodes: tuple[Node, ...]
    next_id: int

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of ids: source and target."""
        return [(source, node.id) for node in self.nodes for source in node.inputs]

    @property
    def order(self) -> list[int]:
        """`INPUT` and the ids of the nodes, in the order they are computed."""
        return [INPUT, *(node.id for node in self.nodes)]

    def structure(self) -> list[tuple[Any, ...]]:
        """What the graph computes, independent of node ids. Graphs with equal structures compute the same function."""
        place = {id: number for number, id in enumerate(self.order)}
        return [
            (
                node.operation,
                node.settings,
                node.activation,
                node.combiner if len(node.inputs) > 1 else None,
                [place[source] for source in node.inputs],
            )
            for node in self.nodes
        ]

    def to_json(self) -> dict[str, Any]:
        """The graph as JSON data."""
        return {"nodes": [node.to_json() for node in self.nodes], "next_id": self.next_id}


def sorted_inputs(inputs: Collection[int], order: list[int]) -> tuple[int, ...]:
    """The ids without repetitions, in the order of the graph."""
    return tuple(id for id in order if id in inputs)
