"""`fit`: from a table to a model in a directory; and what may be wrong with the table or the directory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import disks
import numpy as np
import pandas as pd
import pytest
from commands import refused
from waiting import PATIENCE, wait_until

import manyarms as ma
from manyarms.cli.fit import _show
from manyarms.tables import load_model
from manyarms.tables.report import importance

QUICK = ("--families", "linear", "tree", "--quiet")
FILES = ["leaderboard.csv", "model.joblib", "model.json", "report.html", "requirements.txt", "snippet.py", "study.db"]


def make_table(rows=90, **more):
    rng = np.random.default_rng(0)
    size, weight = rng.normal(size=rows), rng.normal(size=rows)
    kind = np.where(size + weight + 0.3 * rng.normal(size=rows) > 0, "large", "small")
    columns = {"size": size, "weight": weight, "colour": rng.choice(["red", "blue"], rows), **more}
    return pd.DataFrame(columns | ({} if "kind" in more else {"kind": kind}))


@pytest.fixture
def table(place):
    make_table().to_csv(place / "things.csv", index=False)


@pytest.fixture
def fit(manyarms, table, monkeypatch):
    """Fits the table, with few models."""
    monkeypatch.setattr(importance, "_REPEATS", 1)
    return lambda *options, data="things.csv", target="kind", budget=4: manyarms(
        "fit", data, "--target", target, *(("--budget", budget) if budget else ()), *QUICK, *options
    )


def journal(directory="things-model"):
    with ma.load_study(f"{directory}/study.db", "auto") as study:
        return study.counts.pulls


# -- results


def test_a_fit_prints_what_it_found_and_writes_everything(fit, manyarms):
    answer = fit()
    assert answer.code == 0, answer.err
    assert answer.err == ""
    lines = answer.out.splitlines()
    assert lines[0] == "things.csv: 90 rows, 4 columns"
    assert lines[1] == "Target kind: classification (text), scoring accuracy"
    assert lines[2].startswith("2 classes: ")
    assert lines[3] == "Training on 72 rows, 18 rows held out for testing"
    assert lines[5].split() == ["rank", "family", "score", "std", "steps", "seconds", "weight"]
    assert re.search(r"^Cross-validated accuracy: 0\.\d{4} \(.*; baseline 0\.\d{4}\)$", answer.out, re.MULTILINE)
    assert re.search(r"^Held-out accuracy: [01]\.\d{4} \(18 rows\)$", answer.out, re.MULTILINE)
    assert {path.name for path in Path("things-model").iterdir()} >= set(FILES)
    snippet = Path("things-model/snippet.py").read_text()
    assert answer.out.endswith(snippet) and len(snippet.splitlines()) == 3
    facts = json.loads(Path("things-model/model.json").read_text())
    assert facts["columns"] == {"size": "number", "weight": "number", "colour": "text"}
    assert (facts["task"], facts["target"], facts["classes"]) == ("classification", "kind", ["large", "small"])
    assert facts["rows"] == {"trained on": 72, "held out": 18}
    assert 0.7 < facts["scores"]["held out"] <= 1 and facts["settings"]["budget"] == 4
    assert f"manyarms=={ma.__version__}" in Path("things-model/requirements.txt").read_text().splitlines()
    board = pd.read_csv("things-model/leaderboard.csv")
    assert board["score"].is_monotonic_decreasing and set(board["family"]) <= {"linear", "tree"}
    for command in ("status", "arms", "best", "verify"):
        assert manyarms(command, "things-model/study.db").code == 0
    assert manyarms("best", "things-model/study.db", "--json").data["config"]["algorithm"] in ("linear", "tree")


def test_the_members_of_an_ensemble_are_shown_even_if_their_scores_are_low(capsys):
    weights = np.zeros(14)
    weights[[0, 12]] = 0.7, 0.3
    columns = {"rank": range(1, 15), "family": "tree", "score": 0.5, "std": 0.1, "steps": 1, "max_steps": 1, "seconds": 0.1}
    members = [SimpleNamespace(family="tree")] * 2
    model = SimpleNamespace(n_folds_=5, members_=members, baseline_score_=0.0, ensemble_score_=0.6)
    board = pd.DataFrame(columns | {"weight": weights})
    snippet = MagicMock()
    snippet.name = "snippet.py"
    snippet.read_text.return_value = ""
    _show(SimpleNamespace(leaderboard=board, model=model, scoring="r2", score=None, evaluation=None), [snippet, snippet])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split()[0] for line in lines[2:13]] == [*map(str, range(1, 11)), "13"]
    assert lines[2].endswith("70%") and lines[12].endswith("30%") and lines[13] == "3 more in leaderboard.csv"


@pytest.mark.parametrize(
    ("pooled", "words"), [(0.6, "one model, tree, on the rows of all folds together"), (0.5, "one model, tree")]
)
def test_the_score_of_a_single_model_says_how_it_differs_from_the_leaderboard(capsys, pooled, words):
    columns = {"rank": 1, "family": "tree", "score": 0.5, "std": 0.1, "steps": 1, "max_steps": 1, "seconds": 0.1, "weight": 1.0}
    members = [SimpleNamespace(family="tree")]
    model = SimpleNamespace(n_folds_=5, members_=members, baseline_score_=0.0, ensemble_score_=pooled)
    snippet = MagicMock()
    snippet.name = "snippet.py"
    snippet.read_text.return_value = ""
    board = pd.DataFrame([columns])
    _show(SimpleNamespace(leaderboard=board, model=model, scoring="r2", score=None, evaluation=None), [snippet, snippet])
    assert f"Cross-validated r2: {pooled:.4f} ({words}; baseline 0.0000)" in capsys.readouterr().out


def test_the_snippet_runs(fit):
    fit()
    answer = subprocess.run([sys.executable, "things-model/snippet.py"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0 and answer.stderr == ""
    assert "Name: kind, Length: 90" in answer.stdout


def test_the_saved_model_predicts_like_the_estimator(fit):
    fit("--holdout", 0)
    model = load_model("things-model")
    assert model.facts.rows == {"trained on": 90, "held out": 0} and model.facts.scores["held out"] is None
    frame = pd.read_csv("things.csv")
    assert model.predict(frame).tolist() == model.estimator.predict(frame.drop(columns="kind")).tolist()


def test_numbers_are_learned_too(fit):
    answer = fit("--scoring", "neg_mean_absolute_error", target="weight")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[1] == "Target weight: regression (numbers), scoring neg_mean_absolute_error"
    assert "chart-predicted-against-actual" in Path("things-model/report.html").read_text()


def test_a_few_rows_are_enough_and_none_are_held_out(fit, place):
    make_table(12).to_csv(place / "few.csv", index=False)
    answer = fit(data="few.csv")
    assert answer.code == 0
    assert answer.err == "manyarms: Only 12 rows: none are held out, so there is only a cross-validated score.\n"
    assert "held out" not in answer.out and "Held-out" not in answer.out


def test_a_finished_fit_only_writes_its_results_again(fit):
    fit()
    before, pulls = json.loads(Path("things-model/model.json").read_text()), journal()
    for name in ("leaderboard.csv", "report.html", "snippet.py"):
        Path("things-model", name).unlink()
    answer = fit(budget=3)
    assert answer.code == 0
    assert "The search was already finished after 4 steps." in answer.out
    assert journal() == pulls
    after = json.loads(Path("things-model/model.json").read_text())
    assert after["scores"] == before["scores"] and after["members"] == before["members"]
    assert {path.name for path in Path("things-model").iterdir()} >= set(FILES)


def test_a_lost_model_is_written_again(fit):
    fit()
    Path("things-model/model.joblib").unlink()
    answer = fit()
    assert answer.code == 0 and journal() == 4
    assert load_model("things-model").facts.settings["budget"] == 4


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_a_larger_budget_or_more_time_continues_the_search(fit):
    fit()
    answer = fit(budget=6)
    assert answer.code == 0 and "already finished" not in answer.out
    assert journal() == 6
    assert "already finished" not in fit("--time", "1s", budget=None).out
    pulls = journal()
    assert pulls >= 6
    assert "already finished" in fit("--time", "0.5s", budget=None).out
    assert journal() == pulls


def test_the_time_to_import_libraries_counts(manyarms, table, monkeypatch):
    happened = []
    fit_table = MagicMock(side_effect=ValueError("enough"))
    monkeypatch.setattr("manyarms.cli.fit.time", SimpleNamespace(monotonic=lambda: happened.append("clock read") or 7.0))
    monkeypatch.setattr("manyarms.cli.fit.check_packages", lambda command: happened.append("packages imported"))
    monkeypatch.setattr("manyarms.tables.fit_table", fit_table)
    refused(manyarms("fit", "things.csv", "--target", "kind"), 2, "enough")
    assert happened == ["clock read", "packages imported"]
    assert fit_table.call_args.kwargs["began"] == 7.0


def test_another_search_in_the_same_directory_is_refused(fit, place):
    assert fit().code == 0
    make_table(91).to_csv(place / "others.csv", index=False)
    for more, known, words in [
        ([], {"target": "colour"}, "on different data or for a different target"),
        ([], {"data": "others.csv"}, "on different data or for a different target"),
        ([], {"target": "size"}, "holds a search "),
        (["--scoring", "f1_macro"], {}, "with a different scoring"),
        (["--metric", "f1_macro"], {}, "with a different scoring"),
        (["--seed", 1], {}, "with a different seed"),
    ]:
        answer = fit("--out", "things-model", *more, **known)
        assert answer.code == 1 and answer.err.startswith("manyarms: things-model holds a search ")
        assert words in answer.err and "Choose another --out" in answer.err and answer.err.count("\n") == 1
    assert journal() == 4


def start(*arguments):
    command = [sys.executable, "-m", "manyarms", "fit", "things.csv", "--target", "kind", *QUICK, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_pulls(number):
    try:
        return journal() >= number
    except ma.ManyarmsError:
        return False


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_a_killed_fit_resumes(fit, manyarms):
    process = start("--budget", 100_000)
    assert wait_until(lambda: has_pulls(3))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    pulls = journal()
    assert not Path("things-model/model.json").exists()
    answer = fit(budget=pulls + 2)
    assert answer.code == 0, answer.err
    assert journal() == pulls + 2
    assert manyarms("verify", "things-model/study.db").code == 0
    assert manyarms("predict", "things-model", "things.csv").code == 0


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_ctrl_c_ends_the_search_and_writes_the_best_so_far(fit, manyarms):
    process = start("--budget", 100_000)
    assert wait_until(lambda: has_pulls(3))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err and "to things-model. To use the model:" in out
    assert manyarms("predict", "things-model", "things.csv").code == 0
    pulls = journal()
    assert "already finished" not in fit(budget=pulls + 1).out
    assert journal() == pulls + 1


@pytest.mark.timeout(600)  # a hang; it takes a while on a busy machine
def test_ctrl_c_in_a_longer_search_keeps_a_better_model_of_the_earlier_one(fit, manyarms):
    assert fit(budget=3).code == 0
    facts = Path("things-model/model.json")
    better = json.loads(facts.read_text())
    better["scores"]["search"] = 2.0
    facts.write_text(json.dumps(better))
    process = start("--budget", 100_000)
    assert wait_until(lambda: has_pulls(5))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Interrupted. The model in things-model was kept: its validation score is 2.0000" in out
    assert json.loads(facts.read_text()) == better
    assert manyarms("predict", "things-model", "things.csv").code == 0


# -- irregular tables


def test_a_very_irregular_table_is_learned_and_predicted(fit, manyarms, place):
    n = 90
    odd = {
        'it\'s "quoted", [really]\n<b>': np.arange(n) % 7,
        "<script>alert(1)</script>": np.arange(n) % 3,
        "": np.arange(n)[::-1] % 5,
        "1": np.full(n, np.nan),
        "{json}": [np.inf, -np.inf, 1.5] * 30,
        "{json2}": np.where(np.arange(n) % 2, 0.5, np.nan) * np.arange(n),
        "größe 🦾": [i if i % 2 else f"word {i % 3}" for i in range(n)],
        "date": pd.date_range("2020-01-01", periods=n).astype(str),
        "text": [f"the {w} brown fox jumps" for w in np.random.default_rng(1).choice(["quick", "slow", "old"], n)],
        "many": [f"name {i * 7919 % 80}" for i in range(n)],
        "flag": [True, False, None] * 30,
        "constant": 1,
        "self": 1e20 * np.arange(n),
    }
    make_table(n, **odd).to_csv(place / "odd.csv", index=False)
    answer = fit("--families", "linear", "tree", "boosting", "lightgbm", "xgboost", data="odd.csv", budget=6)
    assert answer.code == 0, answer.err
    assert answer.err.splitlines() == ["manyarms: Columns without a name are called 'Unnamed: 5'."]
    status = manyarms("status", "odd-model/study.db", "--json").data[0]
    assert status["failed"] == 0, status
    answer = manyarms("predict", "odd-model", "odd.csv", "--proba")
    assert answer.code == 0 and len(answer.out.splitlines()) == n + 1
    page = Path("odd-model/report.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "<script>alert(1)" not in page


def test_ten_thousand_categories_are_handled(fit, place):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"name": [f"k{i}" for i in rng.integers(0, 10_000, 12_000)], "x": rng.normal(size=12_000)})
    frame.assign(kind=frame["x"] > 0).to_csv(place / "many.csv", index=False)
    answer = fit(data="many.csv", budget=1)
    assert answer.code == 0, answer.err


def test_rows_without_a_target_and_classes_of_one_row_are_handled(fit, place):
    frame = make_table()
    frame.loc[:9, "kind"] = None
    frame.loc[10:12, "kind"] = ["one", "two", "three"]
    frame.to_csv(place / "gaps.csv", index=False)
    answer = fit(data="gaps.csv")
    assert answer.code == 0, answer.err
    assert answer.err == "manyarms: Dropped 10 rows without a target.\n"


def test_columns_that_resemble_dates_are_handled(fit, place, manyarms):
    more = {"month": ["Jan", "Feb", "Mar"] * 30, "seen": ["1", "2-10", "11-100"] * 30, "at": ["8:15", "17:30", ""] * 30}
    make_table(90, **more).to_csv(place / "nearly.csv", index=False)
    answer = fit(data="nearly.csv")
    assert answer.code == 0 and answer.err == ""
    assert manyarms("status", "nearly-model/study.db", "--json").data[0]["failed"] == 0


def test_a_target_of_two_fractions_is_learned_scored_and_predicted(fit, place, manyarms):
    frame = make_table()
    frame.assign(kind=np.where(frame["kind"] == "large", 2.5, 0.5)).to_csv(place / "two.csv", index=False)
    answer = fit(data="two.csv")
    assert answer.code == 0 and answer.err == "", answer.err
    assert "Held-out accuracy: " in answer.out
    answer = manyarms("predict", "two-model", "two.csv")
    assert set(answer.out.split()) == {"kind", "0.5", "2.5"} and "Score for column 'kind': " in answer.err


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"the remark of row {i // 2}" for i in range(90)], "'kind' is free text: 45 distinct values in 90 rows"),
        ([f"id{i if i > 9 else 0}" for i in range(90)], "'kind' looks like an identifier: 81 distinct values in 90 rows"),
        (list(range(90)), "'kind' numbers the rows"),
    ],
)
def test_a_target_that_only_identifies_rows_is_refused_unless_forced(fit, place, values, words):
    make_table(90, kind=values).to_csv(place / "named.csv", index=False)
    assert refused(fit(data="named.csv"), 2, f"Nothing useful can be predicted: {words}")
    answer = fit("--force", "--holdout", 0, data="named.csv", budget=2)
    assert answer.code == 0, answer.err


def test_if_no_model_can_be_trained_a_constant_one_is_written_with_a_note(fit, manyarms, monkeypatch):
    from manyarms.sklearn.training.training import Training

    def fail(*arguments):
        raise OverflowError("a number too large")

    monkeypatch.setattr(Training, "__call__", fail)
    answer = fit()
    assert answer.code == 0
    assert answer.err.startswith(
        "manyarms: No model could be trained, so the prediction is the same for every row (all 4 pulls"
    )
    assert "No model could be trained" in Path("things-model/report.html").read_text()
    assert len(set(manyarms("predict", "things-model", "things.csv").out.splitlines()[1:])) == 1


def test_with_a_single_validation_set_the_score_is_called_that(fit, place):
    make_table(8_000).to_csv(place / "large.csv", index=False)
    answer = fit(data="large.csv", budget=2)
    assert re.search(r"^Validation accuracy: 0\.\d{4} ", answer.out, re.MULTILINE) and " std " not in answer.out


def test_if_no_model_reaches_the_constant_baseline_a_constant_model_is_written_with_a_note(fit, place, manyarms):
    size = np.repeat(np.random.default_rng(0).normal(size=60), 2)
    pairs = pd.DataFrame({"size": size, "kind": ["a", "b"] * 60})  # two equal rows have different classes
    pairs.to_csv(place / "pairs.csv", index=False)
    answer = fit("--families", "tree", data="pairs.csv", budget=1)
    words = "No model reached the score of the constant baseline"
    assert answer.code == 0 and answer.err.startswith(f"manyarms: {words}")
    assert "(constant predictions; baseline 0." in answer.out
    assert words in Path("pairs-model/report.html").read_text(encoding="utf-8")
    assert pd.read_csv("pairs-model/leaderboard.csv")["family"].tolist()[:2] == ["constant", "tree"]
    assert len(set(manyarms("predict", "pairs-model", "pairs.csv").out.splitlines()[1:])) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "The file 'bad.csv' does not exist"),
        ("", "bad.csv is empty"),
        ("size,kind\n", "but no rows"),
        ("size,kind\n1,a\n", "At least 2 rows with a target are needed, got 1"),
        ("size,kid\n1,a\n2,b\n", "The target column 'kind' does not exist. Did you mean 'kid'?"),
        ("size,kind\n1,\n2,\n", "The target column 'kind' is missing in every row"),
        ("size,kind\n1,a\n2,a\n", "'kind' is constant: it is 'a' in all 2 rows"),
        ("size,kind\n1,a\n2,b\n", "has a different value in every row"),
        ("kind\na\nb\na\n", "no columns besides the target"),
        ("size,kind\n1,a\n2,b,c\n", "bad.csv, line 3: 3 fields instead of 2"),
        ("size,kind\n1,a\n1,b\n1,a\n", "None of the 1 columns can be used to predict"),
        (b"\x00\x01\x02\x03", "bad.csv is a binary file"),
    ],
)
def test_a_bad_table_is_refused_in_one_line(fit, place, content, words):
    if content is not None:
        (place / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = fit(data="bad.csv", budget=1)
    assert answer.code in (1, 2)
    assert answer.err.splitlines()[-1].startswith("manyarms: ") and words in answer.err, answer.err
    assert "Traceback" not in answer.err
    assert not Path("bad-model").exists()


def test_a_directory_and_a_table_that_is_too_large_are_refused(fit, monkeypatch):
    assert refused(fit(data="."), 2, "is a directory. Give the path of a file")
    from manyarms.tables.reading import memory

    monkeypatch.setattr(memory, "available", lambda: 10_000)
    assert refused(fit(), 1, "and 10.0 kB is free. Use a random sample of its rows (--rows ")


def test_running_out_of_memory_in_the_search_is_one_line(fit, monkeypatch):
    from manyarms.sklearn.automl.auto import AutoClassifier

    def fail(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(AutoClassifier, "fit", fail)
    answer = fit()
    assert answer.code == 1 and answer.err.startswith("manyarms: things.csv needs more memory than is available, and ")
    assert answer.err.count("\n") == 1


def test_a_sample_of_the_rows_can_be_asked_for(fit, place):
    make_table(3_000).to_csv(place / "long.csv", index=False)
    answer = fit("--rows", 100, data="long.csv", budget=2)
    assert answer.code == 0
    assert answer.err == "manyarms: Using a random sample of 100 rows out of 3,000.\n"
    assert "Training on 80 rows, 20 rows held out" in answer.out


# -- arguments and directories


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", 0], "workers must be at least 1, got 0"),
        (["--holdout", 0.9], "holdout must be between 0 and 0.5, got 0.9"),
        (["--holdout", "nan"], "holdout must be between 0 and 0.5, got nan"),
        (["--seed", -1], "seed must be at least 0, got -1"),
        (["--rows", 0], "rows must be at least 1, got 0"),
        (
            ["--scoring", "acuracy"],
            "scoring must be the name of a scikit-learn scorer, got 'acuracy': did you mean 'accuracy'",
        ),
        (["--scoring", "r2"], "scoring must be a scorer for classification"),
        (["--scoring", "precision"], "scoring='precision' does not fit the target 'kind'"),
        (["--task", "regression"], "A regression needs a numeric target"),
        (["--families", "tees"], "families must be one of"),
        (["--out", "things.csv"], "The output directory 'things.csv' is a file"),
        (["--out", "things.csv/model"], "The output directory 'things.csv/model' cannot be written"),
        (["--out", "full"], "The output directory 'full' holds other files"),
    ],
)
def test_a_wrong_argument_is_refused(fit, place, options, words):
    (place / "full").mkdir()
    (place / "full" / "precious.txt").write_text("")
    answer = fit(*options)
    assert answer.code == 2, answer
    assert answer.err.startswith("manyarms: ") and answer.err.count("\n") == 1 and words in answer.err, answer.err
    assert not Path("things-model").exists()


@pytest.mark.parametrize(
    ("time", "words"), [("soon", "time must be a number of seconds or a string such as"), ("0s", "time must be above 0")]
)
def test_a_wrong_time_is_refused(fit, time, words):
    assert refused(fit("--time", time, budget=None), 2, words)


def test_a_directory_that_cannot_be_written_is_refused_before_anything_is_read(fit, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refused(fit(data="nowhere.csv"), 2, "cannot be written")


def test_a_full_disk_is_one_line_and_leaves_no_half_a_model(fit, place):
    with disks.small_disk(place / "small", "100k"):
        answer = fit("--out", "small/model")
        assert answer.code == 1, answer
        assert answer.err.splitlines()[-1].startswith("manyarms: ") and "Traceback" not in answer.err
        assert not [path for path in Path("small/model").iterdir() if path.name.endswith(".part")]


def test_without_scikit_learn_it_says_what_to_install(fit, monkeypatch):
    import importlib.util

    whole = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else whole(name))
    assert refused(fit(), 2, 'pip install "manyarms[sklearn]"')


def test_a_fit_is_resumed_by_fit_and_not_by_resume(fit, manyarms):
    assert fit(budget=2).code == 0
    answer = manyarms("resume", "things-model/study.db")
    assert answer.code == 1
    assert "was not started by `manyarms run`" in answer.err
