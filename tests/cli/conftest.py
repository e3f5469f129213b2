from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import SCRIPT, Answer, quick_directory

import manyarms as ma
from manyarms import cli
from manyarms.study.replay import StudyState


@pytest.fixture
def place(monkeypatch):
    """The working directory."""
    with quick_directory() as directory:
        monkeypatch.chdir(directory)
        yield Path(directory)


@pytest.fixture
def manyarms(place, monkeypatch, capsys):
    """Runs a command in a directory that has a script. Changes to this process are undone."""
    (place / "train.py").write_text(SCRIPT)
    monkeypatch.delenv("MANYARMS_STORAGE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            cli.main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Answer(end.value.code, printed.out, printed.err)

    yield call
    for name in ("train", "faulty"):
        sys.modules.pop(name, None)


@pytest.fixture
def trained(manyarms):
    """The same, in a directory that also has a study made by `run`."""
    answer = manyarms("run", "train.py:train", "--budget", 40, "--max-steps", 3, "--seed", 0)
    assert answer.code == 0, answer.err
    return manyarms


@pytest.fixture
def long(manyarms, monkeypatch):
    """A study that is too long to be replayed by commands that show it. Replaying it is an error."""

    def refuse(*_, **__):
        raise AssertionError("the study was replayed")

    strategy = ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=1_500, seed=0)
    with ma.Study(strategy, storage="manyarms.db", name="long") as study:
        study.optimize(lambda config: config["x"], runner=ma.SimulatedRunner(workers=100), progress=False)
        rewards = sorted((record.reward for record in study.counts.arms.values()), reverse=True)
    monkeypatch.setattr(StudyState, "replay", refuse)
    return SimpleNamespace(command=manyarms, rewards=rewards)
