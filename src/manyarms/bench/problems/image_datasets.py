"""Published image datasets, read from local files: MNIST, Fashion-MNIST, CIFAR-10, SVHN and MRBI (rotated digits on photos).

Each dataset is searched for as one `.npz` file with x_train, y_train, x_test and y_test (and optionally x_valid and y_valid),
then in the format of its publishers, then as an `.npz` file with a subset (`_sub`) or synthetic images (`_synth`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ... import checks
from ...errors import ManyarmsError, ManyarmsWarning
from .data import expected_data_directory
from .image_files import Arrays, read_amat, read_cifar, read_idx, read_mat, read_npz
from .images import Images


@dataclass(frozen=True, slots=True)
class _Format:
    """One format of a dataset: its files, how to read them, and what they contain if it is not the complete dataset."""

    files: tuple[str, ...]
    read: Callable[[Sequence[Path]], Arrays]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class _Source:
    """A published dataset: the shape and number of its images, and its formats in order of preference."""

    shape: tuple[int, ...]
    n_train: int  # including validation images
    n_test: int
    formats: tuple[_Format, ...]


def _formats(name: str, *published: _Format, synthetic: bool = False) -> tuple[_Format, ...]:
    """All formats of a dataset: one file, the published format, and smaller files."""
    some = _Format((f"{name}_sub.npz",), read_npz, "a subset")
    standing_in = _Format((f"{name}_synth_sub.npz",), read_npz, "a synthetic substitute")
    return (_Format((f"{name}.npz",), read_npz), *published, some, *([standing_in] if synthetic else []))


_IDX = tuple(f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
_IDX_FORMATS = (_Format(_IDX, read_idx), _Format(tuple(f"{name}.gz" for name in _IDX), read_idx))
_BATCHES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
_AMAT = tuple(f"mnist_all_background_images_rotation_normalized_{part}.amat" for part in ("train_valid", "test"))
_SOURCES = {
    "mnist": _Source((28, 28), 60_000, 10_000, _formats("mnist", *_IDX_FORMATS)),
    "fashion_mnist": _Source((28, 28), 60_000, 10_000, _formats("fashion_mnist", *_IDX_FORMATS)),
    "cifar10": _Source((32, 32, 3), 50_000, 10_000, _formats("cifar10", _Format(_BATCHES, read_cifar))),
    "svhn": _Source((32, 32, 3), 73_257, 26_032, _formats("svhn", _Format(("train_32x32.mat", "test_32x32.mat"), read_mat))),
    "mrbi": _Source((28, 28), 12_000, 50_000, _formats("mrbi", _Format(_AMAT, read_amat), synthetic=True)),
}

NAMES = tuple(_SOURCES)
"""The names of the datasets."""


def load_images(name: str, folder: str | os.PathLike[str] | None = None, n_valid: int | None = None, seed: int = 0) -> Images:
    """Load a published dataset, with validation images split from the training images. Warns if it is only a subset.

    Args:
        name: One of `NAMES`.
        folder: Folder with the files, or with a folder named after the dataset, which is tried first. By default `images` in
            the data directory: MANYARMS_DATA, or the user's data directory.
        n_valid: Number of validation images, drawn from all images that are not test images. By default the validation images
            of the dataset or, if it has none, a tenth of the training images.
        seed: Random seed for the split.
    """
    source = _SOURCES[checks.one_of("name", name, NAMES)]
    place = expected_data_directory() / "images" if folder is None else Path(folder).expanduser()
    files, format = _found(name, place, source)
    arrays = _checked(files, source.shape, format.read(files))
    instead = format.instead or ("a subset" if _is_smaller(arrays, source) else "")
    if instead:
        found = files[0].name if len(files) == 1 else f"{name} in {str(files[0].parent)!r}"
        warnings.warn(f"{found} is {instead}: {_counts(arrays)}", ManyarmsWarning, stacklevel=2)
    x, y, x_test, y_test = (arrays[key] for key in ("x_train", "y_train", "x_test", "y_test"))
    if "x_valid" in arrays:
        if n_valid is None:
            return Images(x, y, arrays["x_valid"], arrays["y_valid"], x_test, y_test)
        x, y = np.concatenate([x, arrays["x_valid"]]), np.concatenate([y, arrays["y_valid"]])
    return Images.split(x, y, max(1, len(y) // 10) if n_valid is None else n_valid, x_test, y_test, seed)


def _found(name: str, place: Path, source: _Source) -> tuple[list[Path], _Format]:
    """The first format whose files all exist."""
    places = [place / name, place]  # in this order, because MNIST and Fashion-MNIST have the same file names
    for folder in places:
        for format in source.formats:
            files = [folder / file for file in format.files]
            if all(file.is_file() for file in files):
                return files, format
    wanted = "; ".join(" and ".join(format.files) for format in source.formats)
    looked = " and ".join(repr(str(folder)) for folder in places)
    raise ManyarmsError(f"{name} was not found: looked in {looked} for {wanted}. Pass folder, or set MANYARMS_DATA.")


def _is_smaller(arrays: Arrays, source: _Source) -> bool:
    """Whether there are fewer images than in the published dataset."""
    n_train = len(arrays["y_train"]) + len(arrays.get("y_valid", ()))
    return n_train < source.n_train or len(arrays["y_test"]) < source.n_test


def _counts(arrays: Arrays) -> str:
    """The numbers of images, as text."""
    uses = [("train", "images to train on"), ("valid", "to validate on"), ("test", "to test on")]
    return ", ".join(f"{len(arrays[f'y_{part}']):,} {use}" for part, use in uses if f"y_{part}" in arrays)


def _checked(files: Sequence[Path], shape: tuple[int, ...], arrays: Arrays) -> Arrays:
    """The arrays, after checking that they are images of the right shape with labels from 0 to 9."""
    for problem in _problems(arrays, shape):
        raise ManyarmsError(f"{', '.join(map(str, files))}: {problem}")
    return arrays


def _problems(arrays: Arrays, shape: tuple[int, ...]) -> Iterator[str]:
    parts = ["train", "test", *(["valid"] if "x_valid" in arrays else [])]
    missing = [key for part in parts for key in (f"x_{part}", f"y_{part}") if key not in arrays]
    if missing:
        yield f"must contain the arrays {', '.join(missing)}, got {', '.join(arrays) or 'none'}"
        return
    for part in parts:
        x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if x.shape[1:] != shape or not len(x):
            yield f"x_{part} must be {' x '.join(map(str, ('rows', *shape)))}, got {' x '.join(map(str, x.shape))}"
        elif y.shape != x.shape[:1]:
            yield f"y_{part} must be {len(x)} labels, one for each image, got shape {y.shape}"
        elif x.dtype.kind not in "buif":
            yield f"x_{part} must be numbers, got {x.dtype}"
        elif x.dtype.kind == "f" and not np.isfinite(x).all():
            yield f"x_{part} must be finite, got NaN or infinite numbers"
        elif y.dtype.kind not in "iu":
            yield f"y_{part} must be whole numbers from 0 to 9, got {y.dtype}"
        elif y.min() < 0 or y.max() > 9:
            yield f"y_{part} must be whole numbers from 0 to 9, got {y.dtype} from {y.min()} to {y.max()}"
    if len(arrays["x_train"]) < 2 and "x_valid" not in arrays:
        yield "x_train must have two images or more, because some are used for validation, got 1"
