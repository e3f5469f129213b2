"""Arguments of a classifier: lists are accepted, and errors name the argument that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms import networks

from ..images import DATA, SPACE
from ..spaces import samples

torch = pytest.importorskip("torch")

from manyarms.networks.torch.optimizers import make_optimizer  # noqa: E402

TWO = np.arange(9) % 2


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"momentum": 0.9}, ValueError, "no parameters other than learning_rate, batch_size, optimizer, .*, got momentum"),
        ({"learning_rate": 0.0}, ValueError, "learning_rate of the training space must be above 0, got 0.0"),
        ({"learning_rate": ma.Float(-1, 1)}, ValueError, "learning_rate of the training space must be above 0, got -1.0"),
        ({"learning_rate": ma.Choice(0.1, "fast")}, TypeError, "learning_rate of .* must be a number, got 'fast'"),
        ({"batch_size": ma.Int(1, 8)}, ValueError, "batch_size of the training space must be at least 2, got 1"),
        ({"batch_size": ma.Float(2, 8)}, TypeError, "batch_size of the training space must be a whole number, got 2.0"),
        ({"batch_size": ma.Space(a=8)}, TypeError, "batch_size of .* must be a whole number, got Space"),
        ({"optimiser": ma.Choice("sgd", "lion")}, ValueError, "optimiser of .* must be one of 'sgd', .*, got 'lion'"),
        ({"optimiser": ma.Int(0, 1)}, ValueError, "optimiser of the training space must be one of 'sgd', .*, got 0"),
        ({"optimizer": "adam"}, ValueError, "no parameters other than .*, got both optimizer and optimiser"),
        ({"weight_decay": ma.Float(-0.1, 0.1)}, ValueError, "weight_decay of .* must be at least 0, got -0.1"),
    ],
)
def test_wrong_training_spaces_are_refused(changed, error, message):
    training = ma.Space(**{"learning_rate": 0.1, "batch_size": 16, "optimiser": "sgd"} | changed)
    space = networks.NetworkSpace((1, 8, 8), 4, SPACE.graphs, training)
    with pytest.raises(error, match=message):
        networks.Classifier(space, *DATA)


def test_wrong_devices_and_precisions_are_refused():
    for device in ("gpu", "", 1.5):
        with pytest.raises(ValueError, match='device must be a PyTorch device, such as "cpu" or "cuda:1", got'):
            networks.image_classifier(*DATA, space=SPACE, device=device)
    with pytest.raises(TypeError, match="mixed_precision must be True or False, got 'yes'"):
        networks.image_classifier(*DATA, space=SPACE, mixed_precision="yes")


def test_tables_are_refused_on_a_device_without_double_precision():
    x, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(
        ValueError, match="device must support double precision, which is used to standardize tables, got 'mps'"
    ):
        networks.table_classifier(x, y, x, y, device="mps")


def test_images_whose_channels_come_first_are_refused_unless_a_space_says_what_they_are():
    x, y = np.zeros((9, 3, 8, 8)), np.arange(9) % 2
    with pytest.raises(ValueError, match=r"x width x channels, got shape \(9, 3, 8, 8\); .* with np.moveaxis\(x, 1, -1\)"):
        networks.image_classifier(x, y, x, y)
    networks.image_classifier(np.moveaxis(x, 1, -1), y, np.moveaxis(x, 1, -1), y)
    networks.Classifier(networks.image_space((8, 3, 8), 2), x, y, x, y)


def test_lists_are_accepted():
    x, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 0]
    classifier = networks.table_classifier(x, y, x, y)
    model = networks.build(samples(classifier.space, 1)[0], classifier.space)
    assert classifier.space.n_outputs == 2 and 0 <= classifier.accuracy(model, x, y) <= 1
    networks.sequence_classifier(x, y, x, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_train": ["a", "b", "c"] * 3}, "y_train must be integers, one label per row, got <U1"),
        ({"y_train": np.where(TWO, np.nan, 0)}, "y_train must be integers, one label per row, got float64"),
        ({"y_valid": TWO[:, None]}, r"y_valid must be integers, .*, got int64 with shape \(9, 1\)"),
        ({"y_train": TWO[:5]}, "y_train must be 9 integers"),
        ({"y_train": TWO - 1}, "y_train must be 0, 1, 2 and so on, got -1 to 0"),
        ({"y_train": TWO * 0 + 1}, "y_train must have at least two classes, got only 1"),
        ({"y_train": TWO * 0, "y_valid": TWO * 0}, "y_train must have at least two classes, got only 0"),
        ({"x_train": np.zeros((0, 5)), "y_train": TWO[:0]}, r"x_train must be rows x features, got shape \(0, 5\)"),
        ({"x_valid": np.zeros((0, 5)), "y_valid": TWO[:0]}, "y_valid must have at least one label, got none"),
        ({"x_valid": np.zeros((9, 4))}, "x_valid must have the shape rows x 5 to fit the space, got 9 x 4"),
        ({"x_train": [[0.0] * 5, [1.0]]}, "x_train must be an array, got rows of different lengths"),
        ({"x_train": np.eye(9, 5) * 1e300}, "x_train must be finite after standardization .*, got"),
        ({"x_valid": np.eye(9, 5) * 1e300}, "x_valid must be finite after standardization .*, got"),
    ],
)
def test_examples_that_cannot_be_learned_from_are_refused(changed, message):
    given = {"x_train": np.eye(9, 5), "y_train": TWO, "x_valid": np.eye(9, 5), "y_valid": TWO}
    with pytest.raises(ValueError, match=message):
        networks.table_classifier(**given | changed)


def test_labels_of_another_shape_have_no_accuracy(classifier):
    model = networks.build(samples(SPACE, 1)[0], SPACE)
    x, y = DATA[:2]
    for wrong in (y[:, None], y[:5], y.astype(float), "labels"):
        with pytest.raises(ValueError, match="y must be 120 integers, one label per row, got"):
            classifier.accuracy(model, x, wrong)
    assert classifier.accuracy(model, x, list(y)) == classifier.accuracy(model, x, y)


def test_wrong_arguments_are_refused():
    space = networks.NetworkSpace((1, 8, 8), 4, SPACE.graphs, ma.Space(learning_rate=0.1, optimiser="sgd"))
    with pytest.raises(ValueError, match="the training space must have learning_rate, batch_size and optimizer, got no batch"):
        networks.image_classifier(*DATA, space=space)
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        networks.image_classifier(*DATA, epochs=0)
    with pytest.raises(ValueError, match="lowest must be between 0 and 1"):
        networks.image_classifier(*DATA, lowest=2)
    for make, x in (
        (networks.image_classifier, np.zeros((9, 5))),
        (networks.sequence_classifier, np.zeros((9, 5, 2, 2))),
        (networks.sequence_classifier, np.zeros(9)),
        (networks.table_classifier, np.zeros((9, 5, 2))),
        (networks.table_classifier, np.zeros(9)),
    ):
        with pytest.raises(ValueError, match=r"x_train must be rows x .*, got shape \(9,"):
            make(x, np.zeros(9, int), x, np.zeros(9, int))
    with pytest.raises(ValueError, match="optimizer must be one of 'sgd', 'adam', 'adamw', 'rmsprop', got 'lion'"):
        make_optimizer("lion", [], 0.1)
