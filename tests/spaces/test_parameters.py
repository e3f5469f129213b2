"""Float, Int, Choice and Constant, each on its own."""

import enum
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from manyarms.spaces import Choice, Constant, Float, Int, Space, restore

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
    "choice of an empty list": (lambda: Choice([]), ValueError, "options must name at least one value, got none"),
    "choice of tuples": (lambda: Choice((1, 2), (3, 4)), TypeError, "an option must survive JSON unchanged"),
    "choice of tuples, hint": (lambda: Choice((1, 2), (3, 4)), TypeError, "got (1, 2); write [1, 2]"),
    "step of zero": (lambda: Float(0, 1, step=0), ValueError, "step must be above 0, got 0"),
    "step below zero": (lambda: Int(0, 10, step=-2), ValueError, "step must be at least 1, got -2"),
    "step that is not whole": (lambda: Int(0, 10, step=0.5), TypeError, "step must be a whole number, got 0.5"),
    "step of a logarithm": (lambda: Float(1, 9, log=True, step=1), ValueError, "step must be None with log=True, got 1.0"),
    "step of a whole logarithm": (lambda: Int(1, 9, log=True, step=2), ValueError, "step must be None with log=True, got 2"),
    "step that rounding swallows": (
        lambda: Float(1e9, 2e9, step=1e-6),
        ValueError,
        "step must be at least 1e-12 of the larger",
    ),
    "step nan": (lambda: Float(0, 1, step=math.nan), ValueError, "step must be finite, got nan"),
    "choice of a function": (lambda: Choice("relu", math.tanh), TypeError, "got <built-in function tanh>"),
    "choice of nan": (lambda: Choice(math.nan), TypeError, "an option must survive JSON unchanged"),
    "choice of number keys": (lambda: Choice({1: 2}), TypeError, "got {1: 2}"),
    "choice ordered word": (lambda: Choice(1, ordered="yes"), TypeError, "ordered must be True or False, got 'yes'"),
    "choice of ordered spaces": (lambda: Choice(1, Space(), ordered=True), ValueError, "ordered=True, got Space()"),
    "choice of one space twice": (lambda: Choice(Space(x=Int(1, 3)), Space(x=Int(2, 5))), ValueError, "no value in common"),
    "choice of a number in a range": (lambda: Choice(Int(1, 3), 2), ValueError, "got Int(1, 3) and 2"),
    "choice of a value in a choice": (lambda: Choice("a", Choice("a", "b")), ValueError, "Choice('a', 'b') and 'a'"),
    "choice of a value of a space": (lambda: Choice({"x": 1}, Space(x=Int(1, 3))), ValueError, "and {'x': 1}"),
    "choice unknown value": (
        lambda: Choice("a", "b").encode("c"),
        ValueError,
        "'c' is not one of the options of Choice('a', 'b')",
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
    "float with a step": Float(-1, 1, step=0.3),
    "float with many steps": Float(0.1, 1e6, step=1e-5),
    "float with a step beyond the range": Float(2, 3, step=5),
    "int with a step": Int(-3, 100, step=4),
    "int with a step, as large as floats count": Int(-(2**53), 2**53, step=3),
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
    "parameter",
    [
        Int(1, 10),
        Int(-5, 4),
        Int(2, 20, step=2),
        Float(0, 0.9, step=0.1),
        Choice(*range(10)),
        Choice(*"abcdefghij", ordered=True),
    ],
    ids=repr,
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


def test_a_single_list_tuple_range_or_array_holds_the_options():
    for options in (["relu", "tanh"], ("relu", "tanh"), np.array(["relu", "tanh"])):
        assert Choice(options) == Choice("relu", "tanh") and Choice(options, ordered=True).ordered
    assert Choice(range(3)).options == (0, 1, 2) and Choice(["only"]).options == ("only",)
    assert Choice([[8], [8, 8]]) == Choice([8], [8, 8])


def test_one_option_that_is_a_list_is_written_as_a_list_of_it():
    choice = Choice([["a", "b"]])
    assert choice.options == (["a", "b"],) and not choice.varies
    assert repr(choice) == "Choice([['a', 'b']])" and eval(repr(choice)) == choice
    assert restore(choice.describe()) == choice != Choice("a", "b")


def test_a_stored_choice_whose_one_option_is_a_list_is_restored_as_it_was():
    stored = {"space": {"layers": {"choice": [{"constant": ["relu", "tanh"]}], "ordered": False}}}
    space = restore(stored)
    assert space.sample(np.random.default_rng(0)) == {"layers": ["relu", "tanh"]} and space.describe() == stored


def test_a_number_with_a_step_has_the_values_a_user_would_type():
    assert all_values(Float(0, 1, step=0.1)) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert all_values(Float(0.5, 2, step=0.5)) == [0.5, 1.0, 1.5, 2.0]
    assert all_values(Int(8, 60, step=8)) == [8, 16, 24, 32, 40, 48, 56]
    assert all_values(Float(-1, 1 - 1e-15, step=1)) == [-1.0, 0.0, 1.0]  # a bound that was computed and rounded


def all_values(number):
    """Found by decoding the middle of each value's stretch."""
    n = number.n_values
    values = [number.decode([(place + 0.5) / n]) for place in range(n)]
    assert [number.encode(value)[0] for value in values] == pytest.approx([(place + 0.5) / n for place in range(n)])
    assert (number.low, number.high) == (values[0], values[-1])
    return values


def test_a_number_with_a_step_contains_only_its_values_up_to_rounding():
    rate = Float(0, 1, step=0.1)
    assert rate.contains(0.3) and rate.contains(0.1 + 0.2) and rate.contains(1) and rate.contains(0)
    assert not any(rate.contains(value) for value in (0.35, 1.1, -0.1, math.nan, math.inf, 10**400, True, "0.1"))
    assert Int(1, 9, step=2).contains(3) and not any(Int(1, 9, step=2).contains(value) for value in (2, 11, -1, 3.0, True))


def test_a_step_that_misses_the_upper_bound_moves_it_to_the_last_value():
    assert (Float(0, 1, step=0.3).high, Int(1, 10, step=4).high) == (0.9, 9)
    assert Float(0, 1, step=0.3) == Float(0, 0.9, step=0.3) != Float(0, 0.9)


def test_a_step_past_the_largest_float_is_left_out():
    number = Float(0, 1.7e308, step=1e308)
    assert (number.high, number.n_values) == (1e308, 2)


def test_a_step_of_one_is_no_step_of_a_whole_number():
    assert Int(1, 9, step=1) == Int(1, 9) and Int(1, 9, log=True, step=1) == Int(1, 9, log=True)
    assert Int(1, 9, step=1).describe() == Int(1, 9).describe() == {"int": [1, 9, False]}


def test_mutants_of_a_number_with_a_step_are_mostly_near():
    rng = np.random.default_rng(0)
    moves = [round(abs(Float(0, 10, step=0.5).mutate(5.0, rng) - 5.0) / 0.5) for _ in range(500)]
    assert min(moves) == 1 and np.mean(moves) < 3
    assert {Int(0, 100, step=50).mutate(0, rng, 0.001) for _ in range(20)} == {50}


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=PARAMETERS)
def test_a_parameter_is_described_restored_and_written_without_loss(parameter):
    assert restore(json.loads(json.dumps(parameter.describe()))) == parameter
    assert eval(repr(parameter)) == parameter


def test_numbers_are_written_as_they_are_typed():
    assert repr(Float(0, 1)) == "Float(0, 1)" and repr(Float(1e-5, 0.1, log=True)) == "Float(1e-05, 0.1, log=True)"
    assert repr(Int(8, 64, step=8)) == "Int(8, 64, step=8)" and repr(Float(0, 1, step=0.5)) == "Float(0, 1, step=0.5)"
