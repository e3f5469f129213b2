"""What columns are taken for."""

import numpy as np
import pandas as pd
import pytest

from manyarms.sklearn.automl.column_kinds import as_table, kind_of_column, kinds_of
from manyarms.sklearn.automl.conversions import dates, number_matrix, numbers

COLUMNS = {
    "number": [
        [1, 2, 3],
        [1.5, None, 2.5],
        [True, False, True],
        ["1", "2.5", "-3e4"],
        [1.0, np.inf, 2.0],
        pd.array([1, None, 3], dtype="Int64"),
    ],
    "category": [
        ["a", "b", "a"],
        ["x", 1, 2.5, "x"],
        pd.Categorical(["u", "v", "u"]),
        pd.Categorical([3, 1, 3]),
        pd.Categorical([0.5, 1.5, None, 0.5]),
        pd.Categorical(["2024-01-01", "2024-05-01"]),
        [("a", 1), ("b", 2), ("a", 1)],
        [[1], [2], [1]],
        ["Jan", "Feb", "Mar"],
        ["1", "2-10", "11-100"],
        ["08:30", "12:45", "08:30"],
        ["1.2.3", "1.2.4"],
        ["1999-2000", "2000-2001"],
    ],
    "many categories": [[f"c{i % 30}" for i in range(100)], pd.Categorical(range(100))],
    "date": [
        pd.to_datetime(["2024-01-01", "2024-05-01"]),
        ["2024-01-01", "2024-05-01"],
        ["3 May 2021", "4 June 2022"],
        ["9/30/1990 0:00:00", "12/1/1991 0:00:00"],
        ["May 2021", "2021-06"],
    ],
    "text": [[f"the number {i} is a good one" for i in range(50)]],
    "nothing": [
        [None, None],
        [np.inf, -np.inf, np.inf],
        [np.inf, 1.0],
        ["same", "same"],
        [7, 7, 7],
        [f"row-{i}" for i in range(40)],
        [],
    ],
}


@pytest.mark.parametrize(("kind", "values"), [(kind, values) for kind, many in COLUMNS.items() for values in many])
def test_a_column_is_taken_for_what_it_holds(kind, values):
    assert kind_of_column(pd.Series(values)) == kind


def test_what_is_no_finite_number_is_missing():
    read = numbers(pd.Series(["1", "two", None, np.inf, 2.5]))
    assert np.array_equal(read, [1.0, np.nan, np.nan, np.nan, 2.5], equal_nan=True)


def test_dates_of_several_formats_and_lengths_of_time_are_read():
    assert dates(pd.Series(["2024-01-01", "5 May 2024", "nonsense"])).isna().tolist() == [False, False, True]
    assert dates(pd.Series(pd.to_timedelta([1, 2], unit="D"))).notna().all()


def test_a_table_has_numbered_columns_and_other_arrays_are_refused():
    assert list(as_table(pd.DataFrame([[1, 2]], columns=["a", "a"])).columns) == [0, 1]
    assert as_table([[1, "x"]]).shape == (1, 2)
    with pytest.raises(ValueError, match="X must have two dimensions, got 1"):
        as_table([1, 2, 3])


def test_times_in_nanoseconds_since_1970_are_numbers_that_differ():
    times = pd.date_range("2024-01-01", periods=3).astype("datetime64[ns]").astype("int64")
    assert kinds_of(pd.DataFrame({"t": times})) == ["number"]


@pytest.mark.parametrize("dtype", ["date32[day][pyarrow]", "timestamp[us][pyarrow]", "timestamp[us, tz=UTC][pyarrow]"])
def test_arrow_dates_are_dates(dtype):
    pytest.importorskip("pyarrow")
    days = pd.date_range("2024-01-01", periods=3, tz="UTC" if "UTC" in dtype else None).to_series()
    column = (days.dt.date if "date32" in dtype else days).astype(dtype)
    assert dates(column).tolist() == list(pd.date_range("2024-01-01", periods=3))


@pytest.mark.parametrize("pattern", ["%d/%m/%Y", "%d.%m.%Y", "%d-%m-%y", "%m/%d/%Y", "%Y-%m-%d", "%d/%m/%Y %H:%M"])
def test_all_dates_of_a_column_have_the_same_order_of_day_and_month(pattern):
    days = pd.date_range("2024-01-01", periods=200)
    assert dates(pd.Series(days.strftime(pattern))).tolist() == list(days)


@pytest.mark.parametrize("pattern", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d"])
def test_dates_that_start_with_the_year_have_the_month_first_among_any_others(pattern):
    days = pd.Series(pd.date_range("2024-03-01", periods=30))
    assert dates(days.dt.strftime(pattern), day_first=True).tolist() == list(days)
    mixed = days.dt.strftime(pattern).where(days.index % 2 == 0, days.dt.strftime("%d/%m/%Y"))
    assert dates(mixed).tolist() == list(days)


class Silent:
    """A value that nothing can be made of."""

    __hash__ = None

    def __str__(self):
        raise RuntimeError("no")


def test_no_value_is_so_odd_that_a_column_raises_an_error():
    odd = pd.Series([Silent(), 10**400, [1], {"a": 1}, b"x", np.nan, pd.Period("2024-01"), pd.Interval(0, 1)] * 4, dtype=object)
    assert kind_of_column(odd) in ("category", "many categories", "nothing")
    assert numbers(odd).shape == (32,) and np.nanmax(numbers(odd)) == 1e19
    assert dates(odd).isna().sum() >= 16
    assert kind_of_column(pd.Series([Silent()] * 3, dtype=object)) == "nothing"


def test_many_columns_at_once_are_taken_for_what_each_is_alone():
    values = [pd.Series(values) for many in COLUMNS.values() for values in many if len(values) == 3]
    table = pd.concat(values, axis=1).set_axis(range(len(values)), axis=1)
    assert kinds_of(table) == [kind_of_column(table[column]) for column in table]
    plain = pd.DataFrame({0: [1, 2, 3], 1: [np.inf, 1e300, np.nan], 2: [True, False, True]})
    assert np.array_equal(number_matrix(plain), np.column_stack([numbers(plain[c]) for c in plain]), equal_nan=True)
    mixed = plain.assign(text=["1", "x", "2"])
    assert np.array_equal(number_matrix(mixed), np.column_stack([numbers(mixed[c]) for c in mixed]), equal_nan=True)
