"""Drawings: boxes do not overlap, arrows point down, and nothing is missing."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import manyarms as ma
from manyarms.networks import Graph, Network, Node, draw_family, draw_network
from manyarms.networks.drawing.family_tree import ancestry
from manyarms.networks.drawing.placement import place_boxes
from manyarms.networks.drawing.svg import ADDED_COLOR, CHANGED_COLOR, REMOVED_COLOR

from ..spaces import SPACES, samples

TABLES = SPACES["tables"]


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def colored(picture, color):
    return [e.text for e in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text") if e.get("fill") == color]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_boxes_do_not_overlap_and_arrows_point_down_past_other_boxes(space):
    for network in samples(space, 30):
        for graph in network.graphs.values():
            sizes = {id: (60.0 + 10 * (id % 5), 40.0 + 7 * (id % 3)) for id in graph.order}
            place = place_boxes(sizes, graph.edges)
            rooms = {
                id: (x - sizes[id][0] / 2, y - sizes[id][1] / 2, x + sizes[id][0] / 2, y + sizes[id][1] / 2)
                for id, (x, y) in place.centers.items()
            }
            assert min(room[0] for room in rooms.values()) >= 0 and max(room[2] for room in rooms.values()) <= place.width
            assert max(room[3] for room in rooms.values()) <= place.height
            for one, other in itertools.combinations(rooms.values(), 2):
                assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            for (source, target), route in place.routes.items():
                downs = [place.centers[source][1], *(y for _, y in route), place.centers[target][1]]
                assert downs == sorted(downs)
                assert not any(
                    left < x < right and top < y < bottom for x, y in route for left, top, right, bottom in rooms.values()
                )


def test_a_network_is_drawn_with_layers_shapes_and_combiners():
    space = SPACES["gray images"]
    nodes = (
        Node(1, (0,), "convolution", {"channels": 8, "kernel": 3, "stride": 2}, activation="relu"),
        Node(4, (0, 1), "identity", {}, "concatenate"),
    )
    vector = Graph((Node(1, (0,), "dense", {"units": 16}),), 2)
    network = Network(
        {"image": Graph(nodes, 5), "vector": vector}, {"learning_rate": 0.0123456, "batch_size": 32, "optimiser": "adam"}
    )
    found = texts(draw_network(network, space))
    for words in (
        "image: 1 × 28 × 28",
        "convolution 1",
        "channels 8, kernel 3, stride 2",
        "relu ▸ 8 × 14 × 14",
        "identity ▸ 9 × 14 × 14",
        "‖",
        "vector: 1764 (flattened)",
        "head",
        "16 ▸ 10",
        "learning_rate 0.0123, batch_size 32, optimiser adam",
    ):
        assert words in found
    assert draw_network(json.loads(json.dumps(network.to_json())), space, network) == draw_network(network, space, network)


def test_what_changed_is_highlighted():
    one = Node(1, (0,), "dense", {"units": 8})
    training = {"learning_rate": 0.01, "batch_size": 32, "optimiser": "adam"}
    parent = Network({"vector": Graph((one, Node(2, (0, 1), "dropout", {"rate": 0.5})), 3)}, training)
    child = Network(
        {"vector": Graph((Node(1, (0,), "dense", {"units": 9}), Node(3, (1,), "identity", {})), 4)},
        training | {"batch_size": 64},
    )
    picture = draw_network(child, TABLES, parent)
    assert colored(picture, REMOVED_COLOR) == ["vector: dropout 2 removed"]
    assert colored(picture, CHANGED_COLOR) == ["training: batch_size 32 → 64", "units 8 → 9"]
    assert "learning_rate 0.01, batch_size 64, optimiser adam" in texts(picture)
    assert picture.count(f"stroke='{ADDED_COLOR}'") == 3  # a box, and a line with its tip
    plain = draw_network(child, TABLES)
    assert not any(color in plain for color in (ADDED_COLOR, CHANGED_COLOR, REMOVED_COLOR))
    disconnected = Network({"vector": Graph((one, Node(2, (1,), "dropout", {"rate": 0.5})), 3)}, training)
    assert colored(draw_network(disconnected, TABLES, parent), REMOVED_COLOR) == ["vector: edge 0 → 2 removed"]


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_network_and_mutant_can_be_drawn(space):
    rng = np.random.default_rng(1)
    for network in samples(space, 20):
        child = space.mutate(network, rng)
        assert f"{space.layout(child).n_parameters:,} parameters" in draw_network(child, space, network)


def finished_study(strategy, **storage):
    study = ma.Study(strategy, **storage)
    study.optimize(lambda pull: -abs(np.log(TABLES.layout(pull.config).n_parameters / 1000.0)), progress=False)
    return study


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_the_family_tree_has_all_ancestors_of_the_best_arm(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    study = finished_study(ma.SteadyStateEA(TABLES, budget=60, max_steps=1, seed=0), storage=storage)
    best, arms = study.best().id, study.counts.arms
    family = ancestry(arms, best)
    assert family[-1] == best and {parent for id in family for parent in arms[id].arm.parents} == set(family[:-1])
    picture = draw_family(study, TABLES)
    found = texts(picture)
    for id in family:
        assert any(words.startswith(f"arm {id}:") for words in found)
        assert len(arms[id].arm.parents) < 2 or f"crossed with arm {arms[id].arm.parents[1]}" in found
    assert "random" in found
    study.close()
    with ma.load_study(storage) as view:
        assert draw_family(view, TABLES, arm=best) == picture


def test_the_tree_of_a_mutant_shows_what_changed():
    study = finished_study(ma.MutantUCB(TABLES, budget=40, max_steps=2, initial=4, seed=0))
    mutant = max(arm for arm, record in study.counts.arms.items() if record.arm.parents)
    picture = draw_family(study, TABLES, mutant)
    assert any("→" in words or "added" in words or "removed" in words for words in texts(picture))
    with pytest.raises(ValueError, match="arm must be the id of an arm of the study, got 999"):
        draw_family(study, TABLES, 999)
    study.close()
