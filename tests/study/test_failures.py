"""Failed pulls are recorded, retried where asked, and never best."""

from __future__ import annotations

import pytest

import manyarms as ma

from .searches import SPACE, height, search


def test_failures_are_recorded_with_their_reason_charged_and_never_best():
    def sometimes(config):
        if config["x"] > 0.5:
            raise RuntimeError("too steep")
        return float("nan") if config["y"] > 0.5 else config["x"]

    study = ma.tune(sometimes, SPACE, budget=100, strategy=ma.RandomSearch, seed=0, progress=False)
    pulls = study.pulls_dataframe()
    assert len(pulls) == study.counts.steps == 100
    assert set(pulls["reason"].dropna()) == {"RuntimeError: too steep", "the returned value is nan"}
    assert study.best_config["x"] <= 0.5
    assert study.best_config["y"] <= 0.5
    assert set(study.arms_dataframe()["status"]) == {"done", "failed"}


def test_a_study_of_nothing_but_failures_ends_with_a_clear_message_and_goes_on_once_the_cause_is_gone(tmp_path):
    def broken(config):
        raise OSError("no data")

    study = ma.Study(search(40), storage=f"{tmp_path}/study.db")
    with pytest.raises(
        ma.NoResult, match=r"all 40 pulls failed; most often \(40 times\): OSError: no data \(test_failures.py, line"
    ):
        study.optimize(broken, progress=False)
    with pytest.raises(ma.NoResult, match="OSError: no data"):
        study.best_config  # noqa: B018
    study.close()
    with ma.Study(search(80), storage=f"{tmp_path}/study.db") as study:
        study.optimize(height, progress=False)
        assert study.counts.pulls == 40
        assert study.best_reward > 0


def test_a_failed_pull_is_retried_as_often_as_asked():
    calls = {}

    def flaky(pull):
        calls[pull.arm.id] = calls.get(pull.arm.id, 0) + 1
        if calls[pull.arm.id] <= 2:
            raise ConnectionError("again")
        return 0.5

    study = ma.Study(search(30))
    study.optimize(flaky, retries=2, progress=False)
    assert study.counts.pulls == 30
    assert study.pulls_dataframe()["attempts"].tolist() == [3] * 30
    with pytest.raises(ma.NoResult):
        ma.Study(search(30)).optimize(lambda config: 1 / 0, retries=1, progress=False)


def failing_message(function, **options):
    with pytest.raises(ma.NoResult) as caught:
        ma.tune(function, SPACE, strategy="random", seed=0, progress=False, **options)
    return str(caught.value)


def test_if_all_pulls_failed_the_error_says_what_to_do(tmp_path):
    def broken(pull):
        return float("nan")

    storage, stop = f"{tmp_path}/study.db", [lambda study, outcome: study.stop()]
    failed, reason = "all 3 pulls failed; most often (3 times)", "the returned value is nan"
    spent = "The budget is spent: fix the cause, then run again with a larger budget or"
    assert failing_message(broken, budget=3, storage=storage, callbacks=stop) == (
        f"the only pull failed: {reason}. Fix the cause, then run again; the search continues"
    )
    assert failing_message(broken, budget=3, callbacks=stop) == f"the only pull failed: {reason}. Fix the cause, then run again"
    for _ in range(2):  # the second time, no pull is run
        assert failing_message(broken, budget=3, storage=storage) == f"{failed}: {reason}. {spent} another name"
    assert failing_message(broken, budget=3) == f"{failed}: {reason}. {spent} a new study"
    assert f"{reason}. {spent} a new study" in failing_message(broken, budget=23, max_steps=5)  # 3 steps are less than a pull


def test_the_error_names_the_line_of_the_newest_function(tmp_path):
    def broken(pull):
        return pull["typo"]

    def still_broken(pull):
        return pull["typo"]

    for budget, function in ((2, broken), (4, still_broken)):
        line = function.__code__.co_firstlineno + 1
        place = f"KeyError: 'typo' (test_failures.py, line {line})"
        assert place in failing_message(function, budget=budget, storage=f"{tmp_path}/study.db")
        with ma.load_study(f"{tmp_path}/study.db") as view, pytest.raises(ma.NoResult) as caught:
            view.best()
        assert str(caught.value).endswith(place)
