"""What `tell` and `record` refuse, and that a refused call leaves the study as it was."""

from __future__ import annotations

import math
import pickle
import sys
import threading
from dataclasses import replace

import chained
import numpy as np
import pytest

import manyarms as ma
from manyarms.core import Outcome
from manyarms.journal import MemoryJournal
from manyarms.study.verify import audit

from .searches import SPACE, height, outline, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def finished(study):
    """The study, run to its end by asks and tells."""
    while (pull := study.ask()) is not None:
        study.tell(pull, height(pull.config), seconds=1)
    return study


def in_the_middle(storage=None):
    """A study with pulls told, failed and in flight: gives it with one of the latter."""
    study = ma.Study(search(30), storage=storage)
    for reward in (0.1, None, 0.2):
        study.tell(study.ask(), reward, seconds=1)
    study.ask()
    return study, study.ask()


def moved(pull, **changed):
    return replace(pull, **changed)


STRANGERS = {
    "a pull of another study": lambda pull: ma.Study(search(30, seed=1)).ask(),
    "an arm that was never made": lambda pull: moved(pull, arm=replace(pull.arm, id=99)),
    "a negative arm": lambda pull: moved(pull, arm=replace(pull.arm, id=-1)),
    "another config": lambda pull: moved(pull, arm=replace(pull.arm, config={"x": 0.5, "y": 0.5})),
    "a config of another kind": lambda pull: moved(pull, arm=replace(pull.arm, config=7)),
    "another start": lambda pull: moved(pull, start=1, stop=2),
    "another stop": lambda pull: moved(pull, stop=5),
    "an arm told, at steps it never had": lambda pull: ma.Pull(ma.Study(search(30)).ask().arm, 0, 2),
}


@pytest.mark.parametrize("make", STRANGERS.values(), ids=STRANGERS)
def test_a_pull_that_this_study_never_asked_for_is_refused_and_changes_nothing(make, tmp_path):
    study, pull = in_the_middle(tmp_path / "study.db")
    stranger, before = make(pull), (study.counts.state(), len(study.journal))
    for value in (1e9, None):
        with pytest.raises(ValueError, match="pull must be one that this study asked for, got arm "):
            study.tell(stranger, value)
    assert (study.counts.state(), len(study.journal)) == before
    _check_it_goes_on(study, pull)


NO_PULLS = [None, 3, "pull", (0, 0, 1), ma.Arm(0, {}), ma.Pull(0, 0, 1), ma.Pull(ma.Arm([], {}), 0, 1)]


@pytest.mark.parametrize("pull", NO_PULLS, ids=repr)
def test_what_is_no_pull_is_refused(pull):
    study, asked = in_the_middle()
    with pytest.raises(TypeError, match="pull must be one that ask returned, got"):
        study.tell(pull, 0.5)
    _check_it_goes_on(study, asked)


@pytest.mark.parametrize("seconds", [-1, -1e9, math.nan, math.inf, "a", None, True, [1.0]], ids=repr)
def test_seconds_that_are_no_duration_are_refused_and_do_not_change_what_is_left_of_a_time_budget(seconds, tmp_path):
    storage = tmp_path / "study.db"
    study = ma.Study(ma.RandomSearch(SPACE, seed=0), storage=storage, budget="10s")
    pull = study.ask()
    with pytest.raises((ValueError, TypeError), match="seconds must be"):
        study.tell(pull, 0.5, seconds=seconds)
    assert study.counts.seconds == 0 and list(study.counts.in_flight) == [pull.arm.id]
    study.tell(pull, 0.5, seconds=np.float32(4))
    for _ in range(2):
        study.tell(study.ask(), 0.5, seconds=4)
    assert study.ask() is None and study.counts.seconds == 12
    study.close()
    assert list(audit(ma.load_study(storage).journal)) == []


BAD_OUTCOMES = {
    "reward": (math.nan, math.inf, "0.5", True, False),
    "seconds": (-1.0, math.nan, math.inf, "long", None),
    "cost": (-1.0, math.nan, math.inf, "much"),
    "metrics": ({"loss": math.nan}, {"loss": math.inf}, {"loss": "low"}, [("loss", 1.0)]),
    "curve": ((0.1, math.nan), ("rising",)),
    "reason": (ValueError("wrong"), 5),
    "details": (b"bytes",),
    "checkpoint": (5,),
    "size": (-1, 1.5),
    "attempts": (0, "many"),
    "retrained": (-1,),
    "inherited": ("no", np.bool_(True)),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD_OUTCOMES.items() for value in values])
