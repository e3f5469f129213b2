"""The pool of evaluations of experiments/algorithms.py: random configs of ten scikit-learn algorithms on twelve UCI datasets.

A config is fitted on two thirds of the training rows. Its validation accuracy is measured on the other third, its test
accuracy on rows that are never used for training. Small datasets do this for each third and take the means. The pool is a
folder with one small file for each dataset and algorithm. An interrupted build resumes, and a larger number of configs
extends the pool. Needs the data directory (MANYARMS_DATA, or the user's data directory), scikit-learn 1.8 or newer, and
pandas.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np

import manyarms as ma
from manyarms.bench.problems.data import data_directory

DATASETS = (  # the cheapest first
    "glass",
    "ecoli",
    "balance_scale",
    "wdbc",
    "cylinder_bands",
    "wilt",
    "car",
    "messidor",
    "nursery",
    "chess_kr_vs_kp",
    "statlog_segment",
    "spambase",
)
IDENTIFIERS = {"cylinder_bands": ["timestamp", "cylinder_number", "customer", "job_number"]}
TEST_SHARE, MOST_TEST, MOST_TRAIN = 0.2, 1000, 2000  # rows
THIRDS, SMALL = 3, 1000  # sets with fewer rows are validated on every third, the others on one
CHUNK = 250  # configs between two saves
_SPLITTING = [TEST_SHARE, MOST_TEST, MOST_TRAIN, THIRDS, SMALL]
SCALE = (
    f"At most {MOST_TRAIN:,} rows to fit and validate on, {TEST_SHARE:.0%} (at most {MOST_TEST:,}) to test on; validated on "
    f"each third in sets under {SMALL:,} rows, on one third in the others."
)

_TREE: dict[str, Any] = {
    "criterion": ma.Choice("gini", "entropy"),
    "max_depth": ma.Int(1, 20),
    "max_features": ma.Float(0.1, 1),
    "min_samples_split": ma.Int(2, 20),
    "min_samples_leaf": ma.Int(1, 20),
}
ALGORITHMS: dict[str, tuple[str, ma.Space]] = {  # by the paper's short name: the class in scikit-learn, its hyper-parameters
    "DT": ("tree.DecisionTreeClassifier", ma.Space(**_TREE)),
    "Ada": (
        "ensemble.AdaBoostClassifier",
        ma.Space(n_estimators=ma.Int(5, 30, log=True), learning_rate=ma.Float(0.01, 2, log=True), max_depth=ma.Int(1, 8)),
    ),
    "QDA": ("discriminant_analysis.QuadraticDiscriminantAnalysis", ma.Space(reg_param=ma.Float(0, 1))),
    "GNB": ("naive_bayes.GaussianNB", ma.Space(var_smoothing=ma.Float(1e-9, 1, log=True))),
    "BNB": (
        "naive_bayes.BernoulliNB",
        ma.Space(alpha=ma.Float(1e-2, 100, log=True), binarize=ma.Float(-1, 1), fit_prior=ma.Choice(True, False)),
    ),
    "KN": (
        "neighbors.KNeighborsClassifier",
        ma.Space(n_neighbors=ma.Int(1, 100, log=True), weights=ma.Choice("uniform", "distance"), p=ma.Choice(1, 2)),
    ),
    "ET": ("tree.ExtraTreeClassifier", ma.Space(**_TREE)),
    "PA": (  # passive-aggressive is SGD with this learning rate and no penalty; eta0 is its C
        "linear_model.SGDClassifier",
        ma.Space(
            learning_rate=ma.Choice("pa1", "pa2"),
            eta0=ma.Float(1e-5, 10, log=True),
            average=ma.Choice(False, True),
            fit_intercept=ma.Choice(True, False),
            loss="hinge",
            penalty=None,
            max_iter=50,
        ),
    ),
    "RF": ("ensemble.RandomForestClassifier", ma.Space(n_estimators=ma.Int(5, 30, log=True), **_TREE)),
    "SGD": (
        "linear_model.SGDClassifier",
        ma.Space(
            loss=ma.Choice("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron"),
            penalty=ma.Choice("l2", "l1", "elasticnet"),
            alpha=ma.Float(1e-7, 1e-1, log=True),
            learning_rate=ma.Choice("optimal", "invscaling", "constant"),
            eta0=ma.Float(1e-7, 1e-1, log=True),
            average=ma.Choice(False, True),
            max_iter=50,
        ),
    ),
}


class Split(NamedTuple):
    """Rows to fit and rows to score. Of the latter, the first `n_valid` are for validation and the others for testing."""

    x_fit: np.ndarray
    y_fit: np.ndarray
    x_score: np.ndarray  # in one array, because a call of predict costs more than its rows
    y_score: np.ndarray
    n_valid: int


def default_folder() -> Path:
    """The default folder of the pool, in the cache directory of the user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyarms" / "algorithms"


@functools.cache
def splits(dataset: str) -> list[Split]:
    """The splits on which all configs are evaluated."""
    import pandas as pd

    uci = data_directory() / "uci"
    kinds = next(about["column_kinds"] for about in json.loads((uci / "index.json").read_text()) if about["name"] == dataset)
    table = pd.read_csv(uci / f"{dataset}.csv.gz").drop(columns=IDENTIFIERS.get(dataset, []))
    table = table.sample(frac=1, random_state=0)  # many sets are sorted by class
    y = pd.factorize(table.pop("class"))[0]
    x = pd.get_dummies(table, columns=[name for name in table if kinds[name] == "cat"], dummy_na=True).to_numpy(float)
    n_test = min(int(TEST_SHARE * len(x)), MOST_TEST)
    test, train = np.arange(n_test), np.arange(n_test, min(len(x), n_test + MOST_TRAIN))
    thirds = np.array_split(train, THIRDS)[: THIRDS if len(x) < SMALL else 1]
    return [split(x, y, np.setdiff1d(train, third), third, test) for third in thirds]


