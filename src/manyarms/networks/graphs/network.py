"""A network as a config: its graphs, and how it is to be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .graph import Graph


@dataclass(frozen=True, slots=True)
class Network:
    """What a space of networks makes: no weights, only what is to be built and how it is to be trained.

    Args:
        graphs: by name, in the order they follow each other.
        training: learning rate, batch size, optimiser and whatever else is searched beside the graphs.

    >>> from manyarms.networks import Node
    >>> Network({"vector": Graph((Node(1, (0,), "dense", {"units": 8}),), 2)}, {"learning_rate": 0.01}).n_nodes
    1
    """

    graphs: dict[str, Graph]
    training: dict[str, Any]

    @property
    def n_nodes(self) -> int:
        """Of all graphs."""
        return sum(len(graph.nodes) for graph in self.graphs.values())

    def structure(self) -> Any:
        """What it computes and how it is trained, whatever the identities of its nodes."""
        return {name: graph.structure() for name, graph in self.graphs.items()}, self.training

    def to_json(self) -> dict[str, Any]:
        """The network as JSON data."""
        return {"graphs": {name: graph.to_json() for name, graph in self.graphs.items()}, "training": dict(self.training)}
