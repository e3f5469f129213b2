"""The time of a fit covers everything, and held-out rows are predicted once, as many as there is time for."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from manyarms.tables.evaluation import evaluate
from manyarms.tables.time_budget import TimeBudget


class ManualClock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class SlowClassifier:
    """A classifier of numbers above and below zero that predicts a given number of rows per second."""

    classes_ = np.array(["above", "below"])

    def __init__(self, clock, rows_per_second):
        self.clock, self.rows_per_second, self.predicted = clock, rows_per_second, []

    def predict_proba(self, rows):
        self.predicted.append(len(rows))
        self.clock.now += len(rows) / self.rows_per_second
        above = (rows["x"] > 0).to_numpy(float)
        return np.column_stack([above, 1 - above])

    def __sklearn_tags__(self):
        from sklearn.dummy import DummyClassifier

        return DummyClassifier().__sklearn_tags__()


def evaluated_in(seconds, rows_per_second=1_000, rows=4_000):
    clock = ManualClock()
    model = SlowClassifier(clock, rows_per_second)
    x = np.random.default_rng(0).normal(size=rows)
    target = pd.Series(np.where(x > 0, "above", "below"), name="y")
    return evaluate(model, pd.DataFrame({"x": x}), target, lambda: seconds - clock.now, clock), model


@pytest.mark.parametrize(("seconds", "parts"), [(60.0, [500, 1_000, 2_000, 500]), (4.5, [500, 1_000, 750]), (0.1, [500])])
def test_held_out_rows_are_predicted_as_far_as_the_time_allows(seconds, parts):
    evaluation, model = evaluated_in(seconds)
    assert model.predicted == parts and len(evaluation.target) == sum(parts)
    assert evaluation.score("accuracy") == 1.0 == evaluation.score("roc_auc")
    frame = evaluation.frame()
    assert (frame["actual"] == frame["predicted"]).all() and len(frame) == sum(parts)
    assert model.predicted == parts, "rows are predicted only once"
    note = evaluation.note()
    assert note is None if sum(parts) == 4_000 else note.startswith(f"Scored {sum(parts):,} of 4,000 held-out rows")


def test_few_rows_are_all_predicted():
    evaluation, model = evaluated_in(-1.0, rows=40)
    assert model.predicted == [40] and evaluation.note() is None


def test_batches_that_take_longer_than_the_first_one_suggests_end_in_time():
    clock = ManualClock()
    model = SlowClassifier(clock, rows_per_second=1_000)
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(size=10_000)})

    def predict_proba(rows):
        clock.now += (len(rows) / 1_000) ** 2  # as when large arrays need new memory
        return model.predict_proba(rows)

    slowing = SimpleNamespace(classes_=model.classes_, predict_proba=predict_proba)
    evaluate(slowing, table, pd.Series(np.where(table["x"] > 0, "above", "below")), lambda: 20.0 - clock.now, clock)
    assert sum(model.predicted) > 500
    assert clock.now <= 20.0


@pytest.mark.parametrize(("left", "expected"), [(600.0, 1.0), (0.5, 0.5)])
def test_after_an_interrupt_little_time_is_left(left, expected):
    time = TimeBudget(10.0 + left, lambda: 10.0, began=0.0)
    assert time.ending_within(1.0).left() == pytest.approx(expected)
    assert TimeBudget(None, lambda: 10.0, began=0.0).ending_within(1.0).left() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("seconds", "passed", "search"), [(100.0, 10.0, 80.0), (10.0, 3.0, 5.5), (5.0, 9.0, 1.0), (1_000.0, 0.0, 980.0)]
)
def test_the_search_has_the_time_that_reading_and_writing_leave(seconds, passed, search):
    clock = ManualClock()
    time = TimeBudget(seconds, clock, began=0.0)
    clock.now = passed
    assert time.search_seconds() == search and time.left() == seconds - passed


def test_time_that_passed_before_the_fit_can_be_counted():
    assert TimeBudget.since(12.5, 60.0).began == 12.5
    assert TimeBudget.since(None, 60.0).began > 0


def test_a_budget_of_steps_has_no_end():
    time = TimeBudget(None, ManualClock(), began=0.0)
    assert time.left() == math.inf and time.search_seconds() is None
