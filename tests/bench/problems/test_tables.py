"""Tables of curves: their rows are a space, and their entries the rewards."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, Choice, Float, Int, MutantUCB, Space
from manyarms.bench.problems import TableProblem, TableSpace, evaluate, regret
from manyarms.testing import SPACE_CHECKS

from .samples import table


def test_the_rows_of_a_table_are_a_space_whose_mutants_are_other_rows_nearby():
    space, rng = table().space, np.random.default_rng(0)
    sampled = {space.row(config) for config in (space.sample(rng) for _ in range(200))}
    assert sampled == set(range(9))
    for config in space.configs:
        for size in (0.01, 0.1, 0.5):
            mutant = space.mutate(config, rng, size)
            assert space.contains(mutant) and mutant != config
    small = [space.mutate(space.configs[0], rng, 0.01) for _ in range(100)]
    distances = [np.abs(space.encode(mutant) - space.encode(space.configs[0])).max() for mutant in small]
    assert max(distances) <= 0.5  # a neighbour on the grid


def test_a_crossing_is_a_row_between_its_parents():
    space, rng = table().space, np.random.default_rng(0)
    for _ in range(200):
        a, b = space.sample(rng), space.sample(rng)
        child = space.encode(space.crossover(a, b, rng))
        ends = np.array([space.encode(a), space.encode(b)])
        assert (ends.min(axis=0) <= child).all() and (child <= ends.max(axis=0)).all()


def test_each_row_has_a_point_and_the_nearest_row_is_found_from_any_point():
    space = table().space
    assert space.dimension == 2
    for number, config in enumerate(space.configs):
        point = space.encode(config)
        assert space.row(config) == number
        assert space.decode(point) == config == space.decode(point + 0.2 * (0.5 - point))
        point[:] = 9  # a copy, not the table's
        assert space.decode(space.encode(config)) == config
    assert not space.contains({"rate": 0.02, "depth": 1}) and not space.contains("a row")


def test_what_a_table_hands_out_can_be_changed_without_harm():
    space, rng = table().space, np.random.default_rng(0)
    for config in (space.sample(rng), space.mutate(space.configs[0], rng), space.decode([0, 0])):
        config["rate"] = 7.0
    assert all(config["rate"] != 7.0 for config in space.configs)


def test_a_table_with_choices_is_a_space_too():
    space = Space(kind=Choice("a", "b", "c"), size=Int(1, 2))
    rows = TableSpace(space, [{"kind": kind, "size": size} for kind, size in [("a", 1), ("a", 2), ("b", 2), ("c", 1)]])
    for check in SPACE_CHECKS:
        check(rows)


def test_a_table_of_one_row_is_a_space_too():
    rows = TableSpace(Space(x=Float(0, 1)), [{"x": 0.5}])
    assert rows.mutate({"x": 0.5}, np.random.default_rng(0)) == {"x": 0.5}


def test_a_reward_is_the_tables_entry_and_none_where_the_training_diverged():
    problem = table()
    assert problem.max_steps == 4
    best, diverged = {"rate": 0.1, "depth": 3}, {"rate": 1.0, "depth": 3}
    assert [problem.reward(best, step, seed=0) for step in (1, 2, 3, 4)] == [0.75, 1.5, 2.25, 3.0]
    assert problem.best == problem.value(best) == 3.0
    assert [problem.reward(diverged, step, seed=0) is None for step in (1, 2, 3, 4)] == [False, False, True, True]
    assert problem.value(diverged) == min(problem.value(config) for config in problem.space.configs)
    assert table(diverged=False).reward(diverged, 4, seed=0) == pytest.approx(2.1)


def test_if_most_trainings_diverged_the_median_config_is_as_bad_as_the_worst():
    space = Space(x=Int(0, 4))
    curves = np.array([[1.0, 5.0], [1.0, 3.0], [1.0, np.nan], [1.0, np.nan], [np.nan, np.nan]])
    problem = TableProblem("shaky", TableSpace(space, [{"x": x} for x in range(5)]), curves)
    assert [regret(problem, {"x": x}) for x in range(5)] == [0, 100, 100, 100, 100]


def test_a_strategy_finds_the_best_row_and_lives_with_failures():
    problem = table()
    for strategy in (AdaptiveMutantUCB, MutantUCB):
        search = strategy(problem.space, budget=60, max_steps=4, seed=0)
        while (pull := search.ask()) is not None:
            search.tell(pull, evaluate(problem, pull, seed=0))
        assert regret(problem, search.best().config) == 0
