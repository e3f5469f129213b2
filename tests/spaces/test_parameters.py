"""Float, Int, Choice and Constant, each on its own."""

import enum
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from manyarms.spaces import Choice, Constant, Float, Int, Space

WRONG = {
    "float nan": (lambda: Float(math.nan, 1), ValueError, "low must be finite, got nan"),
    "float inf": (lambda: Float(0, math.inf), ValueError, "high must be finite, got inf"),
    "float beyond floats": (lambda: Float(0, 10**400), ValueError, "high must be finite, got 1000"),
    "float turned round": (lambda: Float(2, 1), ValueError, "low must not exceed high, got low=2.0 and high=1.0"),
    "float too wide": (lambda: Float(-1e308, 1e308), ValueError, "high - low must be finite, got low=-1e+308"),
    "float log of zero": (lambda: Float(0, 1, log=True), ValueError, "low must be above 0 with log=True, got 0.0"),
    "float log of less": (lambda: Float(-1, 1, log=True), ValueError, "low must be above 0 with log=True, got -1.0"),
    "float log word": (lambda: Float(1, 2, log="yes"), TypeError, "log must be True or False, got 'yes'"),
    "float bool": (lambda: Float(0, True), TypeError, "high must be a number, got True"),
    "float text": (lambda: Float("0", 1), TypeError, "low must be a number, got '0'"),
    "int float": (lambda: Int(1, 5.0), TypeError, "high must be a whole number, got 5.0"),
    "int nan": (lambda: Int(math.nan, 5), TypeError, "low must be a whole number, got nan"),
    "int bool": (lambda: Int(False, 5), TypeError, "low must be a whole number, got False"),
    "int turned round": (lambda: Int(5, 1), ValueError, "low must not exceed high, got low=5 and high=1"),
    "int log of zero": (lambda: Int(0, 5, log=True), ValueError, "low must be above 0 with log=True, got 0"),
    "int log number": (lambda: Int(1, 5, log=1), TypeError, "log must be True or False, got 1"),
    "int too large": (lambda: Int(0, 2**60), ValueError, "low and high must be within 2**53 of 0, got low=0"),
    "choice of nothing": (lambda: Choice(), ValueError, "options must name at least one value, got none"),
    "choice twice": (lambda: Choice("a", "b", "a"), ValueError, "options must differ, got 'a' twice"),
    "choice of equal lists": (lambda: Choice([1], [1]), ValueError, "options must differ, got [1] twice"),
    "choice of a tuple": (lambda: Choice((1, 2)), TypeError, "an option must survive JSON unchanged"),
    "choice of a tuple, hint": (lambda: Choice((1, 2)), TypeError, "got (1, 2); write [1, 2]"),
    "choice of a function": (lambda: Choice("relu", math.tanh), TypeError, "got <built-in function tanh>"),
    "choice of nan": (lambda: Choice(math.nan), TypeError, "an option must survive JSON unchanged"),
    "choice of number keys": (lambda: Choice({1: 2}), TypeError, "got {1: 2}"),
    "choice ordered word": (lambda: Choice(1, ordered="yes"), TypeError, "ordered must be True or False, got 'yes'"),
    "choice of ordered spaces": (lambda: Choice(1, Space(), ordered=True), ValueError, "ordered=True, got Space()"),
    "choice of one space twice": (lambda: Choice(Space(x=Int(1, 3)), Space(x=Int(2, 5))), ValueError, "no value in common"),
    "choice of a number in a range": (lambda: Choice(Int(1, 3), 2), ValueError, "got Int(low=1, high=3, log=False) and 2"),
    "choice of a value in a choice": (lambda: Choice("a", Choice("a", "b")), ValueError, "Choice('a', 'b') and 'a'"),
    "choice of a value of a space": (lambda: Choice({"x": 1}, Space(x=Int(1, 3))), ValueError, "and {'x': 1}"),
    "choice unknown value": (
        lambda: Choice("a", "b").encode("c"),
        ValueError,
        "'c' is none of the options of Choice('a', 'b')",
    ),
    "constant set": (lambda: Constant({1}), TypeError, "a constant must survive JSON unchanged"),
}

PARAMETERS = {
    "float": Float(-1, 1),
    "float of one value": Float(2, 2),
    "float of two neighbours": Float(1.0, math.nextafter(1.0, 2)),
    "float log": Float(1e-5, 1e-1, log=True),
    "float log, all of them": Float(5e-324, 1.7976931348623157e308, log=True),
    "float log, up to the largest": Float(5.457544008860176e-138, 1.7976931348623157e308, log=True),
    "float log, next to nothing": Float(1e300, 1e300 * (1 + 1e-15), log=True),
    "int": Int(-3, 3),
    "int of one value": Int(7, 7),
    "int log": Int(1, 1_000_000, log=True),
    "int as large as floats count": Int(-(2**53), 2**53),
    "choice": Choice("a", None, True, 1, 1.0, [1, 2], {"b": 2}),
    "choice of one": Choice("a"),
    "choice ordered": Choice("s", "m", "l", ordered=True),
    "choice with parameters": Choice("auto", Float(0, 1), Int(2, 9), Choice("x", "y")),
    "constant": Constant([1, {"a": None}]),
}


class Size(enum.IntEnum):
    SMALL = 1


