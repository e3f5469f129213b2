import math

import numpy as np
import pytest

import manyarms as ma
from manyarms.journal import Event
from manyarms.plots import History


@pytest.fixture
def study():
    space = ma.Space(x=ma.Float(0, 1), model=ma.Choice(ma.Space(kind="tree", depth=ma.Int(1, 9)), "constant"))

    def train(pull):
        if pull.arm.id % 7 == 3:
            raise RuntimeError("bad")
        return {"reward": pull["x"] * pull.stop, "loss": float("nan")}

    return ma.tune(train, space, budget=120, max_steps=4, seed=0, direction="minimize", progress=False, verbose=0)


def filled(events, header):
    history = History(header)
    for event in events:
        history.add(event)
    return history


def test_it_agrees_with_the_counts_of_the_study(study):
    history = filled(study.journal.events(), study.header)
    records = list(study.counts.arms.values())
    assert history.arms == len(records)
    assert history.pulls == study.counts.pulls + study.counts.failures
    assert history.reasons == study.counts.reasons
    assert history.steps_of_arms().tolist() == [record.steps for record in records]
    best = [math.nan if record.best_reward is None else record.best_reward for record in records]
    np.testing.assert_array_equal(history.best_rewards(), best)
    assert history.best_rewards()[history.ranking()[0]] == np.nanmin(best)
    assert np.nansum(history.column("seconds")) == pytest.approx(study.counts.seconds)


def test_pulls_are_recorded_with_when_they_ended(study):
    ended = filled(study.journal.events(), study.header).column("ended")
    assert np.isfinite(ended).all()
    assert (np.diff(ended) >= 0).all()


def test_the_worker_of_a_pull_is_recorded():
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=8, seed=0))
    study.optimize(lambda pull: pull["x"], workers=2, progress=False)
    history = filled(study.journal.events(), study.header)
    assert 1 <= len(history.workers) <= 2
    assert set(history.column("worker")) == set(range(len(history.workers)))


def test_nested_parameters_are_named_by_path(study):
    history = filled(study.journal.events(), study.header)
    parameters = history.parameters(range(history.arms))
    assert set(parameters) == {"x", "model", "model.kind", "model.depth"}
    assert all(len(values) == len(study.counts.arms) for values in parameters.values())
    assert history.parameters([3, 1])["x"] == [parameters["x"][3], parameters["x"][1]]


def test_events_that_no_study_writes_do_no_harm():
    events = [
        Event("asked", 0, 0, 1, data={"config": {"x": 1}}),
        Event("told", 0, 0, 1, 1.0, 1.0, {"ended": "yesterday", "worker": 7}),
        Event("told", 99, 0, 1, 1.0),
        Event("failed", 0, 1, 2, None, float("inf"), {"reason": None, "ended": float("nan")}),
        Event("budget", data={"budget": 3}),
    ]
    history = filled(events, {})
    assert history.pulls == 2
    assert history.events == 5
    assert np.isnan(history.column("ended")).all()
    assert history.workers == []
