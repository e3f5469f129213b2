"""Runs that are executed in parallel, and whose rows are stored."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from odd_runs import OddRun, odd
from rich.console import Console

from manyarms.bench.runs.execute import LongestFirst, execute
from manyarms.bench.runs.pool import Finished, Pool
from manyarms.bench.runs.progress import RunProgress
from manyarms.bench.runs.results import Layout, Results, read

LAYOUT = Layout(pa.schema([("method", pa.string()), ("seed", pa.int64())]), key=("method", "seed"))
PATH = Path("runs.parquet")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def runs(*methods):
    return [OddRun(method, seed) for seed, method in enumerate(methods)]


def test_rows_are_in_the_file_while_other_runs_continue():
    with Results(PATH, LAYOUT) as results:
        finished = list(execute(runs("looks", "runs", "raises", "warns"), results, Pool(odd, 2)))
    assert {done.run.method for done in finished} == {"looks", "runs", "raises", "warns"}
    assert [done.run.method for done in finished if done.reason is not None] == ["raises"]
    seeds = read(PATH, LAYOUT)["seed"].to_pylist()
    assert seeds == [1, 3, 2]  # those of two runs, and the number of rows that the last one saw


def test_a_failed_run_may_have_rows_too():
    with Results(PATH, LAYOUT) as results:
        failure = lambda finished: [{"method": finished.reason, "seed": finished.run.seed}]  # noqa: E731
        list(execute(runs("raises"), results, Pool(odd, 1), failure_rows=failure))
    assert read(PATH, LAYOUT).to_pylist() == [{"method": "OSError: no room left", "seed": 0}]


def test_without_groups_runs_keep_their_order():
    with Results(PATH, LAYOUT) as results:
        finished = execute(runs("a", "b", "c", "d"), results, Pool(odd, 1))
        assert [done.run.method for done in finished] == ["a", "b", "c", "d"]


def test_nothing_to_execute_starts_no_process_and_writes_no_file():
    with Results(PATH, LAYOUT) as results:
        assert list(execute([], results, Pool(odd, 2))) == []
    assert not PATH.exists()


def test_one_run_of_each_group_goes_first_and_then_the_slowest_group():
    queue = LongestFirst([OddRun(name, seed) for name in ("a", "b", "c") for seed in range(2)], group=lambda run: run.method)
    first = [queue.pop() for _ in range(3)]
    assert {run.method for run in first} == {"a", "b", "c"}
    for run in first:
        queue.note_duration(run, {"a": 1.0, "b": 9.0, "c": 3.0}[run.method])
    assert [queue.pop().method for _ in range(3)] == ["b", "c", "a"]
    assert not queue


def counted(progress):
    with progress:
        for reason in (None, "it failed"):
            progress.count(Finished(OddRun("a"), [], reason, 1.0))


def test_progress_counts_runs_on_a_terminal_and_is_silent_elsewhere():
    terminal, file = io.StringIO(), io.StringIO()
    counted(RunProgress(10, 3, True, Console(file=terminal, force_terminal=True, width=80)))
    counted(RunProgress(10, 3, True, Console(file=file)))
    assert "5/10 runs · 1 failed" in terminal.getvalue() and file.getvalue() == ""
    counted(RunProgress(10, 3, False, Console(file=file, force_terminal=True)))
    assert file.getvalue() == ""
