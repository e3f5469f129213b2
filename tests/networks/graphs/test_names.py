"""Names of graphs and layers: any name works, as long as the names of modules are unique."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks
from manyarms.testing import check_layer

from ..spaces import SMALL_TRAINING

torch = pytest.importorskip("torch")


class Named(networks.Layer):
    """A layer under any name."""

    def __init__(self, name):
        self.name = name

    def blueprint(self, shape, settings):
        return networks.Blueprint("Softsign")


def test_graphs_and_layers_whose_modules_would_share_a_name_are_refused():
    graphs = {"a": networks.GraphSpace([Named("b_c")], dimensions=2), "a_b": networks.GraphSpace([Named("c")], dimensions=2)}
    with pytest.raises(ValueError, match="must differ when joined .*, got 'a_b_c' for graph 'a' and for graph 'a_b'"):
        networks.NetworkSpace((1, 8, 8), 3, graphs, SMALL_TRAINING)


@pytest.mark.parametrize("name", ["head", "mean", "scale", "layout", "input"])
def test_a_graph_may_have_any_name(name, tmp_path):
    graphs = {name: networks.GraphSpace([networks.Convolution()], dimensions=2, max_nodes=3)}
    space = networks.NetworkSpace((1, 8, 8), 3, graphs, SMALL_TRAINING, max_flops=100_000)
    network = space.sample(np.random.default_rng(0))
    assert networks.build(network, space)(torch.zeros(2, 1, 8, 8)).shape == (2, 3)
    assert networks.draw_network(network, space).count("<rect") >= network.n_nodes


class Whole(networks.Layer):
    """A layer that names PyTorch's class itself."""

    name = "whole"
    dimensions = (2,)
    space = ma.Space(kernel=ma.Choice(1, 3))

    def n_parameters(self, shape, settings):
        return shape[0] * (shape[0] * settings["kernel"] ** 2 + 1)

    def n_flops(self, shape, settings):
        return 2 * shape[0] ** 2 * settings["kernel"] ** 2 * shape[1] * shape[2]

    def blueprint(self, shape, settings):
        return networks.Blueprint(torch.nn.Conv2d, shape[0], shape[0], settings["kernel"], padding="same")


def test_a_class_of_pytorch_is_as_good_as_its_name():
    blueprint = Whole().blueprint((3, 8, 8), {"kernel": 3})
    assert str(blueprint) == "nn.Conv2d(3, 3, 3, padding='same')" and blueprint.custom_class is None
    check_layer(Whole())
