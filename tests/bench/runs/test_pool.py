"""The processes that execute runs."""

from __future__ import annotations

import os
import sys

import psutil
import pytest
from odd_runs import OddRun, odd
from waiting import PATIENCE, wait_until

from manyarms.bench.runs.pool import THREAD_VARIABLES, Pool, environment, map_runs
from manyarms.errors import WorkerError

FORKS = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


def finish(pool, *runs):
    """What became of runs that all start at once."""
    for run in runs:
        pool.start(run)
    finished = []
    while pool.running:
        finished += pool.collect()
    return {done.run.method: done for done in finished}


def test_a_run_that_fails_or_dies_costs_only_itself():
    with Pool(odd, 2) as pool:
        first = finish(pool, OddRun("raises"), OddRun("dies"))
        second = finish(pool, OddRun("runs"), OddRun("leaves"))
        third = finish(pool, OddRun("exits"), OddRun("warns"))
    assert first["raises"].reason == "OSError: no room left"
    assert first["dies"].reason == "its process was killed by SIGKILL (often: out of memory)"
    assert second["leaves"].reason == "its process exited with code 3"
    assert third["exits"].reason == "SystemExit: enough"
    for good in (second["runs"], third["warns"]):
        assert good.reason is None and len(good.value) == 1 and good.seconds > 0
    assert first["raises"].value is None


@FORKS
def test_a_process_that_dies_while_its_child_holds_the_pipe_is_noticed():
    with Pool(odd, 1) as pool:
        assert finish(pool, OddRun("leaves a child"))["leaves a child"].reason == "its process exited with code 3"


def test_a_run_that_exceeds_the_time_limit_is_killed_and_the_next_one_runs():
    with Pool(odd, 1, time_limit=0.1) as pool:
        assert finish(pool, OddRun("sleeps"))["sleeps"].reason == "not finished after 0.1 seconds"
    with Pool(odd, 1, time_limit=PATIENCE) as pool:
        assert finish(pool, OddRun("runs"))["runs"].reason is None


def test_a_process_executes_one_run_after_another_on_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with Pool(odd, 1) as pool:
        rows = [finish(pool, OddRun("runs", seed))["runs"].value[0] for seed in range(3)]
        assert not pool.running and pool.has_room
    assert [row["seed"] for row in rows] == [0, 1, 2]
    assert len({row["process"] for row in rows}) == 1 and {row["threads"] for row in rows} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


@FORKS
def test_with_preloaded_modules_each_run_has_its_own_process():
    with Pool(odd, 1, threads=2, preload=["odd_runs"]) as pool:
        rows = [finish(pool, OddRun("runs", seed))["runs"].value[0] for seed in range(2)]
        assert finish(pool, OddRun("dies"))["dies"].reason is not None
    assert len({row["process"] for row in rows}) == 2 and {row["threads"] for row in rows} == {"2"}


def test_the_environment_is_restored(monkeypatch):
    monkeypatch.delenv(THREAD_VARIABLES[0], raising=False)
    monkeypatch.setenv(THREAD_VARIABLES[1], "4")
    before = dict(os.environ)
    with environment(threads=1):
        assert {os.environ[name] for name in THREAD_VARIABLES} == {"1"}
    assert dict(os.environ) == before


def test_runs_that_have_not_ended_are_killed_with_all_processes_they_started():
    us = psutil.Process()
    with Pool(odd, 2) as pool:
        pool.start(OddRun("sleeps"))
        pool.start(OddRun("starts a program"))
        assert pool.collect(0.0) == [] and not pool.has_room
        assert wait_until(lambda: any(child.name() == "sleep" for child in us.children(recursive=True)))
        ours = [child for child in us.children(recursive=True) if not is_helper(child)]
    gone, alive = psutil.wait_procs(ours, timeout=PATIENCE)
    assert len(gone) >= 3 and not alive


def is_helper(process):
    """Whether it is a process of multiprocessing itself, which lasts as long as we do."""
    command = " ".join(process.cmdline())
    return "resource_tracker" in command or "forkserver" in command


@pytest.mark.parametrize("timeout", [0.0, 0.2])
def test_collecting_does_not_wait_for_runs_that_take_longer(timeout):
    with Pool(odd, 1) as pool:
        pool.start(OddRun("sleeps"))
        for _ in range(3):  # once the process only reports that it is ready
            assert pool.collect(timeout) == []
        assert pool.running == 1


def test_values_are_in_the_order_of_the_runs():
    runs = [OddRun("runs", seed) for seed in range(5)]
    assert [rows[0]["seed"] for rows in map_runs(odd, runs, workers=2)] == [0, 1, 2, 3, 4]
    assert map_runs(odd, [], workers=2) == []


def test_a_failure_ends_a_map():
    with pytest.raises(WorkerError, match="OddRun.*failed: OSError: no room left"):
        map_runs(odd, [OddRun("raises"), OddRun("sleeps")], workers=2)
