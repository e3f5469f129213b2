"""`predict`: a saved model and a new table."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import quick_directory, refused

from manyarms import cli
from manyarms.tables import read_table


@pytest.fixture(scope="module")
def made():
    """A directory with two models, of classes and of numbers."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"size": rng.normal(size=80), "code": rng.choice(["01", "1", "x"], 80)})
    rows["kind"] = np.where((rows["size"] > 0) ^ (rows["code"] == "01"), "yes", "no")
    with quick_directory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        rows.to_csv("train.csv", index=False)
        for target in ("kind", "size"):
            with pytest.raises(SystemExit) as end:
                options = ["--budget", "4", "--families", "tree", "linear", "--quiet", "--out", f"{target}-model"]
                cli.main(["fit", "train.csv", "--target", target, *options])
            assert end.value.code == 0
        yield Path(directory)


@pytest.fixture
def predict(made, manyarms, place):
    """Predicts with copies of them."""
    for name in ("kind-model", "size-model"):
        shutil.copytree(made / name, place / name)
    Path("new.csv").write_text("code,size\n01,2.5\n1,2.5\nx,-2\n")
    return lambda *arguments: manyarms("predict", *arguments)


def test_predictions_are_csv_on_standard_output(predict):
    answer = predict("kind-model", "new.csv")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "kind\nno\nyes\nno\n"  # which it can only tell if 01 and 1 are not the same


def test_probabilities_have_a_column_for_each_class(predict):
    answer = predict("kind-model", "new.csv", "--proba")
    frame = pd.read_csv(io.StringIO(answer.out))
    assert list(frame) == ["kind", "probability of no", "probability of yes"]
    assert np.allclose(frame.iloc[:, 1:].sum(axis=1), 1)
    assert ((frame["probability of yes"] > 0.5) == (frame["kind"] == "yes")).all()
    assert refused(predict("size-model", "new.csv", "--proba"), 2, "A regression has no class probabilities.")


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.tsv", "p.parquet"])
def test_predictions_are_written_as_the_name_says(predict, name):
    answer = predict("kind-model", "new.csv", "--out", name)
    assert (answer.code, answer.out, answer.err) == (0, "", f"Wrote 3 predictions to {name}\n")
    assert read_table(name)["kind"].tolist() == ["no", "yes", "no"]


def test_the_target_gives_a_score_and_other_columns_are_ignored(predict):
    Path("new.csv").write_text("more,code,size,kind,extra\n1,01,2.5,no,0\n2,1,2.5,no,0\n3,1,2.5,,0\n")
    answer = predict("kind-model", "new.csv")
    assert answer.code == 0 and answer.out == "kind\nno\nyes\nyes\n"
    assert answer.err.splitlines() == [
        "manyarms: Ignored columns that the model does not use: 'more', 'extra'.",
        "Score for column 'kind': 0.5000 (accuracy)",
    ]
    Path("new.csv").write_text("code,kind,size\n01,no,1.5\n1,yes,many\n1,yes,2.5\n")
    answer = predict("size-model", "new.csv")
    assert answer.code == 0 and "Score for column 'size': " in answer.err and answer.err.endswith(" (r2)\n")


def test_a_target_that_cannot_be_scored_is_reported(predict):
    Path("new.csv").write_text("code,size,kind\n01,2,2020-01-01\n")
    answer = predict("kind-model", "new.csv")
    assert answer.code == 0 and answer.out == "kind\nno\n"


def test_words_in_a_column_of_numbers_are_missing_with_a_note(predict):
    Path("new.csv").write_text("code,size\n1,2.5\n1,many\n")
    answer = predict("kind-model", "new.csv")
    assert answer.code == 0 and len(answer.out.splitlines()) == 3
    assert answer.err == "manyarms: The column 'size' must hold numbers. These values are treated as missing: 'many'.\n"


def test_a_column_that_is_missing_is_named(predict):
    Path("new.csv").write_text("Code,size\n1,2.5\n")
    assert refused(predict("kind-model", "new.csv"), 2, "lacks a column of the model: 'code'. Did you mean 'Code'?")


def test_other_versions_give_a_note(predict):
    facts = json.loads(Path("kind-model/model.json").read_text())
    facts["versions"]["scikit-learn"] = "0.9"
    Path("kind-model/model.json").write_text(json.dumps(facts))
    answer = predict("kind-model", "new.csv")
    assert answer.code == 0 and answer.err.count("\n") == 1
    assert "trained with other package versions" in answer.err and "scikit-learn 0.9 (installed: " in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere", "new.csv"], 2, "The directory 'nowhere' does not exist"),
        ([".", "new.csv"], 1, "does not hold a model"),
        (["kind-model", "nowhere.csv"], 2, "The file 'nowhere.csv' does not exist"),
        (["kind-model", "kind-model"], 2, "is a directory. Give the path of a file"),
        (["kind-model", "new.csv", "--out", "."], 2, "--out must be a file"),
        (["kind-model", "new.csv", "--out", "nowhere/p.csv"], 2, "--out must be in an existing, writable directory"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(predict, arguments, code, words):
    assert refused(predict(*arguments), code, words)


def test_a_corrupt_model_is_refused_in_one_line(predict):
    Path("kind-model/model.joblib").write_bytes(b"nothing")
    assert refused(predict("kind-model", "new.csv"), 1, "corrupt, or does not belong to")
