"""Spaces of networks that several tests use."""

from __future__ import annotations

import numpy as np

from manyarms import Choice, Float, Space
from manyarms.networks import image_space, sequence_space, table_space
from manyarms.networks.graphs.parsing import parse_graph

GRAY, COLOR = (1, 28, 28), (3, 32, 32)
SPACES = {
    "gray images": image_space(GRAY, 10),
    "color images": image_space(COLOR, 10),
    "sequences": sequence_space((3, 17), 4),
    "tables": table_space(7, 3),
}
SMALL_TRAINING = Space(learning_rate=Float(1e-3, 1e-2, log=True), batch_size=Choice(16, 32), optimiser=Choice("sgd", "adam"))


def samples(space, count, seed=0):
    rng = np.random.default_rng(seed)
    return [space.sample(rng) for _ in range(count)]


def check_graph(name, graph, graph_space):
    """Check that a graph is valid: it can be written as JSON and read back."""
    assert parse_graph(name, graph.to_json(), graph_space) == graph
    assert len(graph.nodes) <= graph_space.max_nodes


def check_network(network, space):
    """Check that a network is valid and within the limits."""
    for name, graph in network.graphs.items():
        check_graph(name, graph, space.graphs[name])
    assert space.contains(network)
