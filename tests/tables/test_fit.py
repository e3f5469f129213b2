"""`fit_table` and `predict_table`: everything that `manyarms fit` and `predict` do, from Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import manyarms as ma
from manyarms.tables import DirectoryMismatch, TargetError, fit_table, load_model, predict_table
from manyarms.tables.report import importance

OPTIONS = {"budget": 3, "families": ["linear", "tree"]}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(importance, "_REPEATS", 1)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=80), "color": rng.choice(["red", "blue"], 80)})
    return frame.assign(kind=np.where(frame["size"] > 0, "large", "small"))


def test_a_data_frame_is_fitted_saved_and_predicted_without_a_directory(table, tmp_path):
    notes = []
    fitted = fit_table(table, "kind", notify=notes.append, **OPTIONS)
    assert notes == fitted.notes == []
    assert fitted.score > 0.8 and fitted.problem.task == "classification" and fitted.scoring == "accuracy"
    assert set(fitted.leaderboard["family"]) <= {"linear", "tree"}
    assert fitted.importance(10.0).index[0] == "size"
    assert set(fitted.predict(table)) == {"large", "small"}
    with pytest.raises(ValueError, match="directory must be given"):
        fitted.save()
    names = [path.name for path in fitted.save(tmp_path / "model")]
    assert names == ["leaderboard.csv", "snippet.py", "report.html"]
    page = fitted.report(tmp_path / "page.html").read_text()
    assert "<h1>table: kind</h1>" in page
    predictions = predict_table(tmp_path / "model", table.drop(columns="kind"), proba=True)
    assert list(predictions) == ["kind", "probability of large", "probability of small"]
    assert (predictions["kind"] == load_model(tmp_path / "model").predict(table)).all()


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_a_target_that_is_accepted_is_not_refused_for_its_training_rows(table):
    species = [f"s{number}" for number in range(38)] + ["human"] * 42  # none of the 38 is held out
    fitted = fit_table(table.assign(species=species), "species", **OPTIONS)
    assert fitted.problem.target.nunique() > 0.5 * len(fitted.problem.target)


def test_a_file_is_fitted_in_a_directory_and_resumed(table, tmp_path):
    path, started = tmp_path / "t.csv", []
    table.to_csv(path, index=False)
    place = tmp_path / "model"
    options = OPTIONS | {"directory": place, "on_start": lambda *found: started.append(found)}
    first = fit_table(path, "size", **options)
    assert started == [(first.problem, "r2")] and first.finished_before is None
    first.save()
    assert fit_table(path, "size", **options).finished_before == 3
    more = fit_table(path, "size", **options | {"budget": 5})
    assert more.finished_before is None and len(more.model.pulls_) == 5
    with pytest.raises(DirectoryMismatch) as refused:
        fit_table(path, "size", seed=1, **options)
    assert refused.value.difference == "with a different seed" and isinstance(refused.value, ma.ManyarmsError)


def test_wrong_arguments_are_refused_before_the_table_is_read(tmp_path):
    for options, words in [
        ({"time": "soon"}, "time must be a number of seconds"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"task": "guess"}, "task must be one of"),
        ({"scoring": "acuracy"}, "did you mean 'accuracy'"),
        ({"holdout": 0.9}, "holdout must be between 0 and 0.5"),
        ({"directory": __file__}, "is a file"),
    ]:
        with pytest.raises(ValueError, match=words):
            fit_table("nowhere.csv", "y", **options)


def test_a_missing_target_is_an_error_with_its_name(table):
    with pytest.raises(TargetError, match="Did you mean 'kind'") as refused:
        fit_table(table, "kinds", **OPTIONS)
    assert refused.value.column == "kinds"


@pytest.mark.parametrize(
    "names", [[0, 1, 2], [None, "", "y"], ["a", "a", "y"], [("a", 1), ("a", 2), ("y", "")], ["y", "a", "y"]]
)
def test_column_names_of_any_type_and_names_that_occur_twice_can_be_fitted_saved_and_predicted(table, names, tmp_path):
    frame, notes = table.set_axis(names, axis=1), []
    fitted = fit_table(frame, names[2], notify=notes.append, **OPTIONS)
    assert len(fitted.problem.rows.columns) == 2 and fitted.score > 0.5
    fitted.save(tmp_path / "model")
    predicted = load_model(tmp_path / "model").predict(frame, notes.append)
    assert predicted.tolist() == fitted.predict(frame).tolist()


def test_a_leak_is_excluded_if_its_name_is_a_number(table):
    frame = table.sort_values("kind").reset_index(drop=True).assign(row=range(80)).rename(columns={"row": 7})
    assert list(fit_table(frame, "kind", notify=lambda note: None, **OPTIONS).problem.excluded) == ["7"]


def test_columns_of_lists_can_be_fitted_and_reported(table, tmp_path):
    frame = table.assign(id=[[n % 2] for n in range(80)])
    fitted = fit_table(frame, "kind", notify=lambda note: None, **OPTIONS)
    fitted.save(tmp_path / "model")
    assert len(load_model(tmp_path / "model").predict(frame)) == 80


def test_probabilities_keep_the_rows_of_a_table_whose_index_has_duplicates(table, tmp_path):
    fit_table(table, "kind", **OPTIONS).save(tmp_path / "model")
    frame = table.set_axis(np.arange(80) // 2, axis=0)
    assert predict_table(tmp_path / "model", frame, proba=True).index.equals(frame.index)


@pytest.mark.filterwarnings("ignore:Columns of formatted numbers")
def test_values_that_cannot_be_read_as_in_training_are_noted(tmp_path):
    rng = np.random.default_rng(0)
    prices, flags = rng.integers(1_000, 9_000, 80), rng.random(80) > 0.5
    frame = pd.DataFrame({"price": [f"${price:,}" for price in prices], "flag": flags, "y": prices + 500.5 * flags})
    fit_table(frame, "y", notify=lambda note: None, **OPTIONS).save(tmp_path / "model")
    model, notes = load_model(tmp_path / "model"), []
    expected = model.predict(frame, notes.append)
    np.testing.assert_array_equal(model.predict(frame.assign(flag=frame["flag"].astype(str)), notes.append), expected)
    assert notes == []
    model.predict(frame.assign(price="ask", flag=np.where(flags, "yes", "no")), notes.append)
    assert sorted(notes) == [
        "The column 'flag' must hold flags. These values are treated as missing: 'yes', 'no'.",
        "The column 'price' must hold numbers. These values are treated as missing: 'ask'.",
    ]


def test_a_score_that_is_undefined_for_the_held_out_rows_is_noted_and_stored_as_null(table, tmp_path):
    notes, frame = [], table.assign(y=table["size"] * 1.5)
    fitted = fit_table(frame, "y", holdout=0.0125, notify=notes.append, **OPTIONS)  # one row has no R²
    assert fitted.score is None and "No score on the held-out rows: it is undefined" in notes[-1]
    fitted.save(tmp_path / "model")
    assert "NaN" not in (tmp_path / "model" / "model.json").read_text()


def test_columns_that_hold_nothing_may_be_missing_in_a_table_to_predict(table, tmp_path):
    wide = table.assign(constant="x", code=[f"a{number}" for number in range(len(table))], empty=np.nan)
    fitted = fit_table(wide, "kind", notify=lambda note: None, **OPTIONS)
    fitted.save(tmp_path / "model")
    notes = []
    model = load_model(tmp_path / "model")
    assert list(model.predict(table, notes.append)) == list(model.predict(wide, notes.append)) and notes == []
