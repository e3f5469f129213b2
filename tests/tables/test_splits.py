"""Ignored columns, leaks, and divisions by time and by group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from manyarms.tables import fit_table, load_model
from manyarms.tables.problem import Selection, problem_of
from manyarms.tables.splits import Split, latest_rows, some_groups
from manyarms.tables.target import held_out

ROWS = 120
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "id": np.arange(1, ROWS + 1),
        "when": pd.date_range("2024-01-01", periods=ROWS).astype(str)[RNG.permutation(ROWS)],
        "shop": RNG.choice(list("abcdefgh"), ROWS),
        "price": [f"${n:,}" for n in RNG.integers(500, 5000, ROWS)],
        "x": RNG.normal(size=ROWS),
        "y": np.repeat(["no", "yes"], ROWS // 2),
    }
)
QUICK = {"budget": 4, "families": ["linear", "tree"], "notify": lambda note: None}


def problem(split="random", ignore=(), keep=(), notes=None, holdout=0.2):
    notes = [] if notes is None else notes
    return problem_of(FRAME, "y", "auto", holdout, 0, notes.append, selection=Selection(ignore, keep, Split.parse(split)))


@pytest.mark.parametrize("text", ["", "time", "time:", "by:when", "group"])
def test_a_split_that_is_not_known_is_an_error(text):
    with pytest.raises(ValueError, match='split must be "random", "time:COLUMN" or "group:COLUMN"'):
        Split.parse(text)


def test_a_split_by_time_tests_on_the_latest_rows():
    found = problem("time:when")
    assert len(found.test[0]) == 24 and found.test[0]["when"].min() > found.rows["when"].max()
    ((train, validation),) = found.folds()
    assert found.rows["when"][train].max() < found.rows["when"][validation].min()
    assert len(validation) == 19 and len(train) + len(validation) == len(found.rows)


def test_a_split_by_group_keeps_groups_together_and_does_not_learn_from_them():
    found = problem("group:shop")
    assert "shop" not in found.rows and "used to split the rows" in found.excluded["shop"]
    held_out = some_groups(pd.factorize(FRAME["shop"])[0], 24, 0)
    assert not set(FRAME["shop"][held_out]) & set(FRAME["shop"][~held_out])
    assert len(found.test[0]) == held_out.sum() and len(found.groups) == len(found.rows)
    assert "shop" in problem("group:shop", keep=["shop"]).rows


def test_the_split_column_must_exist_and_order_the_rows():
    with pytest.raises(ValueError, match="The split column 'wen' does not exist. Did you mean 'when'?"):
        problem("time:wen")
    with pytest.raises(ValueError, match="'shop' must hold dates or numbers"):
        problem("time:shop")
    with pytest.raises(ValueError, match="has no time in 1 of 120 rows"):
        frame = FRAME.assign(when=FRAME["when"].where(FRAME.index > 0))
        problem_of(frame, "y", "auto", 0.2, 0, print, selection=Selection(split=Split("time", "when")))


def test_rows_of_the_same_time_stay_together():
    assert latest_rows(np.array([1.0, 2.0, 2.0, 2.0]), 2).tolist() == [False, True, True, True]
    assert not latest_rows(np.array([5.0, 5.0]), 1).any()


def test_leaks_and_ignored_columns_are_excluded_with_a_reason():
    notes = []
    found = problem(ignore=["x"], notes=notes)
    assert set(found.excluded) == {"id", "x"} and not {"id", "x"} & set(found.rows)
    assert [note for note in notes if "'id'" in note and "leak" in note]
    assert "id" in problem(keep=["id"]).rows
    with pytest.raises(ValueError, match="The ignored column 'z' does not exist"):
        problem(ignore=["z"])
    with pytest.raises(TypeError, match=r"use \['x'\]"):
        fit_table(FRAME, "y", ignore="x", **QUICK)


@pytest.mark.filterwarnings("ignore:Columns of formatted numbers")
@pytest.mark.parametrize("split", ["time:when", "group:shop"])
def test_a_model_with_excluded_columns_predicts_tables_without_them(split, tmp_path):
    fitted = fit_table(FRAME, "y", split=split, **QUICK)
    assert fitted.settings["split"] == split and any("formatted numbers" in note for note in fitted.notes)
    fitted.save(tmp_path / "model")
    model, table = load_model(tmp_path / "model"), FRAME.drop(columns=["id", "y"])
    if split == "group:shop":
        table = table.drop(columns="shop")
    cents = table.assign(price=[float(price.replace("$", "").replace(",", "")) for price in table["price"]])
    written = model.predict_proba(table, notify=lambda note: None)
    np.testing.assert_allclose(written, model.predict_proba(cents, notify=lambda note: None))
    table.to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_allclose(written, model.predict_proba(tmp_path / "new.csv", notify=lambda note: None))


def test_a_formatted_target_is_a_number():
    found = problem_of(FRAME.drop(columns="y"), "price", "auto", 0.0, 0, lambda note: None)
    assert found.task == "regression" and found.target.iloc[0] == float(FRAME["price"][0].replace("$", "").replace(",", ""))


def test_a_column_has_one_role():
    for roles in ({"ignore": ["y"]}, {"keep": ["y"]}, {"split": "time:y"}):
        with pytest.raises(ValueError, match="The target 'y' cannot be the (ignored|kept|split) column too"):
            problem(**roles)
    with pytest.raises(ValueError, match="'x' cannot be both in `ignore` and in `keep`"):
        problem(ignore=["x"], keep=["x"])
    with pytest.raises(ValueError, match="split must be .* got None"):
        Split.parse(None)


@pytest.mark.parametrize("split", ["time:half", "group:half"])
def test_two_groups_or_times_are_for_training_and_validation_alone(split):
    notes, frame = [], FRAME.assign(half=np.arange(ROWS) % 2)
    found = problem_of(frame, "y", "auto", 0.2, 0, notes.append, selection=Selection(split=Split.parse(split)))
    assert found.test is None and any("only 2 distinct values: no rows are held out" in note for note in notes)
    assert found.groups is not None or len(found.folds()) == 1


@pytest.mark.parametrize(
    "times",
    [
        pd.date_range("2024-01-01", periods=ROWS, freq="ms"),
        pd.date_range("2024-01-01", periods=ROWS, freq="ms").astype(str),
        pd.date_range("2024-01-01", periods=ROWS).astype("datetime64[ns]").astype("int64"),
        pd.timedelta_range("1ms", periods=ROWS, freq="ms"),
        pd.Categorical(np.arange(ROWS)),
    ],
    ids=["milliseconds", "text", "nanoseconds since 1970", "durations", "categories"],
)
def test_times_of_any_type_and_precision_order_the_rows(times):
    keys = Split("time", "t").keys(pd.DataFrame({"t": times}))
    assert (np.diff(keys) > 0).all()


def test_a_constant_time_is_an_error():
    with pytest.raises(ValueError, match="'t' is the same in every row, so it cannot order them"):
        Split("time", "t").keys(pd.DataFrame({"t": [5, 5]}))


def test_a_group_with_a_class_of_its_own_is_not_divided():
    groups = np.arange(ROWS) // 10
    target = pd.Series(np.where(np.arange(ROWS) % 10 == 0, groups.astype(str), "common"))
    target[groups > 2] = np.where(np.arange(ROWS)[groups > 2] % 2, "common", "other")
    for seed in range(10):
        chosen = held_out(target, "classification", 0.3, 1_000, seed, Split("group", "g"), groups)
        assert not set(groups[chosen]) & set(groups[~chosen])
