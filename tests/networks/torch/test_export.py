"""Exported networks return the scores of the original, also in a process without this library."""

from __future__ import annotations

import importlib.util
import runpy
import subprocess
import sys
import warnings

import numpy as np
import pytest

from manyarms import networks
from manyarms.networks import (
    Blueprint,
    Graph,
    GraphSpace,
    Layer,
    Network,
    Node,
    build,
    export_model,
    exported_program,
    python_source,
)

from ..spaces import SMALL_TRAINING, SPACES, samples

torch = pytest.importorskip("torch")

from manyarms.networks.torch.export import ONNX_FILE, PROGRAM_FILE, SOURCE_FILE, WEIGHTS_FILE  # noqa: E402


def with_statistics(module):
    """The module after a forward pass in training mode, so that normalizations have running statistics."""
    module.mean.fill_(0.3)
    module.scale.fill_(1.7)
    module(torch.randn(4, *module.layout.input_shape))
    return module.eval()


def run_source(layout, place):
    """The network that the exported source defines."""
    file = place / "network.py"
    file.write_text(python_source(layout), encoding="utf-8")
    return runpy.run_path(str(file))["Network"]()


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_the_source_defines_a_network_with_the_same_scores_for_the_same_weights(space, tmp_path):
    met = set()
    for network in samples(space, 25, seed=5):
        original = with_statistics(build(network, space))
        copy = run_source(original.layout, tmp_path)
        assert copy.load_state_dict(original.state_dict()) and not copy.eval().training
        x = torch.randn(3, *space.input_shape)
        assert torch.equal(copy(x), original(x))
        met |= {(node.combiner, len(node.inputs) > 1) for graph in network.graphs.values() for node in graph.nodes}
    assert {("add", True), ("multiply", True), ("concatenate", True)} <= met


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_an_exported_program_returns_the_same_scores_for_any_number_of_rows(space):
    for network in samples(space, 2, seed=5):
        original = with_statistics(build(network, space)).train()
        program = exported_program(original).module()
        assert original.training and not original.eval().training
        for rows in (1, 5):
            x = torch.randn(rows, *space.input_shape, dtype=original.mean.dtype)
            assert torch.allclose(program(x), original(x), rtol=1e-4, atol=1e-5)


def network_of_sequences():
    nodes = (
        Node(1, (0,), "recurrent", {"cell": "lstm", "units": 8}),
        Node(2, (0,), "attention", {"heads": 2, "size": 4}, activation="gelu"),
        Node(3, (0, 1, 2), "max_pool", {"size": 2}, "multiply"),
    )
    return Network({"sequence": Graph(nodes, 4), "vector": Graph((Node(1, (0,), "dense", {"units": 9}),), 2)}, {})


def scores_in_another_process(codes, x, place):
    """The scores that each code computes for `x` in a process that cannot import this library."""
    torch.save(x, place / "x.pt")
    before = 'import sys, torch\nsys.modules["manyarms"] = None\nx, found = torch.load("x.pt", weights_only=True), []\n'
    each = "".join(f"{code}\nfound.append(scores)\n" for code in codes)
    subprocess.run([sys.executable, "-c", f"{before}{each}torch.save(found, 'scores.pt')"], cwd=place, check=True)
    return torch.load(place / "scores.pt", weights_only=True)


FROM_SOURCE = """
from network import Network
model = Network()
model.load_state_dict(torch.load("weights.pt", weights_only=True))
scores = model.eval()(x)
"""
FROM_PROGRAM = 'scores = torch.export.load("network.pt2").module()(x)'
FROM_ONNX = """
import onnxruntime
session = onnxruntime.InferenceSession("network.onnx", providers=["CPUExecutionProvider"])
scores = torch.from_numpy(session.run(["scores"], {"x": x.numpy()})[0])
"""


