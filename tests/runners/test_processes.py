"""Worker processes die, hang and run out of memory: each time that costs one pull, never the pool."""

import errno
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from waiting import wait_until

import manyarms as ma
from manyarms import Arm, Pull
from manyarms.checkpoints import commit
from manyarms.checkpoints.retraining import Slice
from manyarms.runners import PullsAbandoned, processes
from manyarms.testing.runners import make_task

from .pool import is_running, started


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two workers that the tests share: dead ones are replaced."""
    with started(tmp_path_factory.mktemp("pair"), workers=2) as pool:
        pool.run(lambda pull: 0.0, lambda pull: 0.0)
        yield pool


def die(how):
    """A function that first saves, so that there is something to leave behind."""

    def dying(pull):
        pull.save(bytes(1000))
        how()

    return dying


WAYS = {
    "SIGKILL": (lambda: os.kill(os.getpid(), signal.SIGKILL), "the worker was killed by SIGKILL (often: out of memory)"),
    "SIGTERM": (lambda: os.kill(os.getpid(), signal.SIGTERM), "the worker was killed by SIGTERM"),
    "SIGSEGV": (lambda: os.kill(os.getpid(), signal.SIGSEGV), "the worker was killed by SIGSEGV"),
    "a real-time signal": (lambda: os.kill(os.getpid(), 40), "the worker was killed by signal 40"),
    "exit code 3": (lambda: os._exit(3), "the worker exited with code 3"),
    "exit code 0": (lambda: os._exit(0), "the worker exited with code 0"),
    "in a child's presence": (lambda: os._exit(3) if os.fork() else time.sleep(600), "the worker exited with code 3"),
}


@pytest.mark.parametrize(("how", "reason"), WAYS.values(), ids=WAYS)
def test_a_worker_that_dies_costs_its_pull_only(pair, how, reason):
    died, other = pair.run(die(how), lambda pull: time.sleep(0.2) or 1.0)
    assert (died.reward, died.reason) == (None, reason)
    assert other.reward == 1.0
    assert not list(pair.directory.iterdir()), "what it had saved must be gone"
    assert [outcome.reward for outcome in pair.run(lambda pull: 1.0, lambda pull: 2.0)] == [1.0, 2.0]


def fail():
    raise RuntimeError("in the child")


@pytest.mark.parametrize(("end", "code"), [(sys.exit, 0), (lambda: sys.exit(7), 7), (fail, 1), (lambda: 99.0, 0)])
def test_a_process_that_the_function_forked_ends_with_the_function_and_returns_no_outcome(pair, end, code):
    def train(pull):
        if (child := os.fork()) == 0:
            return end()
        return float(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    for _ in range(2):  # the workers are still in order
        assert [outcome.reward for outcome in pair.run(train, train)] == [code, code]


FORKING = """
import manyarms as ma, os
def train(pull):
    if (child := os.fork()) == 0:
        return 99.0
    os.waitpid(child, 0)
    return 1.0
