"""`run`: search with a function from a script."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from commands import refused, start
from waiting import PATIENCE

import manyarms as ma


def test_run_takes_a_dict_for_the_space_and_a_strategy_by_any_spelling_of_its_name(manyarms):
    Path("plain.py").write_text('space = {"x": (0.0, 1.0), "n": [1, 2, 4]}\n\ndef train(config):\n    return config["x"]\n')
    for command in ("run plain.py:train --budget 9 --strategy random-search --seed 0", "resume --budget 12"):
        answer = manyarms(*command.split())
        assert answer.code == 0, answer.err
    (row,) = manyarms("status", "--json").data
    assert row["strategy"] == "RandomSearch" and row["pulls"] == 12
    assert set(manyarms("best", "--json").data["config"]) == {"x", "n"}


def test_run_searches_and_prints_the_result(manyarms):
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


def test_the_functions_of_a_script_run_in_worker_processes(manyarms):
    line = "run train.py:train --budget 20 --max-steps 3 --workers 2 --deterministic --pull-timeout 1m --retries 1 --quiet"
    answer = manyarms(*line.split())
    assert answer.code == 0, answer.err
    assert manyarms("status", "--json").data[0]["failed"] == 0


def test_a_number_of_workers_that_is_none_is_refused_in_words(manyarms):
    answer = manyarms("run", "train.py:whole", "--budget", 10, "--workers", "many")
    assert answer.code == 2
    assert "argument --workers: must be a number or \"all\", got 'many'" in answer.err


def test_pulls_can_be_stopped_with_the_search(manyarms):
    command = ["run", "train.py:whole", "--budget", 9, "--pull-timeout", "remaining"]
    assert refused(manyarms(*command), 2, "pull_timeout must be seconds")
    answer = manyarms(*command, "--timeout", "1h")
    assert answer.code == 0, answer.err
    assert manyarms("status", "--json").data[0]["failed"] == 0


def test_verbose_shows_a_line_for_each_pull(manyarms):
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


def test_arguments_that_differ_from_those_of_the_study_are_refused(trained):
    line = ("run", "train.py:train", "--budget", 40, "--max-steps", 3)
    for changed, words in [
        (("--seed", 1), "created with seed=0, but now has seed=1"),
        (("--set", "initial=7"), "created with initial=24, but now has initial=7"),
        (("--space", "narrow"), "created with another space (parameter "),
        (("--strategy", "RandomSearch"), "created with strategy='AdaptiveMutantUCB', but now has strategy='RandomSearch'"),
        (("--strategy", "MutantUCB"), "created with strategy='AdaptiveMutantUCB', but now has strategy='MutantUCB'"),
        (("--direction", "minimize"), "created with direction='maximize'"),
    ]:
        assert refused(trained(*line, *changed), 1, words)
    assert trained(*line).code == 0


def test_a_script_that_cannot_be_loaded_shows_only_its_own_traceback(manyarms):
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
        assert "cli/script.py" not in answer.err


def test_a_study_that_another_process_writes_is_refused(trained):
    process = start("run", "train.py:slowly", "--budget", 30, "--max-steps", 3, "--name", "held", "--quiet")
    try:
        for _ in range(3):  # the third waits for a file
            assert process.stdout.readline() == "step\n"
        message = f"is being written by another process (process {process.pid})"
        assert refused(trained("run", "train.py:whole", "--budget", 9, "--name", "held"), 1, message)
        assert refused(trained("gc", "manyarms.db", "held"), 1, message)
        assert trained("status").code == trained("verify", "manyarms.db", "held").code == 0
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
