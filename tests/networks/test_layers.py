"""Layer types: their shapes and costs are those of PyTorch's modules, and a new one takes a few lines."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks
from manyarms.networks.layers import Layer

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration")

from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

LAYERS = [
    networks.Attention(),
    networks.AveragePool(),
    networks.Convolution(),
    networks.Dense(),
    networks.Dropout(),
    networks.Identity(),
    networks.MaxPool(),
    networks.Normalisation(),
    networks.Recurrent(),
]
SHAPES = [(5,), (1,), (3, 17), (4, 1), (3, 28, 28), (2, 1, 7), (6, 1, 1)]
CASES = [(layer, shape) for layer in LAYERS for shape in SHAPES if len(shape) - 1 in layer.dimensions]


def measured(module, shape):
    """The shape it gives, its parameters, and its operations for one example, as PyTorch counts them."""
    with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:  # whose LSTM is not counted
        given = module.eval()(torch.randn(1, *shape))
    return tuple(given.shape[1:]), sum(weight.numel() for weight in module.parameters()), counter.get_total_flops()


@pytest.mark.parametrize(("layer", "shape"), CASES, ids=lambda value: getattr(value, "name", str(value)))
def test_shapes_and_costs_are_those_of_the_module(layer, shape):
    rng = np.random.default_rng(0)
    for _ in range(8):
        settings = layer.space.sample(rng)
        said = layer.output_shape(shape, settings), layer.n_parameters(shape, settings), layer.n_flops(shape, settings)
        assert measured(layer.blueprint(shape, settings).build(), shape) == said, settings


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
    part = networks.Part([networks.Convolution(), Gated()], dimensions=2)
    space = networks.NetworkSpace((3, 12, 12), 4, {"image": part}, networks.TRAINING, max_parameters=200_000)
    rng = np.random.default_rng(0)
    network, met = space.sample(rng), 0
    for _ in range(40):
        network = space.mutate(network, rng)
        met += any(node.operation == "gated" for node in network.graphs["image"].nodes)
        assert networks.build(network, space)(torch.zeros(2, 3, 12, 12)).shape == (2, 4)
    assert met > 10


def test_a_layer_without_a_blueprint_says_so_and_a_blueprint_can_be_written_down():
    with pytest.raises(NotImplementedError, match="layer '' has no blueprint"):
        Layer().blueprint((3,), {})
    assert str(networks.Blueprint(_Even)) == "_Even()"
    assert repr(networks.Identity()) == "Identity(Space())"
