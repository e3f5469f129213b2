"""Studies in a journal: what goes on from it, what is refused, and what waits for the disk."""

from __future__ import annotations

import random

import chained
import pytest

import manyarms as ma
from manyarms.journal import MemoryJournal
from manyarms.study.verify import audit

from .searches import SPACE, height, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_other_arguments_than_the_study_was_made_with_are_refused(tmp_path):
    storage = f"{tmp_path}/study.db"
    ma.Study(search(exploration=0.05), storage=storage).close()
    for changed, words in [
        ({"exploration": 0.1}, "exploration=0.05"),
        ({"seed": 1}, "seed=0"),
        ({"initial": 3}, "initial=None"),
    ]:
        with pytest.raises(ma.StudyMismatch, match=words):
            ma.Study(search(**changed), storage=storage)
    with pytest.raises(ma.StudyMismatch, match="direction='maximize'"):
        ma.Study(search(), storage=storage, direction="minimize")
    with pytest.raises(ma.StudyMismatch, match="strategy='MutantUCB'"):
        ma.Study(ma.RandomSearch(SPACE, budget=100, seed=0), storage=storage)
    with ma.Study(search(seed=None), storage=storage) as study:  # a seed not given is the old one
        assert study.seed == 0


def test_a_space_that_changed_in_secret_is_noticed(tmp_path):
    class Secret:
        high = 1.0

        def sample(self, rng):
            return {"x": rng.random() * self.high}

        mutate = lambda self, config, rng: self.sample(rng)  # noqa: E731

    def strategy():
        return ma.RandomSearch(Secret(), budget=10, seed=0)

    with ma.Study(strategy(), storage=f"{tmp_path}/study.db") as study:
        study.optimize(lambda config: config["x"], progress=False)
    Secret.high = 2.0
    with pytest.raises(ma.StudyMismatch, match="event 0"):
        ma.Study(strategy(), storage=f"{tmp_path}/study.db")


def test_a_snapshot_leads_to_the_same_decisions_as_the_whole_journal(monkeypatch, tmp_path):
    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_EVERY", 30)
    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_LAST", 10)
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/often.db") as study:
        for _ in range(40):
            study.tell(study.ask(), random.Random(study.counts.pulls).random())
        assert study.journal.snapshot()[0] >= 60
        in_flight = [study.ask() for _ in range(3)]
        study.tell(in_flight[1], None)
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/often.db") as study:
        study.optimize(lambda pull: random.Random(pull.seed).random(), progress=False)
        assert not study.counts.in_flight
    with ma.load_study(f"{tmp_path}/often.db") as view:
        assert list(audit(view.journal)) == []


def test_no_snapshot_covers_a_pull_that_a_callback_asked_for_and_that_is_not_written_yet(monkeypatch, tmp_path):
    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_LAST", 4)

    def ask_and_stop(study, outcome):
        if study.counts.pulls == 6:
            study.ask()
            study.stop()

    with ma.Study(search(20), storage=tmp_path / "study.db") as study:
        study.optimize(height, callbacks=[ask_and_stop], progress=False)
    with ma.Study(search(20), storage=tmp_path / "study.db") as study:
        study.optimize(height, progress=False)
        assert list(audit(study.journal)) == []


def test_studies_in_memory_survive_in_their_journal():
    journal = MemoryJournal()
    ma.Study(search(50), storage=journal).optimize(height, progress=False)
    study = ma.Study(search(80), storage=journal)
    assert study.counts.pulls == 50
    study.optimize(height, progress=False)
    assert study.counts.pulls == 80


def test_only_a_study_whose_journal_outlasts_a_power_cut_waits_for_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("manyarms.checkpoints.manifest._sync", synced.append)

    def train(pull):
        pull.save(pull["x"])
        return pull["x"]

    for storage, waits in ((None, False), (str(tmp_path / "study.db"), True)):
        synced.clear()
        ma.tune(train, ma.Space(x=ma.Float(0, 1)), budget=5, max_steps=1, storage=storage, seed=0, progress=False).close()
        assert bool(synced) == waits
