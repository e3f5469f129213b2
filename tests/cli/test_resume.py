"""`resume`: continue a search that `run` started."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from commands import SCRIPT, make_study, refused, start
from rechaining import rechain
from waiting import PATIENCE

import manyarms as ma


def test_resume_uses_the_settings_of_run_from_any_directory(manyarms, place, monkeypatch):
    line = "run train.py:train --budget 40 --max-steps 3 --seed 0 --set exploration=0.5 --checkpoints models"
    assert manyarms(*line.split()).code == 0
    (place / "away").mkdir()
    monkeypatch.chdir(place / "away")
    answer = manyarms("resume", "../manyarms.db", "--budget", 60)
    assert answer.code == 0, answer.err
    (row,) = manyarms("status", "../manyarms.db", "--json").data
    assert row["budget"] == 60
    assert 40 < row["steps"] <= 60
    assert row["retrained"] == 0
    assert not list(Path().iterdir())
    assert manyarms("resume", "../manyarms.db").code == 0
    assert manyarms("status", "../manyarms.db", "--json").data[0]["steps"] == row["steps"]


OWN_SPACE = """
class Line:
    def sample(self, rng):
        return {"rate": float(rng.random())}

    def mutate(self, config, rng):
        return self.sample(rng)

line = Line()
"""


@pytest.mark.parametrize("space", ["space", "line"])
def test_resume_continues_to_the_newest_budget_with_any_space(manyarms, space):
    Path("train.py").write_text(SCRIPT + OWN_SPACE)
    for budget in (10, 30):
        assert manyarms("run", "train.py:whole", "--space", space, "--budget", budget, "--set", "initial=3").code == 0
    for command, budget in [("resume", 30), ("resume --budget 40", 40), ("resume", 40), ("resume --budget 35", 35)]:
        answer = manyarms(*command.split())
        assert answer.code == 0, answer.err
        (row,) = manyarms("status", "--json").data
        assert (row["budget"], row["steps"]) == (budget, max(budget, row["steps"]))
    with ma.load_study("manyarms.db", "whole") as study:
        changes = [event.data["budget"] for event in study.journal.events() if event.kind == "budget"]
    assert changes == [30, 40, 35]


@pytest.mark.parametrize("space", ["space", "line"])
def test_resume_continues_to_the_newest_budget_of_time_or_steps(manyarms, space):
    Path("train.py").write_text(SCRIPT + OWN_SPACE)
    run = f"run train.py:whole --space {space} --budget"
    for command, limits in [
        (f"{run} 0.001s", ma.Budget(seconds=0.001)),
        (f"{run} 0.002s", ma.Budget(seconds=0.002)),
        ("resume", ma.Budget(seconds=0.002)),
        ("resume --budget 0.003s", ma.Budget(seconds=0.003)),
        ("resume", ma.Budget(seconds=0.003)),
        (f"{run} 30", ma.Budget(steps=30)),
        ("resume", ma.Budget(steps=30)),
        (f"{run} 0.004s", ma.Budget(seconds=0.004)),
        ("resume", ma.Budget(seconds=0.004)),
    ]:
        answer = manyarms(*command.split())
        assert answer.code == 0, answer.err
        with ma.load_study("manyarms.db", "whole") as study:
            assert study.limits == limits
            changes = sum(event.kind == "budget" for event in study.journal.events())
    assert changes == 4
    assert manyarms("verify").code == 0


def test_resume_of_a_study_that_stores_no_limits_uses_the_time_it_was_started_with(manyarms):
    arguments = "--budget", "0.001s", "--strategy", "random"  # which ignores how long pulls take, as all did at that time
    assert manyarms("run", "train.py:whole", *arguments).code == 0
    with closing(sqlite3.connect("manyarms.db")) as database, database:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0])
        del header["limits"]
        database.execute("UPDATE manyarms_studies SET header = ?", [json.dumps(header)])
    rechain("manyarms.db")
    answer = manyarms("resume")
    assert answer.code == 0, answer.err
    with ma.load_study("manyarms.db", "whole") as study:
        assert study.limits == ma.Budget(seconds=0.001)


def test_resume_of_a_study_that_run_did_not_start_is_refused(manyarms):
    make_study("mine")
    assert refused(
        manyarms("resume"), 1, "Study 'mine' was not started by `manyarms run`. To continue it, run its own script again."
    )


def test_resume_without_the_script_says_so(trained):
    Path("train.py").unlink()
    assert refused(trained("resume"), 2, "train.py' does not exist")


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_run_with_130_and_resume_continues(manyarms, times):
    with start("run", "train.py:slowly", "--budget", 30, "--max-steps", 3, stderr=subprocess.PIPE) as process:
        for _ in range(3):  # the third waits for a file
            assert process.stdout.readline() == "step\n"
        process.send_signal(signal.SIGINT)
        assert any("Press Ctrl-C again to stop now" in line for line in process.stderr)
        if times == 2:
            process.send_signal(signal.SIGINT)
        else:
            Path("go").touch()
        rest = process.stderr.read()
        assert "Traceback" not in rest
        assert ("Interrupted with 27 steps left" in rest) == (times == 1)
        assert process.wait(timeout=PATIENCE) == 130
    (row,) = manyarms("status", "--json").data
    assert row["pulls"] == 4 - times
    Path("go").touch()
    answer = manyarms("resume")
    assert answer.code == 0, answer.err
    (row,) = manyarms("status", "--json").data
    assert 28 <= row["steps"] <= 30
    assert manyarms("verify").code == 0
