"""Studies that are read again and again while they are written."""

from __future__ import annotations

import pytest
from commands import make_study, query

import manyarms as ma
from manyarms.cli.watched import WatchedStudies, WatchedStudy
from manyarms.study.progress_report import BestFound, InFlight
from manyarms.study.replay import StudyState

STORAGE = "manyarms.db"


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(place, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a study was replayed")

    def forbid():
        monkeypatch.setattr(StudyState, "replay", refuse)

    clock = Clock()
    clock.forbid_replays = forbid
    return clock


def opened(name="digits", budget=20, max_steps=2, direction="maximize", **limits):
    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=budget, max_steps=max_steps, seed=0)
    return ma.Study(strategy, storage=STORAGE, name=name, direction=direction, **limits)


def report(studies, clock):
    (study,) = studies.shown(9)
    return study.report(clock())


def test_a_running_study_is_reported_without_a_replay(clock):
    with opened() as study:
        clock.forbid_replays()
        studies = WatchedStudies(STORAGE, None, clock)
        assert [type(one) for one in studies.read()] == [WatchedStudy]
        assert report(studies, clock).best is None and report(studies, clock).pulls_per_second is None
        first, second, third = (study.ask() for _ in range(3))
        study.tell(first, 0.5)
        clock.now += 10
        assert len(studies.read()) == 1
        found = report(studies, clock)
        assert found.best == BestFound("highest reward", 0.5, 0, 2, after=2, seconds_ago=0.0)
        assert found.training == [InFlight(1, 0, 2), InFlight(2, 0, 2)] and found.in_flight == 2
        assert found.limits == {"steps": (2, 20.0)} and (found.pulls_per_second, found.seconds_left) == (0.1, 90.0)
        study.tell(second, None)
        study.tell(third, 0.25)
        clock.now += 10
        studies.read()
        found = report(studies, clock)
        assert found.best == BestFound("highest reward", 0.5, 0, 2, after=2, seconds_ago=10.0)
        assert (found.failures, found.reason, found.steps, found.arms) == (1, "told as failed", 6, 3)


@pytest.mark.parametrize(("direction", "label", "reward"), [("maximize", "highest", 0.75), ("minimize", "lowest", 0.25)])
def test_the_best_reward_depends_on_the_direction(clock, direction, label, reward):
    with opened(direction=direction) as study:
        for value in (0.5, 0.25, 0.75, 0.75):
            study.tell(study.ask(), value)
        studies = WatchedStudies(STORAGE, "digits", clock)
        studies.read()
        best = report(studies, clock).best
        assert (best.label, best.reward, best.seconds_ago) == (f"{label} reward", reward, None)
        assert best.after == {0.75: 6, 0.25: 4}[reward]  # when it was first reached


def test_the_recommended_arm_of_a_study_that_ended_is_the_best(clock):
    make_study("digits")
    clock.forbid_replays()
    studies = WatchedStudies(STORAGE, None, clock)
    studies.read()
    with ma.load_study(STORAGE, "digits") as view:
        best = view.recommendation()
    found = report(studies, clock)
    assert (found.best.label, found.best.arm, found.best.reward) == ("best", best.arm, best.reward)
    assert found.seconds_left is None and found.fraction == 1.0


def test_only_studies_that_were_written_are_read_again(clock, monkeypatch):
    for number in range(3):
        make_study(f"study {number}")
    studies, read = WatchedStudies(STORAGE, None, clock), []
    original = WatchedStudy.read
    monkeypatch.setattr(
        WatchedStudy, "read", lambda self, journal, now: read.append(journal.name) or original(self, journal, now)
    )
    assert len(studies.read()) == len(read) == 3
    assert studies.read() == [] and studies.changed_at is None
    make_study("study 1", budget=20)
    clock.now += 5
    assert len(studies.read()) == 1 and read[3:] == ["study 1"] and studies.changed_at == clock.now
    assert [study.report(0).name for study in studies.shown(1)] == ["study 1"]
    assert [study.report(0).name for study in studies.shown(2)] == ["study 1", "study 2"]


def test_studies_appear_and_a_named_one_is_watched_alone(clock):
    make_study("one")
    everything, alone = WatchedStudies(STORAGE, None, clock), WatchedStudies(STORAGE, "one", clock)
    everything.read(), alone.read()
    make_study("two")
    assert len(everything.read()) == 1 and len(everything) == 2
    assert alone.read() == [] and len(alone) == 1


def test_a_storage_that_disappears_is_an_error_and_what_was_read_stays(clock, place):
    make_study("one")
    studies = WatchedStudies(STORAGE, None, clock)
    studies.read()
    (place / STORAGE).rename(place / "elsewhere.db")
    assert studies.read() == [] and isinstance(studies.error, ma.StudyNotFound) and "there is no file" in str(studies.error)
    assert report(studies, clock).name == "one"
    (place / "elsewhere.db").rename(place / STORAGE)
    assert studies.read() == [] and studies.error is None


def test_a_study_that_cannot_be_read_does_not_keep_the_others_from_being_read(clock):
    for name in ("first", "second", "third"):
        make_study(name)
    studies = WatchedStudies(STORAGE, None, clock)
    studies.read()
    for name in ("first", "third"):
        make_study(name, budget=20)
    query("UPDATE manyarms_heads SET events = 7 WHERE study = 1")
    assert [study.report(0).name for study in studies.read()] == ["third"]
    assert "study 'first'" in str(studies.error) and "corrupt" in str(studies.error)
    assert [study.report(0).steps for study in studies.shown(3)] == [10, 10, 20]


def test_a_study_that_does_not_exist_is_an_error(clock):
    make_study("one")
    studies = WatchedStudies(STORAGE, "none", clock)
    assert studies.read() == [] and isinstance(studies.error, ma.StudyNotFound)
    assert "there is no study 'none'" in str(studies.error)


def test_a_time_budget_and_a_changed_budget_are_the_limits(clock):
    with opened(budget=None, max_steps=1) as study:
        study.tell(study.ask(), 0.5, seconds=20.0)
        study.optimize(lambda pull: 0.5, budget=ma.Budget(seconds=1e-6), progress=False)
    studies = WatchedStudies(STORAGE, None, clock)
    studies.read()
    assert report(studies, clock).limits == {"seconds": (20.0, 1e-6)}


def test_the_pace_is_that_of_the_last_minutes(clock):
    with opened(budget=2000) as writer:
        studies = WatchedStudies(STORAGE, None, clock)
        studies.read()
        study = studies.shown(1)[0]
        for seconds in (1, 1000, 100):
            writer.tell(writer.ask(), 0.5)
            clock.now += seconds
            studies.read()
        assert study.report(clock()).pulls_per_second == pytest.approx(1 / 100)


def test_a_study_that_is_created_again_has_a_new_pace(clock, place):
    studies = WatchedStudies(STORAGE, None, clock)
    for budget in (20, 5):
        make_study("digits", budget=budget)
        clock.now += 10
        studies.read()
        found = report(studies, clock)
        assert (found.steps, found.pulls_per_second, found.seconds_left) == (budget, None, None)
        (place / STORAGE).unlink()
