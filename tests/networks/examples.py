"""Spaces of networks that the tests of this folder share."""

from __future__ import annotations

import numpy as np

from manyarms import Choice, Float, Space
from manyarms.networks import image_space, sequence_space, table_space
from manyarms.networks.reading import read_graph

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


def check_graph(name, graph, part):
    """Valid, which means that it comes back from JSON as it was."""
    assert read_graph(name, graph.to_json(), part) == graph
    assert len(graph.nodes) <= part.max_nodes


def check_network(network, space):
    """Valid and within the limits."""
    for name, graph in network.graphs.items():
        check_graph(name, graph, space.parts[name])
    assert space.contains(network)


def bright_quarters(rows=120, shape=(8, 8), seed=0):
    """Grey noise with one bright quarter; the label says which."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 120, (rows, *shape)).astype(np.uint8), rng.integers(0, 4, rows)
    half = shape[0] // 2, shape[1] // 2
    for image, label in zip(x, y, strict=True):
        top, left = half[0] * (label // 2), half[1] * (label % 2)
        image[top : top + half[0], left : left + half[1]] += 100
    return x, y
