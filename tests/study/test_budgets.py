"""Budgets of steps, seconds and cost, timeouts, and the plan of what will be spent."""

from __future__ import annotations

import random

import chained
import pytest

import manyarms as ma

from .searches import SPACE, height, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_running_again_continues_to_the_same_total_and_a_larger_one_extends_it(tmp_path):
    arguments = {"space": SPACE, "storage": f"{tmp_path}/study.db", "seed": 0, "progress": False}
    for budget, steps in [(60, 60), (60, 60), (100, 100), (80, 100)]:
        with ma.tune(height, budget=budget, **arguments) as study:
            assert study.counts.steps == steps
            assert study.budget == budget


def test_an_extended_study_decides_the_same_after_a_crash(tmp_path):
    def grown(storage):
        for budget in (40, 90):
            with ma.Study(search(budget), storage=storage) as study:
                study.optimize(height, progress=False)

    grown(f"{tmp_path}/one.db")
    grown(f"{tmp_path}/two.db")
    with ma.Study(search(90), storage=f"{tmp_path}/one.db") as study:
        assert study.counts.pulls == 90
    assert chained.decisions(f"{tmp_path}/one.db") == chained.decisions(f"{tmp_path}/two.db")


def test_a_budget_of_seconds_counts_training_over_all_runs(tmp_path):
    runner = ma.SimulatedRunner(workers=4, seconds=lambda pull: 60.0)
    strategy = ma.RandomSearch(SPACE, seed=0)
    with ma.Study(strategy, storage=f"{tmp_path}/study.db", budget="1h") as study:
        study.optimize(height, runner=runner, progress=False)
        assert 3600 <= study.counts.seconds <= 3600 + 4 * 60
    with ma.Study(ma.RandomSearch(SPACE, seed=0), storage=f"{tmp_path}/study.db", budget="2h") as study:
        study.optimize(height, runner=runner, progress=False)
        assert 7200 <= study.counts.seconds <= 7200 + 4 * 60


class Counting:
    """A strategy of one's own, without a budget."""

    def __init__(self):
        self.asked = 0

    def ask(self):
        self.asked += 1
        return ma.Pull(ma.Arm(self.asked, {"x": 0.5}), 0, 1)

    def tell(self, pull, reward):
        pass

    def best(self):
        return ma.Arm(1, {"x": 0.5})


@pytest.mark.parametrize("make", [lambda: ma.RandomSearch(SPACE, seed=0), Counting], ids=["ours", "one's own"])
def test_the_newest_limits_are_in_the_journal(make, tmp_path):
    storage = f"{tmp_path}/study.db"
    for number, given in enumerate(["1h", "1h", ma.Budget(seconds="2h", cost=5), None, ma.Budget(cost=5.0), ma.Budget(cost=5)]):
        with ma.Study(make(), storage=storage, budget=given) as study:
            wanted = None if given is None else ma.Budget.of(given)
            assert study.limits == wanted
            study.tell(study.ask(), 0.5, seconds=1)
        with ma.load_study(storage) as view:
            assert view.limits == wanted
            assert view.counts.pulls == number + 1
            changes = sum(event.kind == "budget" for event in view.journal.events())
    assert changes == 3


def test_limits_in_a_snapshot_are_those_of_the_journal(monkeypatch, tmp_path):
    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_LAST", 2)
    for budget in ("1m", "2m"):
        with ma.Study(ma.RandomSearch(SPACE, seed=0), storage=f"{tmp_path}/study.db", budget=budget) as study:
            study.optimize(height, runner=ma.SimulatedRunner(1, lambda pull: 20.0), progress=False)
    with ma.load_study(f"{tmp_path}/study.db") as view:
        assert view.journal.snapshot()[0] == len(view.journal)
        assert view.limits == ma.Budget(seconds=120)
    with ma.Study(ma.RandomSearch(SPACE, seed=0), storage=f"{tmp_path}/study.db", budget="2m") as study:
        assert study.counts.events == len(study.journal) == view.counts.events


def test_a_budget_of_reported_cost_ends_the_search():
    study = ma.tune(lambda config: {"reward": 0.5, "cost": 2.5, "loss": 3}, SPACE, budget=ma.Budget(cost=10), progress=False)
    assert study.counts.cost == 10
    assert study.pulls_dataframe()["metric_loss"].tolist() == [3, 3, 3, 3]


def test_a_timeout_starts_no_more_pulls_and_the_next_call_goes_on():
    study = ma.Study(search(100))
    runner = ma.SimulatedRunner(workers=2, seconds=lambda pull: 60.0)
    study.optimize(height, runner=runner, timeout="10m", progress=False)
    assert study.counts.pulls == 20
    study.optimize(height, progress=False)
    assert study.counts.pulls == 100


@pytest.mark.parametrize("workers", [2, 16, 128])
def test_many_workers_spend_the_budget_exactly_and_forget_no_arm(workers):
    study = ma.Study(chained.strategy(400))
    random_times = random.Random(workers)
    study.optimize(chained.train, runner=ma.SimulatedRunner(workers, lambda pull: random_times.random()), progress=False)
    assert not study.counts.in_flight
    assert 400 - 5 <= study.counts.steps <= 400
    assert study.counts.arms[study.best().id].steps == 6


def test_the_plan_adds_up_to_the_budget_before_anything_runs():
    study = ma.Study(chained.strategy(300))
    assert sum(phase.steps for phase in study.plan().phases) == 300
    assert "budget 300 steps, 0 spent" in str(study.plan())
    open_plan = str(ma.Study(ma.MutantUCB(SPACE, seed=0)).plan())
    assert "open" in open_plan
