"""What the tests of the command line share: a script to run, and the result of a command."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass

import pytest

import manyarms as ma

SCRIPT = """
import os
import time
import manyarms as ma

space = ma.Space(rate=ma.Float(1e-3, 1, log=True), depth=ma.Int(1, 5))
narrow = ma.Space(rate=ma.Float(0.1, 0.2))
nothing = None


def train(pull):
    steps = (pull.load() or 0) + pull.steps
    assert steps == pull.stop
    pull.save(steps)
    return (1 - abs(pull["rate"] - 0.1)) * (1 - 0.5**steps)


def whole(config):
    return config["rate"]


def broken(config):
    raise OSError("no data in [red]here[/red]")


def slowly(pull):
    from waiting import wait_until

    print("step", flush=True)
    assert pull.arm.id < 2 or wait_until(lambda: os.path.exists("go"))
    return train(pull)


def napping(config):
    time.sleep(0.01)
    return 0.5
"""


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


def quick_directory():
    """A temporary directory."""
    return tempfile.TemporaryDirectory(prefix="manyarms-")


def make_study(name, function=lambda config: config["x"], budget=10, direction="maximize"):
    """A study in the default storage that was not made by `run`."""
    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=budget, seed=0)
    with ma.Study(strategy, storage="manyarms.db", name=name, direction=direction) as study:
        study.optimize(function, runner=ma.SimulatedRunner(workers=100), progress=False)  # fewer writes


def query(statement):
    """Change the default storage."""
    with closing(sqlite3.connect("manyarms.db")) as connection, connection:
        connection.execute(statement)


def start(*arguments, **options):
    """Start a command in its own process."""
    enable = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 - Ctrl-C, also if the tests run in the background
    command = [sys.executable, "-m", "manyarms", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=enable, **options)


def called(capsys, *arguments):
    """The result of a command that runs in this process."""
    from manyarms.cli import main

    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    printed = capsys.readouterr()
    return Answer(end.value.code, printed.out, printed.err)


def refused(answer, code, words):
    """Whether the command ended with this code and one line that contains these words."""
    assert answer.code == code, answer
    assert answer.out == ""
    assert answer.err.startswith("manyarms: ")
    assert answer.err.count("\n") == 1, answer.err
    assert words in answer.err
    return True
