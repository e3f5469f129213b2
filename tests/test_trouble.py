"""Trouble from outside: full disks, read-only places, two writers, Ctrl-C, terminals."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import chained
import pytest
from disks import small_disk

import manyarms as ma

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_a_full_disk_stops_the_study_with_a_message_and_it_goes_on_once_there_is_room(tmp_path):
    whole = ma.Study(chained.strategy())
    whole.optimize(chained.train, progress=False)
    with small_disk(tmp_path / "disk", "4m") as disk:
        study = ma.Study(chained.strategy(), storage=f"{disk}/study.db", checkpoints=str(tmp_path / "elsewhere"))
        ballast = disk / "ballast"

        def fill(study, outcome):
            if study.tally.pulls == 100:
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
        assert study.tally.retrained > 0
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
import chained, manyarms as ma, sys, time
study = ma.Study(chained.strategy(), storage=sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_while_the_first_writes_and_readers_are_not(tmp_path):
    storage = f"{tmp_path}/study.db"
    first = subprocess.Popen([sys.executable, "-c", WRITER, storage], stdout=subprocess.PIPE, text=True)
    assert first.stdout.readline() == "open\n"
    with pytest.raises(ma.StudyLocked, match=rf"written by another process \(process {first.pid}\).*load_study"):
        ma.Study(chained.strategy(), storage=storage)
    with ma.load_study(storage) as view:
        assert view.tally.pulls == 0
    first.kill()
    first.wait()
    with ma.Study(chained.strategy(), storage=storage) as study:
        assert study.tally.pulls == 0


LONG = """
import chained, manyarms as ma, sys, time
def train(pull):
    print("step", flush=True)
    time.sleep(0.3)
    return chained.train(pull)
study = ma.Study(chained.strategy(), storage=sys.argv[1])
study.optimize(train, workers=int(sys.argv[2]), progress=False)
print("ended", study.interrupted, len(study.tally.in_flight), flush=True)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_finishes_the_pulls_in_flight_and_a_second_one_ends_at_once(tmp_path, workers):
    storage = f"{tmp_path}/study.db"
    for times in (1, 2):
        process = subprocess.Popen(
            [sys.executable, "-c", LONG, storage, str(workers)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3):
            assert process.stdout.readline() == "step\n"
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        out, err = process.communicate(timeout=20)
        assert "Ctrl-C again" in err
        if times == 1:
            assert process.returncode == 0
            assert "ended True 0" in out
        else:
            assert process.returncode != 0
            assert "KeyboardInterrupt" in err
    with ma.Study(chained.strategy(), storage=storage) as study:
        assert study.tally.pulls >= 4
        study.optimize(chained.train, progress=False)
        assert not study.tally.in_flight


SHOWN = """
import chained, manyarms as ma, sys, time
def train(pull):
    time.sleep(0.005)
    return chained.train(pull)
study = ma.Study(chained.strategy(100), name="[bold]<b>'quoted'")
study.optimize(train)
"""


def test_progress_is_a_line_on_a_terminal_and_silence_elsewhere():
    piped = subprocess.run([sys.executable, "-W", "ignore", "-c", SHOWN], capture_output=True, text=True, check=True)
    assert piped.stdout == piped.stderr == ""
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
    assert "[bold]<b>'quoted'" in text
    assert "/100 steps" in text
    assert "best 0." in text
    assert "pulls/s" in text
