"""The tuning tasks of the D-TTTS poster, with real training: an SVM on five UCI datasets, a small network on MNIST.

A pull trains on one part of a random split and returns the accuracy on the rest. Every pull has another split, and all
strategies get the same number of pulls. DTTTS gets each accuracy. Hyperband (1 to 9 splits, eta 3) and AdaptiveMutantUCB (up
to 9) get the mean over the splits of the arm so far. RandomSearch and TPE (Optuna) try each config on one split. The tables
compare the error of the recommended config on new splits, which are the same for all. Needs the data directory
(MANYARMS_DATA, or the user's data directory), scikit-learn, pandas and optuna.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import common
import numpy as np
from repeats import search

import manyarms as ma
from manyarms.bench.problems.data import data_directory
from manyarms.bench.problems.protocol import noise_seed

UCI = ("wine", "wdbc", "glass", "ecoli", "australian")
STRATEGIES: dict[str, Callable[..., ma.Strategy]] = {
    "DTTTS": ma.DTTTS,
    "AdaptiveMutantUCB": functools.partial(ma.AdaptiveMutantUCB, max_steps=9),
    "Hyperband": functools.partial(ma.Hyperband, max_steps=9),
    "RandomSearch": ma.RandomSearch,
}
NAMES = (*STRATEGIES, "TPE (Optuna)")
TRAIN_SHARE = 0.7
SVM_ITERATIONS = 20_000  # where C and gamma are extreme, the solver would not end
DIGITS, EPOCHS = 1000, 5  # images of MNIST in a split, 70% of them to train on; passes over them
FRESH = 99  # the address of the splits that no search has seen


class Task(Protocol):
    """What is tuned."""

    space: ma.Space

    def accuracy(self, config: dict[str, Any], seed: int) -> float:
        """On the part of a random split that was not trained on."""


class Svm:
    """An SVM with a radial kernel on a UCI set: columns standardized, categories one-hot."""

    space = ma.Space(C=ma.Float(1e-5, 1e5, log=True), gamma=ma.Float(1e-5, 1e5, log=True))

    def __init__(self, name: str) -> None:
        import pandas as pd

        table = pd.read_csv(data_directory() / "uci" / f"{name}.csv.gz").dropna()
        self.x = pd.get_dummies(table.drop(columns="class")).to_numpy(float)
        self.y = pd.factorize(table["class"])[0]

    def accuracy(self, config: dict[str, Any], seed: int) -> float:
        from sklearn.svm import SVC

        train, test = split(len(self.y), seed)
        mean, spread = self.x[train].mean(axis=0), self.x[train].std(axis=0) + 1e-9
        x = (self.x - mean) / spread
        model = SVC(**config, max_iter=SVM_ITERATIONS, cache_size=50).fit(x[train], self.y[train])
        return float((model.predict(x[test]) == self.y[test]).mean())


class Mlp:
    """A network with one hidden layer on 1000 random images of MNIST, trained briefly."""

    space = ma.Space(
        hidden_layer_sizes=ma.Int(5, 50), alpha=ma.Float(0, 0.9), learning_rate_init=ma.Float(1e-5, 1e-1, log=True)
    )

    def __init__(self) -> None:
        digits = np.load(data_directory() / "images" / "mnist_sub.npz")
        self.x = digits["x_train"].reshape(len(digits["y_train"]), -1) / np.float32(255)
        self.y = digits["y_train"]

    def accuracy(self, config: dict[str, Any], seed: int) -> float:
        from sklearn.neural_network import MLPClassifier

        chosen = np.random.default_rng(seed).permutation(len(self.y))[:DIGITS]
        train, test = np.split(chosen, [int(TRAIN_SHARE * DIGITS)])
        model = MLPClassifier(**config, max_iter=EPOCHS, batch_size=50, random_state=seed).fit(self.x[train], self.y[train])
        return float((model.predict(self.x[test]) == self.y[test]).mean())


def split(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test on, shuffled."""
    train, test = np.split(np.random.default_rng(seed).permutation(rows), [int(TRAIN_SHARE * rows)])
    return train, test


