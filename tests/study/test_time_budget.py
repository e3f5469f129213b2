"""With a budget in seconds, the default strategy prefers arms that take less time, unless slow ones are better."""

from __future__ import annotations

import numpy as np
import pytest

import manyarms as ma
from manyarms.study.verify import audit

from .searches import outline

SPACE = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1), width=ma.Int(1, 64, log=True))


def seconds(pull):
    config = pull.config.get("config", pull.config)  # of a cascade, or not
    return pull.steps * config["width"] / 8


def quality(config, by_width=0.0):
    return 1 - abs(config["x"] - 0.3) - abs(config["y"] - 0.6) + by_width * np.log2(config["width"])


def searched(budget, by_width=0.0, seed=0, storage=None, **options):
    def train(pull):
        config = pull.config.get("config", pull.config)
        return quality(config, by_width) * (1 - 0.6**pull.stop)

    strategy = options.pop("strategy", None) or ma.AdaptiveMutantUCB(SPACE, max_steps=5, seed=seed)
    study = ma.Study(strategy, storage=storage, budget=budget)
    study.optimize(train, runner=ma.SimulatedRunner(1, seconds), progress=False, **options)
    return study


def mean_width(study):
    return np.mean([record.arm.config["width"] for record in study.counts.arms.values()])


def without_times(monkeypatch):
    monkeypatch.setattr("manyarms.strategies.surrogate.rules.slowness_penalty", lambda seconds, steps: 0.0)


def test_where_cheap_arms_are_as_good_they_are_preferred_and_more_are_tried(monkeypatch):
    preferring = [searched(ma.Budget(seconds=300), seed=seed) for seed in range(3)]
    without_times(monkeypatch)
    others = [searched(ma.Budget(seconds=300), seed=seed) for seed in range(3)]
    assert sum(study.counts.pulls for study in preferring) > 2 * sum(study.counts.pulls for study in others)
    assert max(map(mean_width, preferring)) < min(map(mean_width, others))


def test_where_expensive_arms_are_better_they_are_still_found():
    best = [searched(ma.Budget(seconds=3_000), by_width=0.1, seed=seed).best_config["width"] for seed in range(3)]
    assert min(best) > 16


def test_a_budget_in_steps_does_not_depend_on_time():
    slow, fast = (ma.Study(ma.AdaptiveMutantUCB(SPACE, budget=80, max_steps=5, seed=0)) for _ in range(2))
    for study, speed in ((slow, 100.0), (fast, 1.0)):
        study.optimize(
            lambda pull: quality(pull.config),
            runner=ma.SimulatedRunner(1, lambda pull, s=speed: s * seconds(pull)),
            progress=False,
        )
    assert outline(slow) == outline(fast)


def test_a_study_that_is_resumed_decides_the_same_with_or_without_a_snapshot(tmp_path):
    whole = searched(ma.Budget(seconds=300), storage=f"{tmp_path}/whole.db")
    parts = searched(ma.Budget(seconds=100), storage=f"{tmp_path}/parts.db")
    parts.close()
    parts = searched(ma.Budget(seconds=300), storage=f"{tmp_path}/parts.db")
    decisions = [[event for event in outline(study) if event[0] != "budget"] for study in (whole, parts)]
    assert decisions[0] == decisions[1] and list(audit(whole.journal)) == []


def test_the_children_of_a_cascade_learn_it_too(monkeypatch):
    def cascade():
        children = {name: ma.AdaptiveMutantUCB(SPACE, max_steps=5) for name in ("one", "two")}
        return ma.Cascade(children, ma.pickers.Uniform(), seed=0)

    preferring = searched(ma.Budget(seconds=300), strategy=cascade()).counts.pulls
    without_times(monkeypatch)
    assert preferring > 1.5 * searched(ma.Budget(seconds=300), strategy=cascade()).counts.pulls


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_any_time_can_be_told(seconds):
    study = ma.Study(ma.AdaptiveMutantUCB(SPACE, max_steps=5, seed=0), budget=ma.Budget(seconds=1e12))
    for _ in range(60):
        pull = study.ask()
        study.tell(pull, quality(pull.config), seconds=seconds)
    assert study.counts.pulls == 60