CODE = {"python": FROM_SOURCE, "torch": FROM_PROGRAM, "onnx": FROM_ONNX}


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_an_exported_network_runs_without_the_library(tmp_path):
    has_onnx = all(importlib.util.find_spec(name) for name in ("onnxruntime", "onnxscript"))
    formats = [name for name in CODE if name != "onnx" or has_onnx]
    model = with_statistics(build(network_of_sequences(), SPACES["sequences"]))
    export_model(model, tmp_path, formats)
    x = torch.randn(3, *model.layout.input_shape)
    found = scores_in_another_process([CODE[name] for name in formats], x, tmp_path)
    assert len(found) == len(formats)
    for scores in found:
        assert torch.allclose(scores, model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["gray images", "tables"])
def test_onnx_returns_the_same_scores(kind, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    space = SPACES[kind]
    model = with_statistics(build(samples(space, 1, seed=5)[0], space))
    with warnings.catch_warnings(action="error"):
        export_model(model, tmp_path, "onnx")
    assert [file.name for file in tmp_path.iterdir()] == [ONNX_FILE]
    x = torch.randn(3, *space.input_shape, dtype=model.mean.dtype)
    monkeypatch.chdir(tmp_path)
    names = {"torch": torch, "x": x}
    exec(FROM_ONNX, names)
    assert torch.allclose(names["scores"], model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("missing", ["onnxscript", "onnxruntime"])
def test_export_to_onnx_says_what_to_install(missing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    model = build(samples(SPACES["tables"], 1)[0], SPACES["tables"])
    with pytest.raises(ImportError, match=r'needs onnxscript and onnxruntime: pip install "manyarms\[onnx\]"'):
        export_model(model, tmp_path / "winner", ["python", "onnx"])
    assert not (tmp_path / "winner").exists()


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        ([], "formats must contain at least one of python, torch, onnx, got none"),
        ("torchscript", "formats must be one of 'python', 'torch', 'onnx', got 'torchscript'"),
        (["python", "h5"], "formats must be one of 'python', 'torch', 'onnx', got 'h5'"),
    ],
)
def test_unknown_formats_are_refused(formats, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_model(build(samples(SPACES["tables"], 1)[0], SPACES["tables"]), tmp_path, formats)


def test_the_source_takes_any_numbers_and_the_program_those_of_the_standardization(tmp_path):
    images, tables = (with_statistics(build(samples(SPACES[kind], 1)[0], SPACES[kind])) for kind in ("gray images", "tables"))
    tables.mean.fill_(1.7e9)
    for original, x in (
        (images, torch.randint(0, 256, (3, 1, 28, 28), dtype=torch.uint8)),
        (tables, 1.7e9 + torch.randn(3, 7, dtype=torch.float64)),
    ):
        copy = run_source(original.layout, tmp_path)
        copy.load_state_dict(original.state_dict())
        assert torch.equal(copy.eval()(x), original(x))
        converted = x.to(original.mean.dtype)
        assert torch.allclose(exported_program(original).module()(converted), original(x), rtol=1e-4, atol=1e-5)


def test_the_model_stays_as_it_was_and_so_does_the_generator(tmp_path):
    space = SPACES["tables"]
    model = with_statistics(build(samples(space, 1)[0], space)).train()
    before = torch.get_rng_state()
    export_model(model, tmp_path / "deep" / "winner")
    assert model.training and torch.equal(before, torch.get_rng_state())
    assert sorted(file.name for file in (tmp_path / "deep" / "winner").iterdir()) == sorted(
        [SOURCE_FILE, PROGRAM_FILE, WEIGHTS_FILE]
    )


def test_the_source_is_readable():
    space = SPACES["gray images"]
    nodes = (
        Node(1, (0,), "convolution", {"channels": 8, "kernel": 3, "stride": 2}, activation="relu"),
        Node(4, (0, 1), "normalisation", {"over": "batch"}, "add"),
    )
    network = Network({"image": Graph(nodes, 5), "vector": Graph((Node(1, (0,), "dense", {"units": 16}),), 2)}, {})
    text = python_source(space.layout(network))
    for line in (
        "        self.image_convolution_1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)  # output: 8 x 14 x 14\n",
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

    space = networks.NetworkSpace((4,), 2, {"vector": GraphSpace([Special()], dimensions=0, max_nodes=1)}, SMALL_TRAINING)
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
        assert __name__.endswith("test_export"), "not at home"
        return x


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (UsesItsFile, "source of UsesItsFile must use nothing but torch, nn, F and itself to be exported, got SLOPE"),
        (HasAParentInItsFile, "source of HasAParentInItsFile must use nothing but .*, got UsesItsFile"),
        (IsDecorated, "source of IsDecorated must use nothing but .*, got unchanged"),
        (Changes, "the exported source must return the scores of the model, got tensor"),
        (Fails, "the exported source must run by itself, got AssertionError: not at home"),
    ],
)
def test_a_module_that_needs_more_than_its_source_is_refused_and_nothing_is_written(own, message, tmp_path):
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
    """Another one that takes a row at a time."""

    def forward(self, x):
        return torch.stack(x.unbind())


class Counts(torch.nn.Module):
    """A third one."""

    def forward(self, x):
        return torch.stack([x[number] for number in range(x.shape[0])])


class Compares(torch.nn.Module):
    """One that depends on the number of rows."""

    def forward(self, x):
        return 2 * x if x.shape[0] > 3 else x


class Searches(torch.nn.Module):
    """Another one that looks at the values."""

    def forward(self, x):
        return 2 * x if 1 in (x > 1.5) else x


@pytest.mark.parametrize("custom", [Iterates, Decides, Splits, Counts, Compares, Searches])
def test_a_module_that_pytorch_cannot_export_is_refused_but_its_source_can_be_written(custom, tmp_path):
    model, place = model_of(Blueprint(custom)), tmp_path / "winner"
    with pytest.raises(ValueError, match=r'torch.export cannot export the network: \w+: .*, use .*formats="python"\)'):
        export_model(model, place)
    assert not place.exists()
    place.mkdir()
    (place / PROGRAM_FILE).write_bytes(b"of another network")
    export_model(model, place, formats="python")
    assert {file.name for file in place.iterdir()} == {SOURCE_FILE, WEIGHTS_FILE}


def test_an_error_of_pytorch_is_reported_in_one_line(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no such operation\nin many words")

    monkeypatch.setattr(torch.export, "export", fail)
    with pytest.raises(ValueError, match="cannot export the network: RuntimeError: no such operation The Python code"):
        exported_program(model_of(Blueprint("Linear", 4, 4)))


class PassesOn(torch.nn.Module):
    """One that needs the number of rows, but does nothing else with it; très simple."""

    def forward(self, x):
        return x + torch.ones(x.shape[0], 1)


def test_the_source_is_written_as_utf_8(tmp_path):
    export_model(model_of(Blueprint(PassesOn)), tmp_path)
    assert "très simple" in (tmp_path / SOURCE_FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_export_does_not_warn(space, tmp_path):
    network = network_of_sequences() if "sequence" in space.graphs else samples(space, 1, seed=5)[0]
    with warnings.catch_warnings(action="error"):
        export_model(build(network, space), tmp_path)


def test_a_module_without_source_is_named():
    namespace = {"torch": torch}
    exec("class Homeless(torch.nn.Module):\n    def forward(self, x):\n        return x", namespace)

    class Lost(Layer):
        name = "lost"

        def blueprint(self, shape, settings):
            return Blueprint(namespace["Homeless"])

    space = networks.NetworkSpace((4,), 2, {"vector": GraphSpace([Lost()], dimensions=0)}, SMALL_TRAINING)
    with pytest.raises(ValueError, match="the source of Homeless was not found"):
        python_source(space.layout(space.sample(np.random.default_rng(0))))