@functools.cache  # read once in each process
def load(name: str) -> Task:
    return Mlp() if name == "mnist" else Svm(name)


def tpe(task: Task, budget: int, seed: int) -> dict[str, Any]:
    """The config that the default sampler of Optuna recommends after this many trials."""
    import optuna

    def objective(trial: optuna.Trial) -> float:
        config = {
            name: trial.suggest_int(name, kind.low, kind.high)
            if isinstance(kind, ma.Int)
            else trial.suggest_float(name, kind.low, kind.high, log=kind.log)
            for name, kind in task.space.parameters.items()
        }
        return task.accuracy(config, noise_seed(seed, trial.number, 0))

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=budget)
    return study.best_params


def error(job: tuple[str, str, int, int, int]) -> float:
    """The error in percent, over fresh splits, of what one search recommends."""
    name, searcher, budget, n_fresh, seed = job
    warnings.simplefilter("ignore")  # from solvers that were stopped early
    task = load(name)
    if searcher in STRATEGIES:
        config = search(STRATEGIES[searcher](task.space, budget=budget, seed=seed), task.accuracy, seed)
    else:
        config = tpe(task, budget, seed)
    fresh = [task.accuracy(config, noise_seed(FRESH, FRESH, number)) for number in range(n_fresh)]
    return 100.0 * (1.0 - float(np.mean(fresh)))


def main() -> None:
    parser = common.options(__doc__)
    parser.add_argument(
        "--pulls", type=int, default=120, help="pulls per search for an SVM; half as many for the network (default: 120)"
    )
    arguments = parser.parse_args()
    seeds = range(arguments.seeds or (2 if arguments.quick else 4))
    n_pulls = 44 if arguments.quick else arguments.pulls
    pulls = dict.fromkeys(UCI, n_pulls) | {"mnist": n_pulls // 2}
    n_fresh = dict.fromkeys(UCI, 30) | {"mnist": 10}
    jobs = [(task, name, pulls[task], n_fresh[task], seed) for task in pulls for name in NAMES for seed in seeds]
    errors = np.reshape(common.parallel(error, jobs), (len(pulls), len(NAMES), len(seeds)))
    rows = [
        (
            f"{'MLP' if task == 'mnist' else 'SVM'}, {task}",
            pulls[task],
            n_fresh[task],
            *(common.plus_minus(values, 1) for values in of_task),
        )
        for task, of_task in zip(pulls, errors, strict=True)
    ]
    note = f"SVM: at most {SVM_ITERATIONS:,} iterations. MLP: {DIGITS:,} images a split, {EPOCHS} epochs."
    title = f"Error of the recommended config, %; {len(seeds)} seeds, splits {TRAIN_SHARE:.0%} to train"
    common.show(title, ("task", "pulls", "fresh splits", *NAMES), rows, note)
    if not arguments.quick:
        draw(list(pulls), errors)


def draw(tasks: list[str], errors: np.ndarray) -> None:
    figure, (axis,) = common.panels(1, width=6.4)
    places = np.arange(len(tasks))
    for number, (name, color, marker) in enumerate(zip(NAMES, common.COLORS, common.MARKERS, strict=False)):
        means, deviations = zip(*(common.mean_and_error(values) for values in errors[:, number]), strict=True)
        shift = 0.12 * (number - (len(NAMES) - 1) / 2)
        axis.errorbar(places + shift, means, deviations, color=color, marker=marker, linestyle="", label=name, capsize=2)
    axis.set_xticks(places, ["MLP\nMNIST" if task == "mnist" else f"SVM\n{task}" for task in tasks])
    axis.set(ylabel="error on fresh splits (%)", xlabel="task", ylim=(0, None))
    axis.legend(fontsize=7)
    common.save(figure, "tuning")


if __name__ == "__main__":
    main()
