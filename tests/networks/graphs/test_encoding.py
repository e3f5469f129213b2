"""A network as a point: what is told of it, and that forecasts learn from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import manyarms as ma
from manyarms.networks import Dense, Dropout, Graph, GraphSpace, Network, NetworkSpace, Node

from ..spaces import SPACES, samples

TRAINING = ma.Space(learning_rate=ma.Float(0.0, 1.0), batch_size=32, optimiser="adam")
GRAPH_SPACE = GraphSpace(
    [Dense(ma.Space(units=ma.Int(1, 10))), Dropout()], dimensions=0, max_nodes=4, activations=("relu", "tanh")
)
SPACE = NetworkSpace((5,), 3, {"vector": GRAPH_SPACE}, TRAINING, max_parameters=1000)
NODES = (
    Node(1, (0,), "dense", {"units": 1}, activation="tanh"),
    Node(2, (1,), "dense", {"units": 10}, activation="relu"),
    Node(3, (0, 2), "dropout", {"rate": 0.3}, "concatenate", "tanh"),
)


def network(nodes=NODES, rate=0.25):
    return Network({"vector": Graph(nodes, 4)}, {"learning_rate": rate, "batch_size": 32, "optimiser": "adam"})


def test_it_tells_the_training_the_costs_and_what_the_graphs_are_made_of():
    code, plan = SPACE.encode(network()), SPACE.layout(network())
    rate, parameters, flops, nodes, depth, branching = code[:6]
    assert rate == 0.25
    assert parameters == pytest.approx(np.log1p(plan.n_parameters) / np.log1p(1000))
    assert 0 < flops < 1
    assert (nodes, depth, branching) == (3 / 4, 1.0, 1 / 3)
    assert code[6:8] == pytest.approx([1 / 3, 2 / 3])  # relu, tanh
    assert code[8:11].tolist() == [0.0, 0.0, 1.0]  # add, multiply, concatenate
    assert code[11:13] == pytest.approx([2 / 4, 0.5])  # dense: how many, and units in the middle of their range
    assert code[13] == 1 / 4  # dropout
    assert len(code) == SPACE.dimension


def test_a_setting_of_layers_that_a_network_has_not_is_unknown():
    only_dropout = network((Node(1, (0,), "dropout", {"rate": 0.3}),))
    assert SPACE.encode(only_dropout)[11:13].tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    "other",
    [
        network(rate=0.5),
        network(NODES[:2]),
        network((replace(NODES[0], settings={"units": 5}), *NODES[1:])),
        network((replace(NODES[0], activation="relu"), *NODES[1:])),
        network((*NODES[:2], replace(NODES[2], combiner="add"))),
        network((NODES[0], replace(NODES[1], inputs=(0,)), replace(NODES[2], inputs=(1, 2)))),
    ],
    ids=["training", "nodes", "setting", "activation", "combiner", "depth"],
)
def test_what_changes_a_network_moves_its_point(other):
    assert not np.array_equal(SPACE.encode(other), SPACE.encode(network()))


def test_identities_of_nodes_do_not_matter():
    renamed = tuple(replace(node, id=node.id + 7, inputs=tuple(i and i + 7 for i in node.inputs)) for node in NODES)
    assert np.array_equal(SPACE.encode(network(renamed)), SPACE.encode(network()))


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_mutants_are_nearer_to_their_parent_than_strangers(space):
    rng = np.random.default_rng(0)
    networks = samples(space, 60)
    codes = np.array([space.encode(each) for each in networks])
    to_mutants = [
        np.abs(space.encode(space.mutate(each, rng)) - code).sum() for each, code in zip(networks, codes, strict=True)
    ]
    to_strangers = np.abs(codes[1:] - codes[:-1]).sum(axis=1)
    assert np.median(to_mutants) < 0.5 * np.median(to_strangers)


def test_the_default_strategy_learns_from_it():
    """Reward: how many dense layers a network has. With the forecast newcomers have more of them."""

    def dense_layers(surrogate: bool) -> float:
        search = ma.AdaptiveMutantUCB(SPACE, budget=200, max_steps=2, surrogate=surrogate, seed=1)
        found = []
        while (pull := search.ask()) is not None:
            found.append(sum(node.operation == "dense" for node in pull.config.graphs["vector"].nodes) / 4)
            search.tell(pull, found[-1])
        return float(np.mean(found))

    assert dense_layers(surrogate=True) > dense_layers(surrogate=False) + 0.1
