"""Classifiers: training functions for studies that search for networks."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...errors import StudyMismatch
from ...runners.running_pull import PullStopped, RunningPull
from ...study.fingerprint import fingerprint
from ..graphs.layout import Layout
from ..graphs.network_space import NetworkSpace
from .arrays import Array, channels_first, labels
from .dataset import Dataset
from .network_module import NetworkModule, build, inherit
from .optimizers import check_training
from .precision import Precision
from .pytorch import torch
from .trained_network import FILE, TrainedNetwork, read_state, state_bytes
from .training import Cycle

_MAX_BATCH = 1000  # examples that are classified at the same time
_MAX_BATCH_BYTES = 64 * 2**20  # size of the largest input or output of a layer for such a batch
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory")


class Classifier:
    """A training function for studies. Trains networks in cycles; the reward is the accuracy on validation examples.

    A step is one cycle of the learning rate (a sub-train of the Mutant-UCB paper, section 5.1). Pausing a network does not
    change its training: on the CPU, with the same number of threads, the results are identical. A mutant starts with all
    weights of its parent that have the same node and shape. A pull fails if the loss diverges or memory runs out.

    Args:
        space: Space of networks. Its training has `learning_rate`, `batch_size`, `optimizer` and optionally `weight_decay`.
        x_train: Training examples, channels last: rows x height x width x channels, rows x length x channels, or rows x
            features. A single channel may be omitted.
        y_train: Labels of the training examples: 0, 1, 2 and so on.
        x_valid, y_valid: Validation examples and their labels. The reward is measured on them.
        epochs: Number of epochs in a cycle.
        warm: Whether mutants inherit weights.
        lowest: Learning rate at the end of a cycle, as a fraction of that at its start.
        device: PyTorch device, such as "cuda:1". By default a GPU if there is one.
        mixed_precision: Whether to compute in half precision. By default only on GPUs.

    >>> import numpy as np, manyarms as ma
    >>> from manyarms.networks import table_classifier
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 4))
    >>> y = (x[:, 0] * x[:, 1] > 0).astype(int)
    >>> classifier = table_classifier(x[:200], y[:200], x[200:], y[200:], epochs=2)
    >>> strategy = ma.MutantUCB(classifier.space, budget=30, max_steps=3, seed=0)
    >>> with ma.Study(strategy, bounds=(0, 1)) as study:
    ...     study.optimize(classifier, progress=False)
    ...     model = study.best_model()
    >>> classifier.accuracy(model, x[200:], y[200:]) == study.best_reward
    True
    """

    def __init__(
        self,
        space: NetworkSpace,
        x_train: Array,
        y_train: Array,
        x_valid: Array,
        y_valid: Array,
        *,
        epochs: int = 10,
        warm: bool = True,
        lowest: float = 0.01,
        device: str | None = None,
        mixed_precision: bool | None = None,
    ) -> None:
        check_training(space.training)
        self.space = space
        self.epochs = checks.whole("epochs", epochs, 1)
        self.warm = checks.flag("warm", warm)
        self.lowest = checks.between("lowest", lowest, 0, 1)
        self._device = None if device is None else _check_device(device, space)
        self._mixed = None if mixed_precision is None else checks.flag("mixed_precision", mixed_precision)
        self._train = Dataset.checked("train", x_train, y_train, space)
        self._valid = Dataset.checked("valid", x_valid, y_valid, space)
        if len(np.unique(self._train.y)) < 2:
            raise ValueError(f"y_train must have at least two classes, got only {self._train.y[0]}")
        self._mean, self._scale = self._train.mean_and_scale()
        self._train.check_standardized("train", self._mean, self._scale)
        self._valid.check_standardized("valid", self._mean, self._scale)
        data = fingerprint(self._train.x, self._train.y, self._valid.x, self._valid.y)
        self._task = {"data": data, "epochs": self.epochs, "warm": self.warm, "lowest": self.lowest}

    def __call__(self, pull: RunningPull) -> dict[str, float]:
        """Train an arm from `pull.start` to `pull.stop` cycles."""
        with _memory_errors():
            trained = self._start(pull) if pull.start == 0 else self._resume(pull)
            x, y = self._train.tensors(trained.precision.device)
            accuracy = 0.0
            while trained.steps < pull.stop:
                trained.train(x, y, self._cycle(trained))
                accuracy = self._validation_accuracy(trained.module)
                try:
                    pull.report(accuracy)
                except PullStopped:
                    self._save(pull, trained)
                    raise
            self._save(pull, trained)
        return {"reward": accuracy, "loss": trained.loss, "n_parameters": trained.module.layout.n_parameters}

    def check_saved(self, directory: Path) -> None:
        """Raise `StudyMismatch` if a checkpoint has other data or settings. `study.optimize` calls this when it resumes."""
        before = read_state(directory)["task"]
        for what, value in self._task.items():
            if before[what] != value:
                found = "other data" if what == "data" else f"{what}={before[what]!r}, not {what}={value!r}"
                raise StudyMismatch(
                    f"the networks of this study were trained with {found}; "
                    f"use the same {what}, or start a new study with another name"
                )

    def load_model(self, directory: Path) -> NetworkModule:
        """The trained network in a checkpoint directory. `study.best_model()` calls this."""
        device = self._precision().device
        state = read_state(directory)
        module = build(self.space.from_json(json.loads(state["network"])), self.space).to(device)
        module.load_state_dict(state["weights"])
        return module.eval()

    def predict(self, model: NetworkModule, x: Array) -> NDArray[np.int64]:
        """Predicted labels of examples. The model is left in evaluation mode."""
        return self._predict(model, channels_first("x", x, self.space))

    def accuracy(self, model: NetworkModule, x: Array, y: Array) -> float:
        """Fraction of examples that a network classifies correctly."""
        rows = channels_first("x", x, self.space)
        correct = labels("y", y, len(rows))
        return float((self._predict(model, rows) == correct).mean())

    # -- internal

    def _start(self, pull: RunningPull) -> TrainedNetwork:
        """A new network, with the weights of its parent where they fit."""
        if not self.space.contains(pull.config):
            raise ValueError("the network does not belong to the classifier's space: pass classifier.space to the strategy")
        trained = TrainedNetwork.initialize(pull.config, self.space, pull.seed, self._precision())
        if self.warm and pull.parent is not None:
            inherit(trained.module, read_state(pull.parent.directory)["weights"])
        with torch.no_grad():
            trained.module.mean.copy_(torch.from_numpy(self._mean))
            trained.module.scale.copy_(torch.from_numpy(self._scale))
        return trained

    def _resume(self, pull: RunningPull) -> TrainedNetwork:
        if pull.previous is None:
            raise RuntimeError(f"arm {pull.arm.id} has no checkpoint, so it cannot continue from step {pull.start}")
        state = read_state(pull.previous)
        trained = TrainedNetwork.restore(state, self.space, self._precision())
        if state.get("stop", trained.steps) != pull.start:  # older versions did not save "stop"
            raise RuntimeError(
                f"the checkpoint of arm {pull.arm.id} is at step {trained.steps}, so it cannot continue from step {pull.start}"
            )
        return trained

    def _save(self, pull: RunningPull, trained: TrainedNetwork) -> None:
        """Save the training, and the step to which the arm counts as trained, even if it was stopped early."""
        pull.save_file(FILE, state_bytes({**trained.state(), "task": self._task, "stop": pull.stop}))

    def _precision(self) -> Precision:
        device = self._device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return Precision(device, device.type == "cuda" if self._mixed is None else self._mixed)

    def _cycle(self, trained: TrainedNetwork) -> Cycle:
        training = trained.network.training
        highest = training["learning_rate"]
        return Cycle(self.epochs, training["batch_size"], highest, self.lowest * highest)

    def _validation_accuracy(self, module: NetworkModule) -> float:
        x, y = self._valid.tensors(module.mean.device)
        return int((self._classify(module, x) == y).sum()) / len(y)

    def _predict(self, model: NetworkModule, rows: Array) -> NDArray[np.int64]:
        return self._classify(model, torch.from_numpy(rows).to(model.mean.device)).cpu().numpy()

    def _classify(self, module: NetworkModule, x: torch.Tensor) -> torch.Tensor:
        """The class with the highest score. Scores that are not finite mean that the training diverged."""
        module.eval()
        with torch.no_grad(), self._precision().autocast():
            scores = torch.cat([module(batch) for batch in torch.split(x, prediction_batch_size(module.layout))])
        if not bool(torch.isfinite(scores).all()):
            raise FloatingPointError("the scores of the network are not finite")
        return scores.argmax(dim=1)


def prediction_batch_size(layout: Layout) -> int:
    """Number of examples that are classified at the same time. Smaller for large layers, to limit memory."""
    largest = max(math.prod(shape) for stage in layout.all_stages for shape in (stage.before, stage.after))
    return max(1, min(_MAX_BATCH, _MAX_BATCH_BYTES // (4 * largest)))


def _check_device(name: str, space: NetworkSpace) -> torch.device:
    """The device. It must be available where pulls run, but not necessarily here."""
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f'device must be one that PyTorch knows, such as "cpu" or "cuda:1", got {name!r}') from None
    if device.type == "mps" and len(space.input_shape) == 1:
        raise ValueError(f"device must support double precision, in which tables are standardized, got {name!r}")
    return device


@contextlib.contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise `MemoryError` for PyTorch's out-of-memory errors."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.cuda.OutOfMemoryError) and not any(text in str(error) for text in _OUT_OF_MEMORY):
            raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        raise MemoryError(str(error)) from error
