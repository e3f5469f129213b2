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
    with pytest.raises(ma.NoResult, match=r"all 40 pulls failed; most often \(40 times\): OSError: no data"):
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
