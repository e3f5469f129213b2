"""A study that was interrupted in the middle of a decision or a write says so, and is whole when it is opened again."""

from __future__ import annotations

import pytest

import manyarms as ma
from manyarms.errors import StudyClosed
from manyarms.journal.lock import FileLock
from manyarms.journal.sql import SqlJournal
from manyarms.study.replay import StudyState
from manyarms.study.verify import audit

SPACE = ma.Space(x=ma.Float(0, 1))


class Flaky:
    """A space whose fifth config cannot be made at first."""

    def __init__(self, error):
        self.error, self.calls = error, 0

    def sample(self, rng):
        x = float(rng.random())
        self.calls += 1
        if self.error is not None and self.calls == 5:
            raise self.error
        return x

    def mutate(self, config, rng):
        return float(rng.random())


@pytest.mark.parametrize("error", [OSError("the share is away"), KeyboardInterrupt()])
def test_a_decision_that_was_interrupted_must_not_be_continued_from(tmp_path, error):
    storage = tmp_path / "study.db"
    with ma.Study(ma.RandomSearch(Flaky(error), budget=20, seed=0), storage=storage) as study:
        with pytest.raises(type(error)):
            study.optimize(lambda pull: pull.config, progress=False)
        for attempt in (study.ask, lambda: study.optimize(lambda pull: pull.config, progress=False)):
            with pytest.raises(StudyClosed, match="was interrupted in the middle .*: close it and open it again"):
                attempt()
    with ma.Study(ma.RandomSearch(Flaky(None), budget=20, seed=0), storage=storage) as study:
        study.optimize(lambda pull: pull.config, progress=False)
        assert study.counts.pulls == 20
    with ma.Study(ma.RandomSearch(Flaky(None), budget=20, seed=0), storage=storage):
        pass


@pytest.mark.parametrize("written", [True, False])
def test_a_write_that_was_interrupted_must_not_be_continued_from(tmp_path, monkeypatch, written):
    storage, append = tmp_path / "study.db", SqlJournal.append

    def make():
        return ma.Study(ma.RandomSearch(SPACE, budget=30, max_steps=1, seed=0), storage=storage)

    def interrupted(self, events):
        if written:
            append(self, events)
        raise KeyboardInterrupt

    with make() as study:
        for _ in range(3):
            pull = study.ask()
            study.tell(pull, pull.config["x"])
        pull = study.ask()
        with monkeypatch.context() as patch:
            patch.setattr(SqlJournal, "append", interrupted)
            with pytest.raises(KeyboardInterrupt):
                study.tell(pull, pull.config["x"])
        with pytest.raises(StudyClosed, match="was interrupted"):
            study.tell(pull, pull.config["x"])
    with make() as study:
        study.optimize(lambda pull: pull["x"], progress=False)
        assert study.counts.pulls == 30
        assert list(audit(study.journal)) == []


def test_a_change_of_the_budget_that_was_interrupted_must_not_be_continued_from(tmp_path, monkeypatch):
    def make():
        return ma.Study(ma.MutantUCB(SPACE, budget=20, max_steps=1, seed=0), storage=tmp_path / "study.db")

    def interrupted(self, event):
        raise KeyboardInterrupt

    def train(pull):
        return pull["x"]

    with make() as study:
        study.optimize(train, progress=False)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(StudyState, "change_budget", interrupted)
            study.optimize(train, budget=40, progress=False)
        with pytest.raises(StudyClosed, match="was interrupted"):
            study.optimize(train, progress=False)
    with make() as study:
        study.optimize(train, budget=40, progress=False)
        assert study.counts.steps == 40
        assert list(audit(study.journal)) == []


def test_closing_again_after_an_interruption_releases_the_lock(tmp_path, monkeypatch):
    def make():
        return ma.Study(ma.RandomSearch(SPACE, budget=20, max_steps=1, seed=0), storage=tmp_path / "study.db")

    def interrupted(self):
        raise KeyboardInterrupt

    study = make()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(FileLock, "release", interrupted)
        study.close()
    study.close()
    assert study.is_closed
    make().close()


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("error", [ma.StorageError("the disk is full"), KeyboardInterrupt()])
def test_the_model_of_a_pull_whose_outcome_could_not_be_written_or_learned_is_kept(tmp_path, monkeypatch, written, error):
    appended, append = [], SqlJournal.append

    def make():
        return ma.Study(ma.SteadyStateEA(SPACE, budget=5, max_steps=1, seed=0), storage=tmp_path / "study.db")

    def failing(self, events):
        appended.append(events)
        if written or len(appended) != 3:
            append(self, events)
        if len(appended) == 3:
            raise error

    def train(pull):
        pull.save(pull["x"])
        return pull["x"]

    study = make()
    with monkeypatch.context() as patch, pytest.raises(type(error)):
        patch.setattr(SqlJournal, "append", failing)
        study.optimize(train, progress=False)
    if written or isinstance(error, KeyboardInterrupt):
        study.close()
        study = make()
        kept = study.counts.pulls
    else:  # the same object writes the outcome as soon as it can
        kept = study.counts.pulls + 1
    study.optimize(lambda pull: pull["x"], progress=False)  # saves nothing
    saved = [arm for arm in study.counts.arms if study.checkpoint_of(arm) is not None and study.checkpoint_of(arm).exists()]
    assert len(saved) == kept and study.counts.pulls == 5
    study.close()


def test_a_context_that_is_refused_does_no_harm():
    study = ma.Study(ma.ContextualTreeUCB(SPACE, budget=100, max_steps=9, schedule=None, seed=0))
    with pytest.raises((TypeError, ValueError)):
        study.ask(context=-5)
    assert study.ask(context=3) is not None


def test_a_search_that_fails_leaves_no_lock(tmp_path):
    def broken(pull):
        raise OSError("no data")

    given = {"space": SPACE, "storage": tmp_path / "study.db", "seed": 0, "progress": False, "max_steps": 1}
    with pytest.raises(ma.NoResult):
        ma.tune(broken, budget=20, **given)
    ma.tune(lambda pull: pull["x"], budget=40, **given).close()


def test_a_checkpoints_object_of_a_study_that_is_open_is_not_shared(tmp_path):
    def train(pull):
        pull.save(pull.stop)
        return pull["x"]

    def make(name):
        strategy = ma.RandomSearch(SPACE, budget=6, max_steps=3, seed=0)
        return ma.Study(strategy, storage=tmp_path / "study.db", name=name, checkpoints=checkpoints)

    checkpoints = ma.Checkpoints(tmp_path / "models")
    with make("one") as one, make("two") as two:
        one.optimize(train, progress=False)
        two.optimize(train, progress=False)
        assert one.checkpoint_of(one.best().id).parent != two.checkpoint_of(two.best().id).parent
    with make("one") as one, make("two") as two:
        assert one.best_model() == two.best_model() == 3


def test_a_closed_study_still_loads_its_model_after_another_study_got_its_checkpoints_object(tmp_path):
    trained = []

    def train(pull):
        trained.append(pull)
        pull.save(pull.arm.id)
        return pull["x"]

    checkpoints, closed = ma.Checkpoints(tmp_path / "models"), []
    for name in ("one", "two"):
        strategy = ma.RandomSearch(SPACE, budget=6, max_steps=1, seed=0)
        with ma.Study(strategy, storage=tmp_path / "study.db", name=name, checkpoints=checkpoints) as study:
            study.optimize(train, progress=False)
        closed.append(study)
    assert [study.best_model() for study in closed] == [study.best().id for study in closed]
    assert len(trained) == 12
