"""`run` and `resume`, and the frame around every command."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from commands import SCRIPT, make_study, refused
from rechaining import rechain
from waiting import PATIENCE

import manyarms as ma

COMMANDS = ("run", "resume", "status", "arms", "best", "verify", "gc")


def test_the_version_is_the_librarys(manyarms):
    assert manyarms("--version").out == f"manyarms {ma.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(manyarms, command):
    assert command in manyarms("--help").out
    answer = manyarms(command, "--help")
    assert answer.code == 0
    assert f"usage: manyarms {command}" in answer.out
    assert "storage" in answer.out


@pytest.mark.parametrize("arguments", [(), ("fly",), ("run",), ("run", "train.py:train"), ("arms", "--top", "many")])
def test_what_is_no_command_is_answered_with_its_usage(manyarms, arguments):
    answer = manyarms(*arguments)
    assert answer.code == 2
    assert answer.err.startswith("usage: manyarms")
    assert "Traceback" not in answer.err


def test_a_password_in_the_default_storage_is_shown_nowhere(manyarms, monkeypatch):
    monkeypatch.setenv("MANYARMS_STORAGE", "postgresql://user:secret@127.0.0.1:1/base")
    for arguments in [("run", "--help"), ("status", "--help"), ("status",), ("best",), ("gc", "--dry-run")]:
        answer = manyarms(*arguments)
        assert "secret" not in answer.out + answer.err


# -- run


def test_run_takes_a_dict_for_the_space_and_a_strategy_by_any_spelling_of_its_name(manyarms):
    Path("plain.py").write_text('space = {"x": (0.0, 1.0), "n": [1, 2, 4]}\n\ndef train(config):\n    return config["x"]\n')
    for command in ("run plain.py:train --budget 9 --strategy random-search --seed 0", "resume --budget 12"):
        answer = manyarms(*command.split())
        assert answer.code == 0, answer.err
    (row,) = manyarms("status", "--json").data
    assert row["strategy"] == "RandomSearch" and row["pulls"] == 12
    assert set(manyarms("best", "--json").data["config"]) == {"x", "n"}


def test_run_searches_and_says_what_it_found(manyarms):
    answer = manyarms("run", "train.py:train", "--budget", 40, "--max-steps", 3, "--seed", 0)
    assert answer.code == 0
    assert answer.err == ""
    head, row, best = answer.out.splitlines()
    assert head.split()[:4] == ["study", "strategy", "best", "arms"]
    assert row.split()[:2] == ["train", "AdaptiveMutantUCB"]
    assert json.loads(best.removeprefix("best config: ")) == manyarms("best", "--json").data["config"]


NETWORKS = """
from manyarms.networks import table_space

space = table_space(4, 3)


def train(pull):
    return pull.config.training["learning_rate"]
