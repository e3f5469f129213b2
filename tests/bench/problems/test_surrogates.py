"""The surrogate of XGBoost: its space and inputs and, with the data directory and onnxruntime, its predictions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
from scipy import stats

from manyarms import Choice, Float, Int, ManyarmsError, MutantUCB, Space
from manyarms.bench.problems import RBV2_TASKS, SurrogateProblem, evaluate, rbv2_xgboost, regret, surrogates, survey
from manyarms.bench.problems.data import expected_data_directory
from manyarms.bench.problems.surrogates import inputs, surrogate_space
from manyarms.testing import SPACE_CHECKS

ENCODING = {
    "booster": {"#na#": 0, "dart": 1, "gblinear": 2, "gbtree": 3},
    "num.impute.selected.cpo": {"#na#": 0, "impute.hist": 1, "impute.mean": 2},
    "task_id": {"#na#": 0, "11": 1, "44": 2},
}
NUMBERS = {"lambda": (0.001, 1000.0, True), "eta": (0.001, 1.0, True), "rate_drop": (0.0, 1.0, False)}
RESOURCES = {"trainsize": (0.03, 1.0, False)}
DESCRIPTION = {
    "hyperparameters": [
        *(
            {"name": name, "type": "uniform_float", "lower": low, "upper": high, "log": log}
            for name, (low, high, log) in {**NUMBERS, **RESOURCES}.items()
        ),
        {"name": "max_depth", "type": "uniform_int", "lower": 1, "upper": 15, "log": False},
        {"name": "repl", "type": "uniform_int", "lower": 1, "upper": 10, "log": False},
        *({"name": name, "type": "categorical", "choices": [*codes][1:]} for name, codes in ENCODING.items()),
    ],
    "conditions": [
        {"child": "eta", "parent": "booster", "type": "IN", "values": ["dart", "gbtree"]},
        {"child": "max_depth", "parent": "booster", "type": "IN", "values": ["dart", "gbtree"]},
        {"child": "rate_drop", "parent": "booster", "type": "EQ", "value": "dart"},
    ],
}
TREE = {
    "lambda": 2.0,
    "booster": {"booster": "gbtree", "eta": 0.25, "max_depth": 7},
    "num.impute.selected.cpo": "impute.mean",
}
LINEAR = {"lambda": 3.0, "booster": "gblinear", "num.impute.selected.cpo": "impute.hist"}


class Predictor:
    """In place of an ONNX session: the accuracy is the share of rows, less for a large lambda; remembers what it was fed."""

    def __init__(self):
        self.fed = []

    def run(self, outputs, feed):
        self.fed.append(feed)
        lambdas, shares = feed["x_cont"][:, 3], feed["x_cont"][:, 12]
        return [np.column_stack([shares - lambdas / 1e4, np.zeros((len(shares), 8))]).astype(np.float32)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "encoding.json").write_text(json.dumps(ENCODING))
    (tmp_path / "config_space.json").write_text(json.dumps(DESCRIPTION))
    return tmp_path


@pytest.fixture
def predictor(monkeypatch):
    predictor = Predictor()
    monkeypatch.setattr(surrogates, "_session", lambda model, process: predictor)
    return predictor


# -- tests that need neither the data directory nor onnxruntime


def test_options_with_parameters_of_their_own_become_spaces_and_task_and_resources_are_left_out():
    own = {"eta": Float(0.001, 1, log=True), "max_depth": Int(1, 15)}
    boosters = Choice(Space(booster="dart", **own, rate_drop=Float(0, 1)), "gblinear", Space(booster="gbtree", **own))
    imputation = {"num.impute.selected.cpo": Choice("impute.hist", "impute.mean")}
    expected = Space(**{"lambda": Float(0.001, 1000, log=True)}, booster=boosters, **imputation)
    assert surrogate_space(DESCRIPTION) == expected


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_its_space_keeps_the_contract_of_spaces(check):
    check(surrogate_space(DESCRIPTION))


def test_a_config_becomes_codes_and_numbers_in_the_surrogates_order_and_0_where_inactive():
    kinds, numbers = inputs(TREE, "44", ENCODING)
    assert kinds == (2, 3, 2)
    assert numbers == (0, 0.25, 0, 2.0, 0, 0, 7, 0, 0, 0, 0, 0)
    kinds, numbers = inputs(dict(reversed(LINEAR.items())), "11", ENCODING)
    assert kinds == (1, 2, 1)
    assert numbers == (0, 0, 0, 3.0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_a_step_is_a_tenth_of_the_rows_and_all_steps_are_predicted_at_once(folder, predictor):
    problem = SurrogateProblem(44, folder)
    rewards = [problem.reward(TREE, step, seed=step) for step in range(1, 11)]
    assert rewards == pytest.approx([step / 10 - 2e-4 for step in range(1, 11)], abs=1e-6)
    assert problem.value(TREE) == rewards[-1]
    assert len(predictor.fed) == 1
    assert predictor.fed[0]["x_cat"].dtype == np.int32 and predictor.fed[0]["x_cat"].tolist() == [[2, 3, 2]] * 10
    assert predictor.fed[0]["x_cont"].dtype == np.float32 and predictor.fed[0]["x_cont"].shape == (10, 14)
    assert predictor.fed[0]["x_cont"][:, 12] == pytest.approx(np.arange(1, 11) / 10)
    assert set(predictor.fed[0]["x_cont"][:, 13]) == {10}


def test_many_values_are_predicted_together_and_are_those_of_each(folder, predictor):
    problem, rng = SurrogateProblem(11, folder), np.random.default_rng(0)
    configs = [problem.space.sample(rng) for _ in range(4500)]
    values = problem.values(configs)
    assert [len(feed["x_cat"]) for feed in predictor.fed] == [2000, 2000, 500]
    assert values[::500] == pytest.approx([problem.value(config) for config in configs[::500]])


def test_the_best_is_found_once_and_the_median_config_has_a_regret_of_100(folder, predictor, monkeypatch):
    monkeypatch.delitem(surrogates._MEASURED, 11)
    problem = SurrogateProblem(11, folder)
    assert problem.best == pytest.approx(1, abs=1e-6)
    assert problem.typical == pytest.approx(1 - 1e-4, abs=2e-5)  # at the median of lambda, 1
    asked = len(predictor.fed)
    assert regret(problem, {**LINEAR, "lambda": 1.0}) == pytest.approx(100, abs=15)
    assert len(predictor.fed) == asked + 1  # for that config


@pytest.mark.usefixtures("predictor")
def test_a_problem_goes_to_another_process_with_what_it_has_found(folder):
    problem = SurrogateProblem(11, folder)
    assert problem.best > problem.typical
    sent = cloudpickle.dumps(problem)
    assert len(sent) < 10_000
    again = cloudpickle.loads(sent)
    assert vars(again)["best"] == problem.best
    assert again.reward(TREE, 3, seed=0) == problem.reward(TREE, 3, seed=0)


def test_a_task_that_the_surrogate_does_not_know_is_refused(folder):
    with pytest.raises(ValueError, match="task_id must be one of the 2 known tasks, such as 11, 44, got 7"):
        SurrogateProblem(7, folder)


def test_without_onnxruntime_or_the_files_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(surrogates, "_onnxruntime", lambda: None)
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    with pytest.raises(ManyarmsError, match="There is no model.onnx in .*rbv2_xgboost"):
        rbv2_xgboost(12)
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ManyarmsError, match="Set MANYARMS_DATA"):
        rbv2_xgboost(12)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match='The surrogate needs onnxruntime: pip install "manyarms\\[onnx\\]"'):
        rbv2_xgboost(12)


class Slope:
    """A problem with values: the higher x, the better."""

    space = Space(x=Float(0, 1))

    def values(self, configs):
        return np.array([config["x"] for config in configs])


def test_a_survey_climbs_on_from_the_best_of_the_random_configs():
    random, climbed = survey(Slope(), 101, rounds=0), survey(Slope(), 101, rounds=10)
    assert random.typical == climbed.typical == pytest.approx(0.5, abs=0.15)
    assert random.best < climbed.best <= 1
    assert climbed.config == {"x": climbed.best}
    assert survey(Slope(), 101) == climbed != survey(Slope(), 101, seed=1)


# -- the real surrogate, where it is

DATA = expected_data_directory()


@pytest.fixture
def data(monkeypatch):
    pytest.importorskip("onnxruntime")
    if not (DATA / "bench" / "rbv2_xgboost" / "model.onnx").is_file():
        pytest.skip("set MANYARMS_DATA to the folder with the surrogate")
    monkeypatch.setenv("MANYARMS_DATA", str(DATA))


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("task_id", RBV2_TASKS)
def test_on_each_task_configs_differ_and_more_rows_help(task_id):
    problem, rng = rbv2_xgboost(task_id), np.random.default_rng(0)
    configs = [problem.space.sample(rng) for _ in range(150)]
    curves = np.array([[problem.reward(config, step, seed=0) for step in (1, 5, 10)] for config in configs])
    assert ((curves >= 0) & (curves <= 1)).all()
    assert (np.diff(np.median(curves, axis=0)) > 0).all()
    assert np.ptp(curves[:, -1]) > 0.2
    assert (curves[:, -1] > 0.9999).mean() < 0.01  # hardly any is already perfect
    first, middle = (stats.spearmanr(curves[:, step], curves[:, -1])[0] for step in (0, 1))
    assert 0.2 < first < 0.9 and first < middle
    assert problem.values(configs) == pytest.approx(curves[:, -1], abs=1e-5)


@pytest.mark.usefixtures("data")
def test_the_best_and_typical_values_of_other_tasks_are_found_once_from_22_000_predictions(monkeypatch):
    problem, predicted = rbv2_xgboost(1464), []
    values = SurrogateProblem.values
    monkeypatch.setattr(
        SurrogateProblem, "values", lambda self, configs: predicted.append(len(configs)) or values(self, configs)
    )
    best, typical = problem.best, problem.typical
    assert predicted == [10_000] + [200] * 60
    assert 0.82 < best < 0.87 and typical == pytest.approx(0.762, abs=0.005)
    assert rbv2_xgboost(1464).best == best


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("task_id", RBV2_TASKS)
def test_what_was_measured_is_about_what_a_survey_finds(task_id):
    problem, rng = rbv2_xgboost(task_id), np.random.default_rng(1)
    values = problem.values([problem.space.sample(rng) for _ in range(2000)])
    assert (values < problem.typical).mean() == pytest.approx(0.5, abs=0.05)
    assert problem.typical < survey(problem, 1000, rounds=20).best <= problem.best + 1e-4


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_the_real_space_keeps_the_contract_of_spaces(check):
    space = rbv2_xgboost(12).space
    assert isinstance(space, Space) and len(space.parameters) == 6
    check(space)


@pytest.mark.usefixtures("data")
def test_another_process_in_another_directory_gives_the_same_rewards(tmp_path):
    problem = rbv2_xgboost(44)
    config = problem.space.sample(np.random.default_rng(0))
    rewards = [problem.reward(config, step, seed=0) for step in (1, 10)]
    (tmp_path / "sent").write_bytes(cloudpickle.dumps((problem, config)))
    code = "import pickle; p, c = pickle.load(open('sent', 'rb')); print([p.reward(c, step, seed=0) for step in (1, 10)])"
    environment = {key: value for key, value in os.environ.items() if key != "MANYARMS_DATA"}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(answer.stdout) == rewards


@pytest.mark.usefixtures("data")
def test_a_search_beats_the_median_config_by_far():
    problem = rbv2_xgboost(1489)
    search = MutantUCB(problem.space, budget=300, max_steps=10, initial=30, exploration=0.05, seed=0)
    while (pull := search.ask()) is not None:
        search.tell(pull, evaluate(problem, pull, seed=0))
    assert regret(problem, search.best().config) < 50