study = ma.tune(train, ma.Space(x=ma.Float(0, 1)), budget=3, progress=False)
print(study.best_reward, study.counts)
"""


def test_without_workers_such_a_process_does_not_continue_the_script():
    answer = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert len(answer.stdout.splitlines()) == 1 and answer.stdout.startswith("1.0 Counts(arms=3, pulls=3, failures=0")


@pytest.mark.parametrize("number", [1, 2])
def test_a_worker_that_cannot_have_a_pipe_is_an_error_that_says_so(monkeypatch, number):
    calls = []

    def pipe(duplex=True):
        calls.append(duplex)
        if len(calls) == number:
            raise OSError(errno.EMFILE, "Too many open files")
        return multiprocessing.Pipe(duplex)

    monkeypatch.setattr(processes, "Pipe", pipe)
    with pytest.raises(ma.WorkerError, match="a worker process cannot be started: .*Too many open files"):
        ma.tune(lambda pull: 1.0, ma.Space(x=ma.Float(0, 1)), budget=5, workers=2, progress=False)


def test_a_worker_killed_between_pulls_costs_nothing(pair):
    os.kill(int(pair.run(lambda pull: os.getpid())[0].reward), signal.SIGKILL)
    workers = [worker for worker in pair.runner._pool if worker is not None]
    assert wait_until(lambda: not all(worker.alive() for worker in workers))  # its threads take a moment to end
    assert pair.run(lambda pull: 1.0)[0].reward == 1.0


def test_an_interrupt_is_left_to_the_study(pair):
    assert pair.run(lambda pull: os.kill(os.getpid(), signal.SIGINT) or 1.0)[0].reward == 1.0


def test_out_of_memory_is_said_so_and_the_worker_lives(pair):
    def grow(pull):
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (2**31, before[1]))
        try:
            return len(bytearray(2**40))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)

    outcome = pair.run(grow)[0]
    assert outcome.reason == "out of memory" and "MemoryError" in outcome.details
    assert pair.run(lambda pull: 1.0)[0].reward == 1.0


def test_a_closed_standard_output_harms_no_pull(pair):
    for _ in range(3):
        assert [outcome.reward for outcome in pair.run(*[lambda pull: sys.stdout.close() or 1.0] * 2)] == [1.0, 1.0]


def test_a_retry_replaces_what_an_attempt_saved_that_died_before_it_told(pair):
    task = make_task(pair.directory, 0, lambda pull: pull.save("new") or 1.0, attempt=2)
    task.staged.mkdir(parents=True)
    (task.staged / "old").touch()
    commit(task.staged, task.final)
    pair.runner.submit(task)
    outcome = pair.runner.collect()[0]
    assert outcome.checkpoint == task.final.name and not (task.final / "old").exists()
    task.discard()


class Clock:
    """Stands still until an event, from which on it is an hour ahead."""

    def __init__(self, happened):
        self._happened = happened

    def __call__(self):
        return 3600.0 if self._happened() else 0.0


def test_a_pull_that_hangs_is_ended_and_all_it_started(tmp_path):
    meeting = tmp_path / "began"
    meeting.mkdir()

    def begin(pull):
        (meeting / str(pull.arm.id)).touch()

    def with_a_child(pull):
        child = subprocess.Popen(["sleep", "600"])
        (tmp_path / "child").write_text(str(child.pid))
        begin(pull)
        child.wait()

    hanging = [
        with_a_child,
        lambda pull: begin(pull) or sum(range(10**12)),  # C code that keeps the interpreter's lock
        lambda pull: begin(pull) or os.kill(os.getpid(), signal.SIGSTOP),
        lambda pull: pull.save(bytes(1000)) or begin(pull) or time.sleep(600),
    ]
    clock = Clock(lambda: len(os.listdir(meeting)) == 4)
    with started(tmp_path / "saved", workers=4, pull_timeout=600, clock=clock) as pool:
        assert [outcome.reward for outcome in pool.run(*[lambda pull: 1.0] * 4)] == [1.0] * 4
        outcomes = pool.run(*hanging)
        assert {outcome.reason for outcome in outcomes} == {"took longer than pull_timeout=600 s"}
        assert {outcome.seconds for outcome in outcomes} == {3600.0}
        child = int((tmp_path / "child").read_text())
        assert wait_until(lambda: not is_running(child))
        assert not list((tmp_path / "saved").iterdir())
        assert pool.run(lambda pull: 1.0)[0].reward == 1.0


def test_states_that_a_killed_worker_was_training_again_are_removed_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def die_later(pull):
        pull.save("trained again")
        if pull.start:
            os._exit(3)
        return 1.0

    with started(tmp_path / "saved", function=die_later) as pool:
        lost = Slice(Pull(Arm(0, None), 0, 1), seed=0)
        pool.runner.submit(make_task(tmp_path / "saved", 0, start=1, stop=2, recipe=(lost,)))
        assert pool.runner.collect()[0].reason == "the worker exited with code 3"
        pool.runner.submit(make_task(tmp_path / "saved", 1, recipe=(lost,)))
        assert pool.runner.collect()[0].retrained == 1
    assert os.listdir(tmp_path) == ["saved"]


def test_files_in_the_working_directory_do_not_replace_modules_of_python(tmp_path, monkeypatch):
    for name in ("json", "operator", "types"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not the module of Python')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    with started(tmp_path / "saved") as pool:
        assert pool.run(lambda pull: 1.0)[0].reward == 1.0


def test_starting_up_is_no_part_of_a_pull_and_its_time(tmp_path):
    def slow_to_load():
        (tmp_path / "loading").touch()  # takes an hour by the clock
        time.sleep(1.5)  # so that the runner looks at the clock meanwhile
        return lambda pull: 1.0

    class Slow:
        def __reduce__(self):
            return slow_to_load, ()

    clock = Clock((tmp_path / "loading").exists)
    with started(tmp_path, function=Slow(), pull_timeout=600, clock=clock) as pool:
        assert pool.run(None)[0].reward == 1.0


def test_threads_and_children_left_behind_do_not_hold_up_closing(tmp_path):
    def litter(pull):
        threading.Thread(target=time.sleep, args=(600,)).start()
        return subprocess.Popen(["sleep", "600"]).pid

    with started(tmp_path, workers=3) as pool:
        children = [int(outcome.reward) for outcome in pool.run(litter, litter, litter)]
        pool.runner.close()  # would take ten minutes if it waited for them
        assert wait_until(lambda: not any(map(is_running, children)))


def test_a_megabyte_of_output_passes_through(tmp_path, capfd):
    def talk(pull):
        for stream in (sys.stdout, sys.stderr):
            for _ in range(1000):
                print("x" * 1024, file=stream)
        return 1.0

    with started(tmp_path) as pool:
        assert pool.run(talk)[0].reward == 1.0
    output = capfd.readouterr()
    assert output.out.count("x") == output.err.count("x") == 1000 * 1024


def test_no_file_is_left_open(tmp_path):
    def n_open():
        return len(os.listdir("/proc/self/fd"))

    before = n_open()
    with started(tmp_path, pull_timeout=600) as pool:
        process = int(pool.run(lambda pull: os.getpid())[0].reward)
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: not is_running(process))
        pool.run(lambda pull: os._exit(3))
    assert n_open() <= before  # engines of other tests may close files in the meantime


def test_a_study_retries_a_pull_whose_worker_died(tmp_path):
    def train(pull):
        mark = tmp_path / f"{pull.arm.id}-{pull.start}"
        if pull.arm.id == 1 and not mark.exists():
            mark.touch()
            os._exit(3)
        pull.save((pull.load() or 0) + 1)
        return pull.config["x"]

    with ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=6, seed=0)) as study:
        study.optimize(train, workers=2, retries=1, progress=False)
        pulls = study.pulls_dataframe()
        assert set(pulls.status) == {"told"}
        assert pulls.set_index("arm").attempts.dropna().to_dict() == {1: 2}


_STUDY = """
import subprocess, manyarms as ma

