"""The names that programs outside this repository rely on: each is there, and works as it did."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import manyarms as ma
from manyarms.strategies.kit import Ledger

SPACE = ma.Space(
    lr=ma.Float(1e-4, 1, log=True),
    n=ma.Int(1, 64, log=True),
    act=ma.Choice("relu", "tanh"),
    size=ma.Choice(1, 2, 3, ordered=True),
)
CUBE = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))

STRATEGIES = ["RandomSearch", "SuccessiveHalving", "Hyperband", "ASHA", "SteadyStateEA", "InfiniteUCBE", "MutantUCB"]
STRATEGIES += ["AdaptiveMutantUCB", "DTTTS", "PartitionUCB", "ContextualPartitionUCB", "TreeUCB", "ContextualTreeUCB"]

PICKERS = {
    "ERUCB": {"theta": 0.1, "gamma": 20.0, "beta": 1.0},
    "ExtremeUCB": {},
    "UCB1": {},
    "EpsilonGreedy": {"epsilon": 0.1},
    "Softmax": {"temperature": 0.1},
    "Uniform": {},
}


def test_every_exported_name_exists():
    assert all(hasattr(ma, name) for name in ma.__all__)
    assert {"RunningPull", "Strategy", "Journal", "Runner", "pickers", "Study", "StudyView", "Checkpoints"} <= set(ma.__all__)


def test_spaces_sample_mutate_cross_encode_and_decode():
    rng = np.random.default_rng(0)
    one, two = SPACE.sample(rng), SPACE.sample(rng)
    for config in (one, two, SPACE.mutate(one, rng), SPACE.crossover(one, two, rng)):
        assert config.keys() == {"lr", "n", "act", "size"}
    decoded = SPACE.decode(SPACE.encode(one))
    assert decoded["act"] == one["act"] and decoded["n"] == one["n"]


def test_an_option_of_a_choice_may_be_a_space():
    space = ma.Space(model=ma.Choice("constant", ma.Space(depth=ma.Int(1, 9))))
    models = [space.sample(np.random.default_rng(seed))["model"] for seed in range(20)]
    assert "constant" in models and any(isinstance(model, dict) and "depth" in model for model in models)


def test_records_are_made_by_position_and_a_pull_has_the_config_of_its_arm():
    arm = ma.Arm(3, {"x": 1}, (1, 2))
    pull = ma.Pull(arm, 2, 5)
    assert (arm.id, arm.config, arm.parents) == (3, {"x": 1}, (1, 2))
    assert (pull.arm, pull.start, pull.stop, pull.config) == (arm, 2, 5, {"x": 1})


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_takes_the_space_budget_max_steps_and_seed(name):
    strategy = getattr(ma, name)(CUBE, budget=200, max_steps=9, seed=0)
    pull = strategy.ask()
    strategy.tell(pull, 0.5)
    assert strategy.best() == pull.arm


@pytest.mark.parametrize("name", PICKERS)
def test_a_picker_picks_and_is_updated(name):
    picker = getattr(ma.pickers, name)(**PICKERS[name])
    assert getattr(ma, name) is getattr(ma.pickers, name)
    picker.start(3)
    rng = np.random.default_rng(0)
    for _ in range(10):
        chosen = picker.pick(rng)
        assert chosen in range(3)
        picker.update(chosen, 0.5)


def test_a_cascade_takes_children_a_picker_a_budget_and_a_seed():
    children = {"one": ma.RandomSearch(CUBE), "two": ma.RandomSearch(SPACE)}
    cascade = ma.Cascade(children, ma.pickers.UCB1(), budget=20, seed=0)
    pull = cascade.ask()
    cascade.tell(pull, 0.5)
    assert cascade.best() == pull.arm


def test_a_study_is_tuned_told_read_and_loaded(tmp_path):
    storage = f"sqlite:///{tmp_path / 'study.db'}"

    def train(pull):
        model = pull.load()
        if model is None:
            model = 0.0
        for _ in range(pull.start, pull.stop):
            model += pull["x"]
            pull.report(model)
        pull.save(model)
        return {"reward": model, "cost": 1.0, "loss": -model}

    study = ma.tune(train, CUBE, budget=30, max_steps=3, storage=storage, name="names", seed=0, progress=False)
    assert study.best_config.keys() == {"x", "y"} and study.best_reward == study.best_model() and study.plan() is not None
    assert {"arm", "parents", "steps", "reward", "status"} <= set(study.arms_dataframe())
    assert {"arm", "start", "stop", "reward", "status", "seconds"} <= set(study.pulls_dataframe())
    study.close()
    with ma.load_study(storage, "names") as view:
        assert view.best_config == study.best_config


def test_a_study_is_asked_and_told():
    study = ma.Study(ma.MutantUCB(CUBE, budget=30, max_steps=3, initial=5, exploration=0.05, seed=0))
    pull = study.ask()
    study.tell(pull, 0.5)
    study.optimize(lambda pull: pull["x"], workers=1, timeout="8h", retries=1, deterministic=False, progress=False)
    assert study.best_config == study.best().config


def test_functions_written_for_a_config_read_their_pull_by_key():
    study = ma.tune(
        lambda config: 1 - abs(config["x"] - 0.3) + 0 * len(dict(**config)), CUBE, budget=30, seed=0, progress=False
    )
    assert study.counts.pulls == 30


def test_a_function_receives_a_running_pull():
    seen = []
    ma.tune(lambda pull: seen.append(pull) or 0.5, CUBE, budget=1, progress=False)
    assert type(seen[0]) is ma.RunningPull and type(seen[0].arm) is ma.Arm


def test_all_errors_derive_from_one():
    errors = "CheckpointLost NoResult SchemaError StorageError StudyClosed StudyLocked StudyMismatch StudyNotFound WorkerError"
    assert all(issubclass(getattr(ma, name), ma.ManyarmsError) for name in errors.split())
    with pytest.raises(ValueError, match="budget must be at least 1, got 0"):
        ma.tune(lambda pull: 1.0, CUBE, budget=0)


def test_authors_of_strategies_find_the_ledger():
    assert isinstance(ma.RandomSearch(CUBE, seed=0).ledger, Ledger)


def test_the_command_line_has_its_commands():
    for command in ("fit", "run", "status", "arms", "best", "resume", "verify", "gc", "race"):
        answer = subprocess.run([sys.executable, "-m", "manyarms", command, "--help"], capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr


def test_scikit_learn_and_networks_have_their_names():
    pytest.importorskip("sklearn")
    from manyarms import networks
    from manyarms.sklearn import AutoClassifier, AutoRegressor, BanditSearchCV

    assert networks and AutoClassifier(time_budget=5) and AutoRegressor(time_budget=5) and callable(BanditSearchCV)
