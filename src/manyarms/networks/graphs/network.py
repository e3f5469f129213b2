"""A network as a config: its graphs and the hyperparameters of its training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .graph import Graph


@dataclass(frozen=True, slots=True)
class Network:
    """A config of a `NetworkSpace`: what to build and how to train it, without weights.

    Args:
        graphs: Graphs by name. Each takes the output of the one before it.
        training: Learning rate, batch size, optimizer and other hyperparameters of the training.

    >>> from manyarms.networks import Node
    >>> Network({"vector": Graph((Node(1, (0,), "dense", {"units": 8}),), 2)}, {"learning_rate": 0.01}).n_nodes
    1
    """

    graphs: dict[str, Graph]
    training: dict[str, Any]

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return sum(len(graph.nodes) for graph in self.graphs.values())

    def structure(self) -> Any:
        """What the network computes and how it is trained, independent of node ids."""
        return {name: graph.structure() for name, graph in self.graphs.items()}, self.training

    def to_json(self) -> dict[str, Any]:
        """The network as JSON data."""
        return {"graphs": {name: graph.to_json() for name, graph in self.graphs.items()}, "training": dict(self.training)}
