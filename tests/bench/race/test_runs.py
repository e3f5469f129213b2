"""The runs of a race, and their rows."""

from __future__ import annotations

import math

import pytest

from manyarms import __version__
from manyarms.bench.race.families import FAMILIES, Family
from manyarms.bench.race.methods import OURS, Method, methods
from manyarms.bench.race.runs import ANYTIME_MARKS, TABLE_MARKS, Run, execute_run, marks_up_to, plan, search_seed
from manyarms.strategies import DEFAULT_STRATEGY

CURVES = "fast curves"


def test_marks_end_with_the_budget():
    assert marks_up_to(200, ANYTIME_MARKS) == ANYTIME_MARKS
    assert marks_up_to(50, TABLE_MARKS) == (5, 10, 20, 50)
    assert marks_up_to(3, TABLE_MARKS) == (3,)
    assert marks_up_to(300, ANYTIME_MARKS)[-2:] == (200, 300)


def test_an_anytime_method_runs_once_and_others_once_for_each_mark_of_the_tables():
    planned = plan({CURVES: [0, 1], "slow curves": [1]}, [OURS[DEFAULT_STRATEGY], OURS["MutantUCB"]], seeds=2, budget=20)
    assert len(planned) == len(set(planned)) == 3 * 2 * (1 + 3)
    assert {run.marks for run in planned if run.method == DEFAULT_STRATEGY} == {(1, 2, 3, 5, 7, 10, 14, 20)}
    assert {run.marks for run in planned if run.method == "MutantUCB"} == {(5,), (10,), (20,)}


def test_a_method_that_cannot_search_a_space_is_left_out():
    picky = Method("picky", lambda charged: None, suits=lambda space: len(space.parameters) < 5)
    assert plan({CURVES: [0]}, [picky], seeds=1, budget=5) == []


def test_a_run_has_a_row_for_each_mark():
    run = Run(CURVES, 1, DEFAULT_STRATEGY, 3, (1, 2, 5))
    rows = execute_run(run)
    assert [row["trainings"] for row in rows] == [1, 2, 5]
    assert [row["pulls"] for row in rows] == sorted(row["pulls"] for row in rows)
    for row in rows:
        assert (row["family"], row["problem"], row["half"]) == (CURVES, "fast curves 1", "reported")
        assert (row["method"], row["peer"], row["version"], row["seed"], row["budget"]) == (
            DEFAULT_STRATEGY,
            False,
            __version__,
            3,
            5,
        )
        assert 0 <= row["regret"] <= 300 and row["deciding"] > 0
    again = execute_run(run)
    assert [row["regret"] for row in again] == [row["regret"] for row in rows]
    assert run.key("1.0") == (CURVES, "fast curves 1", DEFAULT_STRATEGY, 3, 5, "1.0")
    assert str(run) == "AdaptiveMutantUCB on fast curves 1, seed 3, budget 5"


def test_a_run_that_decides_too_long_has_no_regret_at_later_marks():
    rows = execute_run(Run(CURVES, 0, "RandomSearch", 0, (1, 2, 5)), patience=1e-9)
    assert len(rows) == 3 and all(math.isnan(row["regret"]) and row["pulls"] == 0 for row in rows)


@pytest.mark.parametrize("name", OURS)
def test_every_strategy_of_ours_finishes_a_run(name):
    rows = execute_run(Run(CURVES, 0, name, 0, (5, 10)))
    assert all(0 <= row["regret"] <= 300 for row in rows)
    assert rows[-1]["pulls"] > 0 and rows[-1]["arms"] > 0


def test_half_of_a_family_is_for_tuning_and_the_other_half_for_reporting():
    problems = [FAMILIES[CURVES].problems()[0]] * 3
    family = Family("three", lambda: problems)
    assert (family.numbers("tuned"), family.numbers("reported"), family.numbers()) == ([0, 2], [1], [0, 1, 2])
    single = Family("one", lambda: problems[:1], half="reported")
    assert (single.numbers("tuned"), single.numbers("reported")) == ([], [0])


def test_a_quick_race_uses_the_first_problems_of_each_half():
    problems = [FAMILIES[CURVES].problems()[0]] * 7
    family = Family("seven", lambda: problems, quick=3)
    assert (family.numbers("tuned", quick=True), family.numbers("reported", quick=True)) == ([0, 2], [1])
    assert (family.numbers(quick=True), len(family.numbers())) == ([0, 1, 2], 7)
    assert FAMILIES[CURVES].numbers(quick=True) == [0, 1] and len(FAMILIES[CURVES].numbers()) == 10


def test_both_halves_have_every_hartmann_function_and_no_landscape_twice():
    family = FAMILIES["Hartmann"]
    names = [[family.names()[number] for number in family.numbers(half)] for half in ("tuned", "reported")]
    functions = [{name.partition(", landscape")[0] for name in half} for half in names]
    assert functions[0] == functions[1] and len(functions[0]) == 4
    assert len({*names[0], *names[1]}) == len(family.problems()) == 16
    assert [family.names()[number] for number in family.numbers("tuned", quick=True)] == ["Hartmann 3, good", "Hartmann 6, bad"]


def test_a_seed_draws_other_configs_on_every_problem_and_the_same_for_every_method():
    seeds = {search_seed(seed, name) for seed in range(10) for name in FAMILIES[CURVES].names()}
    assert len(seeds) == 100 and all(0 <= seed < 2**31 for seed in seeds)
    assert search_seed(3, "fast curves 1") == search_seed(3, "fast curves 1")
    drawn = [execute_run(Run(CURVES, number, "RandomSearch", 0, (1,)))[0]["regret"] for number in (0, 1)]
    same_problem = execute_run(Run("slow curves", 0, "RandomSearch", 0, (1,)))[0]["regret"]
    assert drawn[0] != same_problem  # the same landscape under another name


def test_problems_are_loaded_once_and_have_unique_names():
    family = FAMILIES["crossing curves"]
    assert family.problems() is family.problems()
    for name in ("fast curves", "slow curves", "crossing curves"):
        family = FAMILIES[name]
        assert len(set(family.names())) == len(family.names()) > 0
        assert sorted(family.numbers("tuned") + family.numbers("reported")) == family.numbers()


def test_without_the_data_a_family_says_what_to_do(monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", "/nowhere")
    trouble = Family("LCBench", FAMILIES["LCBench"].make).trouble()
    assert trouble is not None and "MANYARMS_DATA" in trouble


def test_all_methods_have_unique_names():
    assert len(methods()) == len(OURS) + sum(name not in OURS for name in methods())
    assert all(name == method.name for name, method in methods().items())
    assert OURS[DEFAULT_STRATEGY].anytime
