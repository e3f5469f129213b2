"""Spaces of networks that the tests of this folder share."""

from __future__ import annotations

import numpy as np

from manyarms import Choice, Float, Space
from manyarms.networks import image_space, sequence_space, table_space
from manyarms.networks.graphs.parsing import parse_graph

GREY, COLOUR = (1, 28, 28), (3, 32, 32)
SPACES = {
    "grey images": image_space(GREY, 10),
    "colour images": image_space(COLOUR, 10),
    "sequences": sequence_space((3, 17), 4),
    "tables": table_space(7, 3),
}
SMALL_TRAINING = Space(learning_rate=Float(1e-3, 1e-2, log=True), batch_size=Choice(16, 32), optimiser=Choice("sgd", "adam"))


def samples(space, count, seed=0):
    rng = np.random.default_rng(seed)
    return [space.sample(rng) for _ in range(count)]


def check_graph(name, graph, graph_space):
    """Valid, which means that it comes back from JSON as it was."""
    assert parse_graph(name, graph.to_json(), graph_space) == graph
    assert len(graph.nodes) <= graph_space.max_nodes


def check_network(network, space):
    """Valid and within the limits."""
    for name, graph in network.graphs.items():
        check_graph(name, graph, space.graphs[name])
    assert space.contains(network)
