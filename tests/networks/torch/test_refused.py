"""Wrong arguments raise errors that name the argument and the rule."""

from __future__ import annotations

import re

import numpy as np
import pytest

import manyarms as ma
from manyarms.networks import (
    TRAINING,
    Attention,
    AveragePool,
    Convolution,
    Dense,
    Dropout,
    GraphSpace,
    Identity,
    Layer,
    MaxPool,
    NetworkSpace,
    Normalization,
    Recurrent,
    draw_network,
    image_space,
    sequence_space,
    table_space,
)

from ..spaces import SPACES, samples


def refusal(act):
    """The message of the error that it raises."""
    with pytest.raises((ValueError, TypeError)) as found:
        act()
    return str(found.value)


def convolution(**changes):
    return Convolution(ma.Space(**{"channels": 4, "kernel": 3, "stride": 1} | changes))


LAYERS = {
    "no space": (lambda: Dense(64), "the space of layer 'dense' must be a Space with units, got 64"),
    "a dict": (lambda: MaxPool({"size": 2}), "the space of layer 'max_pool' must be a Space with size, got {'size': 2}"),
    "nothing": (lambda: Identity(ma.Space(size=2)), "the space of layer 'identity' must have nothing, got size"),
    "channels": (lambda: convolution(channels=ma.Int(0, 4)), "channels of layer 'convolution' must be at least 1, got 0"),
    "kernel of text": (
        lambda: convolution(kernel=ma.Choice("a", "b")),
        "kernel of layer 'convolution' must be a whole number, got 'a'",
    ),
    "kernel below 1": (lambda: convolution(kernel=-3), "kernel of layer 'convolution' must be at least 1, got -3"),
    "even kernel": (lambda: convolution(kernel=ma.Int(1, 7)), "kernel must be a choice of odd sizes"),
    "stride": (lambda: convolution(stride=ma.Choice(1, 0)), "stride of layer 'convolution' must be at least 1, got 0"),
    "pool": (lambda: MaxPool(ma.Space(size=0)), "size of layer 'max_pool' must be at least 1, got 0"),
    "other pool": (
        lambda: AveragePool(ma.Space(size=ma.Float(1, 2))),
        "size of layer 'average_pool' must be a whole number, got 1.0",
    ),
    "units": (lambda: Dense(ma.Space(units=0)), "units of layer 'dense' must be at least 1, got 0"),
    "rate": (lambda: Dropout(ma.Space(rate=2)), "rate of layer 'dropout' must be between 0 and 1, got 2"),
    "over": (
        lambda: Normalization(ma.Space(over="channel")),
        "over of layer 'normalisation' must be one of 'batch', 'example', got 'channel'",
    ),
    "cell": (
        lambda: Recurrent(ma.Space(cell="rnn", units=4)),
        "cell of layer 'recurrent' must be one of 'gru', 'lstm', got 'rnn'",
    ),
    "heads": (lambda: Attention(ma.Space(heads=0, size=4)), "heads of layer 'attention' must be at least 1, got 0"),
}


@pytest.mark.parametrize(("make", "message"), LAYERS.values(), ids=LAYERS)
def test_layers(make, message):
    assert refusal(make).startswith(message)


def test_a_layer_of_the_user_may_have_rules_of_its_own_and_hyperparameters_without():
    class Wide(Dense):
        space = ma.Space(width=ma.Int(1, 8))
        rules = {"width": Dense.rules["units"]}  # noqa: RUF012

    assert Wide().space.parameters.keys() == {"width"}
    assert "width of layer 'dense' must be at least 1" in refusal(lambda: Wide(ma.Space(width=0)))
    assert isinstance(type("Free", (Dense,), {"space": ma.Space(width=0)})(), Layer)


