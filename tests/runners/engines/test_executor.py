"""Executors keep their workers when a search ends."""

import psutil

from manyarms.runners.engines import executor
from manyarms.runners.engines.host import Setup
from manyarms.runners.pickling import pickled
from manyarms.testing.runners import make_task


def test_a_worker_that_was_not_told_of_the_end_of_a_search_ends_its_processes_with_the_next_one(tmp_path):
    def search(name):
        flag = tmp_path / name
        flag.touch()
        setup = Setup(pickled(lambda pull: 1.0))
        outcome = executor._run(setup.key, setup, (executor._machine(), str(flag)), make_task(tmp_path, 0, {}))
        assert outcome.reward == 1.0
        process = psutil.Process(int(outcome.worker.rpartition(":")[2]))
        return setup.key, flag, process

    _, flag, ended = search("first")
    running, _, kept = search("second")
    assert ended.is_running()
    flag.unlink()
    last, _, _ = search("third")
    assert not ended.is_running()
    assert kept.is_running()
    for key in (running, last):
        executor._forget(key)
