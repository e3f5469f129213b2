"""Rewards: largest or smallest, of any scale, and what is none."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import manyarms as ma

from .searches import SPACE, search


def test_minimizing_finds_the_smallest_and_shows_rewards_as_they_were_returned():
    def loss(config):
        return 50 * (config["x"] - 0.3) ** 2 + 7

    study = ma.tune(loss, SPACE, budget=300, seed=0, direction="minimize", progress=False)
    assert study.best_config["x"] == pytest.approx(0.3, abs=0.1)
    assert study.best_reward == loss(study.best_config)
    assert study.best_reward == pytest.approx(min(study.pulls_dataframe()["reward"]), abs=0.1)


def test_declared_bounds_and_a_learned_scale_lead_to_good_arms():
    for bounds in (None, (0, 1e6)):
        study = ma.tune(lambda config: 1e6 * config["x"], SPACE, budget=300, bounds=bounds, seed=0, progress=False)
        assert study.best_reward > 9e5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None, "0.5", [1, 2], {"loss": 1}, object()])
def test_what_is_no_reward_is_a_failed_pull_that_says_so(value):
    study = ma.Study(search(20))
    first = study.ask()
    study.tell(first, value)
    assert study.counts.failures == 1
    study.tell(study.ask(), 0.01)
    assert study.best().id != first.arm.id


NESTED = functools.reduce(lambda inner, _: [inner], range(10**5), [])

UNREADABLE = {
    "too large for a float": (10**400, "the returned value is too large for a float"),
    "too long to be written": ([10**5000], "the returned value must be a number, got list [<int of 16610 bits>]"),
    "too deep to be written": (NESTED, "the returned value must be a number, got list [[[[[[[...]]]]]]]"),
}


@pytest.mark.parametrize(("value", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_reward_that_python_cannot_even_show_is_a_failed_pull_with_a_short_reason(value, reason):
    study = ma.tune(lambda pull: value if pull.arm.id == 0 else 0.5, SPACE, budget=5, strategy="random", seed=0, progress=False)
    failed = study.pulls_dataframe().query("status == 'failed'")
    assert failed["reason"].tolist() == [reason]
    study.close()


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.array([0.1, 0.2], mask=True).mean(), np.ma.array([5.0], mask=[True])])
def test_a_masked_value_is_no_reward_and_no_metric(value):
    study = ma.Study(search(20), direction="minimize")
    study.tell(study.ask(), value)
    assert dict(study.counts.reasons) == {"the returned value is nan": 1}
    study.tell(study.ask(), {"reward": np.ma.array([0.5, 0.7], mask=[False, True]).mean(), "loss": value})
    assert (study.best_reward, study.counts.arms[1].metrics) == (0.5, {})


def test_a_metric_that_is_too_large_for_a_float_does_not_spoil_the_reward():
    study = ma.tune(
        lambda pull: {"reward": pull["x"], "n": 10**400}, SPACE, budget=5, strategy="random", seed=0, progress=False
    )
    assert (study.counts.pulls, study.counts.failures) == (5, 0)


@pytest.mark.parametrize("value", [1, True, 0.25, np.float32(0.25), np.int64(1), np.array([0.5]), {"reward": np.float64(0.5)}])
def test_numbers_of_any_kind_are_rewards(value):
    study = ma.Study(search(20))
    study.tell(study.ask(), value)
    assert study.counts.pulls == 1
