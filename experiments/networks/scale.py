"""The scale of the network experiments: the number and size of images, and limits on the networks."""

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

    train: int = _option(1000, "number of training images")
    valid: int = _option(2000, "number of validation images")
    test: int = _option(2000, "number of test images")
    shrink: int = _option(2, "height and width are divided by this, by average pooling")
    nodes: int = _option(6, "maximum number of nodes of the first graph; the second has half as many")
    parameters: int = _option(50_000, "maximum number of parameters of a network")
    flops: int = _option(200_000, "maximum number of operations of a network per image")
    epochs: int = _option(4, "epochs per step, which is one cosine cycle of the learning rate")
    batch: int = _option(64, "smallest batch size in the space, from 32 to 256; small ones are slow on a CPU")
    budget: int = _option(480, "steps of a search (T)")
    steps: int = _option(6, "maximum steps of a network (N)")

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser, **defaults: int) -> None:
        """Add an option for each field, with other defaults if given."""
        for part in fields(cls):
            default = defaults.get(part.name, part.default)
            text = f"{part.metadata['help']} (default {default:,})"
            parser.add_argument(f"--{part.name}", type=int, default=default, metavar="n", help=text)

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Scale:
        """The scale from the command line."""
        return cls(**{part.name: getattr(arguments, part.name) for part in fields(cls)})

    @property
    def images(self) -> str:
        """Description of the images."""
        size = "not shrunk" if self.shrink == 1 else f"shrunk to 1/{self.shrink} of their height and width"
        return f"{self.train:,} training images, {self.valid:,} validation images and {self.test:,} test images, {size}"

    @property
    def limits(self) -> str:
        """Description of the limits of networks."""
        nodes = f"{self.nodes} + {max(1, self.nodes // 2)} nodes"
        return f"networks of at most {nodes}, {self.parameters:,} parameters and {self.flops:,} operations per image"

    @property
    def training(self) -> str:
        """Description of the training of a network."""
        return f"a step is {self.cycle} in batches of {self.batch} to {BATCH_SIZES[-1]}, N = {self.steps}"

    @property
    def cycle(self) -> str:
        """Description of a step."""
        return f"one cycle of {self.epochs} epoch{'s' * (self.epochs > 1)}"

    def __str__(self) -> str:
        return f"{self.images}; {self.limits}; {self.training}, T = {self.budget:,}"


@functools.cache  # read once in each process
def load_images(dataset: str, scale: Scale) -> Images:
    """Some images of a dataset, always the same ones."""
    from manyarms import ManyarmsWarning
    from manyarms.bench.problems.images import Images
    from manyarms.networks import data

    with warnings.catch_warnings(action="ignore", category=ManyarmsWarning):  # that it is a subset
        everything = data.load(dataset, n_valid=scale.valid)
    rng = np.random.default_rng(0)
    arrays: list[Any] = []
    for part in ("train", "valid", "test"):
        x, y = getattr(everything, f"x_{part}"), getattr(everything, f"y_{part}")
        wanted = getattr(scale, part)
        if wanted > len(y):
            raise SystemExit(f"{dataset} has only {len(y):,} {part} images. Choose at most this many instead of {wanted:,}.")
        chosen = rng.permutation(len(y))[:wanted]
        arrays += [shrunk(x[chosen], scale.shrink), y[chosen]]
    return Images(*arrays)


def shrunk(x: Any, factor: int) -> Any:
    """Images whose height and width are divided by a factor, by averaging squares. Remainders at the edges are dropped."""
    x = x[..., None] if x.ndim == 3 else x
    rows, height, width = len(x), x.shape[1] // factor, x.shape[2] // factor
    x = x[:, : height * factor, : width * factor].astype(np.float32)
    return x.reshape(rows, height, factor, width, factor, -1).mean(axis=(2, 4))


def make_classifier(dataset: str, scale: Scale, warm: bool = True) -> Classifier:
    """The training function of a study on a dataset."""
    import manyarms as ma
    from manyarms import networks

    images = load_images(dataset, scale)
    limits = {"max_nodes": scale.nodes, "max_parameters": scale.parameters, "max_flops": scale.flops}
    batches = ma.Choice(*(size for size in BATCH_SIZES if size >= scale.batch), ordered=True)
    training = ma.Space(**{**networks.TRAINING.parameters, "batch_size": batches})
    space = networks.image_space(images.shape, images.n_classes, training=training, **limits)
    arrays = images.x_train, images.y_train, images.x_valid, images.y_valid
    return networks.Classifier(space, *arrays, epochs=scale.epochs, warm=warm)
