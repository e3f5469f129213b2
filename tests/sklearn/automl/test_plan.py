"""How a search goes about a table: on which rows, in how many folds, in which process."""

import pytest

from manyarms.sklearn.automl.column_kinds import kinds_of
from manyarms.sklearn.automl.folds import held_out_rows
from manyarms.sklearn.automl.plan import Plan, Size, needs_process, plan_of, width

FAST, SLOW = 1e-5, 1e-2  # seconds a row of a quick model


@pytest.mark.parametrize(
    ("size", "folds", "seconds", "each", "plan"),
    [
        (Size(200, 10, 2), 5, 5.0, FAST, Plan(5, 200)),
        (Size(4_000, 30, 3), 5, 60.0, FAST, Plan(5, 4_000)),
        (Size(4_000, 30, 3), 5, 60.0, SLOW, Plan(1, 900)),  # a quick model takes 40 s, so 15% of the time is for 900 rows
        (Size(4_000, 1_000, 1_279), 5, 600.0, SLOW, Plan(1, 4_000)),
        (Size(500_000, 10, 0), 1, 600.0, FAST, Plan(1, 500_000)),
        (Size(500_000, 10, 0), 1, 5.0, SLOW, Plan(1, 500)),
        (Size(500_000, 10, 300), 1, 10.0, FAST, Plan(1, 1_666)),  # what surely ends soon in this process
        (Size(500_000, 20_000, 2), 1, 600.0, FAST, Plan(1, 6_710)),  # a gigabyte
        (Size(26_000, 30, 1_279), 1, 5.0, FAST, Plan(1, 6_395)),  # five of each class
        (Size(37_000, 30, 7_231), 1, 5.0, FAST, Plan(1, 10_000)),
        (Size(100, 10, 90), 1, 5.0, SLOW, Plan(1, 100)),
    ],
)
def test_the_plan_suits_the_table_and_the_time(size, folds, seconds, each, plan):
    assert plan_of(size, folds, seconds, each) == plan


def test_folds_that_were_asked_for_are_kept():
    assert plan_of(Size(4_000, 30, 3), 3, 5.0, SLOW, may_change=False).folds == 3


def test_a_process_of_its_own_is_for_what_may_take_long_and_where_there_is_time_to_start_it():
    large, small = Size(500_000, 10, 2), Size(5_000, 10, 2)
    assert needs_process(large, 60.0) and not needs_process(large, 10.0) and not needs_process(small, 600.0)


def test_the_width_of_a_table_goes_by_the_kinds_of_its_columns():
    import pandas as pd

    table = pd.DataFrame({"n": [1, 2, 3], "when": pd.date_range("2024", periods=3), "same": 1, "kind": list("aba")})
    assert width(kinds_of(table)) == 1 + 6 + 0 + 10
    assert width(["nothing"]) == 1


def test_what_is_held_out_holds_every_class_and_is_never_too_much():
    assert held_out_rows(26_000, 1_279) == 2_600
    assert held_out_rows(10**7, 2) == 10_000
