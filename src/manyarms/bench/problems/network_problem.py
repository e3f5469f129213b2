"""Networks on images that are trained in slices, with PyTorch: the problems of Wang, Geng and Rudin."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import checks
from ...runners.running_pull import RunningPull
from .architectures import Architecture, Cnn, Config, Mlp, cifar_space, svhn_space
from .image_datasets import load_images
from .images import Array, Images

if TYPE_CHECKING:
    import torch

_CHUNK = 1000  # images that are classified together


class Training:
    """A network in training. It can be paused, pickled and resumed, and the result does not depend on the slices.

    Attributes:
        network: A `torch.nn.Sequential`.
        iterations: Number of iterations so far.
        diverged: Whether the loss was not finite, which ends the training.
    """

    def __init__(self, architecture: Architecture, config: Config, images: Images, seed: int) -> None:
        torch = _torch()
        self._architecture, self._config = architecture, dict(config)
        self.iterations = 0
        with _generator(None, seed):
            self.network = architecture.network(config, images.shape, images.n_classes)
            self._generator = torch.get_rng_state()
        self._optimizer = architecture.optimizer(config, self.network)
        self.diverged = self._optimizer is None

    def run(self, images: Images, until: int, total: int) -> None:
        """Train until iteration `until` of a training with `total` iterations."""
        torch = _torch()
        size = self._architecture.batch_size(self._config)
        with _generator(self._generator):
            self.network.train()
            while self.iterations < until and not self.diverged:
                rows = torch.randint(len(images.y_train), (size,)).numpy()
                self._descend(images.x_train[rows], images.y_train[rows], self.iterations / total)
                self.iterations += 1
            self._generator = torch.get_rng_state()

    def _descend(self, x: Array, y: Array, share: float) -> None:
        torch = _torch()
        assert self._optimizer is not None
        for group in self._optimizer.param_groups:
            group["lr"] = self._architecture.rate(self._config, share)
        loss = torch.nn.functional.cross_entropy(self.network(_pixels(x)), torch.from_numpy(y.astype(np.int64)))
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        self.diverged = not math.isfinite(loss.item())

    def accuracy(self, x: Array, y: Array) -> float:
        """The share of images that it classifies correctly."""
        torch = _torch()
        self.network.eval()
        with torch.no_grad(), _one_thread():
            parts = [self.network(_pixels(x[at : at + _CHUNK])).argmax(1) for at in range(0, len(x), _CHUNK)]
        return float((torch.cat(parts).numpy() == y).mean())


class NetworkProblem:
    """A network to tune on images. Use `train` in a study, and `evaluate` or `start` in your own loop.

    An iteration trains on a random batch. If configs have `iterations`, a full training is one step. The same seed gives the
    same network, regardless of the slices.

    Args:
        name: Name in tables and plots.
        architecture: Architecture of the network.
        images: Images. The reward is the accuracy on the validation images.
        max_steps: Steps of a full training.
        batches: Iterations per step.
    """

    def __init__(self, name: str, architecture: Architecture, images: Images, max_steps: int, batches: int = 1) -> None:
        _torch()
        self.name, self.space, self.images = name, architecture.space, images
        self.max_steps, self.batches = checks.whole("max_steps", max_steps, 1), checks.whole("batches", batches, 1)
        self._architecture = architecture

    def iterations(self, config: Config, steps: int) -> int:
        """Number of iterations in this many steps."""
        return steps * int(config.get("iterations", self.batches))

    def start(self, config: Config, seed: int) -> Training:
        """The untrained network of a config."""
        return Training(self._architecture, config, self.images, seed)

    def advance(self, training: Training, config: Config, steps: int) -> float | None:
        """Train up to this many steps and return the validation accuracy; None if the loss diverged."""
        training.run(self.images, self.iterations(config, steps), self.iterations(config, self.max_steps))
        return None if training.diverged else training.accuracy(self.images.x_valid, self.images.y_valid)

    def evaluate(self, config: Config, steps: int, seed: int) -> float | None:
        """The validation accuracy after this many steps; None if the loss diverged."""
        return self.advance(self.start(config, seed), config, steps)

    def train(self, pull: RunningPull) -> dict[str, float]:
        """Train a slice, for a study. It saves the `Training`, and its cost is in iterations."""
        training: Training | None = pull.load()
        if training is None:
            training = self.start(pull.config, pull.seed)
        before = training.iterations
        accuracy = self.advance(training, pull.config, pull.stop)
        if accuracy is None:
            raise FloatingPointError(f"the loss diverged after {training.iterations} iterations")
        pull.save(training)
        return {"reward": accuracy, "cost": training.iterations - before}


def mnist_mlp(images: Images | None = None, setting: str = "B", max_steps: int = 243, batches: int = 1) -> NetworkProblem:
    """The MLP of section 3.3.1, for MNIST.

    Args:
        images: Images. By default those of `load_images("mnist")`.
        setting: With "B", the study decides how long each arm is trained. With "A", the length is a parameter, from 30/243 of
            the longest training to all of it, and an arm has one step.
        max_steps: Steps of the longest training.
        batches: Iterations per step.
    """
    longest = _longest(setting, max_steps, batches)
    architecture = Mlp(None if longest is None else (max(1, longest * 30 // 243), longest))
    return _problem("MLP, MNIST", architecture, images or load_images("mnist"), longest, max_steps, batches)


def cifar_cnn(
    images: Images | None = None,
    setting: str = "B",
    max_steps: int = 3000,
    batches: int = 1,
    channels: int = 16,
    hidden: int = 128,
    batch: int = 50,
) -> NetworkProblem:
    """The CNN of table 2, for CIFAR-10, but narrower.

    Args:
        images: Images. By default those of `load_images("cifar10")`.
        setting, max_steps, batches: As in `mnist_mlp`. The lengths in "A" are fifteenths of the longest one, as in the paper.
        channels: Channels of each convolution; 200 in the paper.
        hidden: Units of the dense layer; 512 in the paper.
        batch: Images per iteration.
    """
    longest = _longest(setting, max_steps, batches)
    architecture = Cnn(cifar_space(longest), channels, hidden, batch)
    return _problem("CNN, CIFAR-10", architecture, images or load_images("cifar10"), longest, max_steps, batches)


def svhn_cnn(
    images: Images | None = None,
    setting: str = "B",
    max_steps: int = 1500,
    batches: int = 1,
    channels: int = 16,
    hidden: int = 128,
    batch: int = 50,
) -> NetworkProblem:
    """The CNN of table 1, for SVHN, but narrower. Arguments are as in `cifar_cnn`, with images of `load_images("svhn")`."""
    longest = _longest(setting, max_steps, batches)
    architecture = Cnn(svhn_space(longest), channels, hidden, batch)
    return _problem("CNN, SVHN", architecture, images or load_images("svhn"), longest, max_steps, batches)


def _longest(setting: str, max_steps: int, batches: int) -> int | None:
    """The iterations of the longest training if its length is tuned, or else None."""
    checks.one_of("setting", setting, ("A", "B"))
    iterations = checks.whole("max_steps", max_steps, 1) * checks.whole("batches", batches, 1)
    return iterations if setting == "A" else None


def _problem(
    name: str, architecture: Architecture, images: Images, longest: int | None, max_steps: int, batches: int
) -> NetworkProblem:
    if longest is not None:
        return NetworkProblem(name, architecture, images, max_steps=1, batches=longest)
    return NetworkProblem(name, architecture, images, max_steps, batches)


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError('Problems with networks need PyTorch: pip install "manyarms[torch]"') from None
    return torch


def _pixels(x: Array) -> torch.Tensor:
    """A tensor of rows x channels x height x width. Integers are divided by 255."""
    x = x[..., None] if x.ndim == 3 else x
    scale = 255.0 if np.issubdtype(x.dtype, np.integer) else 1.0
    tensor: torch.Tensor = _torch().from_numpy(np.ascontiguousarray(x)).permute(0, 3, 1, 2).float() / scale
    return tensor


@contextlib.contextmanager
def _generator(state: Any, seed: int = 0) -> Iterator[None]:
    """Set the random state of PyTorch, or seed it, and restore it afterwards. On one thread."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]), _one_thread():
        if state is None:
            torch.manual_seed(seed)
        else:
            torch.set_rng_state(state)
        yield


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread, because several would sum in another order and give other results."""
    torch = _torch()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
