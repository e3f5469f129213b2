"""Argument checks: the value comes back, or the message names the argument, the rule and what was given."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manyarms import checks


async def later(x):
    return x


def several(x):
    yield x


class Later:
    async def __call__(self, x):
        return x


WRONG = {
    "nan is not between": (lambda: checks.between("x", math.nan, 0, 1), ValueError, "x must be between 0 and 1, got nan"),
    "inf is not between": (lambda: checks.between("x", math.inf, 0), ValueError, "x must be finite, got inf"),
    "below": (lambda: checks.between("x", -1, 0), ValueError, "x must be at least 0, got -1"),
    "above": (lambda: checks.between("x", 2.5, -math.inf, 1), ValueError, "x must be at most 1, got 2.5"),
    "huge whole number": (lambda: checks.between("x", 10**400, 0, 1), ValueError, "x must be between 0 and 1, got 1000"),
    "bool is no number": (lambda: checks.between("x", True, 0), TypeError, "x must be a number, got True"),
    "text is no number": (lambda: checks.between("x", "3", 0), TypeError, "x must be a number, got '3'"),
    "nan is not finite": (lambda: checks.finite("x", math.nan), ValueError, "x must be finite, got nan"),
    "inf is not finite": (lambda: checks.finite("x", -math.inf), ValueError, "x must be finite, got -inf"),
    "beyond floats is not finite": (lambda: checks.finite("x", -(10**400)), ValueError, "x must be finite, got -1000"),
    "None is not finite": (lambda: checks.finite("x", None), TypeError, "x must be a number, got None"),
    "float is not whole": (lambda: checks.whole("n", 3.0), TypeError, "n must be a whole number, got 3.0"),
    "bool is not whole": (lambda: checks.whole("n", False), TypeError, "n must be a whole number, got False"),
    "too few": (lambda: checks.whole("n", 0, 1), ValueError, "n must be at least 1, got 0"),
    "one is no flag": (lambda: checks.flag("log", 1), TypeError, "log must be True or False, got 1"),
    "unknown word": (lambda: checks.one_of("mode", "c", ("a", "b")), ValueError, "mode must be one of 'a', 'b', got 'c'"),
    "no word": (lambda: checks.one_of("mode", None, ("a", "b")), ValueError, "mode must be one of 'a', 'b', got None"),
    "zero seconds": (lambda: checks.seconds("timeout", 0), ValueError, "timeout must be above 0, got 0"),
    "zero hours": (lambda: checks.seconds("timeout", "0h"), ValueError, "timeout must be above 0, got '0h'"),
    "negative seconds": (lambda: checks.seconds("timeout", -1), ValueError, "timeout must be at least 0, got -1"),
    "nan seconds": (lambda: checks.seconds("timeout", math.nan), ValueError, "timeout must be at least 0, got nan"),
    "infinite seconds": (lambda: checks.seconds("timeout", math.inf), ValueError, "timeout must be finite, got inf"),
    "endless text": (lambda: checks.seconds("timeout", "9" * 400 + "h"), ValueError, "timeout must be finite, got inf"),
    "bounds too far apart": (
        lambda: checks.interval("bounds", (-1e308, 1e308)),
        ValueError,
        "the distance between bounds must be finite, got inf",
    ),
    "a path that is blank": (lambda: checks.path("directory", "  "), ValueError, "directory must be a path that is not blank"),
    "a path with NUL": (lambda: checks.path("directory", "a\0b"), ValueError, "no NUL characters, got 'a\\x00b'"),
    "a number is no path": (lambda: checks.path("directory", 5), TypeError, "directory must be a path, got 5"),
    "bytes are no path": (lambda: checks.path("directory", b"a"), TypeError, "directory must be a path, got b'a'"),
    "a number is no function": (lambda: checks.function("f", 5, "x"), TypeError, "f must be callable as f(x), got 5"),
    "too few parameters": (lambda: checks.function("f", lambda: 0, "x"), TypeError, ">: too many positional arguments"),
    "too many parameters": (
        lambda: checks.function("f", lambda x, y: 0, "x"),
        TypeError,
        ">: missing a required argument: 'y'",
    ),
    "an async function": (lambda: checks.function("f", later, "x"), TypeError, "f must be a function without async or yield"),
    "a generator": (lambda: checks.function("f", several, "x"), TypeError, "f must be a function without async or yield"),
    "a partial async function": (
        lambda: checks.function("f", functools.partial(later), "x"),
        TypeError,
        "f must be a function without async or yield",
    ),
    "an object that is called later": (
        lambda: checks.function("f", Later(), "x"),
        TypeError,
        "f must be a function without async or yield",
    ),
    "unknown unit": (
        lambda: checks.seconds("timeout", "8 weeks"),
        ValueError,
        'timeout must be a number of seconds or a string such as "90s"',
    ),
    "no unit": (lambda: checks.seconds("timeout", "90"), ValueError, "got '90'"),
    "no bytes": (lambda: checks.size("max_bytes", 0), ValueError, "max_bytes must be at least 1, got 0"),
    "float bytes": (lambda: checks.size("max_bytes", 1e9), TypeError, "max_bytes must be a whole number, got 1000000000.0"),
    "unknown bytes": (
        lambda: checks.size("max_bytes", "5 apples"),
        ValueError,
        'max_bytes must be a number of bytes or a string such as "500MB"',
    ),
    "half a unit": (lambda: checks.size("max_bytes", "5I"), ValueError, "got '5I'"),
}


@pytest.mark.parametrize(("check", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(check, error, message):
    with pytest.raises(error) as raised:
        check()
    assert message in str(raised.value)


def test_numbers_come_back_as_plain_python_numbers():
    assert [type(checks.between("x", value, 0)) for value in (1, Fraction(1, 2), np.float32(1))] == [float] * 3
    assert type(checks.finite("x", np.int64(3))) is float
    assert type(checks.whole("n", np.int64(3))) is int
    assert checks.flag("log", True) is True
    assert checks.one_of("mode", "a", ("a", "b")) == "a"


@pytest.mark.parametrize(
    "function",
    [
        len,
        max,
        type,
        math.hypot,
        np.sin,
        lambda x: 0,
        lambda *xs: 0,
        lambda x, y=1, *, z=2: 0,
        functools.partial(pow, exp=2),
        functools.wraps(lambda x, y: 0)(lambda x: 0),
    ],
)
def test_whatever_can_be_called_as_asked_is_a_function(function):
    assert checks.function("function", function, "x") is function


@pytest.mark.parametrize(
    ("text", "expected"), [("90s", 90), ("10m", 600), ("10 min", 600), ("1.5h", 5400), (" 2d ", 172800), (7, 7)]
)
def test_durations_are_read_in_seconds(text, expected):
    assert checks.seconds("timeout", text) == expected


@pytest.mark.parametrize(("text", "expected"), [("500MB", 500e6), ("5GiB", 5 * 2**30), ("1.5 kB", 1500), ("12", 12), (7, 7)])
def test_sizes_are_read_in_bytes(text, expected):
    assert checks.size("max_bytes", text) == expected


@given(st.floats(), st.floats(allow_nan=False), st.floats(allow_nan=False))
@example(math.inf, 0.0, math.inf)
@example(-math.inf, -math.inf, 0.0)
def test_between_lets_pass_exactly_the_finite_numbers_that_lie_between(value, low, high):
    if low <= value <= high and math.isfinite(value):
        assert checks.between("x", value, low, high) == value
    else:
        with pytest.raises(ValueError, match="x must be"):
            checks.between("x", value, low, high)


@given(st.text() | st.binary() | st.none() | st.lists(st.integers()) | st.booleans() | st.complex_numbers())
def test_no_check_of_numbers_takes_anything_else(value):
    for check in (checks.finite, checks.whole, lambda name, value: checks.between(name, value, 0)):
        with pytest.raises(TypeError, match="^x must be a (whole )?number, got "):
            check("x", value)


@given(st.text())
def test_any_text_is_a_duration_and_a_size_or_refused_by_name(text):
    for check in (checks.seconds, checks.size):
        try:
            assert check("limit", text) > 0
        except ValueError as error:
            assert str(error).startswith("limit must be")