def train(pull):
    print("began", flush=True)
    if pull.arm.id == 0:
        subprocess.run(["sleep", "600"])
    sum(range(10**12))

ma.tune(train, ma.Space(x=ma.Float(0, 1)), budget=20, workers=2, progress=False)
"""


def test_workers_and_their_children_die_with_a_killed_study_even_in_c_code():
    with subprocess.Popen([sys.executable, "-c", _STUDY], stdout=subprocess.PIPE, text=True) as study:
        assert [study.stdout.readline() for _ in range(2)] == ["began\n"] * 2
        assert wait_until(lambda: len(psutil.Process(study.pid).children(recursive=True)) == 3)
        family = [process.pid for process in psutil.Process(study.pid).children(recursive=True)]
        study.kill()
    assert wait_until(lambda: not any(map(is_running, family)))


def test_pulls_that_run_when_the_time_is_over_are_abandoned_and_their_workers_ended(tmp_path):
    file = tmp_path / "worker"

    def run_forever(pull):
        file.write_text(str(os.getpid()))
        signal.pause()

    runner = ma.ProcessRunner(1, until=0.0)  # a time that has passed
    runner.start(run_forever)
    runner.submit(make_task(tmp_path, 0))
    assert wait_until(lambda: file.exists() and file.read_text())
    with pytest.raises(PullsAbandoned):
        runner.collect()
    runner.close()
    assert not is_running(int(file.read_text()))