GRAPH_SPACES = {
    "a word": (
        lambda: GraphSpace([Dense()], dimensions=0, activations="relu"),
        "activations must be a list of some of relu, leaky_relu, .*, got 'relu'",
    ),
    "no words": (
        lambda: GraphSpace([Dense()], dimensions=0, combiners=3),
        "combiners must be a list of some of add, multiply, concatenate, got 3",
    ),
    "one layer": (
        lambda: GraphSpace(Dense(), dimensions=0),
        r"layers must be a list of objects such as Dense\(\), got Dense\(Space\(.*",
    ),
}
SPACE_ARGUMENTS = {
    "training": (lambda: image_space((1, 8, 8), 3, training={"a": 1}), "training must be a Space, got {'a': 1}"),
    "one size": (
        lambda: NetworkSpace(4, 3, SPACES["tables"].graphs, TRAINING),
        "input_shape must be channels, followed by height and width or length if any, got 4",
    ),
    "no size": (lambda: NetworkSpace((), 3, SPACES["tables"].graphs, TRAINING), r"input_shape must be channels, .*, got \(\)"),
    "graphs": (
        lambda: NetworkSpace((4,), 3, [GraphSpace([Dense()], dimensions=0)], TRAINING),
        r"graphs must be a dict of name to GraphSpace, got \[GraphSpace\(.*",
    ),
}


@pytest.mark.parametrize(("make", "message"), (GRAPH_SPACES | SPACE_ARGUMENTS).values(), ids=GRAPH_SPACES | SPACE_ARGUMENTS)
def test_spaces_of_graphs_and_networks(make, message):
    assert re.fullmatch(message, refusal(make))


IMAGES, TABLES = image_space((1, 8, 8), 3), table_space(4, 3)
FREE = table_space(4, 3, max_parameters=None)  # without limits, networks are not laid out when they are mutated
(IMAGE,), (ROW,), (SEQUENCE,) = (samples(space, 1) for space in (IMAGES, TABLES, sequence_space((2, 9), 3)))
STRANGERS = {
    "one graph too few": (IMAGES, IMAGE, ROW, "image, vector, got vector"),
    "one too many": (TABLES, ROW, IMAGE, "vector, got image, vector"),
    "one too many, without limits": (FREE, ROW, IMAGE, "vector, got image, vector"),
    "another": (IMAGES, IMAGE, SEQUENCE, "image, vector, got sequence, vector"),
}
USES = {
    "layout": lambda space, own, other: space.layout(other),
    "encode": lambda space, own, other: space.encode(other),
    "mutate": lambda space, own, other: space.mutate(other, np.random.default_rng(0)),
    "crossover": lambda space, own, other: space.crossover(own, other, np.random.default_rng(0)),
    "crossover, the other way": lambda space, own, other: space.crossover(other, own, np.random.default_rng(0)),
    "draw": lambda space, own, other: draw_network(other, space),
    "draw a mutant": lambda space, own, other: draw_network(other, space, own),
    "draw with a parent": lambda space, own, other: draw_network(own, space, other),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(("space", "own", "other", "graphs"), STRANGERS.values(), ids=STRANGERS)
def test_networks_of_another_space(space, own, other, graphs, use):
    assert refusal(lambda: use(space, own, other)) == f"a network of this space must have the graphs {graphs}"


def test_what_is_no_network():
    assert refusal(lambda: TABLES.layout({"graphs": {}})) == "network must be a Network, got {'graphs': {}}"


def test_networks_of_another_space_are_not_built():
    pytest.importorskip("torch")
    from manyarms.networks import build

    assert refusal(lambda: build(ROW, IMAGES)).startswith("a network of this space must have the graphs image, vector")


def table(y_train, y_valid=(0, 1), **options):
    from manyarms.networks import table_classifier

    rows = np.random.default_rng(0).normal(size=(30, 4))
    return table_classifier(rows[: len(y_train)], y_train, rows[: len(y_valid)], y_valid, device="cpu", **options)


def test_labels_that_are_no_numbers_of_classes():
    pytest.importorskip("torch")
    rule = "must be 0, 1, 2 and so on, below the total number of labels, 6"
    advice = "; if there are more classes than labels, pass a space"
    assert refusal(lambda: table([0, 1, 10**7, 1])) == f"y_train {rule}, got 10000000{advice}"
    assert refusal(lambda: table([0, 1, 0, 1], [0, 6])) == f"y_valid {rule}, got 6{advice}"
    for large in (2**63, 2**64 - 1):
        labels = np.array([0, 1, large, 1], np.uint64)
        assert refusal(lambda labels=labels: table(labels)) == f"y_train must be 0, 1, 2 and so on, got 0 to {large}"


def test_a_class_may_be_missing_among_the_training_examples():
    pytest.importorskip("torch")
    assert table([0, 1, 1, 3], [0, 5]).space.n_outputs == 6
    assert table([0, 1, 1, 3], [0, 70], space=table_space(4, 71)).space.n_outputs == 71
