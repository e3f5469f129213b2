"""A search is stopped if its function raises the same error in every pull."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import manyarms as ma
from manyarms.runners.task import Task
from manyarms.study.repeated_error import MOST_REPEATS, RepeatedError, error_of

from .searches import SPACE, outline


def typo(pull):
    return pull["typo"]


def search(function, budget=120, **options):
    """A search that is not expected to have a result: its message, and the steps that it spent."""
    study = ma.Study(ma.RandomSearch(SPACE, budget=budget, seed=0))
    with pytest.raises(ma.NoResult) as caught:
        study.optimize(function, progress=False, **options)
    return str(caught.value), study


def test_a_search_whose_function_always_raises_the_same_error_is_stopped_and_can_be_continued(tmp_path):
    def run(function):
        return ma.tune(function, SPACE, budget=120, storage=f"{tmp_path}/study.db", strategy="random", seed=0, progress=False)

    place = f"test_repeated_error.py, line {typo.__code__.co_firstlineno + 1}"
    for steps in (50, 100):
        message = (
            "the first 50 pulls of this run failed with the same error, so the search was stopped after "
            f"{steps} of 120 steps: KeyError: 'typo' ({place}). Correct the function, then run again; the search continues"
        )
        with pytest.raises(ma.NoResult, match=f"^{re.escape(message)}$"):
            run(typo)
    with run(lambda pull: pull["x"]) as study:
        assert (study.counts.pulls, study.counts.failures, study.counts.steps) == (20, 100, 120)


def test_if_the_budget_is_spent_at_the_same_time_the_error_says_that():
    message, study = search(typo, budget=50)
    assert message.startswith("all 50 pulls failed") and "The budget is spent" in message and study.counts.failures == 50


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 2},
        {"workers": 2, "deterministic": True},
        {"retries": 1},
        {"runner": ma.SimulatedRunner(4)},
        {"runner": ma.SimulatedRunner(4), "deterministic": True},
    ],
    ids=repr,
)
def test_any_runner_stops_and_finishes_the_pulls_in_flight(options):
    message, study = search(typo, **options)
    workers = options.get("workers", 4)
    assert f"stopped after {study.counts.steps} of 120 steps: KeyError" in message
    assert MOST_REPEATS <= study.counts.steps <= MOST_REPEATS + 2 * workers and not study.counts.in_flight


def test_an_executor_stops_too():
    with ThreadPoolExecutor(2) as executor:
        message, study = search(typo, runner=executor, workers=2)
    assert "stopped after" in message and not study.counts.in_flight


def test_with_deterministic_the_same_pulls_are_run_each_time():
    one, two = (search(typo, workers=2, deterministic=True)[1] for _ in range(2))
    assert outline(one) == outline(two)


def raises_others(pull):
    if pull.arm.id == 30:
        raise ValueError("another error")
    return pull["typo"]


def raises_elsewhere(pull):
    if pull.arm.id == 30:
        return pull["typo"]
    return pull["typo"]


def runs_out_of_memory(pull):
    raise MemoryError


def runs_out_of_device_memory(pull):
    raise RuntimeError("CUDA out of memory")


def returns_nan(pull):
    return float("nan")


def returns_nan_once(pull):
    return float("nan") if pull.arm.id == 30 else pull["typo"]


@pytest.mark.parametrize(
    "function",
    [raises_others, raises_elsewhere, runs_out_of_memory, runs_out_of_device_memory, returns_nan, returns_nan_once],
)
def test_other_failures_do_not_stop_a_search(function):
    message, study = search(function)
    assert study.counts.failures == 120 and message.startswith("all 120 pulls failed")


def test_pulls_that_take_too_long_do_not_stop_a_search():
    message, study = search(typo, runner=ma.SimulatedRunner(1, seconds=lambda pull: 200.0, pull_timeout=100))
    assert study.counts.failures == 120 and "took longer" in message


def test_an_error_outside_the_function_does_not_stop_a_search(monkeypatch, tmp_path):
    monkeypatch.setattr(Task, "writing", staticmethod(partial(os.mkdir, f"{tmp_path}/missing/directory")))
    message, study = search(typo)
    assert study.counts.failures == 120 and "(120 times): FileNotFoundError" in message


def test_errors_at_the_same_place_are_the_same_whatever_they_say():
    def fail(pull):
        raise OSError(f"no file for arm {pull.arm.id}")

    message, study = search(fail)
    assert study.counts.steps == 50 and "OSError: no file for arm 0 (test_repeated_error.py, line" in message


@pytest.mark.parametrize("succeeds", [0, 25, 49])
def test_a_search_in_which_a_pull_succeeds_is_not_stopped(succeeds):
    study = ma.Study(ma.RandomSearch(SPACE, budget=120, seed=0))
    study.optimize(lambda pull: 1.0 if pull.arm.id == succeeds else pull["typo"], progress=False)
    assert (study.counts.pulls, study.counts.failures) == (1, 119)


def test_a_success_in_an_earlier_run_keeps_a_later_one_from_being_stopped():
    study = ma.Study(ma.RandomSearch(SPACE, budget=1, seed=0))
    study.optimize(lambda pull: 1.0, progress=False)
    study.optimize(typo, budget=120, progress=False)
    assert (study.counts.pulls, study.counts.failures) == (1, 119)


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_pull_in_flight_that_succeeds_after_all_lets_the_search_continue(deterministic):
    study = ma.Study(ma.RandomSearch(SPACE, budget=120, seed=0))
    runner = ma.SimulatedRunner(4, seconds=lambda pull: 1.0 + pull.arm.id % 4 / 8)
    study.optimize(
        lambda pull: 1.0 if pull.arm.id == 51 else pull["typo"], runner=runner, deterministic=deterministic, progress=False
    )
    assert (study.counts.pulls, study.counts.failures) == (1, 119)


def test_your_own_loop_is_not_stopped():
    study = ma.Study(ma.RandomSearch(SPACE, budget=120, seed=0))
    while (pull := study.ask()) is not None:
        study.tell(pull, None)
    assert study.counts.failures == 120


def test_a_function_that_expects_failures_is_not_stopped():
    class Training:
        expects_failures = True

        def __call__(self, pull):
            raise OSError("no data")

    assert search(Training())[1].counts.failures == 120


def outcome(reason="KeyError: 'x'", details="", **more):
    return ma.Outcome(ma.Pull(ma.Arm(0, {}), 0, 1), reason=reason, details=details, **more)


def test_the_error_is_its_type_and_place_or_its_reason_if_the_place_is_unknown():
    line = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in train\n'
    assert error_of(outcome(details=line)) == ("KeyError", "train.py, line 12")
    assert error_of(outcome(details="no frames")) == ("KeyError", "KeyError: 'x'")
    assert error_of(outcome(details=None)) is None and error_of(outcome(reason=None, details=None, reward=1.0)) is None


def test_only_the_first_pulls_decide():
    counter = RepeatedError()
    counter.update([outcome()] * (MOST_REPEATS - 1))
    assert not counter.is_persistent
    counter.update([outcome(), outcome("ValueError: another")])
    assert counter.is_persistent and counter.first.reason == "KeyError: 'x'"
    counter = RepeatedError()
    counter.update([outcome(details=None), *[outcome()] * 100])
    assert not counter.is_persistent
