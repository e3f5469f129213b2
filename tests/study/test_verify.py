"""`manyarms verify` finds every kind of damage, and none where there is none."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing

import chained
import pytest
from rechaining import rechain

import manyarms as ma
from manyarms.cli import main
from manyarms.journal import MemoryJournal
from manyarms.study.verify import audit

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")

COLUMNS = ("kind", "arm", "start", "stop", "reward", "seconds", "data")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A finished study with checkpoints and a snapshot, to be copied."""
    directory = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch, ma.Study(chained.strategy(80), storage=f"{directory}/study.db") as study:
        patch.setattr("manyarms.study.snapshots._SNAPSHOT_LAST", 10)
        study.optimize(chained.train, progress=False)
        assert study.journal.snapshot() is not None
    return directory


@pytest.fixture
def file(template, tmp_path):
    """The study's database, for a test to damage; its checkpoints are copied too."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    header = json.loads(query(tmp_path / "study.db", "SELECT header FROM manyarms_studies")[0][0])
    header["checkpoints"] = header["checkpoints"].replace(str(template), str(tmp_path))
    query(tmp_path / "study.db", "UPDATE manyarms_studies SET header = ?", json.dumps(header))
    rechain(tmp_path / "study.db")
    return tmp_path / "study.db"


@pytest.fixture
def verify(capsys):
    """Runs the command: its exit code and what it printed."""

    def call(file):
        with pytest.raises(SystemExit) as end:
            main(["verify", str(file)])
        return end.value.code, "".join(capsys.readouterr())

    return call


def query(file, statement, *values):
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def rewrite(file, edit):
    """Let `edit` change the list of events, each a dict, and number them anew."""
    listed = ", ".join(COLUMNS)
    rows = [
        dict(zip(COLUMNS, row, strict=True)) for row in query(file, f"SELECT {listed} FROM manyarms_events ORDER BY number")
    ]
    edit(rows)
    query(file, "DELETE FROM manyarms_events")
    with closing(sqlite3.connect(file)) as connection, connection:
        marks = ", ".join("?" * (len(COLUMNS) + 3))
        for number, row in enumerate(rows):
            connection.execute(f"INSERT INTO manyarms_events VALUES ({marks})", (1, number, *row.values(), ""))
    rechain(file)


def change(number, **columns):
    """An edit of one event."""
    return lambda rows: rows[number].update(columns)


def change_data(number, **entries):
    """An edit of an event's data; None takes an entry out."""

    def edit(rows):
        data = json.loads(rows[number]["data"]) | entries
        rows[number]["data"] = json.dumps({key: value for key, value in data.items() if value is not None})

    return edit


def insert(number, **columns):
    """An edit that puts another event before one, like it but for some columns."""
    return lambda rows: rows.insert(number, rows[number] | columns)


DAMAGES = {
    "told twice": (insert(1), "event 2: arm 0 from 0 to 1 is told, but was not in flight"),
    "told, never asked": (lambda rows: rows.pop(40), "is told, but was not in flight"),
    "asked, never told": (lambda rows: rows.pop(1), "strategy now asks for|is asked for while it is in flight"),
    "asked twice": (insert(0), "event 1: arm 0 is asked for while it is in flight"),
    "a pull cut out": (lambda rows: rows.__delitem__(slice(60, 62)), "strategy now asks for|was trained to"),
    "a pull moved": (lambda rows: rows.insert(60, rows.pop(0)), "event 0: arm 0 from 0 to 1 is told"),
    "a better reward": (change(1, reward=1.0), "event .* but the strategy now asks for"),
    "no reward": (change(1, reward=None), "event 1: arm 0 is told the reward None"),
    "an infinite reward": (change(1, reward=float("inf")), "event 1: arm 0 is told the reward inf"),
    "a reward of text": (change(1, reward="high"), "event 1: cannot be read: TypeError"),
    "another config": (change_data(0, config={"rate": 0.05, "model": "linear"}), "event 0 .*'rate': 0.05.* now asks for"),
    "no config": (change_data(0, config=None), "event 0: arm 0 is new, but has no config"),
    "parents unknown": (change_data(2, parents=[99]), "event 2: arm 1 has parents that were never made: .99."),
    "other parents": (change_data(2, parents=[0]), "event 2 of the journal .* now asks for"),
    "a start ahead": (change(0, start=1, stop=2), "event 0: arm 0 is asked for from 1, but was trained to 0"),
    "a stop too far": (change(0, stop=7), "event 0: arm 0 is asked for up to 7, over max_steps=6"),
    "a stop before the start": (change(0, start=1, stop=0), "event 0: asked names no pull"),
    "no arm": (change(0, arm=None), "event 0: asked names no pull: arm None from 0 to 1"),
    "an arm of text": (change(0, arm="zero"), "event 1: arm 0 from 0 to 1 is told, but was not in flight"),
    "a start of text": (change(0, start="first"), "event 0: cannot be read: TypeError"),
    "seconds of text": (change(1, seconds="long"), "event 1: cannot be read: TypeError"),
    "an unknown kind": (change(7, kind="forgotten"), "event 7: unknown kind 'forgotten'"),
    "half of the data": (change(0, data='{"config": '), "event 0: cannot be read"),
    "data that are a list": (change(0, data="[1]"), "event 0: arm 0 is new, but has no config"),
    "a budget of nothing": (insert(4, kind="budget"), "event 4: the budget is changed to 'none'"),
    "a budget of text": (insert(4, kind="budget", data='{"budget": "all"}'), "event 4: the budget is changed to 'all'"),
}


