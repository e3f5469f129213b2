from __future__ import annotations

import sys
from pathlib import Path

import pytest
from commands import SCRIPT, Answer, quick_directory

from manyarms import cli


@pytest.fixture
def place(monkeypatch):
    """The working directory."""
    with quick_directory() as directory:
        monkeypatch.chdir(directory)
        yield Path(directory)


@pytest.fixture
def manyarms(place, monkeypatch, capsys):
    """Runs a command in a directory that has a script, and leaves this process as it was."""
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
    """The same, with a study that `run` made."""
    answer = manyarms("run", "train.py:train", "--budget", 40, "--max-steps", 3, "--seed", 0)
    assert answer.code == 0, answer.err
    return manyarms
