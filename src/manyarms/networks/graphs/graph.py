"""The genotype of a graph of layers: what it computes, apart from any weights."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

INPUT = 0
"""The identity of what comes into a graph; its nodes have others, from 1."""

COMBINERS = ("add", "multiply", "concatenate")
ACTIVATIONS = ("relu", "leaky_relu", "elu", "gelu", "silu", "tanh", "sigmoid", "identity")
"""All but the last are functions of torch.nn.functional."""


@dataclass(frozen=True, slots=True)
class Node:
    """One layer: its inputs are combined, the operation is applied, then the activation.

    Args:
        id: its identity; mutants keep it, and inherit the node's weights by it.
        inputs: identities of earlier nodes or `INPUT`, in the order of the graph.
        operation: the name of a layer type.
        settings: the hyper-parameters of the operation.
        combiner: what makes one of several inputs.
        activation: applied last.

    >>> Node(3, (0, 1), "dropout", {"rate": 0.5})
    Node(id=3, inputs=(0, 1), operation='dropout', settings={'rate': 0.5}, combiner='add', activation='identity')
    """

    id: int
    inputs: tuple[int, ...]
    operation: str
    settings: dict[str, Any]
    combiner: str = "add"
    activation: str = "identity"

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
    """Nodes in the order they are computed: each takes earlier ones, and what the last one gives is what the graph gives.

    Args:
        nodes: every one leads to the last.
        next_id: the identity of the next node to be added. None is used twice in a line of descent, so that no mutant takes
            the weights of another node for those of its own.

    >>> graph = Graph((Node(1, (0,), "identity", {}), Node(2, (0, 1), "identity", {})), next_id=3)
    >>> graph.edges
    [(0, 1), (0, 2), (1, 2)]
    """

    nodes: tuple[Node, ...]
    next_id: int

    @property
    def edges(self) -> list[tuple[int, int]]:
        """From which node to which, by their identities."""
        return [(source, node.id) for node in self.nodes for source in node.inputs]

    @property
    def order(self) -> list[int]:
        """`INPUT` and the identities of the nodes, as they are computed."""
        return [INPUT, *(node.id for node in self.nodes)]

    def structure(self) -> list[tuple[Any, ...]]:
        """What the graph computes, whatever the identities of its nodes: graphs with equal ones compute the same."""
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
    """Each of the identities once, in the order of the graph."""
    return tuple(id for id in order if id in inputs)
