"""scikit-learn models that really train: a network on digits, boosted trees on tables."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from manyarms import ManyarmsError
from manyarms.bench.problems import boosted_trees, digits_mlp, survey
from manyarms.bench.problems.data import expected_data_directory
from manyarms.testing import SPACE_CHECKS

DATA = expected_data_directory()
NETWORKS = {
    "adam": {
        **{"layers": 1, "width": 48, "activation": "relu", "alpha": 1e-4, "batch_size": 32},
        "solver": {"solver": "adam", "learning_rate": 0.01, "beta_1": 0.9},
    },
    "sgd": {
        **{"layers": 2, "width": 32, "activation": "tanh", "alpha": 1e-2, "batch_size": 50},
        "solver": {"solver": "sgd", "learning_rate": 0.2, "momentum": 0.8},
    },
}
TREES = {
    **{"learning_rate": 0.2, "max_depth": 3, "min_samples_leaf": 4, "max_features": 0.5, "subsample": 0.7},
    "loss": "log_loss",
}


def need_sklearn():
    pytest.importorskip("sklearn")


@pytest.fixture
def network():
    need_sklearn()
    return digits_mlp()


@pytest.fixture
def trees(monkeypatch, tmp_path):
    """On a made-up table, so that it needs no data directory: two classes that a checkerboard tells apart."""
    need_sklearn()
    rng = np.random.default_rng(0)
    x = rng.random((900, 4)).round(4)
    names = np.where((x[:, 0] > 0.5) ^ (x[:, 1] > 0.5), "one", "other")
    (tmp_path / "uci").mkdir()
    with gzip.open(tmp_path / "uci" / "spambase.csv.gz", "wt") as file:
        csv.writer(file).writerows([["a", "b", "c", "d", "class"], *([*row, name] for row, name in zip(x, names, strict=True))])
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    return boosted_trees()


@pytest.fixture(params=["adam", "sgd", "trees"])
def case(request):
    """A problem and a good config of it."""
    if request.param == "trees":
        return request.getfixturevalue("trees"), TREES
    return request.getfixturevalue("network"), NETWORKS[request.param]


def curve(problem, config):
    return [problem.reward(config, step, seed=0) for step in range(1, problem.max_steps + 1)]


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["network", "trees"])
def test_its_space_keeps_the_contract_of_spaces(name, check, request):
    check(request.getfixturevalue(name).space)


def test_a_good_config_learns(case):
    problem, config = case
    assert problem.space.contains(config)
    rewards = curve(problem, config)
    assert rewards[0] < rewards[-1] > 0.93
    assert problem.value(config) == rewards[-1]


def test_the_rewards_are_exactly_the_same_in_slices_from_scratch_and_among_others(case):
    problem, config = case
    rewards = curve(problem, config)
    whole, forgetful = pickle.loads(pickle.dumps(problem)), pickle.loads(pickle.dumps(problem))
    assert whole.value(config) == rewards[-1]
    assert curve(whole, config) == rewards
    forgetful.kept = 0
    np.random.seed(1)  # which no training may heed
    for step in (2, 5, problem.max_steps):
        forgetful.reward(problem.space.sample(np.random.default_rng(step)), 2, seed=0)
        assert forgetful.reward(config, step, seed=step) == rewards[step - 1]


def test_another_process_gives_the_same_rewards(network, trees, tmp_path):
    cases = [*((network, config) for config in NETWORKS.values()), (trees, TREES)]
    (tmp_path / "sent").write_bytes(pickle.dumps(cases))
    code = "import pickle; print([[p.reward(c, step, seed=0) for step in (1, 4)] for p, c in pickle.load(open('sent', 'rb'))])"
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == [[problem.reward(config, step, seed=0) for step in (1, 4)] for problem, config in cases]


def test_a_network_that_diverges_gives_none(network):
    wild = {**NETWORKS["sgd"], "activation": "relu", "solver": {"solver": "sgd", "learning_rate": 1e30, "momentum": 0.9}}
    assert network.reward(wild, 3, seed=0) is None
    assert network.value(wild) == 0.0


def test_a_mistake_in_a_config_is_not_taken_for_divergence(network):
    with pytest.raises((ValueError, KeyError)):
        network.reward({**NETWORKS["sgd"], "activation": "step"}, 1, seed=0)


@pytest.mark.parametrize("make", [digits_mlp, boosted_trees])
def test_without_scikit_learn_it_says_what_to_install(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match='need scikit-learn: pip install "manyarms\\[sklearn\\]"'):
        make()


def test_without_the_table_it_says_what_is_missing(monkeypatch, tmp_path):
    need_sklearn()
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    with pytest.raises(ManyarmsError, match="There is no wilt.csv.gz in .*uci"):
        boosted_trees("wilt")
    with pytest.raises(ValueError, match="dataset must be one of 'spambase', 'wilt', got 'iris'"):
        boosted_trees("iris")


# -- the real tables, where they are, and what was measured


def real(name, monkeypatch):
    need_sklearn()
    if name == "digits":
        return digits_mlp()
    if not (DATA / "uci").is_dir():
        pytest.skip("set MANYARMS_DATA to the folder with the tables of UCI")
    monkeypatch.setenv("MANYARMS_DATA", str(DATA))
    return boosted_trees(name)


@pytest.mark.parametrize("name", ["digits", "spambase", "wilt"])
def test_random_configs_lie_about_the_typical_value_and_below_the_best(name, monkeypatch):
    problem, rng = real(name, monkeypatch), np.random.default_rng(0)
    values = problem.values([problem.space.sample(rng) for _ in range(12)])
    assert values.min() < problem.typical < values.max() < problem.best + 0.005


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "spambase", "wilt"])
def test_the_best_and_typical_values_are_those_of_a_survey(name, monkeypatch):
    problem = real(name, monkeypatch)
    found = survey(problem, 300, rounds=2)
    assert found.best == pytest.approx(problem.best, abs=0.005)  # another release of scikit-learn may differ a little
    assert found.typical == pytest.approx(problem.typical, abs=0.01)