def split(x: np.ndarray, y: np.ndarray, fit: np.ndarray, valid: np.ndarray, test: np.ndarray) -> Split:
    """Impute means, drop constant columns and standardize the others, using the statistics of the rows to fit."""
    mean, spread = np.nanmean(x[fit], axis=0), np.nanstd(x[fit], axis=0)
    varies, score = spread > 0, np.concatenate([valid, test])
    x = (np.where(np.isnan(x), mean, x) - mean)[:, varies] / spread[varies]
    return Split(x[fit], y[fit], x[score], y[score], len(valid))


def classifier(algorithm: str, config: dict[str, Any], seed: int) -> Any:
    """The scikit-learn model of a config."""
    from sklearn.tree import DecisionTreeClassifier

    module, _, name = ALGORITHMS[algorithm][0].rpartition(".")
    settings = dict(config)
    if algorithm == "Ada":
        settings["estimator"] = DecisionTreeClassifier(max_depth=settings.pop("max_depth"))
    model = getattr(importlib.import_module(f"sklearn.{module}"), name)(**settings)
    return model.set_params(random_state=seed) if "random_state" in model.get_params(deep=False) else model


def accuracies(dataset: str, algorithm: str, config: dict[str, Any], seed: int) -> np.ndarray:
    """Validation and test accuracy; NaN if a fit fails."""
    scores = []
    try:
        for part in splits(dataset):
            right = classifier(algorithm, config, seed).fit(part.x_fit, part.y_fit).predict(part.x_score) == part.y_score
            scores.append([right[: part.n_valid].mean(), right[part.n_valid :].mean()])
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):  # such as QDA where a class has a single row
        return np.full(2, np.nan)
    return np.asarray(np.mean(scores, axis=0))


def configs(dataset: str, algorithm: str, n: int) -> list[dict[str, Any]]:
    """The first n configs of an algorithm on a dataset, which are always the same."""
    rng = np.random.default_rng([zlib.crc32(name.encode()) for name in (dataset, algorithm)])
    return [ALGORITHMS[algorithm][1].sample(rng) for _ in range(n)]


class Pool:
    """Validation and test accuracies by dataset and algorithm, stored in a folder and computed on demand.

    Args:
        folder: Folder of the files. It is created if necessary.
        n_configs: Number of configs of each algorithm.
        say: Called with messages about the progress.
    """

    def __init__(self, folder: Path, n_configs: int, say: Callable[[str], None] = lambda text: None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._n_configs, self._say = folder, n_configs, say

    def accuracies(self, dataset: str, algorithm: str) -> np.ndarray:
        """One row for each config: validation and test accuracy."""
        path = self._folder / f"{dataset}-{algorithm}.npz"
        recipe = json.dumps([_SPLITTING, ALGORITHMS[algorithm][0], ALGORITHMS[algorithm][1].describe()])
        known = _stored(path, recipe)
        while len(known) < self._n_configs:
            start, stop = len(known), min(len(known) + CHUNK, self._n_configs)
            of_chunk = configs(dataset, algorithm, stop)[start:]
            rows = [accuracies(dataset, algorithm, config, start + number) for number, config in enumerate(of_chunk)]
            known = np.concatenate([known, rows])
            _store(path, recipe, known)
        return known[: self._n_configs]

    def build(self, datasets: Sequence[str]) -> None:
        """Compute everything that is missing."""
        for dataset in datasets:
            for algorithm in ALGORITHMS:
                start, cpu = time.perf_counter(), time.process_time()
                found = self.accuracies(dataset, algorithm)
                seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
                if seconds > 0.5:
                    failed = int(np.isnan(found[:, 0]).sum())
                    best = "none" if failed == len(found) else f"{np.nanmax(found[:, 0]):.4f}"
                    self._say(f"{dataset} {algorithm}: best {best}, {failed} failed, {seconds:.0f} s ({cpu:.0f} s of CPU)")


def _stored(path: Path, recipe: str) -> np.ndarray:
    """The content of the file, if it was computed with this recipe."""
    if path.exists():
        with np.load(path) as part:
            if str(part["recipe"]) == recipe:
                return np.array(part["accuracies"])
    return np.empty((0, 2))


def _store(path: Path, recipe: str, found: np.ndarray) -> None:
    aside = path.with_suffix(f".{os.getpid()}.tmp")
    with aside.open("wb") as file:
        np.savez(file, recipe=recipe, accuracies=found)
    aside.replace(path)


def open_pool(folder: Path | None, n_configs: int, datasets: Sequence[str]) -> Pool:
    """The pool, complete for these datasets."""
    import sklearn

    warnings.simplefilter("ignore")  # from solvers that were stopped early
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)  # the data are clean, the fits many and small
    pool = Pool(folder or default_folder(), n_configs, lambda text: print(text, file=sys.stderr, flush=True))
    pool.build(datasets)
    return pool


def add_options(parser: Any) -> None:
    """Add the option for the folder of the pool."""
    parser.add_argument("--pool", type=Path, metavar="folder", help=f"folder of the evaluations (default: {default_folder()})")


def main() -> None:
    parser = common.options(__doc__)
    add_options(parser)
    arguments = parser.parse_args()
    open_pool(arguments.pool, CHUNK if arguments.quick else 1000, DATASETS)


if __name__ == "__main__":
    main()
