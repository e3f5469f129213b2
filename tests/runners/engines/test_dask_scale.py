"""What a pull costs the process of the study, with clusters of different sizes."""

import sys
from contextlib import closing

import pytest

pytest.importorskip("distributed")

from manyarms.runners.engines.dask import DaskRunner
from manyarms.testing.runners import make_task

from .fake_dask import FakeClient

PULLS = 20


def run_pulls(runner, directory, numbers):
    for number in numbers:
        runner.submit(make_task(directory, number))
        outcomes = runner.collect()
        assert [outcome.pull.arm.id for outcome in outcomes] == [number]


def calls_of_pulls(directory, workers):
    """Number of functions that this thread calls to run pulls, one after the other, while other workers are busy."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    with closing(FakeClient(workers)) as client:
        runner = DaskRunner(client, clock=lambda: 0.0)
        runner.start(make_task)
        assert runner.workers == workers
        run_pulls(runner, directory, range(PULLS))  # warm
        sys.setprofile(count)
        try:
            run_pulls(runner, directory, range(PULLS))
        finally:
            sys.setprofile(None)
        runner.close()
        assert client.released == 2 * PULLS
    return calls


def test_the_work_of_a_pull_does_not_depend_on_the_number_of_workers(tmp_path):
    few, many = (calls_of_pulls(tmp_path, workers) for workers in (2, 2000))
    assert many < 1.5 * few  # it waits in slightly different ways
