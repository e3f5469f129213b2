"""Numbers as people write them."""

import numpy as np
import pandas as pd
import pytest

from manyarms.sklearn.automl.column_kinds import are_written_numbers, kind_of_column
from manyarms.sklearn.automl.conversions import numbers
from manyarms.sklearn.automl.number_formats import parse_number
from manyarms.sklearn.automl.prepare import Prepare

WRITTEN = {
    "1,747": 1747, "1,234,567.5": 1234567.5, "$82.40": 82.4, "12 %": 12, "12%": 12, "-$5": -5, "$-5": -5, "($1,200)": -1200,
    "(350)": -350, "1.747,50 €": 1747.5, "€ 3": 3, "USD 1,747": 1747, "1'747.50": 1747.5, "12 500 €": 12500, "−5 %": -5,
    "1 747,123 €": 1747.123, "1.234.567": 1234567, " 7 ": 7, "+3": 3, ".5": 0.5,
}  # fmt: skip
NOT_NUMBERS = [
    "",
    "-",
    "$",
    "0,125",
    "12,34",
    "1,23,456",
    "3.5.1",
    "5kg",
    "(5",
    "5)",
    "-(5)",
    "$5 €",
    "555 123 456",
    "1,747,",
    "9" * 50,
]


@pytest.mark.parametrize(("text", "value"), WRITTEN.items(), ids=list(WRITTEN))
def test_formatted_numbers_are_read(text, value):
    found = parse_number(text)
    assert found is not None and found.value == pytest.approx(value)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_is_not_clearly_a_number_is_not_read(text):
    assert parse_number(text) is None


def test_a_column_of_formatted_numbers_is_numeric_and_keeps_gaps():
    prices = pd.Series(["$1,747", None, "$82.40", "unknown", "($3)"])
    np.testing.assert_array_equal(numbers(prices), [1747.0, np.nan, 82.4, np.nan, -3.0])
    assert kind_of_column(pd.Series([f"{n:,}" for n in range(0, 90_000, 900)])) == "number"
    assert are_written_numbers(prices) and not are_written_numbers(pd.Series(["1", "2.5", None]))
    assert not are_written_numbers(pd.Series([1.0, 2.0]))


@pytest.mark.parametrize(
    "column", [["$5", "€5", "$7"], ["1.747,50", "17.47", "3.000,25"], ["1.262.905", "815.498", "82.40"], ["5 %", "$5"]]
)
def test_a_column_with_two_units_or_two_decimal_signs_is_not_numeric(column):
    assert kind_of_column(pd.Series(column)) != "number"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["815.498", "1.262.905", None, "unknown"], [815498, 1262905, np.nan, np.nan]),
        (["€ 815.498", "€ 12,50"], [815498, 12.5]),
        (["1.747,50", "1.747", "82,4"], [1747.5, 1747, 82.4]),
        (["815.498", "12.5"], [815.498, 12.5]),
        (["$1,747", "$82.40"], [1747, 82.4]),
    ],
)
def test_all_numbers_of_a_column_have_the_same_decimal_sign(column, expected):
    np.testing.assert_array_equal(numbers(pd.Series(column)), expected)


def test_new_numbers_have_the_decimal_sign_of_the_training():
    prepare = Prepare(fill=False).fit(pd.DataFrame({"price": ["815.498", "1.262.905", "712.000"]}))
    assert prepare.transform(pd.DataFrame({"price": ["815.498"]})).tolist() == [[815498.0]]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["69.4 m²", "80 m²", "1,200.5 m²"], [69.4, 80, 1200.5]),
        (["69,4 m²", "80 m²", "1.200 m²"], [69.4, 80, 1200]),
        (["80.1kg", "-3kg", None], [80.1, -3, np.nan]),
        (["120 km/h", "90 km/h", "7 km/h"], [120, 90, 7]),
        (["21.5 °C", "19 °C"], [21.5, 19]),
    ],
)
def test_numbers_with_the_same_unit_are_numbers(column, expected):
    assert kind_of_column(pd.Series(column)) == "number"
    np.testing.assert_array_equal(numbers(pd.Series(column)), expected)


@pytest.mark.parametrize("column", [["69 m²", "80 ft²", "7 m²"], ["1", "2", "3a"], ["8:15 am", "9:30 am"], ["1 h", "2 h 3 s"]])
def test_numbers_with_several_units_are_not_numbers(column):
    assert kind_of_column(pd.Series(column)) != "number"


def test_new_numbers_must_have_the_unit_of_the_training():
    prepare = Prepare(fill=False).fit(pd.DataFrame({"area": ["69.4 m²", "80 m²", "75 m²"]}))
    new = pd.DataFrame({"area": ["71.5 m²", "80 ft²", "70"]})
    np.testing.assert_array_equal(prepare.transform(new), [[71.5], [np.nan], [70.0]])
