"""The result file."""

from __future__ import annotations

import itertools
import os
import threading

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from manyarms.bench.runs.results import Layout, Results, frame, read
from manyarms.errors import SchemaError, StorageError, StudyLocked

SCHEMA = pa.schema([("method", pa.string()), ("seed", pa.int64()), ("cores", pa.int64()), ("regret", pa.float64())])
LAYOUT = Layout(SCHEMA, key=("method", "seed"), former_names={"entrant": "method"})


def rows(method, seed=0, **changed):
    return [{"method": method, "seed": seed, "cores": 1, "regret": regret} | changed for regret in (1.0, 1.5)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "runs.parquet"


def test_rows_are_there_when_the_file_is_opened_again(path):
    with Results(path, LAYOUT) as results:
        assert results.keys() == set()
        results.add(rows("a"))
        results.add(rows("b", 1, regret=float("nan")))
    with Results(path, LAYOUT) as results:
        assert results.keys() == {("a", 0), ("b", 1)}
        results.add(rows("c"))
        assert results.keys() == {("a", 0), ("b", 1), ("c", 0)}
    found = frame(read(path, LAYOUT))
    assert list(found.columns) == SCHEMA.names and len(found) == 6
    assert found["regret"].isna().sum() == 2
    assert set(LAYOUT.rows_of(read(path, LAYOUT), {("a", 0)})["method"]) == {"a"}
    assert not list(path.parent.glob("*.part"))


def test_dropped_runs_are_removed_from_the_file_at_once(path):
    with Results(path, LAYOUT) as results:
        results.add(rows("a") + rows("b") + rows("b", 1))
        results.save()
        results.drop({("b", 0), ("nobody", 0)})
        assert set(frame(read(path, LAYOUT))["seed"]) == {0, 1}
        assert results.keys() == {("a", 0), ("b", 1)}


def test_the_file_is_written_at_most_about_once_a_second_and_at_the_end(path):
    now = [100.0]
    with Results(path, LAYOUT, clock=lambda: now[0]) as results:
        results.add(rows("a"))
        results.save(only_if_due=True)
        written = os.stat(path).st_ino
        assert not results.unsaved
        now[0] += 0.75
        results.add(rows("b"))
        results.save(only_if_due=True)
        assert os.stat(path).st_ino == written and results.unsaved
        now[0] += 0.25
        results.save(only_if_due=True)
        assert frame(read(path, LAYOUT))["method"].nunique() == 2
        results.add(rows("c"))
    assert frame(read(path, LAYOUT))["method"].nunique() == 3


def test_an_interrupted_write_is_repeated(path, monkeypatch):
    with Results(path, LAYOUT) as results:
        results.add(rows("a"))
        with monkeypatch.context() as broken:
            broken.setattr(os, "replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                results.save()
        assert results.unsaved
    assert len(read(path, LAYOUT)) == 2


def interrupted(*paths):
    raise KeyboardInterrupt


def test_a_second_process_may_not_write_to_it(path):
    with Results(path, LAYOUT), pytest.raises(StudyLocked, match=f"Process {os.getpid()} is writing"):
        Results(path, LAYOUT)
    with Results(path, LAYOUT):
        pass


def test_runs_with_other_settings_do_not_go_into_one_file(path):
    with Results(path, LAYOUT, {"cores": 1}) as results:
        results.add(rows("a"))
    with pytest.raises(ValueError, match="holds runs with cores = 1, not 2"):
        Results(path, LAYOUT, {"cores": 2})
    with Results(path, LAYOUT, {"cores": 1}) as results:
        assert results.keys() == {("a", 0)}


def test_columns_of_older_files_are_renamed(path):
    path.parent.mkdir()
    pd.DataFrame(rows("a")).rename(columns={"method": "entrant"}).to_parquet(path)
    with Results(path, LAYOUT) as results:
        assert results.keys() == {("a", 0)}
        results.add(rows("b"))
    assert read(path, LAYOUT)["method"].to_pylist() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing PAR1", b"method,seed\n"])
def test_a_corrupt_file_is_refused_and_left_alone(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    for opens in (read, Results):
        with pytest.raises(StorageError, match="corrupt or not a Parquet file"):
            opens(path, LAYOUT)
    assert path.read_bytes() == content


def test_another_table_is_refused_and_left_alone(path):
    path.parent.mkdir()
    pd.DataFrame({"method": ["a"], "score": [1.0]}).to_parquet(path)
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="Its columns are method, score"):
        Results(path, LAYOUT)
    assert path.read_bytes() == before
    pd.DataFrame(rows("a")).assign(seed="first").to_parquet(path)
    with pytest.raises(SchemaError, match="does not hold results of this benchmark"):
        read(path, LAYOUT)


def test_a_file_can_be_read_while_it_is_replaced(path):
    tables = [pa.Table.from_pylist(rows("x" * n) * n, SCHEMA) for n in (1, 900)]
    ended = threading.Event()

    def replace():
        for number in itertools.count():
            parquet.write_table(tables[number % 2], path.with_suffix(".part"))
            os.replace(path.with_suffix(".part"), path)
            if ended.is_set():
                return

    path.parent.mkdir()
    parquet.write_table(tables[0], path)
    writer = threading.Thread(target=replace)
    writer.start()
    try:
        assert {len(read(path, LAYOUT)) for _ in range(300)} <= {2, 1800}
    finally:
        ended.set()
        writer.join()


def test_a_missing_file_is_reported(path):
    with pytest.raises(StorageError, match="does not exist"):
        read(path, LAYOUT)
