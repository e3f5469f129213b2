"""On real models, `best_model()` is the best of all checkpoints that were ever saved."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import manyarms as ma

sklearn = pytest.importorskip("sklearn")

from sklearn import datasets, metrics  # noqa: E402
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingClassifier  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning", "ignore::UserWarning", "ignore::RuntimeWarning")

RATE = ma.Float(0.02, 1.5, log=True)
BOOSTED, NETWORKS = ma.Space(rate=RATE, depth=ma.Int(2, 5)), ma.Space(rate=ma.Float(1e-3, 0.3, log=True), width=ma.Int(4, 64))


def split(load, target=None):
    """Few rows to train on, so that models overfit soon."""
    x, y = load(return_X_y=True)
    y = y if target is None else target(y)
    parts = train_test_split(StandardScaler().fit_transform(x), y, train_size=70, random_state=0)
    return [part[:400] for part in parts]


class WarmStarted:
    """Ten more trees a step."""

    def __init__(self, kind, load, trees="n_estimators", **settings):
        self.make, self.load, self.trees, self.settings = kind, load, trees, settings

    def score(self, model):
        x, y = self.rows[1], self.rows[3]
        if hasattr(model, "predict_proba"):
            return metrics.log_loss(y, model.predict_proba(x), labels=np.unique(self.rows[2]))
        return float(np.mean((model.predict(x) - y) ** 2))

    def __call__(self, pull):
        model = pull.load()
        if model is None:
            model = self.made(pull)
        self.advance(model, pull)
        pull.save(model)
        saved.append(copy.deepcopy(model))
        return self.score(model)

    def made(self, pull):
        settings = {"learning_rate": pull["rate"], "max_depth": pull["depth"], "warm_start": True, "random_state": 0}
        return self.make(**settings, **self.settings)

    def advance(self, model, pull):
        model.set_params(**{self.trees: 10 * pull.stop}).fit(self.rows[0], self.rows[2])


class ByEpoch(WarmStarted):
    """Five epochs a step."""

    def made(self, pull):
        return self.make(hidden_layer_sizes=(pull["width"],), learning_rate_init=pull["rate"], batch_size=32, random_state=0)

    def advance(self, model, pull):
        for _ in range(5 * pull.steps):
            more = {"classes": np.unique(self.rows[2])} if isinstance(model, MLPClassifier) else {}
            model.partial_fit(self.rows[0], self.rows[2], **more)


class LightGBM(WarmStarted):
    """Ten more trees a step, by `init_model`."""

    def __init__(self, load):
        self.load = load

    def __call__(self, pull):
        lightgbm = pytest.importorskip("lightgbm")
        rows = lightgbm.Dataset(self.rows[0], self.rows[2])
        settings = {"objective": "binary", "learning_rate": pull["rate"], "max_depth": pull["depth"], "verbose": -1}
        booster = lightgbm.train(settings | {"num_threads": 1}, rows, 10 * pull.steps, init_model=pull.load())
        pull.save(booster)
        saved.append(booster)
        return self.score(booster)

    def score(self, model):
        return metrics.log_loss(self.rows[3], model.predict(self.rows[1]))


PROBLEMS = {
    "boosting, cancer": (WarmStarted(GradientBoostingClassifier, datasets.load_breast_cancer), BOOSTED),
    "boosting, iris": (WarmStarted(GradientBoostingClassifier, datasets.load_iris, subsample=0.5), BOOSTED),
    "boosting, diabetes": (WarmStarted(GradientBoostingRegressor, datasets.load_diabetes), BOOSTED),
    "histogram boosting, wine": (WarmStarted(HistGradientBoostingClassifier, datasets.load_wine, "max_iter"), BOOSTED),
    "histogram boosting, cancer": (
        WarmStarted(HistGradientBoostingClassifier, datasets.load_breast_cancer, "max_iter"),
        BOOSTED,
    ),
    "LightGBM, cancer": (LightGBM(datasets.load_breast_cancer), BOOSTED),
    "network, digits": (ByEpoch(MLPClassifier, datasets.load_digits), NETWORKS),
    "network, cancer": (ByEpoch(MLPClassifier, datasets.load_breast_cancer), NETWORKS),
    "network, wine": (ByEpoch(MLPClassifier, datasets.load_wine), NETWORKS),
    "network, diabetes": (ByEpoch(MLPRegressor, datasets.load_diabetes), NETWORKS),
}

saved: list = []


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_best_model_is_the_best_of_all_checkpoints_ever_saved(problem, tmp_path):
    function, space = PROBLEMS[problem]
    function.rows = split(function.load)
    saved.clear()
    storage = tmp_path / "study.db"
    options = {"max_steps": 8, "direction": "minimize", "seed": 0, "progress": False, "storage": storage}
    with ma.tune(function, space, budget=48, **options) as study:
        scores = [function.score(model) for model in saved]
        assert function.score(study.best_model()) == min(scores) == study.best_reward
        last = min(record.reward for record in study.counts.arms.values())
        print(f"{problem}: best {min(scores):.4f} at step {study.best_step}, best last reward {last:.4f}")
    with ma.load_study(storage) as view:
        assert view.best_reward == min(scores)