"""


def test_the_best_network_is_printed_as_the_same_json_by_run_and_by_best(manyarms, place):
    (place / "train.py").write_text(NETWORKS)
    line = manyarms("run", "train.py:train", "--budget", 5, "--seed", 0).out.splitlines()[-1]
    assert line.removeprefix("best ") in manyarms("best").out.splitlines()
    assert json.loads(line.removeprefix("best config: ")).keys() == {"graphs", "training"}


def test_run_again_continues_to_the_same_total_and_a_larger_one_extends_it(manyarms):
    for budget, steps in [(30, 30), (30, 30), (50, 50)]:
        answer = manyarms("run", "train.py:whole", "--budget", budget)
        assert answer.code == 0, answer.err
        (row,) = manyarms("status", "--json").data
        assert row["steps"] == row["pulls"] == steps
        assert row["budget"] == budget


def test_the_options_of_run_reach_the_study(manyarms, place):
    line = "run train.py:train --budget 33 --space narrow --max-steps 3 --strategy RandomSearch --direction minimize"
    assert manyarms(*line.split(), "--storage", "other.db", "--name", "mine", "--checkpoints", "models", "--seed", 4).code == 0
    with ma.load_study("other.db", "mine") as study:
        assert study.header["strategy"] == "RandomSearch"
        assert study.header["direction"] == "minimize"
        assert study.header["settings"] == {"budget": 33, "max_steps": 3, "seed": 4}
        assert 0.1 <= study.best_config["rate"] <= 0.2
        assert study.checkpoint_of(study.best().id).is_relative_to(place / "models")
    line = "run train.py:train --budget 33 --max-steps 3 --strategy MutantUCB"
    assert manyarms(*line.split(), "--set", "exploration=0.5", "--set", "train_probability=exponential").code == 0
    with ma.load_study("manyarms.db", "train") as study:
        assert study.header["strategy"] == "MutantUCB"
        assert study.header["settings"]["exploration"] == 0.5
        assert study.header["settings"]["train_probability"] == "exponential"
    line = "run train.py:train --budget 33 --max-steps 3 --name adaptive --set slices=2 --set surrogate=False"
    assert manyarms(*line.split()).code == 0
    with ma.load_study("manyarms.db", "adaptive") as study:
        assert study.header["strategy"] == "AdaptiveMutantUCB"
        assert study.header["settings"]["slices"] == 2
        assert study.header["settings"]["surrogate"] is False


def test_the_environment_names_the_default_storage(manyarms, monkeypatch):
    monkeypatch.setenv("MANYARMS_STORAGE", "elsewhere.db")
    assert manyarms("run", "train.py:whole", "--budget", 10).code == 0
    assert Path("elsewhere.db").exists()
    assert [row["study"] for row in manyarms("status", "--json").data] == ["whole"]


def test_the_functions_of_a_script_run_in_worker_processes_and_can_be_ended(manyarms):
    line = "run train.py:train --budget 20 --max-steps 3 --workers 2 --deterministic --pull-timeout 1m --retries 1 --quiet"
    answer = manyarms(*line.split())
    assert answer.code == 0, answer.err
    assert manyarms("status", "--json").data[0]["failed"] == 0


def test_pulls_can_be_ended_with_the_time_of_the_search(manyarms):
    command = ["run", "train.py:whole", "--budget", 9, "--pull-timeout", "remaining"]
    assert refused(manyarms(*command), 2, "pull_timeout must be seconds")
    answer = manyarms(*command, "--timeout", "1h")
    assert answer.code == 0, answer.err
    assert manyarms("status", "--json").data[0]["failed"] == 0


def test_a_line_is_shown_for_each_pull_where_that_is_asked_for(manyarms):
    for number, (flags, pulls) in enumerate((([], 0), (["-v"], 10), (["-vv"], 10))):
        process = start("run", "train.py:whole", "--budget", 10, "--name", number, *flags, stderr=subprocess.PIPE)
        lines = process.communicate(timeout=PATIENCE)[1].splitlines()
        assert f"{number}: AdaptiveMutantUCB, budget 10 steps, new" in lines[0] and f"{number}: ended after " in lines[-1]
        assert sum("steps 0 to 1" in line for line in lines) == pulls
    assert "not allowed with argument" in manyarms("run", "train.py:whole", "--budget", 9, "--quiet", "-v").err


def test_a_module_can_be_named_instead_of_a_script(manyarms):
    assert manyarms("run", "train:whole", "--budget", 10).code == 0
    assert manyarms("resume", "--budget", 20).code == 0
    assert refused(manyarms("run", "no.such.module:train", "--budget", 10), 2, "No module named 'no'")


def test_a_budget_of_time_counts_over_all_runs(manyarms):
    for command in ("run train.py:napping --budget 0.05s", "resume", "resume --budget 0.1s"):
        answer = manyarms(*command.split())
        assert answer.code == 0, answer.err
        (row,) = manyarms("status", "--json").data
        assert row["budget"] is None
        assert 0 < row["pulls"] <= (10 if "0.1s" in command else 5)


MISTAKES = {
    "run nowhere.py:train --budget 40": (2, "target must name a script that exists, got"),
    "run train.py:fly --budget 40": (2, "train has no 'fly'; it has broken, ma, napping,"),
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
    "run train.py:train --budget 40 --timeout soon": (2, 'timeout must be seconds or text such as "90s"'),
    "run train.py:train --budget 40 --storage nowhere/study.db": (1, "there is no directory 'nowhere'"),
    "run train.py:train --budget 40 --storage mysql://here/base": (2, "storage must be sqlite or postgresql"),
    "run train.py:broken --budget 40": (1, "all 40 pulls failed; most often (40 times): OSError: no data in [red]here"),
    "status nowhere.db": (1, "there is no file 'nowhere.db'"),
    "arms nowhere.db": (1, "there is no file 'nowhere.db'"),
    "best nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "verify nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "gc nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "resume nowhere.db study": (1, "there is no file 'nowhere.db'"),
    "status train.py": (1, "file is not a database"),
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_answered_in_one_line(manyarms, line):
    assert refused(manyarms(*line.split()), *MISTAKES[line])
    assert not Path("nowhere.db").exists()
    if "broken" not in line:  # where all pulls failed, there is a study that says so
        assert not Path("manyarms.db").exists()


def test_other_arguments_than_the_study_was_made_with_are_refused(trained):
    line = ("run", "train.py:train", "--budget", 40, "--max-steps", 3)
    for changed, words in [
        (("--seed", 1), "made with seed=0, now seed=1"),
        (("--set", "initial=7"), "made with initial=24, now initial=7"),
        (("--space", "narrow"), "made with space="),
        (("--strategy", "RandomSearch"), "made with strategy='AdaptiveMutantUCB', now strategy='RandomSearch'"),
        (("--strategy", "MutantUCB"), "made with strategy='AdaptiveMutantUCB', now strategy='MutantUCB'"),
        (("--direction", "minimize"), "made with direction='maximize'"),
    ]:
        assert refused(trained(*line, *changed), 1, words)
    assert trained(*line).code == 0


def test_a_script_that_fails_while_it_is_loaded_shows_where_and_nothing_of_ours(manyarms):
    for text, words in [
        ("import manyarms\n1 / 0\n", "line 2"),
        ("import sys\nsys.exit()", "line 2"),
        ("def (:\n", "SyntaxError"),
    ]:
        Path("faulty.py").write_text(text)
        answer = manyarms("run", "faulty.py:train", "--budget", 10)
        assert answer.code == 1
        assert "faulty.py cannot be loaded" in answer.err
        assert words in answer.err
        assert "importlib" not in answer.err
        assert "start.py" not in answer.err


def test_a_study_that_another_process_writes_is_refused(trained):
    process = start("run", "train.py:slowly", "--budget", 30, "--max-steps", 3, "--name", "held", "--quiet")
    try:
        for _ in range(3):  # the third goes on until there is a file
            assert process.stdout.readline() == "step\n"
        message = f"is being written by another process (process {process.pid})"
        assert refused(trained("run", "train.py:whole", "--budget", 9, "--name", "held"), 1, message)
        assert refused(trained("gc", "manyarms.db", "held"), 1, message)
        assert trained("status").code == trained("verify", "manyarms.db", "held").code == 0
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


# -- resume


def test_resume_goes_on_with_the_settings_of_run_from_any_directory(manyarms, place, monkeypatch):
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
def test_resume_goes_on_to_the_newest_budget_whatever_the_space(manyarms, space):
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
def test_resume_goes_on_to_the_newest_budget_of_time_or_of_steps(manyarms, space):
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


def test_resume_of_a_study_that_stores_no_limits_goes_on_to_the_time_it_was_started_with(manyarms):
    assert manyarms("run", "train.py:whole", "--budget", "0.001s").code == 0
    with closing(sqlite3.connect("manyarms.db")) as database, database:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0])
        del header["limits"]
        database.execute("UPDATE manyarms_studies SET header = ?", [json.dumps(header)])
    rechain("manyarms.db")
    assert manyarms("resume").code == 0
    with ma.load_study("manyarms.db", "whole") as study:
        assert study.limits == ma.Budget(seconds=0.001)


def test_resume_of_what_run_did_not_start_is_refused(manyarms):
    make_study("mine")
    assert refused(manyarms("resume"), 1, "study 'mine' was not started by `manyarms run`: run its own script again")


def test_resume_without_the_script_says_so(trained):
    Path("train.py").unlink()
    assert refused(trained("resume"), 2, "target must name a script that exists")


# -- processes of their own


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "manyarms", *map(str, arguments)], stdout=subprocess.PIPE, text=True, **options
    )


def test_it_runs_as_a_module_and_ends_with_its_code(manyarms):
    process = start("run", "train.py:whole", "--budget", 10, "--quiet", stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert "best config: " in out
    process = start("best", "nowhere.db", stderr=subprocess.PIPE)
    assert process.communicate(timeout=PATIENCE) == ("", "manyarms: there is no file 'nowhere.db'\n")
    assert process.returncode == 1


def test_a_reader_that_has_seen_enough_is_no_error(manyarms):
    make_study("many", budget=800)
    for arguments in [("arms", "--top", 0), ("arms", "--top", 0, "--json"), ("status",)]:
        process = start(*arguments, stderr=subprocess.PIPE)
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_run_with_130_and_resume_goes_on(manyarms, times):
    process = start("run", "train.py:slowly", "--budget", 30, "--max-steps", 3, stderr=subprocess.PIPE)
    for _ in range(3):  # the third goes on until there is a file
        assert process.stdout.readline() == "step\n"
    process.send_signal(signal.SIGINT)
    assert any("Ctrl-C again ends now" in line for line in process.stderr)
    if times == 2:
        process.send_signal(signal.SIGINT)
    else:
        Path("go").touch()
    rest = process.stderr.read()
    assert "Traceback" not in rest
    assert ("interrupted with 27 steps left" in rest) == (times == 1)
    assert process.wait(timeout=PATIENCE) == 130
    (row,) = manyarms("status", "--json").data
    assert row["pulls"] == 4 - times
    Path("go").touch()
    answer = manyarms("resume")
    assert answer.code == 0, answer.err
    (row,) = manyarms("status", "--json").data
    assert 28 <= row["steps"] <= 30
    assert manyarms("verify").code == 0
