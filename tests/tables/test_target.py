"""What is to be learned from a table: which rows count, a class or a number, what is held out, by which metric."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from manyarms.tables import held_out, task_of, with_target
from manyarms.tables.metrics import check_metric, check_suits
from manyarms.tables.problem import problem_of
from manyarms.tables.task import why_not


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


def target_of(values, say=quiet):
    rest, target = with_target(pd.DataFrame({"x": range(len(values)), "y": values}), "y", say)
    return rest["x"].tolist(), target


def test_rows_without_a_target_are_left_out_and_told():
    said = []
    rows, target = target_of([1, None, 3, np.inf, -np.inf, 6], said.append)
    assert rows == [0, 2, 5] and target.tolist() == [1, 3, 6] and target.dtype == np.int64
    assert said == ["3 rows without a target left out"]
    rows, target = target_of(["a", None, "b"])
    assert rows == [0, 2] and target.tolist() == ["a", "b"]
    rows, target = target_of([True, None, False])
    assert rows == [0, 2] and task_of(target)[0] == "classification"


def test_a_target_of_numbers_with_a_few_words_is_one_of_numbers():
    said = []
    rows, target = target_of([*map(str, range(50)), "unknown"], said.append)
    assert len(rows) == 50 and target.dtype == np.int64
    assert said[0] == "the target 'y' holds numbers: taken as missing are 'unknown'"
    codes = ["1", "2", "3a"] * 20
    assert target_of(codes)[1].tolist() == codes


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None], "the target 'y' is missing in every row"),
        ([1, 1, 1], "--target must vary, got 'y', which is 1 in all 3 rows"),
        (["a"] * 60, "--target must vary, got 'y', which is 'a' in all 60 rows"),
        ([1.5], "at least 2 rows with a target"),
        (list("abcdef"), "different in each of its rows"),
        (pd.date_range("2020", periods=5), "which is a date"),
    ],
)
def test_a_target_that_cannot_be_learned_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        problem_of(pd.DataFrame({"x": range(len(values)), "y": values}), "y", "auto", 0.2, 0, quiet)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([f"id{i // 2 if i < 20 else i}" for i in range(100)], "'y' looks like an identifier: 90 distinct values in 100 rows"),
        ([f"what is said in row {i % 60}" for i in range(200)], "'y' is free text: 60 distinct values in 200 rows, of 6 words"),
        (range(7, 107), "'y' numbers the rows"),
    ],
)
def test_names_of_rows_and_free_text_are_learned_only_by_force(values, words):
    frame = pd.DataFrame({"x": range(len(values)), "y": values})
    with pytest.raises(ValueError, match=f"--target must be something to predict, but {words}.*add --force"):
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
    assert why_not(pd.Series(values), task_of(pd.Series(values))[0]) is None


def test_a_table_of_nothing_but_the_target_and_a_wrong_task_are_refused():
    with pytest.raises(ValueError, match="no column beside the target"):
        problem_of(pd.DataFrame({"y": [1.5, 2]}), "y", "auto", 0.2, 0, quiet)
    with pytest.raises(ValueError, match="--task regression needs a target of numbers, got 'y' with values such as 'a', 'b'"):
        problem_of(pd.DataFrame({"x": [1, 2, 3], "y": list("aba")}), "y", "regression", 0.2, 0, quiet)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Quality ", "did you mean 'quality'"),
        ("qualty", "did you mean 'quality'"),
        ("zzz", "there are 'quality', 'b', 'c', 'd', 'e' and 1 more"),
    ],
)
def test_a_column_that_is_not_there_is_answered_with_the_closest(name, hint):
    frame = pd.DataFrame({column: [1, 2] for column in ["quality", "b", "c", "d", "e", "f"]})
    with pytest.raises(ValueError, match="--target must name a column") as refused:
        problem_of(frame, name, "auto", 0.2, 0, quiet)
    assert hint in str(refused.value)


# -- rows held out


def test_of_each_class_the_same_share_is_held_out_and_never_all_of_one():
    labels = pd.Series(["a"] * 500 + ["b"] * 50 + ["c"] * 5 + ["d"])
    aside = held_out(labels, "classification", 0.2, 10_000, 0)
    counts = labels[aside].value_counts().to_dict()
    assert counts == {"a": 100, "b": 10, "c": 1}
    assert (held_out(labels, "classification", 0.2, 10_000, 0) == aside).all()
    assert (held_out(labels, "classification", 0.2, 10_000, 1) != aside).any()


def test_at_most_so_many_rows_are_held_out():
    for task, target in [("regression", pd.Series(np.arange(1000.0))), ("classification", pd.Series([0, 1] * 500))]:
        assert held_out(target, task, 0.2, 10_000, 0).sum() == 200
        assert held_out(target, task, 0.2, 50, 0).sum() == 50
        assert not held_out(target, task, 0.0, 50, 0).any()


def test_a_problem_parts_the_rows_unless_they_are_few():
    frame, said = pd.DataFrame({"x": np.arange(100.0) / 4, "y": np.arange(100.0) / 4}), []
    problem = problem_of(frame, "y", "auto", 0.2, 0, said.append)
    rows, target = problem.judged
    assert len(rows) == 20 and sorted([*target, *problem.target]) == frame["y"].tolist()
    assert (rows["x"] == target).all() and (problem.rows["x"] == problem.target).all()
    assert problem_of(frame, "y", "auto", 0.0, 0, said.append).judged is None
    assert said == []
    assert problem_of(frame[:49], "y", "auto", 0.2, 0, said.append).judged is None
    assert said == ["only 49 rows: none are held out, so the only score is that of the search"]


# -- metrics


def test_a_metric_that_is_none_is_answered_with_the_closest():
    assert check_metric("f1_macro") == "f1_macro"
    with pytest.raises(ValueError, match="--metric must be .* got 'acuracy': did you mean 'accuracy'"):
        check_metric("acuracy")
    with pytest.raises(ValueError, match="such as accuracy or r2"):
        check_metric("???")


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("r2", [0, 1, 0]),
        ("neg_mean_absolute_error", ["a", "b", "b"]),
        ("roc_auc", ["a", "b", "c"]),
        ("precision", ["a", "b", "b"]),  # which of them would be the positive one?
        ("accuracy", [0.5, 1.5, 2.5]),
        ("neg_mean_poisson_deviance", [-1.5, 2.5, 3.5]),
    ],
)
def test_a_metric_that_does_not_suit_the_target_is_refused(metric, values):
    target = pd.Series(values, name="y")
    task = "regression" if target.dtype == float else "classification"
    with pytest.raises(ValueError, match=f"--metric .*{metric}|--metric must be one of .* got '{metric}'"):
        check_suits(metric, task, target)


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "neg_log_loss", "roc_auc", "balanced_accuracy"])
def test_metrics_of_classes_suit_classes(metric):
    check_suits(metric, "classification", pd.Series(["a", "b", "b"], name="y"))


def test_metrics_of_classes_suit_two_fractions_too():
    check_suits("accuracy", "classification", pd.Series([0.5, 1.5, 1.5], name="y"))


@pytest.mark.parametrize("metric", ["r2", "neg_root_mean_squared_error", "neg_median_absolute_error", "explained_variance"])
def test_metrics_of_numbers_suit_numbers(metric):
    check_suits(metric, "regression", pd.Series([0.5, 1.5, 2.0], name="y"))
