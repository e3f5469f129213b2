"""Data sets: arrays that do not fit are refused, others become tensors with channels first."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ..spaces import SPACES

torch = pytest.importorskip("torch")

from manyarms.networks.torch import dataset  # noqa: E402
from manyarms.networks.torch.arrays import channels_first, labels  # noqa: E402
from manyarms.networks.torch.dataset import Dataset  # noqa: E402

GRAY, COLOR, SEQUENCE, TABLE = (SPACES[name] for name in ("gray images", "color images", "sequences", "tables"))
CPU = torch.device("cpu")


def test_channels_come_first_and_may_have_been_left_out():
    image = np.arange(2 * 32 * 32 * 3).reshape(2, 32, 32, 3)
    assert channels_first("x", image, COLOR)[1, 2, 5, 7] == image[1, 5, 7, 2]
    assert channels_first("x", np.zeros((2, 28, 28), np.uint8), GRAY).shape == (2, 1, 28, 28)
    assert channels_first("x", np.zeros((2, 17, 3)), SEQUENCE).shape == (2, 3, 17)
    assert channels_first("x", np.zeros((2, 7)), TABLE).shape == (2, 7)


def test_bytes_stay_bytes_and_all_else_becomes_floats_that_are_double_in_tables():
    assert channels_first("x", np.zeros((2, 28, 28), np.uint8), GRAY).dtype == np.uint8
    for kind in (np.int64, np.float64, np.float32):
        assert channels_first("x", np.zeros((2, 7), kind), TABLE).dtype == np.float64
        assert channels_first("x", np.zeros((2, 17, 3), kind), SEQUENCE).dtype == np.float32


def test_what_the_user_does_to_an_array_afterwards_does_not_matter():
    for x, space in (
        (np.zeros((5, 28, 28), np.uint8), GRAY),
        (np.zeros((5, 7)), TABLE),
        (np.zeros((5, 17, 3), "f4"), SEQUENCE),
    ):
        y = np.zeros(5, np.int64)
        taken = Dataset.checked("train", x, y, space)
        x += 1
        y += 1
        assert not any(tensor.any() for tensor in taken.tensors(CPU))


@pytest.mark.filterwarnings("error")
def test_arrays_that_cannot_be_written_to_make_no_warning():
    x, y = np.zeros((5, 28, 28), np.uint8), np.zeros(5, np.int64)
    x.flags.writeable = y.flags.writeable = False
    torch.from_numpy(channels_first("x", x, GRAY))
    buffers = []
    sent = pickle.dumps(Dataset.checked("train", x, y, GRAY), protocol=5, buffer_callback=buffers.append)
    received = pickle.loads(sent, buffers=[bytes(buffer) for buffer in buffers])
    assert not received.x.flags.writeable and received.tensors(CPU)[0].shape == (5, 1, 28, 28)


def test_lists_are_taken_unless_they_are_ragged():
    taken = Dataset.checked("train", [[1, 2, 3, 4, 5, 6, 7]] * 2, [0, 1], TABLE)
    assert taken.x.shape == (2, 7) and taken.y.dtype == np.int64
    with pytest.raises(ValueError, match="x must be an array, got rows of different lengths"):
        channels_first("x", [[1, 2], [3]], TABLE)


def test_booleans_become_1_and_0():
    taken = Dataset.checked("train", np.ones((2, 28, 28), bool), [False, True], GRAY)
    assert taken.x.dtype == np.uint8 and taken.x.all() and taken.y.tolist() == [0, 1]
    assert channels_first("x", [[True] * 7], TABLE).tolist() == [[1.0] * 7]


def test_a_table_may_have_columns_of_several_types_but_of_numbers_only():
    pandas = pytest.importorskip("pandas")
    columns = {"a": [0.5, 1.5], "b": [True, False], "c": [3, 4], **{name: [0, 0] for name in "defg"}}
    assert channels_first("x", pandas.DataFrame(columns), TABLE)[:, :3].tolist() == [[0.5, 1.0, 3.0], [1.5, 0.0, 4.0]]
    for wrong in (["1", "2"], [pandas.NA, True]):
        with pytest.raises(ValueError, match="x must contain numbers, got"):
            channels_first("x", pandas.DataFrame(columns | {"b": wrong}), TABLE)


def test_masked_values_are_refused_but_an_empty_mask_is_none():
    x = np.ma.masked_array(np.zeros((5, 7)), mask=False)
    y = np.ma.masked_array(np.arange(5) % 3, mask=False)
    assert Dataset.checked("train", x, y, TABLE).x.shape == (5, 7)
    x[1, 2:4] = y[3] = np.ma.masked
    with pytest.raises(ValueError, match="x must have no masked values, got 2"):
        channels_first("x", x, TABLE)
    with pytest.raises(ValueError, match="y must have no masked values, got 1"):
        labels("y", y)


def test_tensors_are_taken_also_where_they_require_a_gradient():
    x = torch.ones((5, 7), requires_grad=True)
    assert Dataset.checked("train", x, torch.arange(5) % 3, TABLE).x.sum() == 35


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_tensors_of_every_precision_keep_their_values(dtype):
    x = torch.linspace(-3, 3, 35, dtype=dtype).reshape(5, 7)
    np.testing.assert_array_equal(channels_first("x", x, TABLE), x.double().numpy())


@pytest.mark.parametrize(
    ("x", "space", "message"),
    [
        (
            np.zeros((5, 27, 28)),
            GRAY,
            "x must have the shape rows x 28 x 28 x 1 to fit the space, got 5 x 27 x 28 x 1",
        ),
        (np.zeros((5, 3, 32, 32)), COLOR, "x must have the shape rows x 32 x 32 x 3"),
        (np.zeros((5, 8)), TABLE, "x must have the shape rows x 7 to fit the space, got 5 x 8"),
        (np.zeros(7), TABLE, "x must have the shape rows x 7"),
        (np.full((5, 7), np.nan), TABLE, "x must be finite as float64, got NaN"),
        (np.full((5, 28, 28), 1e300), GRAY, "x must be finite as float32, got NaN, infinity or numbers that are too large"),
        (np.full((5, 7), "a"), TABLE, "x must contain numbers"),
        (np.full((5, 7), np.timedelta64(1, "s")), TABLE, r"x must contain numbers, got timedelta64\[s\]"),
    ],
)
def test_what_does_not_fit_the_space_is_refused(x, space, message):
    with pytest.raises(ValueError, match=message):
        channels_first("x", x, space)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(4, int), "y_train must be 5 integers, one label per row"),
        (np.zeros(5), "y_train must be 5 integers"),
        (np.zeros((5, 1), int), r"y_train must be 5 integers, .* got int64 with shape \(5, 1\)"),
        (["a", "b", "a", "b", "a"], "y_train must be 5 integers, one label per row, got <U1"),
        ([0, 1, np.nan, 1, 0], "y_train must be 5 integers, one label per row, got float64"),
        ([[0], [1, 2], 0, 0, 0], "y_train must be an array"),
        (np.arange(5).astype("timedelta64[s]"), r"y_train must be 5 integers, .* got timedelta64\[s\]"),
        (np.array([0, 1, 2, 3, 0]), "y_train must be from 0 to 2, got 0 to 3"),
        (np.array([0, 1, -1, 1, 0]), "y_train must be from 0 to 2, got -1 to 1"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        Dataset.checked("train", np.zeros((5, 7)), y, TABLE)


def test_labels_of_no_rows_and_of_classes_not_yet_counted():
    assert labels("y", [3, 0, 7]).tolist() == [3, 0, 7]
    with pytest.raises(ValueError, match="y must be 0, 1, 2 and so on, got -1 to 7"):
        labels("y", [3, -1, 7])
    with pytest.raises(ValueError, match="y must have at least one label, got none"):
        labels("y", np.zeros(0, int))


def test_one_row_is_too_few_to_learn_from():
    with pytest.raises(ValueError, match="x_valid must have at least two rows, got 1"):
        Dataset.checked("valid", np.zeros((1, 7)), np.zeros(1, int), TABLE)


def test_tensors_are_made_once_and_not_pickled():
    taken = Dataset.checked("train", np.zeros((5, 7)), np.arange(5) % 3, TABLE)
    assert taken.tensors(CPU)[0] is taken.tensors(CPU)[0]
    copied = pickle.loads(pickle.dumps(taken))
    assert copied._tensors == {} and torch.equal(copied.tensors(CPU)[1], taken.tensors(CPU)[1])


def test_channels_are_standardized_each_by_itself_and_constant_ones_stay():
    x = np.stack([np.random.default_rng(0).normal(5, 3, (50, 17)), np.full((50, 17), 2.0), np.zeros((50, 17))], axis=2)
    mean, scale = Dataset.checked("train", x, np.zeros(50, int), SEQUENCE).mean_and_scale()
    assert mean.shape == scale.shape == (3, 1)
    assert mean[:, 0] == pytest.approx([5, 2, 0], abs=0.2) and scale[:, 0] == pytest.approx([3, 1, 1], abs=0.2)


def test_a_column_that_does_not_vary_is_not_divided_by_its_rounding_errors():
    x = np.full((1000, 7), 0.1)
    assert x.std(axis=0)[0] > 0  # as floats go
    assert (Dataset.checked("train", x, np.zeros(1000, int), TABLE).mean_and_scale()[1] == 1).all()


def test_the_mean_and_deviation_of_many_images_are_found_piece_by_piece(monkeypatch):
    monkeypatch.setattr(dataset, "_CHUNK_SIZE", 5000)
    x = np.random.default_rng(0).integers(0, 256, (50, 32, 32, 3)).astype(np.uint8)
    mean, scale = Dataset.checked("train", x, np.zeros(50, int), COLOR).mean_and_scale()
    assert mean.dtype == scale.dtype == np.float32
    assert mean[:, 0, 0] == pytest.approx(x.mean(axis=(0, 1, 2))) and scale[:, 0, 0] == pytest.approx(x.std(axis=(0, 1, 2)))


@pytest.mark.filterwarnings("error")
def test_numbers_that_cannot_be_standardized_are_refused():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 7)), np.zeros(50, int)
    usual, large = Dataset.checked("train", x, y, TABLE), Dataset.checked("train", x * 1e300, y, TABLE)
    usual.check_standardized("train", *usual.mean_and_scale())
    shifted = Dataset.checked("train", x + 1e300, y, TABLE)
    for name, refused, reference in (("train", large, large), ("valid", large, usual), ("valid", shifted, usual)):
        with pytest.raises(ValueError, match=f"x_{name} must be finite after standardization .*, got .*e\\+300 to"):
            refused.check_standardized(name, *reference.mean_and_scale())
