"""scikit-learn models that are trained in about a tenth of a second: a network on digits, boosted trees on UCI datasets."""

from __future__ import annotations

import contextlib
import csv
import gzip
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...errors import ManyarmsError
from ...spaces import Choice, Float, Int, Space
from .data import data_directory
from .fitted_problem import Config, FittedProblem

# The best and the typical value, measured with survey(problem, 300, rounds=2).
_DIGITS = (0.9707, 0.8990)
_TABLES = {"spambase": (0.9480, 0.9145), "wilt": (0.9850, 0.9528)}

_TREES = 5  # per step


class Rows(NamedTuple):
    """Training and validation rows."""

    x_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    x_valid: NDArray[np.float32]
    y_valid: NDArray[np.int64]


def digits_mlp() -> FittedProblem:
    """A network on 500 of the digit images of scikit-learn. A step is one of 12 epochs, the reward the accuracy on the others.

    `best` and `typical` were measured; see `FittedProblem`.
    """
    _sklearn()
    adam = Space(solver="adam", learning_rate=Float(3e-4, 1e-1, log=True), beta_1=Float(0.5, 0.99))
    sgd = Space(solver="sgd", learning_rate=Float(1e-2, 1, log=True), momentum=Float(0, 0.95))
    space = Space(
        layers=Int(1, 2),
        width=Int(16, 128, log=True),
        activation=Choice("relu", "tanh", "logistic"),
        alpha=Float(1e-6, 1, log=True),
        batch_size=Int(16, 128, log=True),
        solver=Choice(adam, sgd),
    )
    return FittedProblem("MLP, digits", space, 12, MlpFit, *_DIGITS)


def boosted_trees(dataset: str = "spambase") -> FittedProblem:
    """Gradient boosting on 600 rows of a UCI dataset. A step is 5 of 50 trees; the reward is the accuracy on 2,000 other rows.

    Args:
        dataset: "spambase" or "wilt", from `uci` in the data directory.
    """
    _sklearn()
    best, typical = _TABLES[checks.one_of("dataset", dataset, _TABLES)]
    file = (data_directory() / "uci" / f"{dataset}.csv.gz").resolve()  # because a worker may run in another directory
    if not file.is_file():
        raise ManyarmsError(
            f"There is no {file.name} in {str(file.parent)!r}. It must hold rows of numbers, with the class last."
        )
    space = Space(
        learning_rate=Float(5e-3, 1, log=True),
        max_depth=Int(1, 8),
        min_samples_leaf=Int(1, 64, log=True),
        max_features=Float(0.05, 1, log=True),
        subsample=Float(0.3, 1),
        loss=Choice("log_loss", "exponential"),
    )
    return FittedProblem(f"boosted trees, {dataset}", space, 10, partial(TreesFit, str(file)), best, typical)


class MlpFit:
    """The network of a config in training. Rows are shuffled in every epoch."""

    def __init__(self, config: Config, seed: int) -> None:
        from sklearn.neural_network import MLPClassifier

        solver = dict(config["solver"])
        self._model = MLPClassifier(
            [config["width"]] * config["layers"],
            activation=config["activation"],
            alpha=config["alpha"],
            batch_size=config["batch_size"],
            learning_rate_init=solver.pop("learning_rate"),
            **solver,
            shuffle=False,
            random_state=seed,
        )
        self._seed, self._epochs = seed, 0

    def step(self) -> float:
        """Train for one epoch."""
        rows = _digits()
        order = np.random.default_rng([self._seed, self._epochs]).permutation(len(rows.y_train))
        with _quick():
            try:
                self._model.partial_fit(rows.x_train[order], rows.y_train[order], classes=np.arange(10))
            except ValueError as error:
                if "non-finite" in str(error):
                    raise FloatingPointError(str(error)) from None
                raise
            self._epochs += 1
            return _accuracy(self._model, rows)


class TreesFit:
    """The trees of a config in training."""

    def __init__(self, file: str, config: Config, seed: int) -> None:
        from sklearn.ensemble import GradientBoostingClassifier

        self._model = GradientBoostingClassifier(**config, n_estimators=0, warm_start=True, random_state=seed)
        self._rows = partial(_table, file)  # not the rows themselves, so that it can be pickled

    def step(self) -> float:
        """Add five trees."""
        rows = self._rows()
        with _quick():
            self._model.set_params(n_estimators=self._model.n_estimators + _TREES)
            self._model.fit(rows.x_train, rows.y_train)
            return _accuracy(self._model, rows)


def _accuracy(model: Any, rows: Rows) -> float:
    return float((model.predict(rows.x_valid) == rows.y_valid).mean())


@cache
def _digits() -> Rows:
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return _split(x / 16, y, 500)


@cache
def _table(file: str) -> Rows:
    with gzip.open(file, "rt", encoding="utf-8") as text:
        _, *lines = csv.reader(text)
    _, y = np.unique([line[-1] for line in lines], return_inverse=True)
    return _split(np.array([line[:-1] for line in lines], dtype=float), y, 600)


def _split(x: NDArray[Any], y: NDArray[Any], n: int) -> Rows:
    """Split into `n` random training rows and up to 2,000 validation rows."""
    order = np.random.default_rng(0).permutation(len(y))
    train, valid = order[:n], order[n : n + 2000]
    x = x.astype(np.float32)
    return Rows(x[train], y[train], x[valid], y[valid])


@contextlib.contextmanager
def _quick() -> Iterator[None]:
    """Use one thread, which is faster for few rows and always sums in the same order. Skip input checks and warnings."""
    from sklearn import config_context

    with (
        config_context(assume_finite=True, skip_parameter_validation=True),
        _threads().limit(limits=1),
        np.errstate(all="ignore"),
    ):
        yield


@cache
def _threads() -> Any:
    """Controls the threads of the libraries that are loaded now, including those of scikit-learn."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise ImportError('digits_mlp and boosted_trees need scikit-learn: pip install "manyarms[sklearn]"') from None
