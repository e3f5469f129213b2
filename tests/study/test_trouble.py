"""Trouble from outside: full disks, read-only places, two writers, Ctrl-C, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import chained
import pytest
from disks import small_disk
from waiting import PATIENCE

import manyarms as ma

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_a_full_disk_stops_the_study_with_a_message_and_it_goes_on_once_there_is_room(tmp_path):
    whole = ma.Study(chained.strategy())
    whole.optimize(chained.train, progress=False)
    with small_disk(tmp_path / "disk", "4m") as disk:
        study = ma.Study(chained.strategy(), storage=f"{disk}/study.db", checkpoints=str(tmp_path / "elsewhere"))
        ballast = disk / "ballast"

        def fill(study, outcome):
            if study.counts.pulls == 100:
                with pytest.raises(OSError, match="No space"), ballast.open("wb", buffering=0) as file:
                    while True:
                        file.write(b"x" * 4096)

        with pytest.raises(ma.StorageError, match=r"cannot write the journal of study 'study' .*: database or disk is full"):
            study.optimize(chained.train, callbacks=[fill], progress=False)
        ballast.unlink()
        study.optimize(chained.train, progress=False)  # nothing was lost: not even the reward that found no room
        assert [event.decision for event in study.journal.events()] == [event.decision for event in whole.journal.events()]
        study.close()


def test_a_full_disk_under_the_checkpoints_costs_training_but_no_reward(tmp_path):
    whole = ma.Study(chained.strategy())
    whole.optimize(chained.train, progress=False)
    with small_disk(tmp_path / "disk", "100k") as disk:
        study = ma.Study(chained.strategy(), storage=f"{tmp_path}/study.db", checkpoints=f"{disk}/models")
        with pytest.warns(ma.ManyarmsWarning, match="could not save its state .*No space left"):
            study.optimize(chained.train, progress=False)
        assert study.counts.retrained > 0
        assert [event.decision for event in study.journal.events()] == [event.decision for event in whole.journal.events()]
        assert study.best_model() == whole.best_model()
        study.close()


def test_a_read_only_place_is_refused_with_its_name_and_can_still_be_read(tmp_path):
    with small_disk(tmp_path / "disk", "4m") as disk:
        with ma.Study(chained.strategy(), storage=f"{disk}/study.db") as study:
            study.optimize(chained.train, progress=False)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(ma.StorageError, match=r"cannot open .*study\.db: .*[Rr]ead-only"):
            ma.Study(chained.strategy(), storage=f"{disk}/study.db")
        with ma.load_study(f"{disk}/study.db") as view:
            assert view.best_config == study.best_config


WRITER = """
import chained, manyarms as ma, signal, sys
study = ma.Study(chained.strategy(), storage=sys.argv[1])
print("open", flush=True)
signal.pause()
"""


def test_a_second_process_is_refused_while_the_first_writes_and_readers_are_not(tmp_path):
    storage = f"{tmp_path}/study.db"
    first = subprocess.Popen([sys.executable, "-c", WRITER, storage], stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "open\n"
    with pytest.raises(ma.StudyLocked, match=rf"written by another process \(process {first.pid}\).*load_study"):
        ma.Study(chained.strategy(), storage=storage)
    with ma.load_study(storage) as view:
        assert view.counts.pulls == 0
    first.kill()
    first.communicate()
    with ma.Study(chained.strategy(), storage=storage) as study:
        assert study.counts.pulls == 0


LONG = """
import chained, manyarms as ma, os, sys
from waiting import wait_until
storage, workers, go = sys.argv[1:]
def train(pull):
    os.write(1, b"step\\n")  # at once: several workers write to it
    assert pull.arm.id < 2 or wait_until(lambda: os.path.exists(go))
    return chained.train(pull)
study = ma.Study(chained.strategy(), storage=storage)
study.optimize(train, workers=int(workers), progress=False)
print("ended", study.interrupted, len(study.counts.in_flight), flush=True)
"""


@pytest.fixture
def long_study(tmp_path):
    """Starts a study whose third pull, and any later one, goes on until the file `go` is there."""
    processes = []

    def start(workers):
        command = [sys.executable, "-c", LONG, f"{tmp_path}/study.db", str(workers), f"{tmp_path}/go"]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        for _ in range(3):
            assert processes[-1].stdout.readline() == "step\n"
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def interrupt(process):
    """Ctrl-C, which was heard when this returns."""
    process.send_signal(signal.SIGINT)
    assert any("Ctrl-C again" in line for line in process.stderr)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_finishes_the_pulls_in_flight(tmp_path, long_study, workers):
    process = long_study(workers)
    interrupt(process)
    (tmp_path / "go").touch()
    assert "ended True 0" in process.stdout.read()
    assert process.wait(PATIENCE) == 0
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/study.db") as study:
        assert study.counts.pulls >= 3 and not study.counts.in_flight


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_ctrl_c_ends_at_once_and_what_was_in_flight_runs_again(tmp_path, long_study, workers):
    process = long_study(workers)
    interrupt(process)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.stderr.read()
    assert process.wait(PATIENCE) != 0
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/study.db") as study:
        assert study.counts.pulls <= 2
        study.optimize(chained.train, progress=False)
        assert not study.counts.in_flight


SHOWN = """
import chained, manyarms as ma
study = ma.Study(chained.strategy(100), name="[bold]<b>'quoted'")
study.optimize(chained.train)
"""


def test_progress_is_a_line_on_a_terminal_and_the_log_elsewhere():
    piped = subprocess.run([sys.executable, "-W", "ignore", "-c", SHOWN], capture_output=True, text=True, check=True)
    first, *_, last = piped.stderr.splitlines()
    assert piped.stdout == "" and "[bold]<b>'quoted': " in first and " ended after " in last
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-W", "ignore", "-c", SHOWN]
    subprocess.run(command, stdout=child, stderr=child, stdin=child, env=environment, check=True)
    os.close(child)
    seen = b""
    try:
        while block := os.read(parent, 65536):
            seen += block
    except OSError:  # the terminal's other end is closed and all is read
        pass
    text = seen.decode()
    assert "ended after" not in text, "one or the other, never both"
    assert "[bold]<b>'quoted'" in text
    assert "/100 steps" in text
    assert "best 0." in text
    assert "pulls/s" in text
