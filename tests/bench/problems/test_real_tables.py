"""The tables of real curves, where they are, and what is said where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms import ManyarmsError
from manyarms.bench.problems import lcbench, lcdb, nasbench201, regret, taskset
from manyarms.bench.problems.data import data_directory, expected_data_directory

LOADERS = {"lcbench": lambda: next(lcbench()), "taskset": lambda: next(taskset()), "nasbench201": nasbench201, "lcdb": lcdb}


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_without_the_data_folder_a_loader_says_what_to_do(load, monkeypatch, tmp_path):
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ManyarmsError, match="The data directory .*nowhere.* does not exist. Set MANYARMS_DATA"):
        load()


def test_the_data_directory_is_the_given_one_or_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("MANYARMS_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "manyarms").mkdir()
    monkeypatch.chdir(tmp_path)
    assert data_directory() == tmp_path / "manyarms"
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    assert data_directory() == tmp_path


DATA = expected_data_directory()
needs_data = pytest.mark.skipif(not (DATA / "bench").is_dir(), reason="set MANYARMS_DATA to the folder with the tables")


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", str(DATA))


def check_table(problem, rows, steps, best, typical):
    """Whether a real table has its shape and its known values, and its space finds every row."""
    space = problem.space
    assert len(space.configs) == rows
    assert problem.max_steps == steps
    assert problem.best == pytest.approx(best, abs=1e-4)
    assert problem.typical == pytest.approx(typical, abs=1e-4)
    assert max(map(problem.value, space.configs)) == problem.best
    rng = np.random.default_rng(0)
    for _ in range(20):
        config = space.sample(rng)
        mutant = space.mutate(config, rng)
        assert mutant != config
        assert space.configs[space.row(mutant)] == mutant
        assert space.decode(space.encode(config)) == config
        assert problem.reward(config, 1, seed=0) == problem.reward(config, 1, seed=1)


@needs_data
@pytest.mark.usefixtures("data")
def test_lcbench_is_there():
    problems = list(lcbench())
    assert len(problems) == 17
    assert problems[0].name == "LCBench 3945"
    check_table(problems[0], rows=500, steps=52, best=0.99599, typical=0.89969)
    check_table(problems[-1], rows=500, steps=52, best=0.90591, typical=0.80998)
    for problem in problems:
        rewards = [problem.reward(config, step, seed=0) for config in problem.space.configs[:50] for step in (1, 26, 52)]
        assert 0 <= min(rewards) <= max(rewards) <= 1  # accuracies, and none diverged


@needs_data
@pytest.mark.usefixtures("data")
def test_taskset_is_there():
    problems = list(taskset())
    assert len(problems) == 6
    assert problems[0].name == "TaskSet patch128_LSTM128_avg_bs64"
    check_table(problems[0], rows=1000, steps=51, best=-0.13989, typical=-0.69319)  # log 2: a network that only guesses
    check_table(problems[3], rows=1000, steps=51, best=-0.49705, typical=-1.3197)
    diverged = [sum(problem.reward(config, 51, seed=0) is None for config in problem.space.configs) for problem in problems]
    assert diverged == [84, 78, 0, 245, 3, 171]


@needs_data
@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("dataset", "best", "typical"),
    [("cifar10", 0.91607, 0.87312), ("cifar100", 0.73493, 0.65167), ("imagenet", 0.46733, 0.3655)],
)
def test_nasbench201_is_there(dataset, best, typical):
    problem = nasbench201(dataset)
    assert problem.name == f"NAS-Bench-201 {dataset}"
    check_table(problem, rows=5**6, steps=10, best=best, typical=typical)


@needs_data
@pytest.mark.usefixtures("data")
def test_the_curves_of_nasbench201_pass_through_the_two_points_that_are_known():
    problem = nasbench201("cifar10", max_steps=50)  # a step of 4 epochs
    with np.load(DATA / "bench" / "nasbench201.npz") as known:
        early, final = known["cifar10_val_acc_e12"] / 100, np.nanmean(known["cifar10_val_acc"], axis=1) / 100
    for row in range(0, 15625, 1000):
        config = problem.space.configs[row]
        assert problem.reward(config, 3, seed=0) == pytest.approx(early[row], abs=1e-5)
        assert problem.reward(config, 50, seed=0) == problem.value(config) == pytest.approx(final[row], abs=1e-5)


@needs_data
@pytest.mark.usefixtures("data")
def test_lcdb_is_there():
    problem = lcdb(3)
    assert problem.name == "LCDB 3"
    check_table(problem, rows=20, steps=16, best=0.99561, typical=0.96034)
    assert {"learner": "SVC_linear"} in problem.space.configs
    half_missing = lcdb(38)  # where only nine learners have a score at the largest sample
    assert all(np.isfinite(regret(half_missing, config)) for config in half_missing.space.configs)
    with pytest.raises(ValueError, match="dataset must be one of the 124 OpenML ids in the table, such as .*, got 6"):
        lcdb(6)
