"""Published images, from files that one has: MNIST, Fashion-MNIST, CIFAR-10, SVHN, and MRBI (rotated digits on photographs).

Each set is looked for as one `.npz` file with x_train, y_train, x_test and y_test (and x_valid, y_valid, if it has them), and
in the format of its publishers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import checks
from ..errors import ManyarmsError
from ..problems.images import Images
from ..problems.tables import data_place
from .formats import Arrays, read_amat, read_cifar, read_idx, read_mat, read_npz


@dataclass(frozen=True, slots=True)
class _Format:
    """One way a set is kept: these files, and how they are read."""

    files: tuple[str, ...]
    read: Callable[[Sequence[Path]], Arrays]


@dataclass(frozen=True, slots=True)
class _Source:
    """A published set: the shape of its images, and the ways it is kept."""

    shape: tuple[int, ...]
    formats: tuple[_Format, ...]


def _npz(*names: str) -> tuple[_Format, ...]:
    return tuple(_Format((f"{name}.npz",), read_npz) for name in names)


_IDX = tuple(f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
_IDX_FORMATS = (_Format(_IDX, read_idx), _Format(tuple(f"{name}.gz" for name in _IDX), read_idx))
_BATCHES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
_AMAT = tuple(f"mnist_all_background_images_rotation_normalized_{part}.amat" for part in ("train_valid", "test"))
_SOURCES = {
    "mnist": _Source((28, 28), (*_npz("mnist", "mnist_sub"), *_IDX_FORMATS)),
    "fashion_mnist": _Source((28, 28), (*_npz("fashion_mnist", "fashion_mnist_sub"), *_IDX_FORMATS)),
    "cifar10": _Source((32, 32, 3), (*_npz("cifar10", "cifar10_sub"), _Format(_BATCHES, read_cifar))),
    "svhn": _Source((32, 32, 3), (*_npz("svhn", "svhn_sub"), _Format(("train_32x32.mat", "test_32x32.mat"), read_mat))),
    "mrbi": _Source((28, 28), (*_npz("mrbi", "mrbi_sub", "mrbi_synth_sub"), _Format(_AMAT, read_amat))),
}

NAMES = tuple(_SOURCES)
"""The sets that `load` knows."""


def load(name: str, folder: str | os.PathLike[str] | None = None, n_valid: int | None = None, seed: int = 0) -> Images:
    """A published set, with some of its training images kept to validate on.

    Args:
        name: one of `NAMES`.
        folder: where the files are, or a folder named after the set; by default `images` in the data folder, which is
            MANYARMS_DATA or ../shared/data.
        n_valid: how many of the training images are kept to validate on; by default those that the file names, or a tenth.
        seed: of the choice of these.
    """
    source = _SOURCES[checks.one_of("name", name, NAMES)]
    place = data_place() / "images" if folder is None else Path(folder).expanduser()
    files, format = _found(name, place, source)
    arrays = _checked(files, source.shape, format.read(files))
    x, y, x_test, y_test = (arrays[key] for key in ("x_train", "y_train", "x_test", "y_test"))
    if "x_valid" in arrays and n_valid is None:
        return Images(x, y, arrays["x_valid"], arrays["y_valid"], x_test, y_test)
    return Images.split(x, y, len(y) // 10 if n_valid is None else n_valid, x_test, y_test, seed)


def _found(name: str, place: Path, source: _Source) -> tuple[list[Path], _Format]:
    """The first format whose files are all there."""
    places = [place, place / name]
    for format in source.formats:
        for folder in places:
            files = [folder / file for file in format.files]
            if all(file.is_file() for file in files):
                return files, format
    wanted = "; ".join(" and ".join(format.files) for format in source.formats)
    looked = " and ".join(repr(str(folder)) for folder in places)
    raise ManyarmsError(f"{name} was not found: looked in {looked} for {wanted}. Give folder, or set MANYARMS_DATA")


def _checked(files: Sequence[Path], shape: tuple[int, ...], arrays: Arrays) -> Arrays:
    """The arrays, if they are images of the right shape with labels from 0 to 9."""
    for problem in _problems(arrays, shape):
        raise ManyarmsError(f"{', '.join(map(str, files))}: {problem}")
    return arrays


def _problems(arrays: Arrays, shape: tuple[int, ...]) -> Iterator[str]:
    parts = ["train", "test", *(["valid"] if "x_valid" in arrays else [])]
    missing = [key for part in parts for key in (f"x_{part}", f"y_{part}") if key not in arrays]
    if missing:
        yield f"needs the arrays {', '.join(missing)}, has {', '.join(arrays) or 'none'}"
        return
    for part in parts:
        x, y = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if x.shape[1:] != shape or not len(x):
            yield f"x_{part} must be {' x '.join(map(str, ('rows', *shape)))}, got {' x '.join(map(str, x.shape))}"
        elif y.shape != x.shape[:1]:
            yield f"y_{part} must be {len(x)} labels, one for each image, got the shape {y.shape}"
        elif y.dtype.kind not in "iu" or y.min() < 0 or y.max() > 9:
            yield f"y_{part} must be whole numbers from 0 to 9, got {y.dtype} from {y.min()} to {y.max()}"
