"""The time of a fit is for all of it, and rows held out are predicted once, as many as there is time for."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manyarms.cli.job import Job
from manyarms.cli.judging import judge


class Hands:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Costly:
    """A classifier of numbers above and below zero that takes a second for so many rows."""

    classes_ = np.array(["above", "below"])

    def __init__(self, clock, rows_a_second):
        self.clock, self.rows_a_second, self.asked = clock, rows_a_second, []

    def predict_proba(self, rows):
        self.asked.append(len(rows))
        self.clock.now += len(rows) / self.rows_a_second
        above = (rows["x"] > 0).to_numpy(float)
        return np.column_stack([above, 1 - above])

    def __sklearn_tags__(self):
        from sklearn.dummy import DummyClassifier

        return DummyClassifier().__sklearn_tags__()


def judged_in(seconds, rows_a_second=1_000, rows=4_000):
    clock = Hands()
    model = Costly(clock, rows_a_second)
    x = np.random.default_rng(0).normal(size=rows)
    target = pd.Series(np.where(x > 0, "above", "below"), name="y")
    return judge(model, pd.DataFrame({"x": x}), target, lambda: seconds - clock.now, clock), model


@pytest.mark.parametrize(("seconds", "asked"), [(60.0, [500, 3_500]), (4.5, [500, 2_000]), (0.1, [500])])
def test_rows_held_out_are_predicted_as_far_as_the_time_goes(seconds, asked):
    judged, model = judged_in(seconds)
    assert model.asked == asked and len(judged.target) == sum(asked)
    assert judged.score("accuracy") == 1.0 == judged.score("roc_auc")
    frame = judged.frame()
    assert (frame["actual"] == frame["predicted"]).all() and len(frame) == sum(asked)
    assert model.asked == asked, "what was predicted is not predicted again"
    note = judged.note()
    assert note is None if sum(asked) == 4_000 else note.startswith(f"{sum(asked):,} of 4,000 rows held out were scored")


def test_few_rows_are_all_predicted():
    judged, model = judged_in(-1.0, rows=40)
    assert model.asked == [40] and judged.note() is None


def job(seconds, clock):
    return Job(Path("t.csv"), Path("t"), seconds, None, "", argparse.Namespace(), clock, began=0.0)


@pytest.mark.parametrize(
    ("seconds", "passed", "search"), [(100.0, 10.0, 80.0), (10.0, 3.0, 5.5), (5.0, 9.0, 1.0), (1_000.0, 0.0, 980.0)]
)
def test_the_search_has_the_time_that_reading_and_writing_leave(seconds, passed, search):
    clock = Hands()
    work = job(seconds, clock)
    clock.now = passed
    assert work.search_seconds() == search and work.left() == seconds - passed


def test_a_budget_of_steps_has_no_end():
    assert job(None, Hands()).left() == math.inf and job(None, Hands()).search_seconds() is None
