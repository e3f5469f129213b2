"""Local copies of what was uploaded: bounded, handed out once, and never used if they have changed."""

from __future__ import annotations

import pytest

import manyarms as ma
from manyarms.checkpoints import MANIFEST, is_sound, objects
from manyarms.checkpoints.remote import RemotePath
from manyarms.checkpoints.uploads import Uploads, uploads

from .saving import save


def place(number):
    return RemotePath("memory://models", ("study", f"arm-{number}-step-1-00000000"))


@pytest.fixture
def kept():
    own = Uploads(most=3, most_bytes=10_000)
    yield own
    own.clear()


def test_a_copy_is_handed_out_once(kept, tmp_path):
    kept.add(place(0), save(tmp_path), 1000)
    assert not (tmp_path / "saved").exists()
    assert not kept.take(place(1), tmp_path / "other")
    assert kept.take(place(0), tmp_path / "copy") and is_sound(tmp_path / "copy")
    assert not kept.take(place(0), tmp_path / "again") and not (tmp_path / "again").exists()


def test_the_oldest_copies_are_removed(kept, tmp_path):
    for number in range(5):
        kept.add(place(number), save(tmp_path), 1000)
    assert [kept.take(place(number), tmp_path / str(number)) for number in range(5)] == [False, False, True, True, True]
    for number, size in enumerate((4000, 5000, 6000, 11_000)):
        kept.add(place(number), save(tmp_path, f"saved-{number}"), size)
    assert [kept.take(place(number), tmp_path / f"large-{number}") for number in range(4)] == [False, False, True, False]


@pytest.mark.parametrize("name", ["state", MANIFEST])
def test_a_copy_that_has_changed_is_not_used(kept, tmp_path, name):
    kept.add(place(0), save(tmp_path), 1000)
    (path,) = [path for path, _ in kept._kept.values()]
    (path / name).write_bytes(b"other")
    assert not kept.take(place(0), tmp_path / "copy") and not (tmp_path / "copy").exists()


def test_an_arm_that_continues_in_the_same_process_downloads_nothing(memory, monkeypatch):
    def train(pull):
        pull.save((pull.load() or 0) + 1)
        return float(pull.stop)

    def refused(*arguments):
        raise AssertionError("nothing should be downloaded")

    uploads.clear()
    monkeypatch.setattr("manyarms.checkpoints.state.download", refused)
    strategy = ma.MutantUCB({"x": (0.0, 1.0)}, budget=4, max_steps=4, initial=1, seed=0)
    with ma.Study(strategy, checkpoints=memory.url) as study:
        study.optimize(train, progress=False)
        assert study.counts.failures == 0 and study.counts.retrained == 0
        assert len(objects.entry_files(study._assignment.checkpoints.directory)) >= 1
    uploads.clear()
