"""Problems that charge for training: what it costs, and what is measured on the way."""

from __future__ import annotations

import numpy as np
import pytest
from stub_problems import Stub, table

from manyarms import Float, Space
from manyarms.bench.problems import TableProblem, TableSpace
from manyarms.bench.race.charged_problem import ChargedProblem, SearchEnded


def config(x: float, y: float = 0.0) -> dict[str, float]:
    return {"x": x, "y": y}


def train_until_the_end(charged: ChargedProblem, configs, steps: int | None = None) -> None:
    with pytest.raises(SearchEnded):
        for one in configs:
            charged.train(one, steps)


def test_a_full_training_costs_its_steps_and_the_budget_is_never_exceeded():
    charged = ChargedProblem(Stub(), [2, 4], seed=0)
    for i in range(4):
        charged.train(config(i / 4))
    assert charged.spent == charged.budget == 36
    with pytest.raises(SearchEnded, match="budget"):
        charged.train(config(0.9), 1)
    assert charged.spent == 36


def test_continuing_costs_the_difference_and_fewer_steps_cost_nothing():
    charged = ChargedProblem(Stub(), [4], seed=0)
    rewards = [charged.train(config(0.9), steps) for steps in (3, 9, 1, 9)]
    assert rewards == pytest.approx([0.15, 0.45, 0.05, 0.45])
    assert charged.spent == 9


def test_a_config_is_the_same_with_its_parameters_in_another_order():
    charged = ChargedProblem(Stub(), [4], seed=0)
    charged.train({"x": 0.1, "y": 0.2}, 6)
    charged.train({"y": 0.2, "x": 0.1}, 9)
    assert charged.spent == 9


def test_a_mark_is_measured_before_the_pull_that_exceeds_it():
    charged = ChargedProblem(Stub(), [1, 2, 4], seed=0)
    charged.train(config(0.2, 0.2))
    assert not charged.measurements  # just reached
    charged.train(config(0.9, 0.9))
    (first,) = charged.measurements
    assert (first.trainings, first.pulls, first.arms) == (1, 1, 1)
    assert first.regret == pytest.approx(160.0)
    train_until_the_end(charged, (config(i / 9) for i in range(9)))
    assert [found.trainings for found in charged.measurements] == [1, 2, 4]
    assert [found.regret for found in charged.measurements[1:]] == pytest.approx([20.0, 20.0])
    assert [found.pulls for found in charged.measurements] == [1, 2, 4]


def test_one_pull_may_exceed_several_marks():
    charged = ChargedProblem(Stub(), [0.2, 0.4, 1], seed=0)
    charged.train(config(0.3), 1)
    charged.train(config(0.3))
    assert [found.trainings for found in charged.measurements] == [0.2, 0.4]
    assert {found.pulls for found in charged.measurements} == {1}


def test_before_any_success_the_regret_is_that_of_the_median_random_config():
    charged = ChargedProblem(Stub(failing=1.0), [1, 2], seed=0)
    train_until_the_end(charged, (config(i / 9) for i in range(9)))
    assert [found.regret for found in charged.measurements] == [100.0, 100.0]


def test_failures_give_none_and_are_charged():
    charged = ChargedProblem(table(), [4], seed=0)
    assert charged.train({"x": 1.0, "kind": "a"}) is None
    assert charged.spent == 9


def test_the_best_of_those_trained_longest_is_recommended():
    charged = ChargedProblem(Stub(), [10], seed=0)
    charged.train(config(0.5, 0.5))
    charged.train(config(1.0, 1.0), 8)  # would be better
    assert charged.recommend() == config(0.5, 0.5)
    charged.train(config(0.6, 0.6))
    charged.train(config(0.4, 0.4))
    assert charged.recommend() == config(0.6, 0.6)


def test_a_search_may_have_its_own_recommendation():
    charged = ChargedProblem(Stub(), [1], seed=0)
    charged.recommend = lambda: config(0.75, 0.75)
    charged.finish()
    assert charged.measurements[0].regret == pytest.approx(50.0)


def test_a_config_that_is_not_a_row_of_the_table_gets_the_nearest_row():
    charged = ChargedProblem(table(), [4], seed=0)
    reward = charged.train({"x": 0.49, "kind": "b"})
    assert reward == charged.train({"x": 0.5, "kind": "b"})
    assert charged.spent == 9


def test_a_search_that_repeats_itself_is_ended():
    charged = ChargedProblem(Stub(), [100], seed=0)
    with pytest.raises(SearchEnded, match="nothing new"):
        for _ in range(1000):
            charged.train(config(0.5))
    assert charged.spent == 9 and len(charged.measurements) == 1


def test_a_search_that_decides_too_long_is_ended_and_later_marks_are_not_measured():
    now = [5.0]
    charged = ChargedProblem(Stub(), [1, 100], seed=0, patience=10.0, clock=lambda: now[0])
    for x in (0.1, 0.2):
        now[0] += 5.0
        charged.train(config(x))
    now[0] += 0.5
    with pytest.raises(SearchEnded, match="deciding took more than 10 seconds"):
        charged.train(config(0.3))
    assert [found.trainings for found in charged.measurements] == [1]


def test_only_the_time_of_deciding_counts():
    now = [5.0]

    class Slow(Stub):
        def reward(self, config, step, seed):
            now[0] += 1000.0
            return super().reward(config, step, seed)

    charged = ChargedProblem(Slow(), [3], seed=0, clock=lambda: now[0])
    for i in range(3):
        now[0] += 0.25
        charged.train(config(i / 3))
    charged.finish()
    assert charged.measurements[0].deciding == 0.75


def test_noise_depends_on_the_seed_the_config_and_the_steps_alone():
    class Noisy(Stub):
        def reward(self, config, step, seed):
            return float(seed)

    one, two = (ChargedProblem(Noisy(), [9], seed=5) for _ in range(2))
    first = [one.train(config(0.1), steps) for steps in (1, 3, 3)]
    assert first[1] == first[2] != first[0]
    assert [two.train(config(0.1), steps) for steps in (3, 1)] == [first[1], first[0]]
    assert ChargedProblem(Noisy(), [9], seed=6).train(config(0.1), 1) != first[0]


def test_a_new_config_gets_an_unused_row_and_keeps_it():
    space = TableSpace(Space(x=Float(0, 1)), [{"x": 0.0}, {"x": 0.5}, {"x": 1.0}])
    problem = TableProblem("table", space, np.array([[0.1, 0.1], [0.2, 0.5], [0.3, 0.3]]))
    charged = ChargedProblem(problem, [3], seed=0)
    assert [charged.train({"x": x}, 1) for x in (0.51, 0.52, 0.53)] == [0.2, 0.3, 0.1]  # the nearest that is free
    assert charged.train({"x": 0.51}) == 0.5 and charged.spent == 4
    assert charged.train({"x": 0.54}, 1) == 0.2  # none is free
    assert charged.train({"x": 1.0}, 1) == 0.3 and charged.spent == 4  # a row is itself
