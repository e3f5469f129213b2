"""Crossover: the child of two graphs is valid, and its ids show whose weights it may inherit."""

from __future__ import annotations

import copy

import numpy as np

from manyarms.networks.graphs.crossover import cross_graphs, renumber

from ..spaces import SPACES, check_graph

GRAPH_SPACE = SPACES["color images"].graphs["image"]


def crossings(count=300, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        a, b = GRAPH_SPACE.sample(rng), GRAPH_SPACE.sample(rng)
        before = copy.deepcopy((a, b))
        child = cross_graphs(a, b, GRAPH_SPACE.max_nodes, rng)
        assert (a, b) == before
        yield a, b, child


def signature(node):
    return node.operation, str(node.settings), node.activation


def test_the_child_is_valid_and_has_nodes_of_both():
    from_both = 0
    for a, b, child in crossings():
        check_graph("image", child, GRAPH_SPACE)
        own, of_a, of_b = ([signature(node) for node in graph.nodes] for graph in (child, a, b))
        old = {node.id for node in a.nodes}
        assert all(signature(node) in (of_a if node.id in old else of_b) for node in child.nodes)
        assert set(own) <= {*of_a, *of_b}
        from_both += any(node.id in old for node in child.nodes)
        assert any(node.id not in old for node in child.nodes)
    assert from_both > 200  # a graph of one node is exchanged whole


def test_what_is_of_the_first_keeps_its_identity_and_what_is_of_the_second_gets_a_new_one():
    for a, b, child in crossings(seed=1):
        before = {node.id: node for node in a.nodes}
        for node in child.nodes:
            if node.id in before:
                assert (node.operation, node.settings) == (before[node.id].operation, before[node.id].settings)
            else:
                assert max(a.next_id, b.next_id) <= node.id < child.next_id


def test_connections_inside_a_stretch_stay():
    stayed = 0
    for a, _b, child in crossings(seed=2):
        common = {node.id for node in a.nodes} & {node.id for node in child.nodes}
        inner = {edge for edge in a.edges if set(edge) <= common}
        assert inner <= set(child.edges)
        stayed += len(inner)
    assert stayed > 100


def test_a_whole_graph_is_taken_over_under_new_identities():
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = GRAPH_SPACE.sample(rng), GRAPH_SPACE.sample(rng)
        child = renumber(b, a)
        check_graph("image", child, GRAPH_SPACE)
        assert child.structure() == b.structure()
        assert not {node.id for node in child.nodes} & {node.id for node in (*a.nodes, *b.nodes)}
