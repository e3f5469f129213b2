"""A model in a directory: complete, with the versions it needs, and refused if it is not."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import manyarms as ma
from manyarms.html.writing import written_aside
from manyarms.tables import Facts, fit_table, load_model, read_table, save_model, versions
from manyarms.tables.versions import differences, installed, versions_of
from manyarms.tables.writing import write_frame

FACTS = Facts(
    task="classification",
    target="y",
    columns={"code": "text", "n": "number"},
    dtypes={"code": "str", "n": "int64"},
    target_kind="text",
    classes=["no", "yes"],
    scoring="accuracy",
    scores={"search": 1.0},
    rows={"trained on": 4},
    members=[],
    versions={"manyarms": ma.__version__, "numpy": np.__version__},
    python="",
    command="manyarms fit t.csv",
)


@pytest.fixture
def directory(tmp_path):
    rows = pd.DataFrame({"code": ["01", "1", "01", "1"], "n": [1, 2, 2, 1]})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=100)).fit(
        rows, ["no", "yes", "no", "yes"]
    )
    save_model(tmp_path, model, replace(FACTS, python=installed("python")))
    return tmp_path


def test_a_loaded_model_reads_columns_as_in_training(directory, tmp_path):
    model, notes = load_model(directory, notify=pytest.fail), []
    new = tmp_path / "new.csv"
    new.write_text("more,n,code,y\nx,1,01,no\ny,2,1,no\n")
    predictions = model.predict(new, notes.append)
    assert predictions.name == "y" and predictions.tolist() == ["no", "yes"]
    assert notes == ["Ignored columns that the model does not use: 'more'."]
    assert model.predict_proba(new, notes.append).columns.tolist() == ["no", "yes"]
    assert model.score(new, notes.append) == 0.5
    frame = pd.DataFrame({"n": ["1", "none"], "code": [1, 1]}, index=[7, 8])  # text and numbers the other way round
    predictions = model.predict(frame, notes.append)
    assert predictions.index.tolist() == [7, 8] and predictions.tolist() == ["yes", "yes"]
    assert notes[-1] == "The column 'n' must hold numbers. These values are treated as missing: 'none'."


def test_durations_are_read_from_text_as_in_training(tmp_path):
    rows = pd.DataFrame({"wait": pd.to_timedelta(np.arange(60) % 20, unit="h") + pd.Timedelta(days=1)})
    table = rows.assign(late=np.where(rows["wait"] > pd.Timedelta(hours=34), "yes", "no"))
    fit_table(table, "late", budget=1, families=["tree"], holdout=0).save(tmp_path)
    model, notes = load_model(tmp_path), []
    rows.to_csv(tmp_path / "new.csv", index=False)
    pd.testing.assert_frame_equal(model.predict_proba(tmp_path / "new.csv", notes.append), model.predict_proba(rows))
    assert not notes
    model.predict(pd.DataFrame({"wait": ["1 days 03:00:00", "soon", None, "7"]}), notes.append)
    assert notes == ["The column 'wait' must hold durations. These values are treated as missing: 'soon', '7'."]


def test_a_model_of_an_earlier_version_whose_classes_end_with_spaces_is_scored(tmp_path):
    table = pd.DataFrame({"n": [1, 2, 3, 4], "y": ["no ", "no ", "yes ", "yes "]})
    facts = replace(FACTS, columns={"n": "number"}, dtypes={"n": "int64"}, classes=["no ", "yes "], python=installed("python"))
    save_model(tmp_path, DecisionTreeClassifier().fit(table[["n"]], table["y"]), facts)
    assert load_model(tmp_path, notify=pytest.fail).score(table) == 1


def test_notes_on_missing_values_read_numbers_as_in_training(tmp_path):
    numbers = range(100, 160)
    table = pd.DataFrame({"price": [f"{n},5" for n in numbers] + ["1.815,5"] * 4, "y": [n > 130 for n in numbers] + [True] * 4})
    with pytest.warns(ma.ManyarmsWarning, match="'100,5', read as 100.5"):
        fit_table(table, "y", budget=1, families=["tree"], holdout=0, notify=lambda note: None).save(tmp_path)
    model, notes = load_model(tmp_path, notify=pytest.fail), []
    model.predict(pd.DataFrame({"price": ["12,5", "soon"]}), notes.append)
    assert notes == ["The column 'price' must hold numbers. These values are treated as missing: 'soon'."]


def test_columns_that_are_missing_are_named(directory):
    model = load_model(directory)
    with pytest.raises(ValueError, match="is missing a column that the model needs: 'code'. Did you mean 'Code'"):
        model.predict(pd.DataFrame({"Code": ["1"], "n": [1]}))
    with pytest.raises(ValueError, match="is missing columns that the model needs: 'code', 'n'"):
        model.predict(pd.DataFrame({"x": [1]}))


def test_other_versions_give_a_note_with_the_command_to_install_the_same(directory):
    facts = json.loads((directory / "model.json").read_text())
    facts["versions"] |= {"numpy": "0.1", "no-such-package": "1.0"}
    (directory / "model.json").write_text(json.dumps(facts))
    notes = []
    load_model(directory, notes.append)
    assert f"numpy 0.1 (installed: {np.__version__}), no-such-package 1.0 (installed: none)" in notes[0]
    assert f"pip install -r {directory / 'requirements.txt'}" in notes[0]
    with pytest.warns(ma.ManyarmsWarning, match="different package versions"):
        load_model(directory)


def test_the_versions_are_those_of_everything_in_the_model():
    from lightgbm import LGBMClassifier

    found = versions_of({"a": [LGBMClassifier(), np.ones(3)]})
    assert {"manyarms", "lightgbm", "numpy", "scikit-learn", "pandas"} <= set(found)
    assert "torch" not in found
    assert differences(found) == []
    assert "lightgbm" not in versions_of(LogisticRegression())


def test_types_of_cython_and_of_the_user_do_not_cause_a_search_of_all_packages(monkeypatch):
    def search():
        raise AssertionError("this is slow")

    monkeypatch.setattr(versions, "_packages_of_modules", search)
    cython = types.ModuleType("_cython_9_9_9")
    monkeypatch.setitem(sys.modules, cython.__name__, cython)
    parts = [type("function", (), {"__module__": name}) for name in (cython.__name__, "__main__")]
    assert set(versions_of(parts)) == {"manyarms", *versions._ALWAYS}


@pytest.mark.parametrize("name", ["model.joblib", "model.json", "requirements.txt"])
def test_a_directory_without_one_of_the_files_is_refused(directory, name):
    (directory / name).unlink()
    with pytest.raises(ma.ManyarmsError, match=f"does not hold a model .* it has no {name}"):
        load_model(directory)


def test_a_corrupt_model_is_refused(directory):
    whole = (directory / "model.joblib").read_bytes()
    (directory / "model.joblib").write_bytes(whole[:-10])
    with pytest.raises(ma.ManyarmsError, match="corrupt, or does not belong to"):
        load_model(directory)
    (directory / "model.joblib").write_bytes(whole)
    load_model(directory)
    for text in ("{", "[]", '{"task": 1}'):
        (directory / "model.json").write_text(text)
        with pytest.raises(ma.ManyarmsError, match="model.json is corrupt"):
            load_model(directory)
    with pytest.raises(FileNotFoundError, match="The directory .* does not exist"):
        load_model(directory / "nowhere")


def test_a_model_of_an_earlier_version_is_read(directory):
    facts = json.loads((directory / "model.json").read_text())
    facts["metric"] = facts.pop("scoring")
    (directory / "model.json").write_text(json.dumps(facts))
    assert load_model(directory).facts.scoring == "accuracy"


class Unloadable:
    def __reduce__(self):
        return (int, ("no number",))


def test_what_goes_wrong_in_a_pickle_is_one_line(tmp_path):
    save_model(tmp_path, Unloadable(), FACTS)
    with pytest.raises(ma.ManyarmsError, match="cannot be loaded .ValueError: .*no number.*pip install -r") as refused:
        load_model(tmp_path, lambda note: None)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("old")
    with pytest.raises(ma.StorageError, match="t.txt cannot be written: No space left"), written_aside(path) as aside:
        aside.write_text("half")
        raise OSError(28, "No space left on device")
    with pytest.raises(KeyboardInterrupt), written_aside(path) as aside:
        aside.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and [file.name for file in tmp_path.iterdir()] == ["t.txt"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "anything"])
def test_a_frame_is_written_as_its_name_says(tmp_path, name):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x, y", 'q"']})
    write_frame(tmp_path / name, frame)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), frame, check_dtype=False)
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    assert name.endswith((".gz", ".parquet")) or (b"\t" in (tmp_path / name).read_bytes()) == name.endswith(".tsv")


@pytest.mark.parametrize("name", ["table.xlsx", "table.JSON", "table.csv.zip"])
def test_a_format_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=f"can be written as .csv, .csv.gz, .tsv or .parquet, got '.*{name}'"):
        write_frame(tmp_path / name, pd.DataFrame({"a": [1]}))
    assert not list(tmp_path.iterdir())