@pytest.mark.parametrize(("edit", "words"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_journal_is_found_and_the_damage_named(file, verify, edit, words):
    rewrite(file, edit)
    code, text = verify(file)
    assert code == 1
    assert re.search(words, text), text
    assert "1 problem\n" in text


@pytest.mark.parametrize("gone", [(0,), (50,), (51,), (50, 51), (120, 121), (1, 2, 3)], ids=str)
def test_a_gap_in_the_numbers_of_the_events_is_found(file, verify, gone):
    for number in gone:
        query(file, "DELETE FROM manyarms_events WHERE number = ?", number)
    code, text = verify(file)
    assert code == 1
    assert re.search(r"event|missing", text)
    assert "Traceback" not in text


def test_the_last_reward_changed_in_its_last_digits_is_found_by_the_snapshot(file, verify):
    rewrite(file, lambda rows: rows[-1].update(reward=rows[-1]["reward"] + 1e-12))
    code, text = verify(file)
    assert code == 1
    assert "the snapshot does not lead to the state that the whole journal does" in text


HEADERS = {
    "a smaller budget": ({"settings": {"budget": 40}}, "event .*: 41 steps asked for, over the budget of 40"),
    "another seed": ({"settings": {"seed": 6}}, "event 0 of the journal .* now asks for"),
    "a setting of the wrong type": ({"settings": {"exploration": "high"}}, "exploration must be a number, got 'high'"),
    "a setting unknown": ({"settings": {"patience": 3}}, "TypeError: .*'patience'"),
    "a strategy misspelled": ({"strategy": "MutantUBC"}, "names the strategy 'MutantUBC', which is not one of manyarms"),
    "a strategy that looks like a user's own": ({"strategy": "mine.Search"}, "names the strategy 'mine.Search'"),
    "another direction": ({"direction": "minimize"}, "but the strategy now asks for"),
    "another space": ({"space": {"space": {"rate": {"float": [0, 1, False]}}}}, "event 0 of the journal .* now asks for"),
    "a space unknown": ({"space": {"space": {"rate": {"complex": [0, 1]}}}}, "description must be of a float, int"),
}


@pytest.mark.parametrize(("entries", "words"), HEADERS.values(), ids=HEADERS)
def test_a_damaged_header_is_found(file, verify, entries, words):
    header = json.loads(query(file, "SELECT header FROM manyarms_studies")[0][0])
    settings = header["settings"] | entries.get("settings", {})
    query(file, "UPDATE manyarms_studies SET header = ?", json.dumps(header | entries | {"settings": settings}))
    rechain(file)
    code, text = verify(file)
    assert code == 1
    assert re.search(words, text), text
    assert "1 problem\n" in text


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null"])
def test_a_header_that_cannot_be_read_is_found(file, verify, text):
    query(file, "UPDATE manyarms_studies SET header = ?", text)
    rechain(file)
    code, said = verify(file)
    assert code == 1
    assert re.search("the study cannot be read|has no header", said)


@pytest.mark.parametrize("text", ["", "half of a snap", "{}", "[]", "7", '{"counts": {}, "strategy": {}}'])
def test_a_snapshot_that_cannot_be_read_is_found(file, verify, text):
    query(file, "UPDATE manyarms_snapshots SET text = ? WHERE kind = 'state'", text)
    rechain(file)
    code, said = verify(file)
    assert code == 1
    assert "the study cannot be resumed from the snapshot" in said


@pytest.mark.parametrize(
    "place", [("counts", "totals", 1), ("counts", "arms", 3, 2), ("strategy", "ledger", "spent"), ("strategy", "scale", 1)]
)
def test_a_snapshot_with_one_number_changed_is_found(file, verify, place):
    state = json.loads(query(file, "SELECT text FROM manyarms_snapshots WHERE kind = 'state'")[0][0])
    part = state
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] += 1
    query(file, "UPDATE manyarms_snapshots SET text = ? WHERE kind = 'state'", json.dumps(state))
    rechain(file)
    code, text = verify(file)
    assert code == 1
    assert "the snapshot does not lead to the state that the whole journal does" in text


def test_damaged_checkpoints_are_found_and_missing_ones_are_no_fault(file, verify):
    one, two, three, gone = sorted(file.parent.glob("study.db-checkpoints/*/arm-*"))[:4]
    (one / "state.pickle").write_bytes(b"something else")
    (two / "state.pickle").unlink()
    (three / "manyarms.json").write_text("{")
    shutil.rmtree(gone)
    code, text = verify(file)
    assert code == 1
    assert "3 problems" in text
    assert all(f"is corrupt: {path}\n" in text for path in (one, two, three))


def test_a_database_that_is_none_or_torn_is_refused_in_one_line(file, verify):
    file.write_bytes(file.read_bytes()[:5000])
    for _ in range(2):
        code, text = verify(file)
        assert code == 1
        assert re.fullmatch(r"manyarms: cannot .*\n|study: .*cannot be read.*\nstudy: .* 1 problem\n", text), text
        file.write_bytes(b"no database at all" * 500)


# -- where nothing is wrong


def test_a_good_study_is_well(file, verify):
    events = query(file, "SELECT count(*) FROM manyarms_events")[0][0]
    assert verify(file) == (0, f"study: {events} events, all is well\n")


def test_a_study_in_which_nothing_has_happened_is_well(tmp_path, verify):
    ma.Study(chained.strategy(), storage=f"{tmp_path}/study.db").close()
    assert verify(f"{tmp_path}/study.db") == (0, "study: 0 events, all is well\n")


def test_every_beginning_of_a_study_with_pulls_in_flight_and_failures_is_well():
    study = ma.Study(chained.strategy(80))
    study.optimize(
        lambda pull: None if pull.seed % 7 == 0 else chained.train(pull),
        runner=ma.SimulatedRunner(5, lambda pull: 1 + pull.arm.id % 10),
        progress=False,
    )
    assert study.counts.failures
    events = list(study.journal.events())
    for length in range(0, len(events) + 1, 7):
        journal = MemoryJournal()
        journal.create(study.header)
        journal.append(events[:length])
        assert list(audit(journal)) == []


def test_a_study_whose_budget_was_raised_and_lowered_is_well(tmp_path, verify):
    for budget in (40, 70, 50):
        with ma.Study(chained.strategy(budget), storage=f"{tmp_path}/study.db") as study:
            study.optimize(chained.train, progress=False)
    assert verify(f"{tmp_path}/study.db")[0] == 0


def test_a_study_that_goes_on_while_it_is_looked_at_is_well(monkeypatch):
    class Busy(MemoryJournal):
        """One whose writer makes a pull whenever it is read."""

        study = None

        def events(self, since=0):
            if self.study is not None:
                self.study.tell(self.study.ask(), 0.5)
            return super().events(since)

    monkeypatch.setattr("manyarms.study.snapshots._SNAPSHOT_EVERY", 30)
    journal = Busy()
    study = ma.Study(chained.strategy(), storage=journal)
    for _ in range(40):
        study.tell(study.ask(), study.counts.pulls / 100)
    assert journal.snapshot() is not None
    journal.study = study
    assert list(audit(journal)) == []


def test_a_space_of_the_users_own_is_checked_as_far_as_it_can_be(tmp_path, verify):
    class Letters:
        def sample(self, rng):
            return "".join(rng.choice(list("abc"), 5))

        def mutate(self, config, rng):
            return self.sample(rng)

    file = f"{tmp_path}/study.db"
    with ma.tune(lambda pull: pull.config.count("c") / 5, Letters(), budget=20, storage=file, progress=False):
        pass
    assert verify(file)[0] == 0
    rewrite(file, insert(1))
    assert verify(file)[0] == 1