def test_an_outcome_that_cannot_be_is_refused_with_all_that_came_with_it(name, value, tmp_path):
    study, pull = in_the_middle(tmp_path / "study.db")
    other = next(flight.pull for flight in study.counts.in_flight.values())
    before = study.counts.state(), len(study.journal)
    with pytest.raises((ValueError, TypeError), match=f"{name.removesuffix('s')}.* must be"):
        study._record([Outcome(other, 0.7), replace(Outcome(pull, 0.5), **{name: value})])
    assert (study.counts.state(), len(study.journal)) == before
    _check_it_goes_on(study, pull)


def test_what_is_no_outcome_is_refused():
    study, pull = in_the_middle()
    with pytest.raises(TypeError, match="outcomes must be Outcome objects, got 0.5"):
        study._record([0.5])
    _check_it_goes_on(study, pull)


def test_numbers_of_numpy_in_an_outcome_are_written_as_plain_ones(tmp_path):
    study, pull = in_the_middle(tmp_path / "study.db")
    numbers = {"reward": np.float32(0.5), "cost": np.int64(2), "metrics": {"loss": np.float16(1)}, "curve": np.arange(2)}
    study._record([replace(Outcome(pull), **numbers)])
    row = study.pulls_dataframe().iloc[-1]
    assert (row["reward"], row["cost"], row["metric_loss"]) == (0.5, 2.0, 1.0)
    _check_it_goes_on(study, pull)


def test_metrics_that_are_no_finite_numbers_are_left_out_and_the_rest_is_stored(tmp_path):
    study, pull = in_the_middle(tmp_path / "study.db")
    study.tell(pull, {"reward": 0.5, "loss": math.nan, "gain": math.inf, "note": "text", "many": [1, 2], "accuracy": 0.9, 7: 8})
    events = list(study.journal.events())
    assert events[-1].data["metrics"] == {"accuracy": 0.9, "7": 8.0}
    _check_it_goes_on(study, pull)


def _check_it_goes_on(study, pull):
    """Told and asked to its end, the study decides as one that never had a wrong call."""
    if pull.arm.id in study.counts.in_flight:
        study.tell(pull, 0.3, seconds=1)
    again, same = in_the_middle()
    again.tell(same, study.counts.arms[pull.arm.id].reward, seconds=1)
    rest = next(flight.pull for flight in study.counts.in_flight.values())
    for one in (study, again):
        one.tell(rest, 0.4, seconds=1)
        finished(one)
    assert outline(study) == outline(again)
    assert list(audit(study.journal)) == []


# -- results that are late, and pulls that were sent around


