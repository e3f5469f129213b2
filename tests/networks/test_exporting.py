"""Exported networks: TorchScript and source text that give what the original gives, without this library."""

from __future__ import annotations

import runpy
import subprocess
import sys

import numpy as np
import pytest

from manyarms import networks
from manyarms.networks import Blueprint, Graph, Layer, Network, Node, Part, build, export_model, python_source, torchscript

from .examples import SMALL_TRAINING, SPACES, samples

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")


def touched(module):
    """The module after a little training, so that its normalisations have seen something."""
    module.mean.fill_(0.3)
    module.scale.fill_(1.7)
    module(torch.randn(4, *module.layout.input_shape))
    return module.eval()


def written(layout, place):
    """A network of the exported text."""
    file = place / "network.py"
    file.write_text(python_source(layout))
    return runpy.run_path(str(file))["Network"]()


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_the_source_text_makes_a_network_that_gives_the_same_with_the_same_weights(space, tmp_path):
    met = set()
    for network in samples(space, 25, seed=5):
        original = touched(build(network, space))
        copy = written(original.layout, tmp_path)
        assert copy.load_state_dict(original.state_dict()) and not copy.eval().training
        x = torch.randn(3, *space.input_shape)
        assert torch.equal(copy(x), original(x))
        met |= {(node.combiner, len(node.inputs) > 1) for graph in network.graphs.values() for node in graph.nodes}
    assert {("add", True), ("multiply", True), ("concatenate", True)} <= met


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_torchscript_gives_the_same_for_any_number_of_rows(space):
    for network in samples(space, 6, seed=5):
        original = touched(build(network, space)).train()
        script = torchscript(original)
        assert original.training and not original.eval().training
        for rows in (1, 5):
            x = torch.randn(rows, *space.input_shape)
            assert torch.allclose(script(x), original(x), rtol=1e-4, atol=1e-5)


def test_what_is_exported_runs_without_the_library(tmp_path):
    space = SPACES["sequences"]
    nodes = (
        Node(1, (0,), "recurrent", {"cell": "lstm", "units": 8}),
        Node(2, (0,), "attention", {"heads": 2, "size": 4}, activation="gelu"),
        Node(3, (0, 1, 2), "max_pool", {"size": 2}, "multiply"),
    )
    network = Network({"sequence": Graph(nodes, 4), "vector": Graph((Node(1, (0,), "dense", {"units": 9}),), 2)}, {})
    model = touched(build(network, space))
    export_model(model, tmp_path / "winner")
    x = torch.randn(3, *space.input_shape)
    torch.save(x, tmp_path / "x.pt")
    code = """
import sys, torch
sys.modules["manyarms"] = None
from network import Network
model = Network()
model.load_state_dict(torch.load("weights.pt", weights_only=True))
x = torch.load("../x.pt", weights_only=True)
torch.save([model.eval()(x), torch.jit.load("network.torchscript.pt")(x)], "../found.pt")
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "winner", check=True)
    for found in torch.load(tmp_path / "found.pt", weights_only=True):
        assert torch.allclose(found, model(x), atol=1e-6)


def test_the_text_is_readable():
    space = SPACES["grey images"]
    nodes = (
        Node(1, (0,), "convolution", {"channels": 8, "kernel": 3, "stride": 2}, activation="relu"),
        Node(4, (0, 1), "normalisation", {"over": "batch"}, "add"),
    )
    network = Network({"image": Graph(nodes, 5), "vector": Graph((Node(1, (0,), "dense", {"units": 16}),), 2)}, {})
    text = python_source(space.layout(network))
    for line in (
        "        self.image_convolution_1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)  # gives 8 x 14 x 14\n",
        "        image_1 = F.relu(self.image_convolution_1(image_0))\n",
        "        image_4 = F.pad(F.adaptive_avg_pool2d(image_0, (14, 14)), [0, 0, 0, 0, 0, 7], value=0.0) + image_1\n",
        "        vector_0 = x.flatten(1)\n",
    ):
        assert line in text
    assert "manyarms" not in text


def test_a_module_without_source_text_is_named():
    namespace = {"torch": torch}
    exec("class Homeless(torch.nn.Module):\n    def forward(self, x):\n        return x", namespace)

    class Lost(Layer):
        name = "lost"

        def blueprint(self, shape, settings):
            return Blueprint(namespace["Homeless"])

    space = networks.NetworkSpace((4,), 2, {"vector": Part([Lost()], dimensions=0)}, SMALL_TRAINING)
    with pytest.raises(ValueError, match="the source text of Homeless was not found"):
        python_source(space.layout(space.sample(np.random.default_rng(0))))
