"""The file of a race."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from manyarms.bench.race.results import SCHEMA, Results, frame, of_heats, read
from manyarms.errors import SchemaError, StorageError, StudyLocked

SHARED = {"family": "f", "problem": "p", "half": "tuned", "peer": False, "version": "1", "budget": 5}


def rows(entrant, seed=0, **changed):
    return [
        {**SHARED, "entrant": entrant, "seed": seed, "trainings": mark, "regret": 1.5, "pulls": 3, "arms": 2, "deciding": 0.1}
        | changed
        for mark in (1, 5)
    ]


def name(entrant, seed=0):
    return ("f", "p", entrant, seed, 5, "1")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "race.parquet"


def test_what_is_added_is_there_when_it_is_opened_again(path):
    with Results(path) as results:
        assert results.keys() == set()
        results.add(rows("a"))
        results.add(rows("b", 1, regret=float("nan")))
    with Results(path) as results:
        assert results.keys() == {name("a"), name("b", 1)}
        results.add(rows("c"))
        assert results.keys() == {name("a"), name("b", 1), name("c")}
    found = frame(read(path))
    assert list(found.columns) == SCHEMA.names and len(found) == 6
    assert found["regret"].isna().sum() == 2
    assert set(of_heats(read(path), {name("a")})["entrant"]) == {"a"}
    assert not list(path.parent.glob("*.part"))


def test_dropped_heats_are_gone_from_the_file_at_once(path):
    with Results(path) as results:
        results.add(rows("a") + rows("b") + rows("b", 1))
        results.save()
        results.drop({name("b"), name("nobody")})
        assert set(frame(read(path))["seed"]) == {0, 1}
        assert results.keys() == {name("a"), name("b", 1)}


def test_it_is_written_at_most_about_once_a_second_and_at_the_end(path):
    now = [100.0]
    with Results(path, clock=lambda: now[0]) as results:
        results.add(rows("a"))
        assert results.unsaved and results.due() == 0.0
        results.save(only_if_due=True)
        written = os.stat(path).st_ino
        assert not results.unsaved and results.due() == 1.0
        now[0] += 0.75
        assert results.due() == 0.25
        results.add(rows("b"))
        results.save(only_if_due=True)
        assert os.stat(path).st_ino == written and results.unsaved
        now[0] += 0.25
        results.save(only_if_due=True)
        assert frame(read(path))["entrant"].nunique() == 2
        results.add(rows("c"))
    assert frame(read(path))["entrant"].nunique() == 3


def test_a_write_that_was_interrupted_is_made_up_for(path, monkeypatch):
    with Results(path) as results:
        results.add(rows("a"))
        with monkeypatch.context() as broken:
            broken.setattr(os, "replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                results.save()
        assert results.unsaved
    assert len(read(path)) == 2


def interrupted(*paths):
    raise KeyboardInterrupt


def test_a_second_race_may_not_write_to_it(path):
    with Results(path), pytest.raises(StudyLocked, match=f"process {os.getpid()}"):
        Results(path)
    with Results(path):
        pass


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing PAR1", b"family,problem\n"])
def test_a_damaged_file_is_refused_and_left_alone(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    for opens in (read, Results):
        with pytest.raises(StorageError, match="damaged or no Parquet file"):
            opens(path)
    assert path.read_bytes() == content


def test_another_table_is_refused_and_left_alone(path):
    path.parent.mkdir()
    pd.DataFrame({"family": ["f"], "score": [1.0]}).to_parquet(path)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="its columns are family, score"):
        Results(path)
    frame_of_text = pd.DataFrame(rows("a")).assign(seed="first")
    frame_of_text.to_parquet(path)
    with pytest.raises(SchemaError, match="not a race"):
        read(path)
    assert before != path.read_bytes()


def test_a_file_that_is_not_there_is_said_to_be_missing(path):
    with pytest.raises(StorageError, match="there is no"):
        read(path)
