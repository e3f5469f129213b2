"""Published images: read in every format, and where they are missing or wrong it says where it looked and what it needs."""

from __future__ import annotations

import contextlib
import gzip
import os
import pickle
import warnings

import numpy as np
import pytest

import manyarms as ma
from manyarms.bench.problems import load_images

pytestmark = pytest.mark.filterwarnings("ignore:.* is a subset:manyarms.ManyarmsWarning")  # the images of the tests are few

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (30, 28, 28)).astype(np.uint8)
COLOUR = RNG.integers(0, 256, (30, 32, 32, 3)).astype(np.uint8)
LABELS = (np.arange(30) % 10).astype(np.uint8)


def write_npz(folder, name, x, **changes):
    arrays = {"x_train": x, "y_train": LABELS, "x_test": x[::-1], "y_test": LABELS[::-1]} | changes
    np.savez(folder / f"{name}.npz", **{key: value for key, value in arrays.items() if value is not None})


@pytest.mark.filterwarnings("ignore:.* is a synthetic substitute:manyarms.ManyarmsWarning")
@pytest.mark.parametrize(
    ("name", "file", "x"),
    [
        ("mnist", "mnist", GREY),
        ("mnist", "mnist_sub", GREY),
        ("fashion_mnist", "fashion_mnist_sub", GREY),
        ("cifar10", "cifar10_sub", COLOUR),
        ("svhn", "svhn", COLOUR),
        ("mrbi", "mrbi_synth_sub", GREY),
    ],
)
def test_arrays_are_read_and_a_part_kept_to_validate_on(tmp_path, name, file, x):
    write_npz(tmp_path, file, x)
    images = load_images(name, tmp_path)
    assert len(images.x_train) == 27 and len(images.x_valid) == 3 and np.array_equal(images.x_test, x[::-1])
    assert len(load_images(name, tmp_path, n_valid=10).y_train) == 20
    assert not np.array_equal(load_images(name, tmp_path, seed=1).x_valid, images.x_valid)


def test_a_file_with_validation_images_of_its_own_keeps_them(tmp_path):
    write_npz(tmp_path, "mrbi", GREY[:25], y_train=LABELS[:25], x_valid=GREY[25:], y_valid=LABELS[25:], y_test=LABELS[:25])
    images = load_images("mrbi", tmp_path)
    assert np.array_equal(images.x_train, GREY[:25]) and np.array_equal(images.x_valid, GREY[25:])


def test_validation_images_of_the_file_are_divided_anew_where_another_number_is_asked_for(tmp_path):
    write_npz(tmp_path, "mrbi", GREY[:25], y_train=LABELS[:25], x_valid=GREY[25:], y_valid=LABELS[25:], y_test=LABELS[:25])
    images = load_images("mrbi", tmp_path, n_valid=7)
    assert len(images.y_train) == 23 and len(images.y_valid) == 7
    whole = {(image.tobytes(), label) for image, label in zip(GREY, LABELS, strict=True)}
    parts = ((images.x_train, images.y_train), (images.x_valid, images.y_valid))
    assert {(image.tobytes(), label) for x, y in parts for image, label in zip(x, y, strict=True)} == whole


def test_a_few_images_are_enough(tmp_path):
    write_npz(tmp_path, "mnist", GREY[:5], y_train=LABELS[:5], y_test=LABELS[:5])
    images = load_images("mnist", tmp_path)
    assert len(images.y_train) == 4 and len(images.y_valid) == 1


def test_images_of_two_values_are_numbers(tmp_path):
    write_npz(tmp_path, "mnist", GREY > 127)
    assert load_images("mnist", tmp_path).x_train.dtype == bool


@pytest.mark.parametrize(
    ("name", "file", "kept", "message"),
    [
        ("cifar10", "cifar10_sub", 0, "cifar10_sub.npz is a subset: 30 images to train on, 2 to test on"),
        ("mrbi", "mrbi_sub", 4, "mrbi_sub.npz is a subset: 30 images to train on, 4 to validate on, 2 to test on"),
        ("mrbi", "mrbi_synth_sub", 0, "mrbi_synth_sub.npz is a synthetic substitute: 30 images to train on, 2 to test on"),
        ("mrbi", "mrbi", 0, "mrbi.npz is a subset: 30 images to train on, 2 to test on"),
    ],
)
def test_a_part_of_a_set_or_a_stand_in_is_read_with_a_warning(tmp_path, name, file, kept, message):
    x = COLOUR if name == "cifar10" else GREY
    valid = {"x_valid": x[:kept], "y_valid": LABELS[:kept]} if kept else {}
    write_npz(tmp_path, file, x, x_test=x[:2], y_test=LABELS[:2], **valid)
    with pytest.warns(ma.ManyarmsWarning) as warned:
        load_images(name, tmp_path)
    assert [str(warning.message) for warning in warned] == [message]
    assert warned[0].filename == __file__


