"""Time limits of a search as its pulls see them, and what is recorded of those that a limit ended."""

from __future__ import annotations

import math

import pytest

import manyarms as ma
from manyarms.runners import InlineRunner

SPACE = ma.Space(x=ma.Float(0, 1))


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self):
        return self.now


def slicing(clock, seconds=100.0, save=True):
    """A function that takes so many seconds a step, and notes how much time each pull had at its start."""

    def train(pull):
        train.left.append(pull.time_left)
        steps = pull.load() or 0
        for _ in range(pull.start, pull.stop):
            clock.now += seconds
            steps += 1
            if save:
                pull.save(steps)
            pull.report(steps)
        pull.save(steps)
        return steps

    train.left = []
    return train


def halving(budget=None):
    return ma.SuccessiveHalving(SPACE, budget=budget or 60, max_steps=10, seed=0)


def whole(**more):
    """A study whose pulls are 10 steps each."""
    return ma.Study(ma.RandomSearch(SPACE, max_steps=10, seed=0), **more)


def test_a_pull_has_what_is_left_of_the_timeout_and_ends_at_a_report_when_that_is_over(tmp_path):
    clock = Clock()
    train = slicing(clock)
    with whole(storage=tmp_path / "study.db") as study:
        study.optimize(train, runner=InlineRunner(clock=clock), timeout=2550, progress=False)
        assert train.left == [2550, 1550, 550] and clock.now == 2600
        pulls = study.pulls_dataframe()
        assert pulls["reward"].tolist() == [10, 10, 6] and set(pulls["status"]) == {"told"}
        assert pulls["stopped_early"].tolist()[-1] is True and pulls["stopped_early"].isna().tolist() == [True, True, False]
        assert study.counts.steps == 30, "it counts as a whole pull"
        assert study.model(2) == 6
    with ma.load_study(tmp_path / "study.db") as view:
        marks = [event.data.get("stopped_early") for event in view.journal.events() if event.kind == "told"]
        assert marks == [None, None, True]


def test_the_next_call_has_a_time_of_its_own_and_none_without_a_limit():
    clock, study = Clock(), whole()
    train = slicing(clock)
    for _ in range(2):
        study.optimize(train, runner=InlineRunner(clock=clock), timeout=500, progress=False)
    assert train.left == [500, 500]
    study.optimize(train, runner=InlineRunner(clock=clock), callbacks=[lambda study, outcome: study.stop()], progress=False)
    assert train.left == [500, 500, math.inf] and study.counts.pulls == 3


def test_a_pull_has_what_is_left_of_the_budget_of_time_over_all_runs(tmp_path):
    clock = Clock()
    train = slicing(clock)
    for budget, left in ((1500, [1500, 500]), (2700, [1200, 200])):
        with whole(storage=tmp_path / "study.db", budget=ma.Budget(seconds=budget)) as study:
            study.optimize(train, runner=InlineRunner(clock=clock), timeout="10h", progress=False)
            assert train.left == left and study.counts.seconds == clock.now == budget
            train.left.clear()


def test_workers_share_what_pulls_in_flight_have_not_spent_of_a_budget_of_time():
    left = []
    study = ma.Study(ma.RandomSearch(SPACE, seed=0), budget=ma.Budget(seconds=4000))
    runner = ma.SimulatedRunner(4, lambda pull: 700.0 if pull.arm.id == 0 else 600.0)
    study.optimize(lambda pull: left.append(pull.time_left) or 1.0, runner=runner, progress=False)
    # All workers have spent 4000 s together after 1000 s: at 600 s there are 400 left for each, at 700 s there are 300.
    assert left == [1000, 1000, 1000, 1000, 400, 400, 400, 300]


@pytest.mark.parametrize("deterministic", [False, True])
def test_no_pull_is_started_on_time_that_those_in_flight_have_spent(deterministic):
    study = ma.Study(ma.RandomSearch(SPACE, seed=0), budget=ma.Budget(seconds=2000))
    runner = ma.SimulatedRunner(2, lambda pull: 1500.0 if pull.arm.id == 0 else 1000.0)
    study.optimize(lambda pull: 1.0, runner=runner, deterministic=deterministic, progress=False)
    assert study.counts.pulls == 2 and study.counts.seconds == 2500


def test_a_retry_has_the_time_that_is_left_then():
    clock, left = Clock(), []

    def train(pull):
        left.append(pull.time_left)
        clock.now += 100
        raise OSError

    study = ma.Study(ma.RandomSearch(SPACE, budget=1, seed=0), budget=ma.Budget(seconds=1000))
    with pytest.raises(ma.NoResult):
        study.optimize(train, runner=InlineRunner(clock=clock), timeout=250, retries=2, progress=False)
    assert left == [250, 150, 50]


class TwoPulls:
    """A strategy that pulls one arm twice."""

    def __init__(self):
        self.asked = 0

    def ask(self):
        self.asked += 1
        return ma.Pull(ma.Arm(0, {"x": 0.5}), 2 * self.asked - 2, 2 * self.asked) if self.asked < 3 else None

    def tell(self, pull, reward):
        pass

    def best(self):
        return ma.Arm(0, {"x": 0.5})


def test_a_pull_stopped_before_it_saved_is_trained_again_when_it_continues():
    clock, study = Clock(), ma.Study(TwoPulls())
    train = slicing(clock, save=False)
    with pytest.warns(ma.ManyarmsWarning, match=r"could not save its state \(its time was up before it saved one\)"):
        study.optimize(train, runner=InlineRunner(clock=clock), timeout=90, progress=False)
    assert study.best_reward == 1 and study.counts.steps == 2
    assert study.best_model() == 2, "trained again, and to the end"
    study.optimize(train, runner=InlineRunner(clock=clock), progress=False)
    assert study.best_reward == 4 and study.counts.retrained == 2 and not study.counts.failures


def test_stopped_pulls_are_replayed_as_they_were_told(tmp_path):
    clock = Clock()
    with ma.Study(halving(), storage=tmp_path / "study.db") as study:
        study.optimize(slicing(clock), runner=InlineRunner(clock=clock), timeout=1250, progress=False)
        expected = study.ask()
        assert "stopped_early" in study.pulls_dataframe()
    with ma.Study(halving(), storage=tmp_path / "study.db") as study:
        assert study.ask() == expected


def test_remaining_needs_a_time_limit_to_remain_of(tmp_path):
    words = "^pull_timeout must be seconds where the search has no time limit, got 'remaining': give timeout="
    with pytest.raises(ValueError, match=words):
        whole().optimize(lambda config: 1.0, pull_timeout="remaining", progress=False)
    with pytest.raises(ValueError, match=words):
        ma.tune(lambda config: 1.0, SPACE, budget=9, storage=tmp_path / "a.db", pull_timeout="remaining", progress=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", [{"timeout": "1h"}, {"budget": ma.Budget(steps=4, seconds="1h")}], ids=str)
def test_remaining_runs_pulls_in_a_worker_process_with_a_limit(limit):
    def train(pull):
        return {"reward": 1.0, "left": min(pull.time_left, 1e9)}

    study = ma.tune(train, SPACE, **{"budget": 4, "max_steps": 1, "pull_timeout": "remaining", "progress": False, **limit})
    assert study.pulls_dataframe()["metric_left"].between(0, 3600).all() and study.counts.pulls == 4


def test_the_contract_of_outcomes_covers_the_mark():
    study = whole()
    pull = study.ask()
    with pytest.raises(TypeError, match="stopped_early must be True or False, got 'yes'"):
        study._record([ma.Outcome(pull, 1.0, stopped_early="yes")])
    assert not study.counts.pulls
