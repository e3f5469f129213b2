"""Ctrl-C during a search on an engine: the first one finishes the pulls in flight, the second one abandons them."""

import os
import signal
import subprocess
import sys

import chained
import pytest
from waiting import wait_until

import manyarms as ma

ENGINES = ["dask", "ray"]
SCRIPT = """
import os, sys
from pathlib import Path
import chained
from waiting import wait_until
import manyarms as ma

place, engine, finish = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "finish"

def train(pull):
    if pull.arm.id >= 2:
        (place / f"began-{pull.arm.id}-{os.getpid()}").touch()
        assert wait_until(lambda: (place / "go").exists())
    return chained.train(pull)

strategy = ma.InfiniteUCBE(chained.SPACE, budget=30, max_steps=6, seed=5)
with ma.Study(strategy, storage=f"sqlite:///{place}/study.db") as study:
    study.optimize(train, runner=engine, workers=2, progress=False, finish=finish)
"""


@pytest.fixture
def run(tmp_path):
    """Starts a search and waits until two pulls wait for a file. What is pressed in its terminal reaches all its processes."""
    searches = []

    def run(engine, finish):
        with open(tmp_path / "said", "w") as output:
            words = [sys.executable, "-c", SCRIPT, str(tmp_path), engine, "finish" if finish else "abandon"]
            searches.append(subprocess.Popen(words, stdout=output, stderr=output, start_new_session=True))
        assert wait_until(lambda: len(list(tmp_path.glob("began-*"))) >= 2), (tmp_path / "said").read_text()
        return searches[-1]

    yield run
    for search in searches:
        search.kill()
        search.wait()


def press_ctrl_c(search):
    os.killpg(search.pid, signal.SIGINT)


def finished_later(tmp_path):
    """The study, finished in this process."""
    (tmp_path / "go").touch()
    strategy = ma.InfiniteUCBE(chained.SPACE, budget=30, max_steps=6, seed=5)
    with ma.Study(strategy, storage=f"sqlite:///{tmp_path}/study.db") as study:
        before = study.counts.pulls, len(study.counts.in_flight)
        study.optimize(chained.train, progress=False)
        assert study.counts.steps == 30
        assert study.counts.failures == 0
    return before


def pulls_end(tmp_path):
    """Whether the processes of the pulls have ended."""
    pids = [int(path.name.split("-")[2]) for path in tmp_path.glob("began-*")]
    return wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_interrupt_finishes_the_pulls_in_flight(engine, run, tmp_path):
    search = run(engine, finish=True)
    press_ctrl_c(search)
    assert wait_until(lambda: "Press Ctrl-C again" in (tmp_path / "said").read_text())
    (tmp_path / "go").touch()
    assert search.wait(200) == 0, (tmp_path / "said").read_text()
    pulls, in_flight = finished_later(tmp_path)
    assert pulls >= 4
    assert in_flight == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_second_interrupt_abandons_the_pulls_in_flight(engine, run, tmp_path):
    search = run(engine, finish=True)
    press_ctrl_c(search)
    assert wait_until(lambda: "Press Ctrl-C again" in (tmp_path / "said").read_text())
    press_ctrl_c(search)
    assert search.wait(200) != 0
    assert "KeyboardInterrupt" in (tmp_path / "said").read_text()
    assert pulls_end(tmp_path)
    finished_later(tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES)
def test_without_finishing_the_first_interrupt_abandons_the_pulls_in_flight(engine, run, tmp_path):
    search = run(engine, finish=False)
    press_ctrl_c(search)
    assert search.wait(200) == 0, (tmp_path / "said").read_text()
    assert pulls_end(tmp_path)
    finished_later(tmp_path)
