"""What all commands share: help, usage errors, messages and exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands import make_study, refused, start
from waiting import PATIENCE

import manyarms as ma

COMMANDS = ("run", "resume", "status", "arms", "best", "verify", "gc", "upgrade", "dashboard", "report")


def test_the_version_is_the_librarys(manyarms):
    assert manyarms("--version").out == f"manyarms {ma.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_text(manyarms, command):
    assert command in manyarms("--help").out
    answer = manyarms(command, "--help")
    assert answer.code == 0
    assert f"usage: manyarms {command}" in answer.out
    assert "storage" in answer.out


@pytest.mark.parametrize("arguments", [(), ("fly",), ("run",), ("run", "train.py:train"), ("arms", "--top", "many")])
def test_a_wrong_command_or_option_prints_the_usage(manyarms, arguments):
    answer = manyarms(*arguments)
    assert answer.code == 2
    assert answer.err.startswith("usage: manyarms")
    assert "Traceback" not in answer.err


def test_a_password_in_the_default_storage_is_shown_nowhere(manyarms, monkeypatch):
    monkeypatch.setenv("MANYARMS_STORAGE", "postgresql://user:secret@127.0.0.1:1/base")
    for arguments in [("run", "--help"), ("status", "--help"), ("status",), ("best",), ("gc", "--dry-run")]:
        answer = manyarms(*arguments)
        assert "secret" not in answer.out + answer.err


MISTAKES = {
    "run nowhere.py:train --budget 40": (2, "nowhere.py' does not exist."),
    "run train.py:fly --budget 40": (2, "train has no 'fly'. It has: broken, ma, napping,"),
    "run train.py:nothing --budget 40": (2, "target must name a function, got None"),
    "run train.py --budget 40": (2, "target must be script.py:function or package.module:function, got 'train.py'"),
    "run train --budget 40": (2, "target must be script.py:function or package.module:function, got 'train'"),
    "run train.py:train --budget 40 --space room": (2, "train has no 'room'"),
    "run train.py:train --budget 40 --space nothing": (2, "or an object with the methods sample(rng) and mutate(config, rng)"),
    "run train.py:train --budget soon": (2, "budget must be"),
    "run train.py:train --budget 0": (2, "budget must be at least 1, got 0"),
    "run train.py:train --budget=-5": (2, "budget must be at least 1, got -5"),
    "run train.py:train --budget 1.5": (2, "budget must be"),
    "run train.py:train --budget 5 --max-steps 10": (2, "budget must be at least 10, one full training of max_steps, got 5"),
    "run train.py:train --budget 5 --max-steps 10 --strategy MutantUCB": (
        2,
        "budget must be at least 10: one step for each of 1 initial arms",
    ),
    "run train.py:train --budget 40 --max-steps 0": (2, "max_steps must be at least 1, got 0"),
    "run train.py:train --budget 40 --set exploration": (2, "--set must be NAME=VALUE, got 'exploration'"),
    "run train.py:train --budget 40 --set patience=3": (2, "--set must name a setting of AdaptiveMutantUCB (budget, max_steps"),
    "run train.py:train --budget 40 --set exploration=high": (2, "exploration must be a number, got 'high'"),
    "run train.py:train --budget 20 --set budget=90": (2, "budget must be given once, got --budget 20 and --set budget=90"),
    "run train.py:train --budget 40 --seed 0 --set seed=1": (2, "seed must be given once, got --seed 0 and --set seed=1"),
    "run train.py:train --budget 40 --max-steps 5 --set max_steps=3": (
        2,
        "max_steps must be given once, got --max-steps 5 and --set max_steps=3",
    ),
    "run train.py:train --budget 40 --set initial=3 --set initial=3": (2, "--set must give initial once, got it 2 times"),
    "run train.py:train --budget 40 --strategy Luck": (2, "strategy must be one of "),
    "run train.py:train --budget 40 --strategy Strategy": (2, "strategy must be one of "),
    "run train.py:train --budget 40 --strategy Cascade": (2, "strategy must be one of "),
    "run train.py:train --budget 40 --workers 0": (2, "workers must be at least 1, got 0"),
    "run train.py:train --budget 40 --retries -1": (2, "retries must be at least 0, got -1"),
    "run train.py:train --budget 40 --timeout soon": (2, 'timeout must be a number of seconds or a string such as "90s"'),
    "run train.py:train --budget 40 --storage nowhere/study.db": (1, "there is no directory 'nowhere'"),
    "run train.py:train --budget 40 --storage mysql://here/base": (2, "storage must be sqlite or postgresql"),
    "run train.py:broken --budget 40": (1, "all 40 pulls failed; most often (40 times): OSError: no data in [red]here"),
    "status nowhere.db": (1, "there is no file 'nowhere.db'"),
    "arms nowhere.db": (1, "there is no file 'nowhere.db'"),
    "best nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "verify nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "gc nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "resume nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "report nowhere.db": (1, "there is no file 'nowhere.db'"),
    "dashboard nowhere.db": (1, "there is no file 'nowhere.db'"),
    "dashboard nowhere.db --port 70000": (2, "--port must be between 0 and 65535, got 70000"),
    "dashboard nowhere.db --token short": (
        2,
        "The token must have at least 8 characters, using only letters, digits and . _ ~ -",
    ),
    "status train.py": (1, "file is not a database"),
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_reported_in_one_line(manyarms, line):
    assert refused(manyarms(*line.split()), *MISTAKES[line])
    assert not Path("nowhere.db").exists()
    if "broken" not in line:  # a study whose pulls all failed is stored
        assert not Path("manyarms.db").exists()


def test_it_runs_as_a_module_and_returns_the_exit_code(manyarms):
    process = start("run", "train.py:whole", "--budget", 10, "--quiet", stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert "best config: " in out
    process = start("best", "nowhere.db", stderr=subprocess.PIPE)
    assert process.communicate(timeout=PATIENCE) == ("", "manyarms: there is no file 'nowhere.db'\n")
    assert process.returncode == 1


def test_a_closed_pipe_is_not_an_error(manyarms):
    make_study("many", budget=800)
    for arguments in [("arms", "--top", 0), ("arms", "--top", 0, "--json"), ("status",)]:
        with start(*arguments, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == ""
            assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_not_an_error(manyarms, closed):
    make_study("some", budget=20)
    answer = subprocess.run(f"{sys.executable} -m manyarms status {closed}", shell=True, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert ("some" in answer.stdout) == (closed == "2>&-")


def test_a_command_ends_its_process_at_once_but_not_before_its_exit_handlers(place):
    code = (
        "import atexit, sys; atexit.register(print, 'the handler'); sys.argv[1:] = ['status', 'nothing.db']; "
        "from manyarms.cli import console_main; console_main()"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (answer.returncode, answer.stdout) == (1, "the handler\n") and "nothing.db" in answer.stderr
