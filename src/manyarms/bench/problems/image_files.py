"""Reads image files in the formats of their publishers. Nothing is unpickled, and errors name the file."""

from __future__ import annotations

import contextlib
import gzip
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ManyarmsError

Array = NDArray[Any]
Arrays = dict[str, Array]
"""Arrays by name: x_train, y_train, x_test, y_test and, if there are any, x_valid and y_valid."""

_KEYS = ("x_train", "y_train", "x_test", "y_test", "x_valid", "y_valid")
_ROW = 1 + 32 * 32 * 3  # a label and an image, in the binary files of CIFAR-10


def read_npz(files: Sequence[Path]) -> Arrays:
    """One file of NumPy arrays."""
    with _reading(files[0]), np.load(files[0], allow_pickle=False) as content:
        return {key: content[key] for key in _KEYS if key in content}


def read_idx(files: Sequence[Path]) -> Arrays:
    """MNIST and Fashion-MNIST: four files, optionally compressed."""
    x_train, y_train, x_test, y_test = map(_idx, files)
    return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}


def _idx(file: Path) -> Array:
    """An IDX file: a header with the number of dimensions and their sizes in four bytes each, followed by the data."""
    with _reading(file):
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        if data[:3] != b"\0\0\x08":
            raise ValueError("not an IDX file of bytes")
        shape = np.frombuffer(data, ">i4", data[3], 4)
        content = np.frombuffer(data, np.uint8, offset=4 + shape.nbytes)
        if content.size != math.prod(shape.tolist()):
            raise ValueError(f"must be {' x '.join(map(str, shape))} bytes after its header, got {content.size}")
        return content.reshape(shape)


def read_cifar(files: Sequence[Path]) -> Arrays:
    """The binary version of CIFAR-10: five files of training images and one of test images."""
    *train, (x_test, y_test) = map(_batch, files)
    x_train, y_train = (np.concatenate(parts) for parts in zip(*train, strict=True))
    return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}


def _batch(file: Path) -> tuple[Array, Array]:
    with _reading(file):
        data = file.read_bytes()
        if not data or len(data) % _ROW:
            raise ValueError(f"must be {_ROW} bytes for each image, and have at least one, got {len(data)} bytes")
    rows = np.frombuffer(data, np.uint8).reshape(-1, _ROW)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), rows[:, 0]


def read_mat(files: Sequence[Path]) -> Arrays:
    """SVHN: the last axis holds the rows, and the label 10 stands for the digit 0."""
    from scipy.io import loadmat

    arrays = {}
    for part, file in zip(("train", "test"), files, strict=True):
        with _reading(file):
            content = {key: value for key, value in loadmat(file).items() if not key.startswith("__")}
            if not {"X", "y"} <= content.keys():
                raise ValueError(f"needs the arrays X and y, has {', '.join(content) or 'none'}")
            arrays[f"x_{part}"] = np.moveaxis(content["X"], -1, 0)
            labels = content["y"].ravel()
            arrays[f"y_{part}"] = np.where(labels == 10, labels.dtype.type(0), labels)
    return arrays


def read_amat(files: Sequence[Path]) -> Arrays:
    """MRBI: text files with 784 gray values and a label in each row. The last 2,000 training rows are for validation."""
    (x, y), (x_test, y_test) = map(_table, files)
    n_train = max(1, len(y) - 2000)
    parts = {"x_train": x[:n_train], "y_train": y[:n_train], "x_test": x_test, "y_test": y_test}
    return parts | ({"x_valid": x[n_train:], "y_valid": y[n_train:]} if n_train < len(y) else {})


def _table(file: Path) -> tuple[Array, Array]:
    with _reading(file):
        rows = np.loadtxt(file, dtype=np.float32, ndmin=2)
        if rows.shape[1] != 28 * 28 + 1 or not len(rows):
            raise ValueError(f"must be rows of 785 numbers, at least one, got {len(rows)} rows of {rows.shape[1]}")
        labels = rows[:, -1]
        wrong = labels[~np.isfinite(labels) | (labels != np.floor(labels))]
        if wrong.size:
            raise ValueError(f"labels must be whole numbers, got {wrong[0]}")
        return rows[:, :-1].reshape(-1, 28, 28), labels.astype(np.int64)


@contextlib.contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a corrupt file can cause any error in a parser
        raise ManyarmsError(f"{file} cannot be read: {type(error).__name__}: {error}") from error
