"""What is learned from a table: the rows with a target, the task, the held-out rows, and the scoring."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from manyarms.sklearn.automl.scoring import check_fits, check_scoring
from manyarms.sklearn.automl.task import doubt_about, task_of
from manyarms.tables import DoubtfulTarget, TargetError
from manyarms.tables.problem import problem_of
from manyarms.tables.target import held_out, with_target


def quiet(note):
    pass


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "a"], "classification"),
        ([True, False, True], "classification"),
        ([0, 1, 0], "classification"),
        ([-1.5, 1.5, 1.5], "classification"),
        ([0, 1, 2] * 20, "classification"),
        ([3.0, 4.0, 5.0] * 20, "classification"),
        (list(range(20)) * 10, "classification"),
        (list(range(21)) * 10, "regression"),
        ([0, 1, 2, 3], "regression"),
        ([0.1, 1.0, 2.0] * 20, "regression"),
    ],
)
def test_the_task_goes_by_the_target(values, task):
    assert task_of(pd.Series(values))[0] == task


def target_of(values, notify=quiet):
    rest, target = with_target(pd.DataFrame({"x": range(len(values)), "y": values}), "y", notify)
    return rest["x"].tolist(), target


def test_rows_without_a_target_are_dropped_with_a_note():
    notes = []
    rows, target = target_of([1, None, 3, np.inf, -np.inf, 6], notes.append)
    assert rows == [0, 2, 5] and target.tolist() == [1, 3, 6] and target.dtype == np.int64
    assert notes == ["Dropped 3 rows without a target."]
    rows, target = target_of(["a", None, "b"])
    assert rows == [0, 2] and target.tolist() == ["a", "b"]
    rows, target = target_of([True, None, False])
    assert rows == [0, 2] and task_of(target)[0] == "classification"


def test_a_target_of_numbers_with_a_few_words_is_one_of_numbers():
    notes = []
    rows, target = target_of([*map(str, range(50)), "unknown"], notes.append)
    assert len(rows) == 50 and target.dtype == np.int64
    assert notes[0] == "The target 'y' is numeric. These values are treated as missing: 'unknown'."
    codes = ["1", "2", "3a"] * 20
    assert target_of(codes)[1].tolist() == codes


def test_classes_are_text_without_spaces_around_it_and_a_note_tells_which_differ_by_case():
    notes = []
    assert target_of(["high", " high ", "low\t", "low"] * 5, notes.append)[1].tolist() == ["high", "high", "low", "low"] * 5
    assert notes == []
    assert target_of(["high", "High ", "low", "low"] * 5, notes.append)[1].nunique() == 3
    assert notes == ["Target y: these classes differ only by case, and are kept apart: 'high', 'High'."]


def test_thousands_of_a_target_are_read_with_a_note():
    notes, prices = [], [*range(800_001, 800_041), 1_262_905]
    assert target_of([f"€ {price:,}".replace(",", ".") for price in prices], notes.append)[1].tolist() == prices
    assert notes == ["Target y: € 800.001 was read as 800,001."]
    target_of([f"€ {price:,}".replace(",", ".") for price in prices[:-1]], notes.append)
    assert notes[1:] == ["Target y: € 800.001 was read as 800.001."]
    target_of([f"${price:,}.50" for price in prices], notes.append)
    assert notes[2:] == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None], "The target column 'y' is missing in every row"),
        ([1, 1, 1], "'y' is constant: it is 1 in all 3 rows"),
        (["a"] * 60, "'y' is constant: it is 'a' in all 60 rows"),
        ([1.5], "At least 2 rows with a target"),
        (list("abcdef"), "has a different value in every row"),
        (pd.date_range("2020", periods=5), "is a date"),
        (pd.period_range("2020", periods=5, freq="M"), "is a date"),
        (pd.timedelta_range("1h", periods=5), "is a duration"),
    ],
)
def test_a_target_that_cannot_be_learned_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        problem_of(pd.DataFrame({"x": range(len(values)), "y": values}), "y", "auto", 0.2, 0, quiet)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"id{i // 2 if i < 20 else i}" for i in range(100)], "'y' looks like an identifier: 90 distinct values in 100 rows"),
        (
            [f"a remark about row {i % 60}" for i in range(200)],
            "'y' is free text: 60 distinct values in 200 rows, of 5 words",
        ),
        (range(7, 107), "'y' numbers the rows"),
    ],
)
def test_identifiers_and_free_text_are_learned_only_by_force(values, words):
    frame = pd.DataFrame({"x": range(len(values)), "y": values})
    with pytest.raises(DoubtfulTarget, match=f"Nothing useful can be predicted: {words}.*pass force=True"):
        problem_of(frame, "y", "auto", 0.2, 0, quiet)
    assert len(problem_of(frame, "y", "auto", 0.0, 0, quiet, force=True).target) == len(values)


@pytest.mark.parametrize(
    "values",
    [
        [f"k{i % 1000}" for i in range(5_000)],  # many classes, but each in several rows
        [f"two words {i % 30}" for i in range(300)],
        np.arange(100.0) / 3,
        np.arange(100) * 2,
        np.arange(30),
    ],
)
def test_many_classes_and_numbers_that_differ_are_learned(values):
    assert doubt_about(pd.Series(values), task_of(pd.Series(values))[0]) is None


def test_a_table_of_nothing_but_the_target_and_a_wrong_task_are_refused():
    with pytest.raises(ValueError, match="no columns besides the target"):
        problem_of(pd.DataFrame({"y": [1.5, 2]}), "y", "auto", 0.2, 0, quiet)
    with pytest.raises(ValueError, match="A regression needs a numeric target, but the column 'y' holds text, such as 'a'"):
        problem_of(pd.DataFrame({"x": [1, 2, 3], "y": list("aba")}), "y", "regression", 0.2, 0, quiet)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Quality ", "Did you mean 'quality'?"),
        ("qualty", "Did you mean 'quality'?"),
        ("zzz", "Columns: 'quality', 'b', 'c', 'd', 'e' and 1 more."),
    ],
)
def test_a_missing_column_is_answered_with_the_closest_names(name, hint):
    frame = pd.DataFrame({column: [1, 2] for column in ["quality", "b", "c", "d", "e", "f"]})
    with pytest.raises(TargetError, match="The target column .* does not exist") as refused:
        problem_of(frame, name, "auto", 0.2, 0, quiet)
    assert hint in str(refused.value) and refused.value.column == name


# -- rows held out


def test_the_same_share_of_each_class_is_held_out_and_never_all_of_one():
    labels = pd.Series(["a"] * 500 + ["b"] * 50 + ["c"] * 5 + ["d"])
    aside = held_out(labels, "classification", 0.2, 10_000, 0)
    counts = labels[aside].value_counts().to_dict()
    assert counts == {"a": 100, "b": 10, "c": 1}
    assert (held_out(labels, "classification", 0.2, 10_000, 0) == aside).all()
    assert (held_out(labels, "classification", 0.2, 10_000, 1) != aside).any()


def test_the_number_of_held_out_rows_is_limited():
    for task, target in [("regression", pd.Series(np.arange(1000.0))), ("classification", pd.Series([0, 1] * 500))]:
        assert held_out(target, task, 0.2, 10_000, 0).sum() == 200
        assert held_out(target, task, 0.2, 50, 0).sum() == 50
        assert not held_out(target, task, 0.0, 50, 0).any()


def test_many_rare_classes_are_held_out_without_losing_one():
    labels = pd.Series([f"k{i % 400}" for i in range(1_000)])  # two or three rows each: fewer rows are held out than classes
    aside = held_out(labels, "classification", 0.2, 10_000, 0)
    assert 150 <= aside.sum() <= 200 and set(labels[~aside]) == set(labels)


def test_a_problem_divides_the_rows_unless_they_are_few():
    frame, notes = pd.DataFrame({"x": np.arange(100.0) / 4, "y": np.arange(100.0) / 4}), []
    problem = problem_of(frame, "y", "auto", 0.2, 0, notes.append)
    rows, target = problem.test
    assert len(rows) == 20 and sorted([*target, *problem.target]) == frame["y"].tolist()
    assert (rows["x"] == target).all() and (problem.rows["x"] == problem.target).all()
    assert problem_of(frame, "y", "auto", 0.0, 0, notes.append).test is None
    assert notes == []
    assert problem_of(frame[:49], "y", "auto", 0.2, 0, notes.append).test is None
    assert notes == ["Only 49 rows: none are held out, so there is only a cross-validated score."]


# -- scoring


def test_an_unknown_scorer_is_answered_with_the_closest_names():
    assert check_scoring("f1_macro") == "f1_macro"
    with pytest.raises(ValueError, match="scoring must be .* got 'acuracy': did you mean 'accuracy'"):
        check_scoring("acuracy")
    with pytest.raises(ValueError, match="such as accuracy or r2"):
        check_scoring("???")


@pytest.mark.parametrize(
    ("scoring", "values"),
    [
        ("r2", [0, 1, 0]),
        ("neg_mean_absolute_error", ["a", "b", "b"]),
        ("roc_auc", ["a", "b", "c"]),
        ("precision", ["a", "b", "b"]),  # which of them would be the positive one?
        ("accuracy", [0.5, 1.5, 2.5]),
        ("neg_mean_poisson_deviance", [-1.5, 2.5, 3.5]),
    ],
)
def test_a_scorer_that_does_not_fit_the_target_is_refused(scoring, values):
    target = pd.Series(values, name="y")
    task = "regression" if target.dtype == float else "classification"
    with pytest.raises(ValueError, match=f"scoring='{scoring}' does not fit|scoring must be a scorer for .* got '{scoring}'"):
        check_fits(scoring, task, target)


@pytest.mark.parametrize("scoring", ["accuracy", "f1_macro", "neg_log_loss", "roc_auc", "balanced_accuracy"])
def test_scorers_of_classes_fit_classes(scoring):
    check_fits(scoring, "classification", pd.Series(["a", "b", "b"], name="y"))


def test_scorers_of_classes_fit_two_fractions_too():
    check_fits("accuracy", "classification", pd.Series([0.5, 1.5, 1.5], name="y"))


@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error", "neg_median_absolute_error", "explained_variance"])
def test_scorers_of_numbers_fit_numbers(scoring):
    check_fits(scoring, "regression", pd.Series([0.5, 1.5, 2.0], name="y"))


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (pd.Categorical([1, 2, 30] * 20), {"1", "2", "30"}),
        (pd.cut(np.arange(60), 2, labels=None), {"(-0.059, 29.5]", "(29.5, 59.0]"}),
        ([1, "a", 2.5] * 20, {"1", "a", "2.5"}),
        ([True, None, False] * 20, {True, False}),
        ([[1], [2]] * 30, {"[1]", "[2]"}),
    ],
)
def test_classes_of_any_type_can_be_learned(values, classes):
    found = problem_of(pd.DataFrame({"x": range(60), "y": values}), "y", "auto", 0.2, 0, quiet)
    assert found.task == "classification" and set(found.target) == classes
    check_fits("accuracy", found.task, found.target)
