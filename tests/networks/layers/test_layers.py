"""Layer types: their shapes and costs are those of PyTorch's modules, and a new one takes a few lines."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks
from manyarms.networks.layers import Layer
from manyarms.testing import check_layer

torch = pytest.importorskip("torch")
LAYERS = [
    networks.Attention(),
    networks.AveragePool(),
    networks.Convolution(),
    networks.Dense(),
    networks.Dropout(),
    networks.Identity(),
    networks.MaxPool(),
    networks.Normalization(),
    networks.Recurrent(),
]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_it_keeps_the_contract_of_layers(layer):
    check_layer(layer)


def test_attention_finds_what_pytorchs_own_finds():
    torch.manual_seed(0)
    ours = networks.Attention().blueprint((8, 5), {"heads": 2, "size": 4}).build()
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    weights = ours.project.weight, ours.project.bias, ours.merge.weight, ours.merge.bias
    theirs.load_state_dict(dict(zip(theirs.state_dict(), weights, strict=True)))
    x = torch.randn(3, 8, 5)
    places = x.transpose(1, 2)
    torch.testing.assert_close(ours(x), x + theirs(places, places, places)[0].transpose(1, 2))


def test_the_ranges_of_hyper_parameters_can_be_changed_but_not_their_names():
    narrow = networks.Convolution(ma.Space(channels=ma.Int(2, 4), kernel=3, stride=1))
    assert narrow.space.sample(np.random.default_rng(0))["kernel"] == 3
    assert networks.Convolution().space.parameters["channels"] == ma.Int(4, 64, log=True)
    with pytest.raises(ValueError, match="the space of layer 'dense' must have units, got width"):
        networks.Dense(ma.Space(width=ma.Int(1, 2)))
    with pytest.raises(ValueError, match="kernel must be a choice of odd sizes"):
        networks.Convolution(ma.Space(channels=ma.Int(2, 4), kernel=ma.Choice(2, 3), stride=1))


class Gated(Layer):
    """A new type of layer: half of its channels decide how much of the others goes on."""

    name = "gated"
    space = ma.Space(axis=1)

    def output_shape(self, shape, settings):
        return (max(1, shape[0] // 2), *shape[1:])

    def blueprint(self, shape, settings):
        if shape[0] % 2:
            return networks.Blueprint("Identity") if shape[0] == 1 else networks.Blueprint(_Even)
        return networks.Blueprint("GLU", 1)


class _Even(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.glu(x[:, : x.shape[1] // 2 * 2], 1)


def test_a_layer_type_of_the_user_is_searched_like_any_other():
    graph_space = networks.GraphSpace([networks.Convolution(), Gated()], dimensions=2)
    space = networks.NetworkSpace((3, 12, 12), 4, {"image": graph_space}, networks.TRAINING, max_parameters=200_000)
    rng = np.random.default_rng(0)
    network, met = space.sample(rng), 0
    for _ in range(40):
        network = space.mutate(network, rng)
        met += any(node.operation == "gated" for node in network.graphs["image"].nodes)
        assert networks.build(network, space)(torch.zeros(2, 3, 12, 12)).shape == (2, 4)
    assert met > 10


def scaled(**changes):
    """A layer that learns a matrix for the channels of vectors, except for what is said otherwise."""
    right = {
        "name": "scaled",
        "dimensions": (0,),
        "space": ma.Space(units=4),
        "output_shape": lambda self, shape, settings: (4,),
        "n_parameters": lambda self, shape, settings: 4 * shape[0],
        "n_flops": lambda self, shape, settings: 8 * shape[0],
        "blueprint": lambda self, shape, settings: networks.Blueprint("Linear", shape[0], 4, bias=False),
    }
    return type("Scaled", (Layer,), right | changes)()


def says(value):
    return lambda self, shape, settings: value


CASE = "for the input shape (5,) with {'units': 4}"
WRONG = {
    "no layer": (3, "a layer must be an object such as Dense(), got 3"),
    "no name": (scaled(name="a layer"), "the name of a layer must be a Python identifier, got 'a layer'"),
    "dimensions": (scaled(dimensions=(3,)), "the dimensions of layer 'scaled' must be some of 0, 1 and 2, got (3,)"),
    "no shape": (
        scaled(output_shape=says((0,))),
        f"output_shape of layer 'scaled' must return a tuple of positive integers of length 1, got (0,) {CASE}",
    ),
    "another shape": (
        scaled(output_shape=says((5,))),
        f"output_shape of layer 'scaled' must be (4,), like the output of the module, got (5,) {CASE}",
    ),
    "parameters": (
        scaled(n_parameters=says(24)),
        f"n_parameters of layer 'scaled' must be 20, as counted in the module, got 24 {CASE}",
    ),
    "parameters of floats": (
        scaled(n_parameters=says(20.0)),
        f"n_parameters of layer 'scaled' must be 20, as counted in the module, got 20.0 {CASE}",
    ),
    "operations": (
        scaled(n_flops=says(20)),
        f"n_flops of layer 'scaled' must be 40, as counted in the module, got 20 {CASE}",
    ),
    "cannot be built": (
        scaled(blueprint=says(None)),
        "the blueprint of layer 'scaled' must build without an error, got AttributeError: ",
    ),
    "cannot run": (
        scaled(blueprint=says(networks.Blueprint("Linear", 3, 4))),
        "the module of layer 'scaled' must run without an error, got RuntimeError: ",
    ),
    "no tensor": (
        scaled(blueprint=says(networks.Blueprint("GRU", 5, 4))),
        f"the module of layer 'scaled' must return a tensor, got tuple {CASE}",
    ),
    "other rows": (
        scaled(blueprint=says(networks.Blueprint("Flatten", 0))),
        f"the module of layer 'scaled' must return as many rows as it gets, 2, got (10,) {CASE}",
    ),
}


@pytest.mark.parametrize(("layer", "message"), WRONG.values(), ids=WRONG)
def test_a_layer_with_a_wrong_description_is_refused(layer, message):
    with pytest.raises(AssertionError) as found:
        check_layer(layer)
    assert str(found.value).startswith(message)


def test_the_inputs_that_a_layer_is_checked_with_can_be_chosen():
    check_layer(scaled())
    check_layer(scaled(n_parameters=says(28)), shapes=[(7,)])
    with pytest.raises(ValueError, match=r"shapes must be tuples of 1 sizes for layer 'scaled', got \(3, 4\)"):
        check_layer(scaled(), shapes=[(5,), (3, 4)])


def test_a_check_leaves_the_random_numbers_of_pytorch_alone():
    before = torch.get_rng_state()
    check_layer(networks.Dense())
    assert torch.equal(torch.get_rng_state(), before)


def test_a_layer_without_a_blueprint_says_so_and_a_blueprint_can_be_written_down():
    with pytest.raises(NotImplementedError, match="layer '' has no blueprint"):
        Layer().blueprint((3,), {})
    assert str(networks.Blueprint(_Even)) == "_Even()"
    assert repr(networks.Identity()) == "Identity(Space())"
