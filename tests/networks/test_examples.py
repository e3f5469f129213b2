"""Examples to learn from: what does not fit is refused, and what fits becomes tensors, channels first."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from .examples import SPACES

torch = pytest.importorskip("torch")

from manyarms.networks.examples import Examples, channels_first  # noqa: E402

GREY, COLOUR, SEQUENCE, TABLE = (SPACES[name] for name in ("grey images", "colour images", "sequences", "tables"))
CPU = torch.device("cpu")


def test_channels_come_first_and_may_have_been_left_out():
    image = np.arange(2 * 32 * 32 * 3).reshape(2, 32, 32, 3)
    assert channels_first("x", image, COLOUR)[1, 2, 5, 7] == image[1, 5, 7, 2]
    assert channels_first("x", np.zeros((2, 28, 28), np.uint8), GREY).shape == (2, 1, 28, 28)
    assert channels_first("x", np.zeros((2, 17, 3)), SEQUENCE).shape == (2, 3, 17)
    assert channels_first("x", np.zeros((2, 7)), TABLE).shape == (2, 7)


def test_bytes_stay_bytes_and_all_else_becomes_single_floats():
    assert channels_first("x", np.zeros((2, 28, 28), np.uint8), GREY).dtype == np.uint8
    for kind in (np.int64, np.float64, np.float32):
        assert channels_first("x", np.zeros((2, 7), kind), TABLE).dtype == np.float32


@pytest.mark.parametrize(
    ("x", "space", "message"),
    [
        (
            np.zeros((5, 27, 28)),
            GREY,
            "x must be rows x 28 x 28 x 1 to fit the space, got 5 x 27 x 28 x 1",
        ),
        (np.zeros((5, 3, 32, 32)), COLOUR, "x must be rows x 32 x 32 x 3"),
        (np.zeros((5, 8)), TABLE, "x must be rows x 7 to fit the space, got 5 x 8"),
        (np.zeros(7), TABLE, "x must be rows x 7"),
        (np.full((5, 7), np.nan), TABLE, "x must be finite"),
        (np.full((5, 7), "a"), TABLE, "x must be numbers"),
    ],
)
def test_what_does_not_fit_the_space_is_refused(x, space, message):
    with pytest.raises(ValueError, match=message):
        channels_first("x", x, space)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(4, int), "y_train must be 5 whole numbers, a label for each row"),
        (np.zeros(5), "y_train must be 5 whole numbers"),
        (np.array([0, 1, 2, 3, 0]), "y_train must be from 0 to 2, got 0 to 3"),
        (np.array([0, 1, -1, 1, 0]), "y_train must be from 0 to 2, got -1 to 1"),
    ],
)
def test_labels_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        Examples.of("train", np.zeros((5, 7)), y, TABLE)


def test_one_row_is_too_few_to_learn_from():
    with pytest.raises(ValueError, match="x_valid must have two rows or more, got 1"):
        Examples.of("valid", np.zeros((1, 7)), np.zeros(1, int), TABLE)


def test_tensors_are_made_once_and_not_pickled():
    examples = Examples.of("train", np.zeros((5, 7)), np.arange(5) % 3, TABLE)
    assert examples.on(CPU)[0] is examples.on(CPU)[0]
    copied = pickle.loads(pickle.dumps(examples))
    assert copied._tensors == {} and torch.equal(copied.on(CPU)[1], examples.on(CPU)[1])


def test_channels_are_standardised_each_by_itself_and_constant_ones_stay():
    x = np.stack([np.random.default_rng(0).normal(5, 3, (50, 17)), np.full((50, 17), 2.0), np.zeros((50, 17))], axis=2)
    mean, scale = Examples.of("train", x, np.zeros(50, int), SEQUENCE).standard()
    assert mean.shape == scale.shape == (3, 1)
    assert mean[:, 0] == pytest.approx([5, 2, 0], abs=0.2) and scale[:, 0] == pytest.approx([3, 1, 1], abs=0.2)