@pytest.mark.parametrize(("make", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(make, error, message):
    with pytest.raises(error) as raised:
        make()
    assert message in str(raised.value)


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=PARAMETERS)
@given(coordinate=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_values_stay_in_range_and_mutants_differ_wherever_there_is_another(parameter, coordinate, seed):
    rng = np.random.default_rng(seed)
    decoded = parameter.decode([coordinate] * parameter.dimension)
    for value in (decoded, parameter.sample(rng)):
        child = parameter.mutate(value, rng)
        assert parameter.contains(value) and parameter.contains(child)
        assert (repr(child) != repr(value)) == parameter.varies  # by repr, because True equals 1
        code = list(parameter.encode(value))
        assert len(code) == parameter.dimension and all(0 <= u <= 1 for u in code)
        again = parameter.encode(parameter.decode(code))
        assert np.allclose(again, code, rtol=0, atol=1e-9)
    assert parameter.contains(parameter.decode([1.0] * parameter.dimension))


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.data())
def test_each_whole_number_decodes_from_its_own_code(low, width, data):
    parameter = Int(low, low + width, log=low > 0 and data.draw(st.booleans()))
    value = data.draw(st.integers(low, low + width))
    assert parameter.decode(parameter.encode(value)) == value


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300), st.booleans(), st.floats(0, 1))
def test_each_real_number_decodes_from_its_own_code(one, two, log, coordinate):
    parameter = Float(min(one, two), max(one, two), log)
    value = parameter.decode([coordinate])
    scale = value if log else parameter.high - parameter.low
    assert abs(parameter.decode(parameter.encode(value)) - value) <= 1e-12 * scale


@pytest.mark.parametrize(
    "parameter", [Int(1, 10), Int(-5, 4), Choice(*range(10)), Choice(*"abcdefghij", ordered=True)], ids=repr
)
def test_whole_numbers_and_choices_are_sampled_evenly(parameter):
    rng = np.random.default_rng(1)
    _, counts = np.unique([parameter.sample(rng) for _ in range(10_000)], return_counts=True)
    assert len(counts) == 10
    assert chisquare(counts).pvalue > 0.01


def test_real_numbers_are_sampled_evenly_in_their_scale():
    rng = np.random.default_rng(1)
    assert kstest([Float(2, 4).sample(rng) for _ in range(5_000)], "uniform", (2, 2)).pvalue > 0.01
    assert kstest([Float(1e-4, 1, log=True).sample(rng) for _ in range(5_000)], "loguniform", (1e-4, 1)).pvalue > 0.01


def test_log_whole_numbers_give_each_value_and_each_power_of_ten_its_share():
    rng = np.random.default_rng(1)
    ones = sum(Int(1, 9, log=True).sample(rng) == 1 for _ in range(5_000))
    assert ones / 5_000 == pytest.approx(math.log(1.5 / 0.5) / math.log(9.5 / 0.5), abs=0.02)
    samples = np.array([Int(1, 999_999, log=True).sample(rng) for _ in range(20_000)])
    shares = np.histogram(np.log10(samples), bins=range(7))[0] / len(samples)
    assert np.all(np.abs(shares[1:] - 1 / 6) < 0.02)


def test_bounds_are_values_that_mutation_can_leave_and_nothing_passes():
    rng = np.random.default_rng(0)
    for parameter in (Float(0, 1), Float(1e-3, 1, log=True), Int(1, 5), Int(1, 5, log=True)):
        assert [parameter.decode([u]) for u in (0, 1)] == pytest.approx([parameter.low, parameter.high])
        assert [parameter.decode([u]) for u in (-0.1, 1.1)] == [parameter.decode([u]) for u in (0, 1)]
        for bound in (parameter.low, parameter.high):
            assert all(parameter.low <= parameter.mutate(bound, rng) <= parameter.high for _ in range(100))
            assert not parameter.contains(bound + 10) and not parameter.contains(math.nan) and not parameter.contains(True)


def test_mutation_takes_small_steps_and_a_given_size_scales_them():
    rng = np.random.default_rng(0)
    small, large = ([abs(Float(0, 1).mutate(0.5, rng, size) - 0.5) for _ in range(500)] for size in (0.01, 0.1))
    assert np.mean(small) == pytest.approx(0.008, rel=0.15) and np.mean(large) == pytest.approx(0.08, rel=0.15)
    ordered = Choice(*range(100), ordered=True)
    assert np.mean([abs(ordered.mutate(50, rng) - 50) for _ in range(500)]) < 12


def test_mutation_of_a_choice_reaches_every_other_option_evenly():
    rng = np.random.default_rng(2)
    options, counts = np.unique([Choice(*"abcde").mutate("c", rng) for _ in range(4_000)], return_counts=True)
    assert list(options) == list("abde")
    assert chisquare(counts).pvalue > 0.01


def test_true_one_and_one_point_zero_are_three_options():
    choice = Choice(True, 1, 1.0)
    assert [choice.position(value) for value in (True, 1, 1.0)] == [0, 1, 2]
    assert Choice(1) != Choice(True) and Choice(1) == Choice(1)


def test_options_are_kept_as_json_gives_them_back():
    choice = Choice(np.int64(3), Size.SMALL, np.str_("a"))
    assert [type(option) for option in choice.options] == [int, int, str]
    assert choice.contains(1) and Constant(Size.SMALL).contains(1)


def test_crossing_takes_the_value_of_either_parent():
    rng = np.random.default_rng(0)
    for parameter, a, b in ((Float(0, 1), 0.1, 0.9), (Int(1, 9), 2, 8), (Choice("a", "b"), "a", "b")):
        assert {parameter.crossover(a, b, rng) for _ in range(50)} == {a, b}
    assert Choice(Float(0, 1), "auto").crossover(0.1, 0.1, rng) == 0.1


def test_parameters_are_values_that_can_be_compared_and_put_in_sets():
    assert {Float(0, 1), Float(0.0, 1.0), Int(0, 1)} == {Float(0, 1), Int(0, 1)}
    assert len({Choice("a", "b"), Choice("a", "b"), Choice("a", "b", ordered=True)}) == 2
    with pytest.raises(AttributeError):
        Float(0, 1).low = 2
