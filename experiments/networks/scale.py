"""How large the experiments on networks are: some images of a set, shrunk, and networks within limits."""

from __future__ import annotations

import argparse
import functools
import os
import warnings
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch: each process is one job

import numpy as np

if TYPE_CHECKING:
    from manyarms.bench.problems.images import Images
    from manyarms.networks import Classifier

BATCH_SIZES = (32, 64, 128, 256)
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10", "mrbi": "MRBI"}


def _option(default: int, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Scale:
    """Each field is an option of the command."""

    train: int = _option(1000, "images to train on")
    valid: int = _option(2000, "images to validate on")
    test: int = _option(2000, "images to test on")
    shrink: int = _option(2, "height and width are divided by this, by average pooling")
    nodes: int = _option(6, "most nodes of the graph of images; the other has half as many")
    parameters: int = _option(50_000, "most parameters of a network")
    flops: int = _option(200_000, "most multiplications and additions of a network for an image")
    epochs: int = _option(4, "of a step, which is one cosine cycle of the learning rate")
    batch: int = _option(64, "smallest batch that is searched, of 32 to 256; small ones take long on a CPU")
    budget: int = _option(480, "steps of a search: T")
    steps: int = _option(6, "most steps of a network: N")

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser, **defaults: int) -> None:
        """An option for each field, with other defaults where they are given."""
        for part in fields(cls):
            default = defaults.get(part.name, part.default)
            text = f"{part.metadata['help']} (default {default:,})"
            parser.add_argument(f"--{part.name}", type=int, default=default, metavar="n", help=text)

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Scale:
        """The scale that was asked for."""
        return cls(**{part.name: getattr(arguments, part.name) for part in fields(cls)})

    @property
    def images(self) -> str:
        """The images in words."""
        size = "as they are" if self.shrink == 1 else f"shrunk to 1/{self.shrink} of their height and width"
        return f"{self.train:,} images to train on, {self.valid:,} to validate on, {self.test:,} to test on, {size}"

    @property
    def limits(self) -> str:
        """The limits of networks in words."""
        nodes = f"{self.nodes} + {max(1, self.nodes // 2)} nodes"
        return f"networks of at most {nodes}, {self.parameters:,} parameters and {self.flops:,} operations an image"

    @property
    def training(self) -> str:
        """The training of a network in words."""
        return f"a step is {self.cycle} in batches of {self.batch} to {BATCH_SIZES[-1]}, N = {self.steps}"

    @property
    def cycle(self) -> str:
        """A step in words."""
        return f"one cycle of {self.epochs} epoch{'s' * (self.epochs > 1)}"

    def __str__(self) -> str:
        return f"{self.images}; {self.limits}; {self.training}, T = {self.budget:,}"


@functools.cache  # read once in each process
def load_images(dataset: str, scale: Scale) -> Images:
    """Some images of a set, always the same ones."""
    from manyarms import ManyarmsWarning
    from manyarms.bench.problems.images import Images
    from manyarms.networks import data

    with warnings.catch_warnings(action="ignore", category=ManyarmsWarning):  # that it is a subset: the scale is printed anyway
        everything = data.load(dataset, n_valid=scale.valid)
    rng = np.random.default_rng(0)
    arrays: list[Any] = []
    for part in ("train", "valid", "test"):
        x, y = getattr(everything, f"x_{part}"), getattr(everything, f"y_{part}")
        wanted = getattr(scale, part)
        if wanted > len(y):
            raise SystemExit(f"{dataset} has {len(y):,} images to {part} on, {wanted:,} were asked for")
        chosen = rng.permutation(len(y))[:wanted]
        arrays += [shrunk(x[chosen], scale.shrink), y[chosen]]
    return Images(*arrays)


def shrunk(x: Any, factor: int) -> Any:
    """Images whose height and width are divided by a factor: the means of squares, what is left at the edges dropped."""
    x = x[..., None] if x.ndim == 3 else x
    rows, height, width = len(x), x.shape[1] // factor, x.shape[2] // factor
    x = x[:, : height * factor, : width * factor].astype(np.float32)
    return x.reshape(rows, height, factor, width, factor, -1).mean(axis=(2, 4))


def make_classifier(dataset: str, scale: Scale, warm: bool = True) -> Classifier:
    """The function of a study on a set of images."""
    import manyarms as ma
    from manyarms import networks

    images = load_images(dataset, scale)
    limits = {"max_nodes": scale.nodes, "max_parameters": scale.parameters, "max_flops": scale.flops}
    batches = ma.Choice(*(size for size in BATCH_SIZES if size >= scale.batch), ordered=True)
    training = ma.Space(**{**networks.TRAINING.parameters, "batch_size": batches})
    space = networks.image_space(images.shape, images.n_classes, training=training, **limits)
    arrays = images.x_train, images.y_train, images.x_valid, images.y_valid
    return networks.Classifier(space, *arrays, epochs=scale.epochs, warm=warm)
