"""Exported networks: TorchScript and source text that give what the original gives, without this library."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from manyarms import networks
from manyarms.networks import Blueprint, Graph, Layer, Network, Node, Part, build, export_model, python_source, torchscript

from ..spaces import SMALL_TRAINING, SPACES, samples

torch = pytest.importorskip("torch")

from manyarms.networks.torch.export import SCRIPT, SOURCE, WEIGHTS  # noqa: E402


def touched(module):
    """The module after a little training, so that its normalisations have seen something."""
    module.mean.fill_(0.3)
    module.scale.fill_(1.7)
    module(torch.randn(4, *module.layout.input_shape))
    return module.eval()


def written(layout, place):
    """A network of the exported text."""
    file = place / "network.py"
    file.write_text(python_source(layout), encoding="utf-8")
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


@pytest.mark.parametrize("kind", ["tables", "grey images"])
def test_what_is_exported_takes_the_numbers_that_the_original_takes(kind, tmp_path):
    space = SPACES[kind]
    original = touched(build(samples(space, 1)[0], space))
    x = torch.randint(0, 256, (3, *space.input_shape), dtype=torch.uint8)
    if kind == "tables":
        original.mean.fill_(1.7e9)
        x = 1.7e9 + torch.randn(3, 7, dtype=torch.float64)
    copy = written(original.layout, tmp_path)
    copy.load_state_dict(original.state_dict())
    assert torch.equal(copy.eval()(x), original(x))
    assert torch.allclose(torchscript(original)(x), original(x), rtol=1e-4, atol=1e-5)


def test_the_model_stays_as_it_was_and_so_does_the_generator(tmp_path):
    space = SPACES["tables"]
    model = touched(build(samples(space, 1)[0], space)).train()
    before = torch.get_rng_state()
    export_model(model, tmp_path / "deep" / "winner")
    assert model.training and torch.equal(before, torch.get_rng_state())
    assert sorted(file.name for file in (tmp_path / "deep" / "winner").iterdir()) == sorted([SOURCE, SCRIPT, WEIGHTS])


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


def model_of(blueprint):
    """A network of one layer, made of this."""

    class Special(Layer):
        name = "special"

        def blueprint(self, shape, settings):
            return blueprint

    space = networks.NetworkSpace((4,), 2, {"vector": Part([Special()], dimensions=0, max_nodes=1)}, SMALL_TRAINING)
    return build(space.sample(np.random.default_rng(0)), space)


def test_numbers_of_numpy_are_written_as_plain_ones(tmp_path):
    blueprint = Blueprint("Linear", np.int64(4), 4, bias=np.bool_(True))
    assert str(blueprint) == "nn.Linear(4, 4, bias=True)"
    assert str(Blueprint("Unflatten", 1, (np.int64(2), np.int32(2)))) == "nn.Unflatten(1, (2, 2))"
    assert str(Blueprint("Dropout", np.float64(0.5))) == "nn.Dropout(0.5)"
    export_model(model_of(blueprint), tmp_path)


SLOPE = 2.0


class UsesItsFile(torch.nn.Module):
    """A module that cannot live elsewhere."""

    def forward(self, x):
        return x * SLOPE


class HasAParentInItsFile(UsesItsFile):
    """Another one."""


def unchanged(own):
    return own


@unchanged
class IsDecorated(torch.nn.Identity):
    """A third."""


class Changes(torch.nn.Module):
    """One that is not what its text says."""

    def forward(self, x):
        return x


Changes.forward = lambda self, x: x + 1


class Fails(torch.nn.Module):
    """One that runs where it is, and nowhere else."""

    def forward(self, x):
        assert __name__.endswith("test_exporting"), "not at home"
        return x


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (UsesItsFile, "source text of UsesItsFile must use nothing but torch, nn, F and itself to be exported, got SLOPE"),
        (HasAParentInItsFile, "source text of HasAParentInItsFile must use nothing but .*, got UsesItsFile"),
        (IsDecorated, "source text of IsDecorated must use nothing but .*, got unchanged"),
        (Changes, "the exported source text must give the model's scores, got tensor"),
        (Fails, "the exported source text must run by itself, got AssertionError: not at home"),
    ],
)
def test_a_module_that_needs_more_than_its_text_is_refused_and_nothing_is_written(own, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_model(model_of(Blueprint(own)), tmp_path / "winner")
    assert not (tmp_path / "winner").exists()


class Iterates(torch.nn.Module):
    """One that takes a row at a time."""

    def forward(self, x):
        return torch.stack([row + 1 for row in x])


class Decides(torch.nn.Module):
    """One that looks at the values."""

    def forward(self, x):
        return x if x.sum() > 0 else -x


class Splits(torch.nn.Module):
    """One that takes a row at a time, which PyTorch does not warn of."""

    def forward(self, x):
        return torch.stack(x.unbind())


class Counts(torch.nn.Module):
    """Another one."""

    def forward(self, x):
        return torch.stack([x[number] for number in range(x.shape[0])])


class Searches(torch.nn.Module):
    """One that looks at the values, which PyTorch does not warn of."""

    def forward(self, x):
        return 2 * x if 1 in (x > 1.5) else x


@pytest.mark.parametrize(
    ("own", "found"),
    [
        (Iterates, r"'return torch.stack\(\[row \+ 1 for row in x\]\)' in .*test_exporting.py, line \d+"),
        (Decides, r"'return x if x.sum\(\) > 0 else -x' in .*test_exporting.py, line \d+"),
        (Splits, "RuntimeError: Expected 2 elements in a list but found 4 for 4 rows"),
        (Counts, "other scores for 4 rows"),
        (Searches, "other scores for 3 rows"),
    ],
)
def test_a_module_that_cannot_be_traced_is_refused_but_its_text_can_be_written(own, found, tmp_path):
    model, place = model_of(Blueprint(own)), tmp_path / "winner"
    with pytest.raises(ValueError, match=rf"the Python code of a module must not depend on .*, got {found}; .*script=False"):
        export_model(model, place)
    assert not place.exists()
    place.mkdir()
    (place / SCRIPT).write_bytes(b"of another network")
    export_model(model, place, script=False)
    assert {file.name for file in place.iterdir()} == {SOURCE, WEIGHTS}


def test_what_pytorch_fails_to_trace_is_refused_in_a_line(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no such operation\nin many words")

    monkeypatch.setattr(torch.jit, "trace", fail)
    with pytest.raises(ValueError, match="got RuntimeError: no such operation; .*script=False"):
        torchscript(model_of(Blueprint("Linear", 4, 4)))


class PassesOn(torch.nn.Module):
    """One that needs the number of rows, but does nothing else with it; très simple."""

    def forward(self, x):
        return x + torch.ones(x.shape[0], 1)


def test_text_beyond_ascii_is_written_whatever_the_locale(tmp_path, monkeypatch):
    write = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda self, text, encoding="ascii": write(self, text, encoding))
    export_model(model_of(Blueprint(PassesOn)), tmp_path)
    assert "très simple" in (tmp_path / SOURCE).read_text(encoding="utf-8")


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_export_does_not_warn(space, tmp_path):
    for network in samples(space, 4, seed=5):
        with warnings.catch_warnings(action="error"):
            export_model(build(network, space), tmp_path)


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