def test_whole_sets_are_read_first(tmp_path):
    write_npz(tmp_path, "mnist_sub", GREY[:20], y_train=LABELS[:20], y_test=LABELS[:20])
    write_idx(tmp_path, GREY[:25])
    assert len(load_images("mnist", tmp_path).y_test) == 25  # as published
    write_npz(tmp_path, "mnist", GREY)
    assert len(load_images("mnist", tmp_path).y_test) == 30


@pytest.mark.parametrize(
    ("name", "shape", "train", "test"),
    [
        ("mnist", (28, 28), 60_000, 10_000),
        ("fashion_mnist", (28, 28), 60_000, 10_000),
        ("cifar10", (32, 32, 3), 50_000, 10_000),
        ("svhn", (32, 32, 3), 73_257, 26_032),
        ("mrbi", (28, 28), 12_000, 50_000),
    ],
)
def test_a_whole_set_is_read_without_a_word_and_one_short_of_an_image_with_a_warning(
    tmp_path, monkeypatch, name, shape, train, test
):
    def holds(**counts):
        """A file of so many black images, which take no room."""
        images = {f"x_{part}": np.broadcast_to(np.uint8(0), (count, *shape)) for part, count in counts.items()}
        labels = {f"y_{part}": np.zeros(count, np.uint8) for part, count in counts.items()}
        monkeypatch.setattr(np, "load", lambda *_, **__: contextlib.nullcontext(images | labels))

    (tmp_path / f"{name}.npz").touch()
    with warnings.catch_warnings(action="error"):
        holds(train=train - 2000, valid=2000, test=test)
        assert len(load_images(name, tmp_path).y_valid) == 2000
    for missing in ({"train": train - 2001}, {"valid": 1999}, {"test": test - 1}):
        holds(**{"train": train - 2000, "valid": 2000, "test": test} | missing)
        with pytest.warns(ma.ManyarmsWarning, match=f"{name}.npz is a subset: "):
            load_images(name, tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_named_after_the_set_comes_before_files_of_the_same_names(tmp_path, packed):
    (tmp_path / "fashion_mnist").mkdir()
    write_idx(tmp_path, GREY[:20])
    write_idx(tmp_path / "fashion_mnist", GREY[20:], packed)
    assert len(load_images("mnist", tmp_path).y_test) == 20
    assert len(load_images("fashion_mnist", tmp_path).y_test) == 10


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    return header + array.tobytes()


def write_idx(folder, x, packed=False):
    """The same images to train on and to test on."""
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", x), ("labels-idx1", LABELS[: len(x)])):
            content = gzip.compress(idx(array)) if packed else idx(array)
            (folder / f"{part}-{kind}-ubyte{'.gz' if packed else ''}").write_bytes(content)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_mnist_is_read_as_published(tmp_path, name, packed):
    (tmp_path / name).mkdir()
    for part, x, y in (("train", GREY, LABELS), ("t10k", GREY[:9], LABELS[:9])):
        for kind, array in (("images-idx3", x), ("labels-idx1", y)):
            content = gzip.compress(idx(array)) if packed else idx(array)
            (tmp_path / name / f"{part}-{kind}-ubyte{'.gz' if packed else ''}").write_bytes(content)
    images = load_images(name, tmp_path, n_valid=4)
    assert np.array_equal(images.x_test, GREY[:9]) and np.array_equal(images.y_test, LABELS[:9]) and len(images.y_train) == 26


def write_cifar(folder):
    for number in range(6):
        x, y = COLOUR[5 * number : 5 * number + 5], LABELS[5 * number : 5 * number + 5]
        rows = np.concatenate([y[:, None], x.transpose(0, 3, 1, 2).reshape(5, -1)], axis=1)
        (folder / (f"data_batch_{number + 1}.bin" if number < 5 else "test_batch.bin")).write_bytes(rows.tobytes())


@pytest.mark.parametrize("size", [0, 3072, 5 * 3073 - 1], ids=["empty", "part of an image", "cut off"])
def test_a_batch_of_cifar_that_is_not_whole_is_refused(tmp_path, size):
    write_cifar(tmp_path)
    os.truncate(tmp_path / "data_batch_3.bin", size)
    message = f"data_batch_3.bin cannot be read: ValueError: must be 3073 bytes for each image, .*, got {size} bytes"
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("cifar10", tmp_path)


def test_fewer_images_of_cifar_than_published_are_read_with_a_warning(tmp_path):
    write_cifar(tmp_path)
    with pytest.warns(ma.ManyarmsWarning) as warned:
        load_images("cifar10", tmp_path)
    assert [str(warning.message) for warning in warned] == [
        f"cifar10 in {str(tmp_path)!r} is a subset: 25 images to train on, 5 to test on"
    ]


def test_cifar_is_read_as_published(tmp_path):
    write_cifar(tmp_path)
    images = load_images("cifar10", tmp_path, n_valid=1)
    assert (
        np.array_equal(images.x_test, COLOUR[25:]) and np.array_equal(images.y_test, LABELS[25:]) and len(images.y_train) == 24
    )


def write_mat(folder, y):
    from scipy.io import savemat

    for part in ("train", "test"):
        savemat(folder / f"{part}_32x32.mat", {"X": COLOUR.transpose(1, 2, 3, 0), "y": y[:, None]})


def test_svhn_is_read_as_published(tmp_path):
    write_mat(tmp_path, np.where(LABELS, LABELS, 10))
    images = load_images("svhn", tmp_path)
    assert np.array_equal(images.x_test, COLOUR) and np.array_equal(images.y_test, LABELS)


@pytest.mark.parametrize(("content", "found"), [({}, "none"), ({"images": COLOUR, "y": LABELS}, "images, y")])
def test_a_file_of_svhn_without_its_arrays_says_what_it_needs(tmp_path, content, found):
    from scipy.io import savemat

    write_mat(tmp_path, LABELS)
    savemat(tmp_path / "test_32x32.mat", content)
    message = f"test_32x32.mat cannot be read: ValueError: must contain the arrays X and y, got {found}$"
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("svhn", tmp_path)


@pytest.mark.parametrize("wrong", [11, 20, 255])
def test_labels_of_svhn_beyond_ten_are_refused(tmp_path, wrong):
    write_mat(tmp_path, np.where(LABELS == 3, wrong, LABELS).astype(np.uint8))
    message = rf"train_32x32.mat, .*: y_train must be whole numbers from 0 to 9, got uint8 from 0 to {wrong}"
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("svhn", tmp_path)


def write_amat(folder, y):
    rows = np.concatenate([GREY.reshape(30, -1) / 255, y[:, None]], axis=1)
    for part in ("train_valid", "test"):
        np.savetxt(folder / f"mnist_all_background_images_rotation_normalized_{part}.amat", rows, fmt="%.6f")


@pytest.mark.parametrize("wrong", [3.7, np.nan, np.inf])
def test_labels_of_mrbi_that_are_not_whole_are_refused(tmp_path, wrong):
    write_amat(tmp_path, np.where(LABELS == 3, wrong, LABELS))
    message = rf"train_valid.amat cannot be read: ValueError: labels must be whole numbers, got {wrong}"
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("mrbi", tmp_path)


@pytest.mark.filterwarnings("ignore:loadtxt:UserWarning")
@pytest.mark.parametrize(("text", "found"), [("", "0 rows of 1"), ("0.5 0.5 1\n0.5 0.5 2\n", "2 rows of 3")])
def test_a_file_of_mrbi_with_other_rows_says_what_it_needs(tmp_path, text, found):
    write_amat(tmp_path, LABELS)
    file = tmp_path / "mnist_all_background_images_rotation_normalized_test.amat"
    file.write_text(text)
    message = f"{file.name} cannot be read: ValueError: must be rows of 785 numbers, at least one, got {found}"
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("mrbi", tmp_path)


def test_mrbi_is_read_as_published(tmp_path):
    write_amat(tmp_path, LABELS)
    images = load_images("mrbi", tmp_path)
    assert np.allclose(images.x_test, GREY / 255, atol=1e-5) and len(images.y_valid) == 29


def test_without_a_folder_it_looks_in_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    (tmp_path / "images").mkdir()
    write_npz(tmp_path / "images", "mnist", GREY)
    assert load_images("mnist").shape == (1, 28, 28)


def test_a_missing_set_says_where_it_looked_and_what_it_needs(tmp_path):
    with pytest.raises(ma.ManyarmsError) as error:
        load_images("svhn", tmp_path)
    for words in (str(tmp_path), str(tmp_path / "svhn"), "train_32x32.mat and test_32x32.mat", "svhn.npz", "MANYARMS_DATA"):
        assert words in str(error.value)
    with pytest.raises(ValueError, match="name must be one of 'mnist', 'fashion_mnist'"):
        load_images("imagenet", tmp_path)


WRONG = {
    "the shape of the images": ({"x_train": GREY[:, :27]}, r"mnist.npz: x_train must be rows x 28 x 28, got 30 x 27 x 28"),
    "colour": ({"x_test": COLOUR}, "x_test must be rows x 28 x 28, got 30 x 32 x 32 x 3"),
    "no rows": ({"x_test": GREY[:0], "y_test": LABELS[:0]}, "x_test must be rows x 28 x 28, got 0 x 28 x 28"),
    "labels missing": ({"y_train": None}, "must contain the arrays y_train, got x_train, x_test, y_test"),
    "too few labels": ({"y_train": LABELS[:9]}, r"y_train must be 30 labels, one for each image, got shape \(9,\)"),
    "labels beyond 9": ({"y_test": LABELS + 5}, "y_test must be whole numbers from 0 to 9, got uint8 from 5 to 14"),
    "labels of floats": ({"y_test": LABELS / 2}, "y_test must be whole numbers from 0 to 9"),
    "labels of text": ({"y_test": LABELS.astype(str)}, "mnist.npz: y_test must be whole numbers from 0 to 9, got <U3"),
    "images of text": ({"x_train": GREY.astype(str)}, "mnist.npz: x_train must be numbers, got <U3"),
    "NaN": ({"x_test": np.where(GREY == 7, np.nan, GREY)}, "mnist.npz: x_test must be finite, got NaN or infinite numbers"),
    "one image": ({"x_train": GREY[:1], "y_train": LABELS[:1]}, "mnist.npz: x_train must have two images or more, .*, got 1"),
    "half of validation": ({"x_valid": GREY}, "must contain the arrays y_valid"),
    "objects": ({"x_train": np.array([None] * 30)}, "mnist.npz cannot be read"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_says_what_it_needs(tmp_path, changes, message):
    write_npz(tmp_path, "mnist", GREY, **changes)
    with pytest.raises(ma.ManyarmsError, match=message):
        load_images("mnist", tmp_path)


@pytest.mark.filterwarnings("ignore:unclosed file .*[.]npz:ResourceWarning")  # NumPy leaves a corrupt archive open
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", pickle.dumps([1, 2])], ids=["empty", "broken", "pickle"])
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / "mnist.npz").write_bytes(content)
    with pytest.raises(ma.ManyarmsError, match=r"mnist.npz cannot be read"):
        load_images("mnist", tmp_path)
    for file in ("train_32x32.mat", "test_32x32.mat"):
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ma.ManyarmsError, match=r"train_32x32.mat cannot be read"):
        load_images("svhn", tmp_path)


def test_other_damaged_formats_are_named_too(tmp_path):
    for file in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        (tmp_path / file).write_bytes(b"\0\0\x08\x03 too short")
    with pytest.raises(ma.ManyarmsError, match="train-images-idx3-ubyte cannot be read"):
        load_images("mnist", tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"text")
    with pytest.raises(ma.ManyarmsError, match="not an IDX file of bytes"):
        load_images("mnist", tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(GREY)[:-1])
    with pytest.raises(ma.ManyarmsError, match="ubyte cannot be read: .* 30 x 28 x 28 bytes after its header, got 23519"):
        load_images("mnist", tmp_path)
    for file in (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"):
        (tmp_path / file).write_bytes(b"12345")
    with pytest.raises(ma.ManyarmsError, match=r"data_batch_1.bin cannot be read"):
        load_images("cifar10", tmp_path)


def test_without_a_data_folder_it_says_where_it_looked_and_for_what(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ma.ManyarmsError, match=r"mnist was not found: looked in .* and '.*nowhere/images' for mnist\.npz"):
        load_images("mnist")
