"""The processes that run heats."""

from __future__ import annotations

import os

import odd_heats
import psutil
import pytest
from waiting import PATIENCE, wait_until

from manyarms.bench.race.heats import Heat
from manyarms.bench.race.workers import THREADS, Workers, one_thread_each


def heat(entrant, seed=0):
    return Heat("fast curves", 0, entrant, seed, (5,))


def finish(workers, *heats):
    """What came of heats that all find room."""
    for one in heats:
        workers.start(one)
    finished = []
    while workers.running:
        finished += workers.collect(10.0)
    return {done.heat.entrant: done for done in finished}


def test_a_heat_that_fails_or_dies_costs_only_itself():
    with Workers(odd_heats.odd, 2) as workers:
        first = finish(workers, heat("raises"), heat("dies"))
        second = finish(workers, heat("runs"), heat("leaves"))
        third = finish(workers, heat("exits"), heat("warns"))
    assert first["raises"].reason == "OSError: no room left"
    assert first["dies"].reason == "its process was killed by SIGKILL (often: out of memory)"
    assert second["leaves"].reason == "its process exited with code 3"
    assert third["exits"].reason == "SystemExit: enough"
    for good in (second["runs"], third["warns"]):
        assert good.reason is None and len(good.rows) == 1 and good.seconds > 0
    assert first["raises"].rows == []


def test_a_worker_runs_one_heat_after_another_on_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with Workers(odd_heats.odd, 1) as workers:
        rows = [finish(workers, heat("runs", seed))["runs"].rows[0] for seed in range(3)]
        assert not workers.running and workers.has_room
    assert [row["seed"] for row in rows] == [0, 1, 2]
    assert len({row["process"] for row in rows}) == 1 and {row["threads"] for row in rows} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_the_environment_is_left_as_it_was(monkeypatch):
    monkeypatch.delenv(THREADS[0], raising=False)
    monkeypatch.setenv(THREADS[1], "4")
    before = dict(os.environ)
    with one_thread_each():
        assert {os.environ[name] for name in THREADS} == {"1"}
    assert dict(os.environ) == before


def test_what_still_runs_is_ended_with_all_it_started():
    us = psutil.Process()
    with Workers(odd_heats.odd, 2) as workers:
        workers.start(heat("sleeps"))
        workers.start(heat("starts a program"))
        assert workers.collect(0.0) == [] and not workers.has_room
        assert wait_until(lambda: any(child.name() == "sleep" for child in us.children(recursive=True)))
        family = [child for child in us.children(recursive=True) if "resource_tracker" not in " ".join(child.cmdline())]
    gone, alive = psutil.wait_procs(family, timeout=PATIENCE)
    assert len(gone) >= 3 and not alive


@pytest.mark.parametrize("timeout", [0.0, 0.2])
def test_collecting_does_not_wait_for_a_heat_that_takes_longer_than_told(timeout):
    with Workers(odd_heats.odd, 1) as workers:
        workers.start(heat("sleeps"))
        for _ in range(3):  # once it only hears that the worker is ready
            assert workers.collect(timeout) == []
        assert workers.running == 1
