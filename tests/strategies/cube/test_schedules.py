"""How long the arm of each round is trained."""

import math

import pytest

from manyarms.strategies.cube.schedules import Contexts, harmonic, hyperband, hyperband_pattern

TABLE_3 = [
    *((263, 12), (395, 8), (592, 5), (888, 3), (1333, 2), (2000, 1), (3000, 1)),
    *((395, 8), (592, 5), (888, 3), (1333, 2), (2000, 1), (3000, 1)),
    *((592, 6), (888, 4), (1333, 2), (2000, 1), (3000, 1)),
    *((888, 4), (1333, 2), (2000, 1), (3000, 1)),
    *((1333, 5), (2000, 3), (3000, 2)),
    *((2000, 5), (3000, 3)),
    (3000, 7),
]

WRONG = {
    "too few": (0, "context must be a whole number of steps between 1 and 27, got 0"),
    "too many": (28, "context must be a whole number of steps between 1 and 27, got 28"),
    "not whole": (2.5, "context must be a whole number of steps between 1 and 27, got 2.5"),
    "no number": ("9", "context must be a whole number of steps between 1 and 27, got '9'"),
    "a flag": (True, "context must be a whole number of steps between 1 and 27, got True"),
}


def test_the_harmonic_schedule_is_the_papers_with_243_at_the_30th_place():
    values = [harmonic(t, 243) for t in range(1, 34)]
    assert values[0] == 30 and values[29:] == [243] * 4
    assert values == sorted(values)
    for rise, value in enumerate(values[:29]):  # as the paper writes it, where floats are far enough from whole numbers
        assert value == math.floor(1 / (1 / 30 - rise * (1 / 30 - 1 / 243) / 29) + 1e-9)
    assert [harmonic(t, 243) for t in range(34, 67)] == values


def test_the_harmonic_schedule_of_the_second_experiment():
    values = [harmonic(t, 1500, shortest=100) for t in range(1, 31)]
    assert values[0] == 100 and values[29] == 1500


@pytest.mark.parametrize("max_steps", [1, 2, 3, 5, 10, 27, 81, 1000])
def test_schedules_fit_any_length_of_training(max_steps):
    for schedule in (harmonic, hyperband):
        values = [schedule(t, max_steps) for t in range(1, 200)]
        assert min(values) >= 1 and max(values) == max_steps
        assert min(values) <= max(1, max_steps / 8)


def test_the_hyperband_schedule_is_table_3():
    assert list(hyperband_pattern(3000)) == TABLE_3
    values = [hyperband(t, 3000) for t in range(1, 1 + sum(arms for _, arms in TABLE_3))]
    assert values == [steps for steps, arms in TABLE_3 for _ in range(arms)]
    assert hyperband(len(values) + 1, 3000) == 263


def test_exact_powers_lose_no_bracket():
    assert [steps for steps, _ in hyperband_pattern(243, eta=3, ratio=243)[:6]] == [1, 3, 9, 27, 81, 243]


@pytest.mark.parametrize(("context", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_context_is_named_with_its_range(context, message):
    with pytest.raises(ValueError) as raised:
        Contexts(None, 27).steps(1, context, math.inf)
    assert message in str(raised.value)


def test_a_users_schedule_is_checked_and_named():
    assert Contexts(lambda t: 2 * t, 27).steps(5, None, math.inf) == 10
    with pytest.raises(ValueError, match=r"schedule\(14\) must be a whole number of steps between 1 and 27, got 28"):
        Contexts(lambda t: 2 * t, 27).steps(14, None, math.inf)


def test_without_a_schedule_the_context_must_be_given_and_with_one_it_must_not():
    with pytest.raises(ValueError, match=r"context must be given, as in ask\(context=27\)"):
        Contexts(None, 27).steps(1, None, math.inf)
    with pytest.raises(ValueError, match="context must not be given unless schedule is None; schedule is 'harmonic'"):
        Contexts("harmonic", 27).steps(1, 9, math.inf)
    with pytest.raises(ValueError, match="schedule must be one of 'harmonic', 'hyperband', got 'often'"):
        Contexts("often", 27)
    with pytest.raises(TypeError, match="schedule must be 'harmonic', 'hyperband', a function of the round or None, got 9"):
        Contexts(9, 27)


def test_what_does_not_fit_is_cut_if_scheduled_and_refused_if_given():
    assert Contexts(lambda t: 9, 27).steps(1, None, 4) == 4
    assert Contexts(lambda t: 9, 27).steps(1, None, 0) is None
    assert Contexts(None, 27).steps(1, 9, 9) == 9
    assert Contexts(None, 27).steps(1, 9, 8) is None
