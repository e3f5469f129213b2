"""Networks that learn to classify, in pulls of one or more cycles: the function of a study."""

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
from ..graphs.shapes import Layout
from ..graphs.space import NetworkSpace
from .build import NetworkModule, build, inherit
from .cycles import Cycle, Precision
from .examples import Array, Examples, channels_first, labels
from .pytorch import torch
from .trained_network import FILE, Trainee, check_training, packed, read_state

_AT_ONCE = 1000  # the most examples that are classified together
_BYTES = 64 * 2**20  # and the most that a layer may be given, or give, for all of them
_NO_MEMORY = ("can't allocate memory", "not enough memory")


class Classifier:
    """The function of a study: trains networks, cycle by cycle. The reward is the accuracy on validation examples.

    A step is one cycle of the learning rate (a sub-train of the Mutant-UCB paper, section 5.1). A network that was paused goes
    on as if it had not been: on the CPU, with the same number of threads, bit for bit. A mutant begins with every weight of its
    parent whose node and shape it kept. A loss that diverges, or too little memory, is a failed pull.

    Args:
        space: makes the networks; its training has `learning_rate`, `batch_size`, `optimiser` and perhaps `weight_decay`.
        x_train, y_train: examples, channels last (rows x height x width x channels, rows x length x channels, or rows x
            features; a single channel may be left out), and their labels 0, 1, 2 and so on.
        x_valid, y_valid: those that the reward is measured on.
        epochs: of a cycle.
        warm: whether mutants inherit weights.
        lowest: the learning rate at the end of a cycle, as a share of that at its beginning.
        device: such as "cuda:1"; by default a GPU if there is one.
        mixed_precision: compute in half precision; by default on GPUs only.

    >>> import numpy as np, manyarms as ma
    >>> from manyarms.networks import table_classifier
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 4))
    >>> y = (x[:, 0] * x[:, 1] > 0).astype(int)
    >>> classifier = table_classifier(x[:200], y[:200], x[200:], y[200:], epochs=2)
    >>> study = ma.Study(ma.MutantUCB(classifier.space, budget=30, max_steps=3, seed=0), bounds=(0, 1))
    >>> study.optimize(classifier, progress=False)
    >>> model = study.best_model()
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
        self._device = None if device is None else _known_device(device, space)
        self._mixed = None if mixed_precision is None else checks.flag("mixed_precision", mixed_precision)
        self._train = Examples.of("train", x_train, y_train, space)
        self._valid = Examples.of("valid", x_valid, y_valid, space)
        if len(np.unique(self._train.y)) < 2:
            raise ValueError(f"y_train must have two classes or more, got {self._train.y[0]} only")
        self._mean, self._scale = self._train.standard()
        self._train.check_standardised("train", self._mean, self._scale)
        self._valid.check_standardised("valid", self._mean, self._scale)
        data = fingerprint(self._train.x, self._train.y, self._valid.x, self._valid.y)
        self._task = {"data": data, "epochs": self.epochs, "warm": self.warm, "lowest": self.lowest}

    def __call__(self, pull: RunningPull) -> dict[str, float]:
        """Train an arm from `pull.start` to `pull.stop` cycles."""
        with _memory_errors():
            trainee = self._begun(pull) if pull.start == 0 else self._resumed(pull)
            x, y = self._train.on(trainee.precision.device)
            accuracy = 0.0
            while trainee.steps < pull.stop:
                trainee.train(x, y, self._cycle(trainee))
                accuracy = self._measured(trainee.module, self._valid)
                try:
                    pull.report(accuracy)
                except PullStopped:
                    self._save(pull, trainee)
                    raise
            self._save(pull, trainee)
        return {"reward": accuracy, "loss": trainee.loss, "n_parameters": trainee.module.layout.n_parameters}

    def check_saved(self, directory: Path) -> None:
        """Refuse a network that was trained on other data or otherwise; `study.optimize` calls this before it goes on."""
        before = read_state(directory)["task"]
        for what, value in self._task.items():
            if before[what] != value:
                known = "" if what == "data" else f": {what}={before[what]!r}, now {what}={value!r} is given"
                raise StudyMismatch(
                    f"the networks of this study were trained with other {what}{known}; "
                    "go on with what they were trained with, or begin a new study under another name"
                )

    def load_model(self, directory: Path) -> NetworkModule:
        """The trained network in the directory of a checkpoint; `study.best_model()` calls this."""
        device = self._precision().device
        state = read_state(directory)
        module = build(self.space.from_json(json.loads(state["network"])), self.space).to(device)
        module.load_state_dict(state["weights"])
        return module.eval()

    def predict(self, model: NetworkModule, x: Array) -> NDArray[np.int64]:
        """The labels that a network gives to examples; it is left in evaluation mode."""
        return self._predicted(model, channels_first("x", x, self.space))

    def accuracy(self, model: NetworkModule, x: Array, y: Array) -> float:
        """The share of examples that a network classifies as labelled."""
        rows = channels_first("x", x, self.space)
        wanted = labels("y", y, len(rows))
        return float((self._predicted(model, rows) == wanted).mean())

    # -- inside

    def _begun(self, pull: RunningPull) -> Trainee:
        """A new training, with the weights of the parent where they fit."""
        if not self.space.contains(pull.config):
            raise ValueError("the network is not of the classifier's space: give the strategy classifier.space")
        trainee = Trainee.begin(pull.config, self.space, pull.seed, self._precision())
        if self.warm and pull.parent is not None:
            inherit(trainee.module, read_state(pull.parent.directory)["weights"])
        with torch.no_grad():
            trainee.module.mean.copy_(torch.from_numpy(self._mean))
            trainee.module.scale.copy_(torch.from_numpy(self._scale))
        return trainee

    def _resumed(self, pull: RunningPull) -> Trainee:
        if pull.previous is None:
            raise RuntimeError(f"arm {pull.arm.id} saved nothing, so it cannot go on from step {pull.start}")
        state = read_state(pull.previous)
        trainee = Trainee.resume(state, self.space, self._precision())
        if state.get("stop", trainee.steps) != pull.start:  # states of older versions do not say
            raise RuntimeError(f"arm {pull.arm.id} saved step {trainee.steps}, so it cannot go on from step {pull.start}")
        return trainee

    def _save(self, pull: RunningPull, trainee: Trainee) -> None:
        """Save the training, and the step that the arm counts as trained to: fewer were trained if time was over."""
        pull.save_file(FILE, packed({**trainee.state(), "task": self._task, "stop": pull.stop}))

    def _precision(self) -> Precision:
        device = self._device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return Precision(device, device.type == "cuda" if self._mixed is None else self._mixed)

    def _cycle(self, trainee: Trainee) -> Cycle:
        training = trainee.network.training
        highest = training["learning_rate"]
        return Cycle(self.epochs, training["batch_size"], highest, self.lowest * highest)

    def _measured(self, module: NetworkModule, examples: Examples) -> float:
        x, y = examples.on(module.mean.device)
        return int((self._labels(module, x) == y).sum()) / len(y)

    def _predicted(self, model: NetworkModule, rows: Array) -> NDArray[np.int64]:
        return self._labels(model, torch.from_numpy(rows).to(model.mean.device)).cpu().numpy()

    def _labels(self, module: NetworkModule, x: torch.Tensor) -> torch.Tensor:
        """The class with the best score; scores that are not finite mean that the training diverged."""
        module.eval()
        with torch.no_grad(), self._precision().autocast():
            scores = torch.cat([module(part) for part in torch.split(x, rows_at_once(module.layout))])
        if not bool(torch.isfinite(scores).all()):
            raise FloatingPointError("the scores of the network are not finite")
        return scores.argmax(dim=1)


def rows_at_once(layout: Layout) -> int:
    """How many examples are classified together: fewer where layers give much, so that memory is bounded."""
    stages = [stage for graph in layout.stages.values() for stage in graph]
    largest = max(math.prod(shape) for stage in stages for shape in (stage.before, stage.after))
    return max(1, min(_AT_ONCE, _BYTES // (4 * largest)))


def _known_device(name: str, space: NetworkSpace) -> torch.device:
    """It need not be here: where pulls run, it must."""
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f'device must be one that PyTorch knows, such as "cpu" or "cuda:1", got {name!r}') from None
    if device.type == "mps" and len(space.input_shape) == 1:
        raise ValueError(f"device must have double precision, which tables are standardised in, got {name!r}, which has none")
    return device


@contextlib.contextmanager
def _memory_errors() -> Iterator[None]:
    """What PyTorch raises where memory is short, as Python's own error."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, torch.cuda.OutOfMemoryError) and not any(words in str(error) for words in _NO_MEMORY):
            raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        raise MemoryError(str(error)) from error
