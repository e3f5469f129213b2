"""Mutations of a graph: each does what its name says, gives a valid graph, and leaves the parent as it was."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from manyarms.networks import Dense, Dropout, Graph, GraphSpace, Identity, Node
from manyarms.networks.graphs import mutations as m
from manyarms.networks.graphs.mutations import MUTATIONS, mutate_graph

from ..spaces import SPACES, check_graph

GRAPH_SPACE = SPACES["gray images"].graphs["image"]


def graphs(count=100, graph_space=GRAPH_SPACE, seed=0):
    rng = np.random.default_rng(seed)
    return [graph_space.sample(rng) for _ in range(count)]


def children(mutation, graph_space=GRAPH_SPACE):
    rng = np.random.default_rng(1)
    pairs = [(graph, mutation(graph, graph_space, rng)) for graph in graphs(graph_space=graph_space)]
    return [(graph, child) for graph, child in pairs if child is not None]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_the_child_is_valid_and_different_and_the_parent_untouched(mutation):
    rng = np.random.default_rng(1)
    n_children = 0
    for graph in graphs(200):
        before = copy.deepcopy(graph)
        child = mutation(graph, GRAPH_SPACE, rng)
        assert graph == before
        if child is not None:
            n_children += 1
            check_graph("image", child, GRAPH_SPACE)
            assert child.structure() != graph.structure()
            assert child.next_id >= graph.next_id
    assert n_children > 50


def kept(graph, child):
    return {node.id: node for node in graph.nodes}, {node.id: node for node in child.nodes}


def test_add_node_adds_one_with_an_identity_never_used_before():
    for graph, child in children(m.add_node):
        before, after = kept(graph, child)
        assert after.keys() - before.keys() == {graph.next_id} and child.next_id == graph.next_id + 1
    assert (
        m.add_node(graphs(1)[0], GraphSpace(GRAPH_SPACE.layers.values(), dimensions=2, max_nodes=1), np.random.default_rng(0))
        is None
    )


def test_a_new_node_comes_after_the_last_or_on_an_edge_which_stays_every_other_time():
    stayed = []
    for graph, child in children(m.add_node):
        place = child.order.index(graph.next_id)
        (before,) = child.nodes[place - 1].inputs
        if place == len(child.nodes):
            assert set(child.edges) == {*graph.edges, (graph.order[-1], graph.next_id)}
            continue
        after = child.order[place + 1]
        edges = {*graph.edges, (before, graph.next_id), (graph.next_id, after)}
        assert (before, after) in graph.edges and set(child.edges) in (edges, edges - {(before, after)})
        stayed.append((before, after) in child.edges)
    assert 0.35 < np.mean(stayed) < 0.65


def test_remove_node_removes_one_and_the_others_keep_what_they_are():
    places = set()
    for graph, child in children(m.remove_node):
        before, after = kept(graph, child)
        (gone,) = before.keys() - after.keys()
        places.add(len(graph.order) - graph.order.index(gone))
        assert all(
            node.operation == before[id].operation and node.settings == before[id].settings for id, node in after.items()
        )
    assert {1, 2, 3} <= places  # the last one too
    assert m.remove_node(Graph((Node(1, (0,), "identity", {}),), 2), GRAPH_SPACE, np.random.default_rng(0)) is None


def test_removing_the_last_node_leaves_no_loose_end():
    nodes = (Node(1, (0,), "identity", {}), Node(2, (0,), "identity", {}), Node(3, (1, 2), "identity", {}))
    found = [m.remove_node(Graph(nodes, 4), GRAPH_SPACE, np.random.default_rng(seed)) for seed in range(20)]
    assert [(0, 1), (0, 2), (1, 2)] in [child.edges for child in found]


def test_an_identity_is_not_used_again_after_its_node_is_gone():
    rng = np.random.default_rng(0)
    for graph in graphs(50):
        fewer = m.remove_node(graph, GRAPH_SPACE, rng)
        more = None if fewer is None else m.add_node(fewer, GRAPH_SPACE, rng)
        assert more is None or more.next_id - 1 not in {node.id for node in graph.nodes}


def test_operations_do_change_and_to_every_other_one():
    pairs = set()
    for graph, child in children(m.change_operation):
        ((before, after),) = [(a, b) for a, b in zip(graph.nodes, child.nodes, strict=True) if a != b]
        assert before.operation != after.operation and (before.id, before.inputs) == (after.id, after.inputs)
        assert GRAPH_SPACE.layers[after.operation].space.contains(after.settings)
        pairs.add((before.operation, after.operation))
    assert len(pairs) > 20  # of 30
    assert m.change_operation(graphs(1)[0], GraphSpace([Identity()], dimensions=2), np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    ("mutation", "field"),
    [(m.change_setting, "settings"), (m.change_combiner, "combiner"), (m.change_activation, "activation")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_changes_within_a_node_change_nothing_else(mutation, field):
    for graph, child in children(mutation):
        ((before, after),) = [(a, b) for a, b in zip(graph.nodes, child.nodes, strict=True) if a != b]
        assert getattr(before, field) != getattr(after, field)
        assert before.to_json() | {field: 0} == after.to_json() | {field: 0}


def test_edges_are_added_and_removed_one_at_a_time():
    for graph, child in children(m.add_edge):
        assert set(child.edges) > set(graph.edges) and len(child.edges) == len(graph.edges) + 1
    for graph, child in children(m.remove_edge):
        assert set(child.edges) < set(graph.edges) and len(child.edges) == len(graph.edges) - 1


def test_what_does_not_apply_gives_none_and_another_mutation_is_taken():
    graph_space, rng = GraphSpace([Identity()], dimensions=0, max_nodes=1, activations=("relu",)), np.random.default_rng(0)
    graph = graph_space.sample(rng)
    assert all(mutation(graph, graph_space, rng) is None for mutation in MUTATIONS if mutation is not m.add_edge)
    assert mutate_graph(graph, graph_space, rng) is None
    two = GraphSpace([Dense(), Dropout()], dimensions=0, max_nodes=1, activations=("relu",))
    operations = {mutate_graph(two.sample(rng), two, rng).nodes[0].operation for _ in range(50)}
    assert operations == {"dense", "dropout"}


def test_wrong_arguments_of_a_graph_space_are_refused():
    for layers, options, message in (
        ([], {}, "layers must contain at least one"),
        ([Dense], {}, "layers must be objects such as Dense()"),
        ([Dense(), Dropout(), Dense()], {}, "layers must have unique names, got 'dense' twice"),
        ([Dense()], {"dimensions": 2}, r"layer 'dense' takes inputs with \[0\] dimensions, got a graph with 2"),
        ([Dense()], {"activations": ["swish"]}, "activations must be one of 'relu'"),
        ([Dense()], {"combiners": []}, "combiners must contain at least one"),
        ([Dense()], {"max_nodes": 0}, "max_nodes must be at least 1"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            GraphSpace(layers, **{"dimensions": 0} | options)
    nameless = Identity()
    nameless.name = "two words"
    with pytest.raises(ValueError, match="the name of a layer must be a Python identifier"):
        GraphSpace([nameless], dimensions=0)
    assert repr(GraphSpace([Dense()], dimensions=0)) == "GraphSpace([dense], dimensions=0, max_nodes=8)"
