"""A study from somebody else cannot make us delete, move or read anything but its own checkpoints."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import warnings
from contextlib import closing
from functools import partial
from pathlib import Path

import chained
import pytest
from commands import called, quick_directory
from rechaining import rechain

import manyarms as ma
from manyarms.checkpoints import MANIFEST, OWNER, is_sound, slug

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


@pytest.fixture(scope="module")
def files():
    """What is in the folder of a test, by path: made once, and gone from where it was made."""
    with quick_directory() as directory, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*mutants crowd out training", ma.ManyarmsWarning)
        place = Path(directory)
        (place / "sent").mkdir()
        with opened(place / "sent/study.db") as study:
            study.optimize(chained.train, progress=False)
        with opened(place / "ours.db") as study:
            study.optimize(chained.train, progress=False)
        (place / "victim").mkdir()
        (place / "victim" / "thesis.tex").write_text("years of work")
        return {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def here(files, monkeypatch):
    """A folder that a stranger sent, with a study and its checkpoints, and something of ours beside it."""
    with quick_directory() as directory:
        place = Path(directory)
        for path, content in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)
        monkeypatch.chdir(place)
        yield place


@pytest.fixture
def manyarms(capsys):
    return partial(called, capsys)


def opened(storage, budget=30, **options):
    return ma.Study(chained.strategy(budget), storage=str(storage), **options)


def home(root="sent/study.db-checkpoints"):
    """The directory of the only study there."""
    (found,) = Path(root).iterdir()
    return found


def ours():
    """All files that are not the stranger's."""
    return {
        path: path.read_bytes() for top in ("victim", "ours.db-checkpoints") for path in Path(top).rglob("*") if path.is_file()
    }


def change_header(**entries):
    with closing(sqlite3.connect("sent/study.db")) as database, database:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0]) | entries
        database.execute("UPDATE manyarms_studies SET header = ?", [json.dumps(header)])
    rechain("sent/study.db")


def change_checkpoint(number, name):
    """Let an event of the journal name this checkpoint; gives the arm."""
    with closing(sqlite3.connect("sent/study.db")) as database, database:
        arm, data = database.execute("SELECT arm, data FROM manyarms_events WHERE number = ?", [number]).fetchone()
        values = [json.dumps(json.loads(data) | {"checkpoint": name}), number]
        database.execute("UPDATE manyarms_events SET data = ? WHERE number = ?", values)
    rechain("sent/study.db")
    return arm


def use_everything(manyarms):
    """All that deletes: both kinds of gc, and resuming, which drops what is replaced and sweeps."""
    for line in ("gc sent/study.db", "gc sent/study.db --best-only", "gc sent/study.db --max-bytes 1"):
        manyarms(*line.split())
    for max_bytes in (None, 500):
        try:
            with opened("sent/study.db", 60, checkpoints=ma.Checkpoints(max_bytes=max_bytes)) as study:
                study.optimize(chained.train, progress=False)
        except ma.StorageError:
            pass


def test_a_study_directory_that_is_a_link_is_refused(manyarms):
    before, place = ours(), home()
    shutil.rmtree(place)
    place.symlink_to(home("ours.db-checkpoints").absolute())
    assert "is a link" in manyarms("gc", "sent/study.db").err
    with pytest.raises(ma.StorageError, match="is a link or a file: move it away"):
        opened("sent/study.db")
    use_everything(manyarms)
    assert manyarms("verify", "sent/study.db").code == 0
    assert ours() == before


def test_a_journal_that_names_something_else_as_a_checkpoint_loads_no_model_from_there():
    ours = next(home("ours.db-checkpoints").glob("arm-*"))
    for name in (f"../../../ours.db-checkpoints/{ours.parent.name}/{ours.name}", str(ours.absolute())):
        with ma.load_study("sent/study.db") as view:
            told = [number for number, event in enumerate(view.journal.events()) if event.kind == "told"]
        for number in told:
            change_checkpoint(number, name)
        with ma.load_study("sent/study.db") as view, pytest.raises(ma.CheckpointLost):
            view.best_model()


def test_a_directory_for_all_studies_that_is_a_link_leads_to_nobody_elses_checkpoints(manyarms):
    before = ours()
    shutil.rmtree("sent/study.db-checkpoints")
    Path("sent/study.db-checkpoints").symlink_to("../ours.db-checkpoints")
    use_everything(manyarms)
    assert ours().items() >= before.items()


@pytest.mark.parametrize("where", ["victim", "ours.db-checkpoints", "study", "/", "", "x" * 10_000, "\0", 5, None])
def test_a_header_that_points_elsewhere_leads_to_no_deletion_there(manyarms, where):
    before = ours()
    place = home("ours.db-checkpoints") if where == "study" else Path(where) if isinstance(where, str) else where
    change_header(checkpoints=str(place.absolute()) if isinstance(place, Path) else place)
    for command in ("best", "verify"):
        assert manyarms(command, "sent/study.db").code == 0
    use_everything(manyarms)
    assert ours() == before


