"""What changed from parent to child: all of it, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms.networks import Graph, Network, Node, changes_in_words
from manyarms.networks.graphs.differences import graph_changes

from ..spaces import SPACES, samples


def network(*nodes, next_id=9, **training):
    return Network({"vector": Graph(nodes, next_id)}, training)


DENSE = Node(1, (0,), "dense", {"units": 8}, activation="relu")
DROPOUT = Node(2, (0, 1), "dropout", {"rate": 0.5})
PARENT = network(DENSE, DROPOUT, learning_rate=0.012345)

CASES = {
    "nothing": (network(DENSE, DROPOUT, learning_rate=0.012345), []),
    "training": (network(DENSE, DROPOUT, learning_rate=0.1), ["training: learning_rate 0.0123 → 0.1"]),
    "a setting": (network(Node(1, (0,), "dense", {"units": 9}, activation="relu"), DROPOUT), ["vector: dense 1: units 8 → 9"]),
    "an activation": (network(Node(1, (0,), "dense", {"units": 8}), DROPOUT), ["vector: dense 1: relu → identity"]),
    "an operation": (
        network(DENSE, Node(2, (0, 1), "normalisation", {"over": "batch"})),
        ["vector: normalisation 2: was dropout"],
    ),
    "a combiner": (
        network(DENSE, Node(2, (0, 1), "dropout", {"rate": 0.5}, "multiply")),
        ["vector: dropout 2: add → multiply"],
    ),
    "an edge": (network(DENSE, Node(2, (1,), "dropout", {"rate": 0.5})), ["vector: edge 0 → 2 removed"]),
    "a node less": (network(DENSE), ["vector: dropout 2 removed"]),
    "a node more": (network(DENSE, DROPOUT, Node(9, (2,), "identity", {}), next_id=10), ["vector: identity 9 added"]),
}


@pytest.mark.parametrize(("child", "lines"), CASES.values(), ids=CASES)
def test_each_change_is_told_in_a_line(child, lines):
    parent = PARENT if child.training else Network(PARENT.graphs, {})
    assert changes_in_words(parent, child) == lines


def test_an_added_edge_is_the_removed_one_the_other_way_round():
    child = CASES["an edge"][0]
    assert changes_in_words(child, Network(PARENT.graphs, {})) == ["vector: edge 0 → 2 added"]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_mutant_has_changes_and_they_lead_from_parent_to_child(space):
    rng = np.random.default_rng(0)
    for parent in samples(space, 40):
        child = space.mutate(parent, rng)
        assert changes_in_words(parent, child) and not changes_in_words(parent, parent)
        for name, graph in child.graphs.items():
            found = graph_changes(parent.graphs[name], graph)
            old = {node.id for node in parent.graphs[name].nodes}
            assert old - {node.id for node in found.removed} | found.added == {node.id for node in graph.nodes}
            assert set(parent.graphs[name].edges) - found.removed_edges | found.added_edges == set(graph.edges)
