"""Graphs from JSON: valid ones are read back unchanged, and errors name the node that is wrong."""

from __future__ import annotations

import copy
import json

import pytest

from manyarms.networks import table_space
from manyarms.networks.graphs.parsing import parse_graph

from ..spaces import SPACES, samples

SPACE = SPACES["tables"].graphs["vector"]


def node(id, inputs, operation="dense", **changes):
    settings = {"dense": {"units": 8}, "dropout": {"rate": 0.5}}.get(str(operation), {})
    usual = {"combiner": "add", "activation": "relu", "settings": settings}
    return {"id": id, "inputs": inputs, "operation": operation, **usual, **changes}


def graph(*nodes, next_id=9):
    return {"nodes": list(nodes), "next_id": next_id}


WRONG = {
    "a node takes itself": (graph(node(1, [0]), node(2, [1, 2])), "node 2 (dense) of graph 'vector' is in a cycle"),
    "a cycle of two": (
        graph(node(1, [0, 2]), node(2, [1])),
        "node 1 (dense) of graph 'vector' is in a cycle: its input, node 2, depends on it",
    ),
    "a cycle of three": (
        graph(node(4, [0, 6]), node(5, [4]), node(6, [5]), node(7, [6])),
        "node 4 (dense) of graph 'vector' is in a c",
    ),
    "out of order": (
        graph(node(1, [2]), node(2, [0])),
        "node 1 (dense) of graph 'vector': its input, node 2, must come before",
    ),
    "leads nowhere": (
        graph(node(1, [0], "dropout"), node(2, [0])),
        "node 1 (dropout) of graph 'vector' is disconnected: no other node uses it",
    ),
    "from nowhere": (
        graph(node(1, [0]), node(2, [5])),
        "node 2 (dense) of graph 'vector' is disconnected: its input, node 5",
    ),
    "no inputs": (graph(node(1, [])), "node 1 (dense) of graph 'vector': inputs must be a list of one or more"),
    "inputs twice": (
        graph(node(1, [0, 0])),
        "node 1 (dense) of graph 'vector': inputs must be a list of one or more",
    ),
    "inputs unsorted": (graph(node(1, [0]), node(2, [1, 0])), "node 2 (dense) of graph 'vector': inputs must be in the order"),
    "inputs are text": (graph(node(1, ["0"])), "node 1 (dense) of graph 'vector': inputs must be a list"),
    "unknown layer": (graph(node(3, [0], "perceptron")), "node 3 (perceptron) of graph 'vector': unknown layer 'perceptron'"),
    "layer of another graph": (graph(node(3, [0], "convolution")), "unknown layer 'convolution', must be one of dense, normal"),
    "layer is a list": (
        graph(node(3, [0], operation=["dense"])),
        "node 3 (['dense']) of graph 'vector': unknown layer ['dense'], must be one of dense",
    ),
    "bad setting": (
        graph(node(1, [0], settings={"units": 1000})),
        "node 1 (dense) of graph 'vector': settings must be a config of Space(un",
    ),
    "missing setting": (graph(node(1, [0], settings={})), "node 1 (dense) of graph 'vector': settings must be a config of"),
    "bad combiner": (
        graph(node(1, [0], combiner="divide")),
        "node 1 (dense) of graph 'vector': combiner must be one of add, multi",
    ),
    "bad activation": (
        graph(node(1, [0], activation="step")),
        "node 1 (dense) of graph 'vector': activation must be one of relu",
    ),
    "the same id twice": (graph(node(1, [0]), node(1, [0])), "node 1 (dense) of graph 'vector': another node has the same id"),
    "id of the input": (graph(node(0, [0])), "id must be an integer above 0"),
    "no id": (graph({}), "node at position 0 of graph 'vector' must have the keys activation, combiner, id"),
    "no dict": (graph(3), "node at position 0 of graph 'vector' must be a dict"),
    "an unknown key": (graph(node(1, [0], color="red")), "node 1 (dense) of graph 'vector' must have the keys activation"),
    "no nodes": (graph(), "graph 'vector' must have a list of at least one node"),
    "too many nodes": (
        graph(*(node(id, [id - 1]) for id in range(1, 10)), next_id=10),
        "graph 'vector' must have at most 8 nodes, got 9",
    ),
    "nodes missing": ({}, "graph 'vector' must have the keys next_id, nodes"),
    "no graph": ([1], "graph 'vector' must be a dict with the keys next_id, nodes"),
    "an id used already": (graph(node(9, [0])), "graph 'vector': next_id must be an integer above every node's id, got 9"),
}


@pytest.mark.parametrize(("data", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_graph_is_refused_with_the_name_of_the_node(data, message):
    with pytest.raises(ValueError) as refused:
        parse_graph("vector", data, SPACE)
    assert message in str(refused.value)


def test_a_right_graph_is_read():
    found = parse_graph("vector", graph(node(4, [0]), node(2, [0, 4], "dropout")), SPACE)
    assert found.edges == [(0, 4), (0, 2), (4, 2)]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_networks_come_back_from_json_as_they_were(space):
    for network in samples(space, 30):
        for sort_keys in (False, True):  # some storages keep the order of names, some do not
            data = json.loads(json.dumps(space.to_json(network), sort_keys=sort_keys))
            assert space.from_json(data) == network


def test_a_wrong_network_is_refused():
    space = SPACES["gray images"]
    right = space.to_json(samples(space, 1)[0])
    for change, message in (
        (lambda data: data.pop("training"), "a network must be a dict with the keys graphs and training"),
        (lambda data: data["graphs"].pop("image"), "graphs must be a dict with the keys image, vector, got"),
        (lambda data: data["training"].update(learning_rate=-1), "training must be a config of Space"),
        (lambda data: data["graphs"]["image"]["nodes"][0].update(operation="?"), "node 1 (?) of graph 'image'"),
    ):
        data = copy.deepcopy(right)
        change(data)
        with pytest.raises(ValueError) as refused:
            space.from_json(data)
        assert message in str(refused.value)


@pytest.mark.parametrize("limits", [{"max_parameters": 300}, {"max_flops": 300}], ids=["parameters", "operations"])
def test_a_network_beyond_the_limits_is_refused(limits):
    space = table_space(7, 3, **limits)
    trained = {"learning_rate": 0.01, "batch_size": 32, "optimiser": "adam"}
    small, large = (
        {"graphs": {"vector": graph(node(1, [0], settings={"units": units}))}, "training": trained} for units in (8, 60)
    )
    assert space.from_json(small).n_nodes == 1
    within = f"max_parameters={space.max_parameters} and max_flops={space.max_flops}"
    with pytest.raises(ValueError) as refused:
        space.from_json(large)
    assert str(refused.value) == f"a network must be within {within}, got one with 663 parameters and 1,200 operations"