def test_a_late_or_repeated_result_changes_nothing_whatever_it_says():
    study = ma.Study(chained.strategy(60), storage=MemoryJournal())
    told = []
    while (pull := study.ask()) is not None:
        study.tell(pull, None if len(told) % 5 == 0 else len(told) / 100)
        told.append(pull)
        before = study.counts.state(), len(study.journal)
        for late in told[:: max(1, len(told) // 4)]:
            study.tell(late, 1e9, seconds=5)
            study.tell(late, None)
        assert (study.counts.state(), len(study.journal)) == before


def test_the_same_pull_twice_in_one_call_counts_once():
    study, pull = in_the_middle()
    study._record([Outcome(pull, 0.5), Outcome(pull, 0.9)])
    assert study.counts.arms[pull.arm.id].reward == 0.5


@pytest.mark.parametrize("stored", [False, True])
def test_several_threads_ask_and_tell_one_study_as_one_would(stored, tmp_path):
    pulls, guard = [], threading.Lock()

    def work(study):
        while (pull := study.ask()) is not None:
            with guard:
                pulls.append((pull.arm.id, pull.start))
            study.tell(pull, height(pull.config), seconds=1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ma.Study(ma.RandomSearch(SPACE, budget=400, seed=0), storage=tmp_path / "study.db" if stored else None) as study:
            threads = [threading.Thread(target=work, args=(study,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(set(pulls)) == len(pulls) == study.counts.pulls == study.counts.steps == 400
            assert list(audit(study.journal)) == []
    finally:
        sys.setswitchinterval(interval)


def test_a_result_that_arrives_after_a_restart_is_not_asked_for_again(tmp_path):
    with ma.Study(search(30), storage=tmp_path / "study.db") as study:
        first, second = study.ask(), study.ask()
        study.tell(study.ask(), 0.5)
    with ma.Study(search(30), storage=tmp_path / "study.db") as study:
        study.tell(first, 0.7)
        assert study.ask() == second
        assert study.ask().arm.id == 3


class Patient:
    """A strategy of one's own that asks for less where a pull failed."""

    def __init__(self):
        self.pulls = [ma.Pull(ma.Arm(0, {"x": 1}), 0, stop) for stop in (8, 4, 2)]

    def ask(self):
        return self.pulls.pop(0) if self.pulls else None

    def tell(self, pull, reward):
        pass

    def best(self):
        return ma.Arm(0, {"x": 1})


def test_a_late_result_of_a_pull_that_failed_before_others_of_its_arm_changes_nothing():
    study = ma.Study(Patient())
    first = study.ask()
    study.tell(first, None)
    second = study.ask()
    study.tell(first, 0.9)  # while the arm is pulled again
    study.tell(second, 0.5)
    study.tell(first, 0.9)
    assert (study.counts.pulls, study.counts.failures) == (1, 1)
    with pytest.raises(ValueError, match="pull must be one that this study asked for, got arm 0 from 0 to 3 with"):
        study.tell(replace(first, stop=3), 0.9)


class Plain:
    """A config that can only be compared by its space."""

    def __init__(self, value):
        self.value = value


class Objects:
    """A space of configs that are equal to nothing but themselves."""

    def sample(self, rng):
        return Plain(float(rng.random()))

    def mutate(self, config, rng):
        return self.sample(rng)


class Described(Objects):
    def to_json(self, config):
        return {"value": config.value}


class Arrays(Objects):
    def sample(self, rng):
        return rng.random(3)

    def to_json(self, config):
        return config.tolist()


@pytest.mark.parametrize("space", [Objects(), Described(), Arrays()], ids=lambda space: type(space).__name__)
def test_a_pull_that_was_sent_to_another_process_and_back_is_the_same(space):
    study = ma.Study(ma.RandomSearch(space, budget=5, seed=0))
    pull = pickle.loads(pickle.dumps(study.ask()))
    study.tell(pull, 0.5)
    assert study.counts.pulls == 1


@pytest.mark.parametrize(("space", "other"), [(Described(), Plain(0.5)), (Arrays(), np.ones(3)), (Arrays(), {"x": 1})])
def test_another_config_is_told_apart_by_what_its_space_writes(space, other):
    study = ma.Study(ma.RandomSearch(space, budget=5, seed=0))
    pull = study.ask()
    with pytest.raises(ValueError, match="pull must be one that this study asked for"):
        study.tell(ma.Pull(ma.Arm(pull.arm.id, other), pull.start, pull.stop), 0.5)
    study.tell(pull, 0.5)


def test_a_pull_that_came_back_as_json_is_the_same():
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1), sizes=[1, 2]), budget=5, seed=0))
    pull = study.ask()
    study.tell(ma.Pull(ma.Arm(0, {"sizes": (1, 2), "x": pull.config["x"]}), 0, 1), 0.5)
    assert study.counts.pulls == 1


# -- after it was closed


@pytest.mark.parametrize("stored", [True, False])
def test_a_closed_study_says_so_and_can_still_be_looked_at(stored, tmp_path):
    study, pull = in_the_middle(tmp_path / "study.db" if stored else None)
    study.close()
    for call in (
        study.ask,
        lambda: study.tell(pull, 0.5),
        lambda: study._record([Outcome(pull, 0.5)]),
        lambda: study.optimize(height, progress=False),
    ):
        with pytest.raises(ma.StudyClosed, match=r"study 'study' is closed: open it again with ma\.Study"):
            call()
    assert study.best_reward == 0.2
    study.close()
