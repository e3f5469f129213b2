"""Problems that really train: the networks of Wang, Geng and Rudin on images, in slices, with PyTorch."""

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

_AT_ONCE = 1000  # images that are classified together


class Training:
    """A network in training. It can be paused, pickled and gone on with, and ends the same however it is sliced.

    Attributes:
        network: a `torch.nn.Sequential`.
        iterations: so many were made.
        diverged: the loss was not finite; there is no more training.
    """

    def __init__(self, architecture: Architecture, config: Config, images: Images, seed: int) -> None:
        torch = _torch()
        self._architecture, self._config = architecture, dict(config)
        self.iterations = 0
        with _generator(None, seed):
            self.network = architecture.network(config, images.shape, images.n_classes)
            self._generator = torch.get_rng_state()
        self._optimiser = architecture.optimiser(config, self.network)
        self.diverged = self._optimiser is None

    def run(self, images: Images, until: int, total: int) -> None:
        """Train until there were so many iterations, of a training that is `total` long."""
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
        assert self._optimiser is not None
        for group in self._optimiser.param_groups:
            group["lr"] = self._architecture.rate(self._config, share)
        loss = torch.nn.functional.cross_entropy(self.network(_pixels(x)), torch.from_numpy(y.astype(np.int64)))
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()
        self.diverged = not math.isfinite(loss.item())

    def accuracy(self, x: Array, y: Array) -> float:
        """The share of images that it classifies as labelled."""
        torch = _torch()
        self.network.eval()
        with torch.no_grad(), _one_thread():
            parts = [self.network(_pixels(x[at : at + _AT_ONCE])).argmax(1) for at in range(0, len(x), _AT_ONCE)]
        return float((torch.cat(parts).numpy() == y).mean())


class NetworkProblem:
    """A network to be tuned on images: `train` is for a study, `evaluate` and `start` are for a loop of one's own.

    A step is so many iterations, each on a batch drawn at random; if the configs have `iterations`, the one step is the whole
    training. The same seed gives the same network, in whatever slices it is trained.

    Args:
        name: for tables and plots.
        architecture: what is trained.
        images: to train on, to validate on: the reward is the share of these it classifies rightly.
        max_steps: of a whole training.
        batches: iterations of a step.
    """

    def __init__(self, name: str, architecture: Architecture, images: Images, max_steps: int, batches: int = 1) -> None:
        _torch()
        self.name, self.space, self.images = name, architecture.space, images
        self.max_steps, self.batches = checks.whole("max_steps", max_steps, 1), checks.whole("batches", batches, 1)
        self._architecture = architecture

    def iterations(self, config: Config, steps: int) -> int:
        """How many there are in so many steps."""
        return steps * int(config.get("iterations", self.batches))

    def start(self, config: Config, seed: int) -> Training:
        """The network of a config, untrained."""
        return Training(self._architecture, config, self.images, seed)

    def advance(self, training: Training, config: Config, steps: int) -> float | None:
        """Train until there were so many steps; gives the accuracy on the validation images, None where the loss diverged."""
        training.run(self.images, self.iterations(config, steps), self.iterations(config, self.max_steps))
        return None if training.diverged else training.accuracy(self.images.x_valid, self.images.y_valid)

    def evaluate(self, config: Config, steps: int, seed: int) -> float | None:
        """The accuracy on the validation images after so many steps; None where the loss diverged."""
        return self.advance(self.start(config, seed), config, steps)

    def train(self, pull: RunningPull) -> dict[str, float]:
        """A slice of training: the function of a study. It saves the `Training`, and its cost is in iterations."""
        training: Training = pull.load() or self.start(pull.config, pull.seed)
        before = training.iterations
        accuracy = self.advance(training, pull.config, pull.stop)
        if accuracy is None:
            raise FloatingPointError(f"the loss diverged after {training.iterations} iterations")
        pull.save(training)
        return {"reward": accuracy, "cost": training.iterations - before}


def mnist_mlp(images: Images | None = None, setting: str = "B", max_steps: int = 243, batches: int = 1) -> NetworkProblem:
    """The MLP of section 3.3.1, for MNIST.

    Args:
        images: by default those of `load_images("mnist")`.
        setting: "B", where the study decides how long each arm is trained, or "A", where that is one more parameter, from
            30/243 of the longest training to all of it, and an arm is one step.
        max_steps: of the longest training.
        batches: iterations of a step.
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
        images: by default those of `load_images("cifar10")`.
        setting, max_steps, batches: as in `mnist_mlp`; the lengths in "A" are fifteenths of the longest, as in the paper.
        channels: of each convolution; 200 in the paper.
        hidden: units of the dense layer; 512 in the paper.
        batch: images of an iteration.
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
    """The CNN of table 1, for SVHN, but narrower. Arguments are those of `cifar_cnn`; images by `load_images("svhn")`."""
    longest = _longest(setting, max_steps, batches)
    architecture = Cnn(svhn_space(longest), channels, hidden, batch)
    return _problem("CNN, SVHN", architecture, images or load_images("svhn"), longest, max_steps, batches)


def _longest(setting: str, max_steps: int, batches: int) -> int | None:
    """The iterations of the longest training if its length is tuned, else None."""
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
        raise ImportError('problems that train need PyTorch: pip install "manyarms[torch]"') from None
    return torch


def _pixels(x: Array) -> torch.Tensor:
    """Rows x channels x height x width, whole numbers as shares of 255."""
    x = x[..., None] if x.ndim == 3 else x
    scale = 255.0 if np.issubdtype(x.dtype, np.integer) else 1.0
    tensor: torch.Tensor = _torch().from_numpy(np.ascontiguousarray(x)).permute(0, 3, 1, 2).float() / scale
    return tensor


@contextlib.contextmanager
def _generator(state: Any, seed: int = 0) -> Iterator[None]:
    """PyTorch's generator in this state, or begun with the seed; afterwards as it was. On one thread."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]), _one_thread():
        if state is None:
            torch.manual_seed(seed)
        else:
            torch.set_rng_state(state)
        yield


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """More than one would add up in another order, hence to other sums."""
    torch = _torch()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