def test_a_header_with_the_id_of_another_study_leads_to_no_deletion_there(manyarms):
    before, place = ours(), home("ours.db-checkpoints").absolute()
    with ma.load_study("ours.db") as study:
        change_header(id=study.header["id"], checkpoints=str(place))
    assert "of which this is a copy" in manyarms("gc", "sent/study.db").err
    use_everything(manyarms)
    with pytest.raises(ma.StorageError, match="of which this is a copy"):
        opened("sent/study.db", checkpoints="ours.db-checkpoints")
    assert ours() == before


@pytest.mark.parametrize("id", ["../../victim", "..", "", "/", 5, None, ["x"], "x" * 5000])
def test_an_id_of_any_kind_leads_to_a_directory_inside(manyarms, id):
    before = ours()
    change_header(id=id)
    use_everything(manyarms)
    assert ours() == before
    assert {path.parent.name for path in Path().rglob(f"arm-*/{MANIFEST}")} == {
        path.name for top in ("sent/study.db-checkpoints", "ours.db-checkpoints") for path in Path(top).glob("*/arm-*")
    }


@pytest.mark.parametrize("name", ["../../../victim", "", ".", "..", "thesis", 5, ["x"], {"a": 1}])
def test_a_journal_that_names_something_else_as_a_checkpoint_leads_to_no_deletion(manyarms, name, here):
    before = ours()
    arm = change_checkpoint(1, name)
    answer = manyarms("verify", "sent/study.db")
    assert answer.code == 1 and f"event 1: arm {arm} names {name!r} as its checkpoint, which no study writes" in answer.err
    with ma.load_study("sent/study.db") as view:
        assert view.checkpoint_of(arm).parent == home().absolute()
    use_everything(manyarms)
    change_checkpoint(1, str(here / "victim"))
    use_everything(manyarms)
    assert ours() == before


def test_such_a_state_is_trained_again():
    with closing(sqlite3.connect("sent/study.db")) as database:
        told = "SELECT number FROM manyarms_events WHERE kind = 'told'"
        numbers = [number for (number,) in database.execute(told).fetchall()]
    for number in numbers:
        change_checkpoint(number, "../../../victim")
    with opened("sent/study.db", 60) as study, opened("ours.db", 60) as other:
        study.optimize(chained.train, progress=False)
        other.optimize(chained.train, progress=False)
        assert study.counts.retrained > 0 == other.counts.retrained
        assert [event.decision for event in study.journal.events()] == [event.decision for event in other.journal.events()]


def test_a_snapshot_that_names_something_else_is_ignored(monkeypatch, manyarms):
    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_LAST", 1)
    with opened("sent/study.db", 60) as study:
        study.optimize(chained.train, progress=False)
        events, names = len(study.journal), {record.checkpoint for record in study.counts.arms.values()}
    with closing(sqlite3.connect("sent/study.db")) as database, database:
        ((text,),) = database.execute("SELECT text FROM manyarms_snapshots WHERE kind = 'state'").fetchall()
        state = json.loads(text)
        for arm in state["counts"]["arms"]:
            arm[4] = "../../../victim"
        database.execute("UPDATE manyarms_snapshots SET text = ? WHERE kind = 'state'", [json.dumps(state)])
    rechain("sent/study.db")
    before = ours()
    with opened("sent/study.db", 60) as study:
        assert len(study.journal) == events and {record.checkpoint for record in study.counts.arms.values()} == names
    use_everything(manyarms)
    assert ours() == before


def test_a_link_in_place_of_a_checkpoint_is_neither_loaded_nor_followed(manyarms):
    before = ours()
    with ma.load_study("sent/study.db") as view:
        best = view.checkpoint_of(view.best().id)
        arm = view.best().id
    other = next(path for path in home("ours.db-checkpoints").iterdir() if path.is_dir())
    shutil.rmtree(best)
    best.symlink_to(other.absolute())
    assert not is_sound(best)
    assert "checkpoint: None" in manyarms("best", "sent/study.db").out
    with opened("sent/study.db") as study:
        assert study.model(arm, chained.train)["steps"] == study.best_step
        with pytest.raises(ma.CheckpointLost):
            study.model(arm)
    use_everything(manyarms)
    assert ours() == before


@pytest.mark.parametrize("name", ["/dev/zero", "../../../../victim/thesis.tex", "pipe"])
def test_verify_says_that_a_checkpoint_whose_manifest_names_other_files_is_corrupt(manyarms, name):
    with ma.load_study("sent/study.db") as view:
        place = view.checkpoint_of(0)
    os.mkfifo(place / "pipe")
    (place / MANIFEST).write_text(json.dumps({name: [0, "0" * 32]}))
    answer = manyarms("verify", "sent/study.db")
    assert answer.code == 1 and f"the checkpoint of arm 0 is corrupt: {place}" in answer.err


def test_files_of_ours_in_the_old_directory_of_a_study_of_that_name_stay(manyarms):
    old = Path("models") / slug("study")
    shutil.copytree(home("ours.db-checkpoints"), old)
    (old / OWNER).unlink()
    before = set(old.iterdir())
    change_header(checkpoints=str(old.absolute()))
    shutil.rmtree("sent/study.db-checkpoints")
    refused = manyarms("gc", "sent/study.db", "--best-only")
    assert refused.code == 1 and "has no owner file, so it may not belong to study 'study'" in refused.err
    opened("sent/study.db", checkpoints="models").close()
    assert set(old.iterdir()) == before
