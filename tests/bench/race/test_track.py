"""The track of a race: what training costs, and what is read along the way."""

from __future__ import annotations

import numpy as np
import pytest
from racing import Stub, table

from manyarms import Float, Space
from manyarms.bench.problems import TableProblem, TableSpace
from manyarms.bench.race.track import Finished, Track


def config(x: float, y: float = 0.0) -> dict[str, float]:
    return {"x": x, "y": y}


def train_until_finished(track: Track, configs, steps: int | None = None) -> None:
    with pytest.raises(Finished):
        for one in configs:
            track.train(one, steps)


def test_a_full_training_costs_its_steps_and_the_budget_is_never_exceeded():
    track = Track(Stub(), [2, 4], seed=0)
    for i in range(4):
        track.train(config(i / 4))
    assert track.spent == track.budget == 36
    with pytest.raises(Finished, match="budget"):
        track.train(config(0.9), 1)
    assert track.spent == 36


def test_going_on_costs_the_difference_and_going_back_nothing():
    track = Track(Stub(), [4], seed=0)
    rewards = [track.train(config(0.9), steps) for steps in (3, 9, 1, 9)]
    assert rewards == pytest.approx([0.15, 0.45, 0.05, 0.45])
    assert track.spent == 9


def test_who_trains_a_config_does_not_matter_nor_does_the_order_of_its_parameters():
    track = Track(Stub(), [4], seed=0)
    track.train({"x": 0.1, "y": 0.2}, 6)
    track.train({"y": 0.2, "x": 0.1}, 9)
    assert track.spent == 9


def test_a_mark_is_read_before_the_pull_that_passes_it():
    track = Track(Stub(), [1, 2, 4], seed=0)
    track.train(config(0.2, 0.2))
    assert not track.readings  # just reached
    track.train(config(0.9, 0.9))
    (first,) = track.readings
    assert (first.trainings, first.pulls, first.arms) == (1, 1, 1)
    assert first.regret == pytest.approx(160.0)
    train_until_finished(track, (config(i / 9) for i in range(9)))
    assert [reading.trainings for reading in track.readings] == [1, 2, 4]
    assert [reading.regret for reading in track.readings[1:]] == pytest.approx([20.0, 20.0])
    assert [reading.pulls for reading in track.readings] == [1, 2, 4]


def test_one_pull_may_pass_several_marks():
    track = Track(Stub(), [0.2, 0.4, 1], seed=0)
    track.train(config(0.3), 1)
    track.train(config(0.3))
    assert [reading.trainings for reading in track.readings] == [0.2, 0.4]
    assert {reading.pulls for reading in track.readings} == {1}


def test_before_anything_has_succeeded_the_regret_is_a_middling_one():
    track = Track(Stub(failing=1.0), [1, 2], seed=0)
    train_until_finished(track, (config(i / 9) for i in range(9)))
    assert [reading.regret for reading in track.readings] == [100.0, 100.0]


def test_failures_give_none_and_are_charged():
    track = Track(table(), [4], seed=0)
    assert track.train({"x": 1.0, "kind": "a"}) is None
    assert track.spent == 9


def test_the_best_of_those_trained_longest_is_recommended():
    track = Track(Stub(), [10], seed=0)
    track.train(config(0.5, 0.5))
    track.train(config(1.0, 1.0), 8)  # would be better
    assert track.recommend() == config(0.5, 0.5)
    track.train(config(0.6, 0.6))
    track.train(config(0.4, 0.4))
    assert track.recommend() == config(0.6, 0.6)


def test_a_search_may_recommend_for_itself():
    track = Track(Stub(), [1], seed=0)
    track.recommend = lambda: config(0.75, 0.75)
    track.finish()
    assert track.readings[0].regret == pytest.approx(50.0)


def test_what_is_no_row_of_a_table_becomes_the_nearest():
    track = Track(table(), [4], seed=0)
    reward = track.train({"x": 0.49, "kind": "b"})
    assert reward == track.train({"x": 0.5, "kind": "b"})
    assert track.spent == 9


def test_a_search_that_goes_in_circles_is_ended():
    track = Track(Stub(), [100], seed=0)
    with pytest.raises(Finished, match="nothing new"):
        for _ in range(1000):
            track.train(config(0.5))
    assert track.spent == 9 and len(track.readings) == 1


def test_impatience_ends_a_search_and_leaves_the_later_marks_unread():
    now = [5.0]
    track = Track(Stub(), [1, 100], seed=0, patience=10.0, clock=lambda: now[0])
    for x in (0.1, 0.2):
        now[0] += 5.0
        track.train(config(x))
    now[0] += 0.5
    with pytest.raises(Finished, match="deciding took more than 10 seconds"):
        track.train(config(0.3))
    assert [reading.trainings for reading in track.readings] == [1]


def test_only_deciding_is_on_the_clock():
    now = [5.0]

    class Slow(Stub):
        def reward(self, config, step, seed):
            now[0] += 1000.0
            return super().reward(config, step, seed)

    track = Track(Slow(), [3], seed=0, clock=lambda: now[0])
    for i in range(3):
        now[0] += 0.25
        track.train(config(i / 3))
    track.finish()
    assert track.readings[0].deciding == 0.75


def test_noise_depends_on_the_seed_the_config_and_the_steps_alone():
    class Noisy(Stub):
        def reward(self, config, step, seed):
            return float(seed)

    one, two = (Track(Noisy(), [9], seed=5) for _ in range(2))
    first = [one.train(config(0.1), steps) for steps in (1, 3, 3)]
    assert first[1] == first[2] != first[0]
    assert [two.train(config(0.1), steps) for steps in (3, 1)] == [first[1], first[0]]
    assert Track(Noisy(), [9], seed=6).train(config(0.1), 1) != first[0]


def test_a_new_config_gets_a_row_of_its_own_and_keeps_it():
    space = TableSpace(Space(x=Float(0, 1)), [{"x": 0.0}, {"x": 0.5}, {"x": 1.0}])
    problem = TableProblem("table", space, np.array([[0.1, 0.1], [0.2, 0.5], [0.3, 0.3]]))
    track = Track(problem, [3], seed=0)
    assert [track.train({"x": x}, 1) for x in (0.51, 0.52, 0.53)] == [0.2, 0.3, 0.1]  # the nearest that is free
    assert track.train({"x": 0.51}) == 0.5 and track.spent == 4
    assert track.train({"x": 0.54}, 1) == 0.2  # none is free
    assert track.train({"x": 1.0}, 1) == 0.3 and track.spent == 4  # a row is itself
