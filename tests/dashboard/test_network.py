"""The network of an arm is drawn as an image with a text alternative, also if the storage comes from someone else."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from dashboards import HOSTILE, client_of, make_network_study, make_study

import manyarms as ma
from manyarms.dashboard.network import network_drawing
from manyarms.networks import Dense, GraphSpace, Layer, NetworkSpace, image_space, sequence_space, table_space
from manyarms.networks.graphs.description import restored_network_space
from manyarms.networks.layers import Blueprint

TRAINING = ma.Space(optimizer="adam")


class Softsign(Layer):
    """A layer that only this file has."""

    name = "softsign"

    def blueprint(self, shape, settings):
        return Blueprint("Softsign")


def test_an_arm_has_a_drawing_with_a_text_alternative_and_a_mutant_shows_what_changed(storage):
    make_network_study(storage)
    with client_of(storage) as client:
        arms = client.get("/api/study/1/arms?column=arm&column=parents&limit=500").json()["rows"]
        details = [client.get(f"/api/study/1/arm/{number}").json() for number in range(len(arms))]
        mutant = next(found for found in details if found["parents"])
        assert details[0]["network"].startswith("Network with") and "Changes from its parent" not in details[0]["network"]
        assert "Changes from its parent: " in mutant["network"]
        answer = client.get(f"/api/study/1/arm/{mutant['arm']}/network.svg")
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert ElementTree.fromstring(answer.text).tag.endswith("svg")
        assert client.get("/api/study/1/arm/99999/network.svg").status_code == 404


def test_other_configs_have_no_drawing(storage):
    make_study(storage, budget=8)
    with client_of(storage) as client:
        assert client.get("/api/study/1/arm/0").json()["network"] is None
        assert client.get("/api/study/1/arm/0/network.svg").status_code == 404


@pytest.mark.parametrize("space", [table_space(4, 3), image_space((3, 8, 8), 2), sequence_space((2, 16), 2)])
def test_a_space_of_built_in_layers_is_restored(space):
    assert restored_network_space(space.describe()) == space


def changed(**changes):
    return {"networks": {**table_space(4, 3).describe()["networks"], **changes}}


@pytest.mark.parametrize(
    "description",
    [
        None,
        {},
        {"networks": 3},
        {"networks": {}},
        changed(parts={}),
        changed(input_shape=[0]),
        changed(training={"float": [0, 1]}),
        changed(max_parameters=1),
        changed(parts={name: {**part.describe(), "max_nodes": 10**9} for name, part in table_space(4, 3).graphs.items()}),
        NetworkSpace((4,), 2, {"vector": GraphSpace([Dense(), Softsign()], dimensions=0)}, TRAINING).describe(),
    ],
)
def test_a_description_of_something_else_is_not_restored(description):
    assert restored_network_space(description) is None


def test_hostile_text_is_escaped_and_a_hostile_config_has_no_drawing():
    space = NetworkSpace((4,), 2, {"vector": GraphSpace([Dense()], dimensions=0)}, ma.Space(optimizer=HOSTILE))
    config, header = space.to_json(space.sample(np.random.default_rng(0))), {"space": space.describe()}
    drawing = network_drawing(header, config, config)
    assert "&lt;img" in drawing.svg and "<img" not in drawing.svg and "\x1b" not in drawing.svg
    ElementTree.fromstring(drawing.svg)
    for odd in (3, [], {}, {"graphs": {}, "training": {}}, {**config, "graphs": {"vector": None}}):
        assert network_drawing(header, odd, None) is None and network_drawing(header, config, odd) is None
    assert network_drawing(header, None, None) is None
