"""Shapes and costs from the genotype alone: those of the module that is built from it."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms.networks import TRAINING, Graph, GraphSpace, Identity, Layer, Network, NetworkSpace, Node, build
from manyarms.networks.graphs.layout import Fit, fit_shapes

from ..spaces import SPACES, samples

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:TF32 acceleration")

from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_parameters_and_operations_are_as_many_as_pytorch_counts(space):
    for network in samples(space, 20):
        plan, module = space.layout(network), build(network, space)
        # PyTorch counts neither the LSTM of MKL-DNN nor fused attention, so both are done in steps
        with (
            torch.backends.mkldnn.flags(enabled=False),
            sdpa_kernel(SDPBackend.MATH),
            FlopCounterMode(display=False) as counter,
        ):
            module.eval()(torch.zeros(1, *space.input_shape))
        assert plan.n_parameters == sum(weight.numel() for weight in module.parameters())
        assert plan.n_flops == counter.get_total_flops()


def shapes_given(module, x):
    """By the name of the layer, in one forward pass."""
    given = {}
    for name, part in module.named_children():
        part.register_forward_hook(lambda _module, _inputs, output, name=name: given.update({name: tuple(output.shape[1:])}))
    module(x)
    return given


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_layer_gives_the_shape_that_was_foretold(space):
    for network in samples(space, 20, seed=1):
        given = shapes_given(build(network, space).eval(), torch.zeros(2, *space.input_shape))
        for graph, stages in space.layout(network).stages.items():
            for stage in stages:
                assert given[f"{graph}_{stage.node.operation}_{stage.node.id}"] == stage.after


def test_inputs_are_pooled_to_the_smallest_and_padded_to_the_widest():
    shapes = [(3, 28, 14), (16, 7, 28), (8, 7, 14)]
    fits, shape = fit_shapes(shapes, "multiply")
    assert shape == (16, 7, 14)
    assert fits == (Fit((7, 14), 13), Fit((7, 14), 0), Fit(None, 8))
    assert fit_shapes(shapes, "concatenate") == ((Fit((7, 14), 0), Fit((7, 14), 0), Fit(None, 0)), (27, 7, 14))
    assert fit_shapes([(5,), (2,)], "add") == ((Fit(None, 0), Fit(None, 3)), (5,))
    assert fit_shapes([(5, 9)], "concatenate") == ((Fit(None, 0),), (5, 9))


class Misshaping(Layer):
    """Says that it gives a shape which is none."""

    name = "misshaping"

    def __init__(self, gives):
        super().__init__()
        self.gives = gives

    def output_shape(self, shape, settings):
        return self.gives


NO_SHAPES = [(3, 0, 0), (3, -1, 4), (3, 2.0, 4), (True, 4, 4), (np.int64(3), 4, 4), (3, 4), (3, 4, 4, 4), [3, 4, 4], None]


@pytest.mark.parametrize("gives", NO_SHAPES, ids=str)
def test_a_layer_that_gives_no_shape_is_named_with_its_node(gives):
    graph_space = GraphSpace([Identity(), Misshaping(gives)], dimensions=2)
    graph = Graph((Node(1, (0,), "identity", {}), Node(4, (1,), "misshaping", {})), 5)
    space = NetworkSpace((3, 8, 8), 10, {"image": graph_space}, TRAINING)
    with pytest.raises(ValueError) as refused:
        space.layout(Network({"image": graph}, {}))
    rule = "output_shape of Misshaping(Space()) must return a tuple of positive integers of length 3 for (3, 8, 8)"
    assert str(refused.value) == f"node 4 (misshaping) of graph 'image': {rule}, got {gives!r}"


def diamond(combiner):
    """Two branches of the input, five channels and two, of which the second is pooled."""
    space = SPACES["sequences"]
    sequence = Graph(
        (
            Node(1, (0,), "convolution", {"channels": 5, "kernel": 1, "stride": 1}),
            Node(2, (0,), "average_pool", {"size": 2}),
            Node(3, (1, 2), "identity", {}, combiner),
        ),
        4,
    )
    return space, Network({"sequence": sequence, "vector": Graph((Node(1, (0,), "identity", {}),), 2)}, {})


@pytest.mark.parametrize("combiner", ["add", "multiply", "concatenate"])
def test_what_does_not_fit_is_padded_so_that_it_changes_nothing(combiner):
    space, network = diamond(combiner)
    module = build(network, space).eval()
    found = {}
    module.sequence_identity_3.register_forward_hook(lambda _module, inputs, _output: found.update(x=inputs[0]))
    module.sequence_convolution_1.register_forward_hook(lambda _module, _inputs, output: found.update(wide=output))
    x = torch.randn(2, 3, 17)
    module(x)
    wide = torch.nn.functional.adaptive_avg_pool1d(found["wide"], 9)
    narrow = torch.nn.functional.avg_pool1d(x, 2, ceil_mode=True)
    if combiner == "concatenate":
        assert torch.equal(found["x"], torch.cat([wide, narrow], dim=1))
    else:
        joined = wide[:, :3] + narrow if combiner == "add" else wide[:, :3] * narrow
        assert torch.equal(found["x"][:, :3], joined)
        assert torch.equal(found["x"][:, 3:], wide[:, 3:])
