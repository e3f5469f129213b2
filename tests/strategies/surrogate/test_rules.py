"""The rules of AdaptiveMutantUCB, one by one."""

import math

import numpy as np
import pytest

from manyarms.strategies.surrogate import rules


@pytest.mark.parametrize(
    ("budget", "expected"), [(None, 24), (10, 1), (13, 1), (14, 2), (30, 10), (57, 23), (58, 24), (9999, 24)]
)
def test_a_small_budget_reduces_the_number_of_initial_arms(budget, expected):
    assert rules.initial_arms(24, budget, max_steps=10, first_slice=1) == expected


def test_an_arm_is_predicted_to_gain_what_others_gained_unless_its_curve_has_turned():
    averages, bests, corrections = np.array([1.0, 2.0]), np.array([1.5, 3.0]), np.array([10.0, 20.0])
    assert rules.predicted_rewards(averages, bests, corrections, np.array([False, True])).tolist() == [11.0, 3.0]


def test_the_bonus_grows_with_the_spread_and_shrinks_with_the_choices():
    assert rules.exploration_bonus(0.5, spread=2.0, chosen=1) == 1.0
    assert rules.exploration_bonus(0.5, spread=2.0, chosen=4) == 0.5
    assert rules.exploration_bonus(0.0, spread=2.0, chosen=1) == 0.0


def test_scores_are_at_most_five_spreads_below_the_median_once_the_spread_is_known():
    assert rules.lowest_score(median=1.0, spread=0.2) == 0.0
    assert rules.lowest_score(median=1.0, spread=0.0) == -math.inf


def test_the_spread_is_measured_each_time_the_rewards_grow_by_a_tenth():
    measured = [0]
    for rewards in range(1, 200):
        if rules.should_measure(rewards, measured[-1]):
            measured.append(rewards)
    assert measured[:12] == [0, 1, 3, 5, 7, 9, 11, 14, 17, 20, 23, 27]


@pytest.mark.parametrize(("spread", "expected"), [(1.0, False), (1.2, False), (1.21, True), (0.84, False), (0.83, True)])
def test_all_arms_are_ranked_again_if_the_spread_changed_by_a_fifth(spread, expected):
    assert rules.should_rerank(before=1.0, spread=spread) == expected


def test_a_reward_well_below_the_best_is_a_drop_and_any_other_ends_the_row():
    assert rules.drops_in_a_row(1, reward=0.8, best=1.0, spread=1.0) == 2
    assert rules.drops_in_a_row(1, reward=0.95, best=1.0, spread=1.0) == 0
    assert rules.drops_in_a_row(1, reward=-9.0, best=1.0, spread=0.0) == 0  # the spread is not known yet


def test_two_drops_in_a_row_turn_a_curve():
    assert [rules.curve_has_turned(drops) for drops in range(4)] == [False, False, True, True]
    assert rules.curve_has_turned(np.array([1, 2])).tolist() == [False, True]


@pytest.mark.parametrize(("guided", "start"), [(True, 0.5), (False, 0.1)])
def test_new_arms_become_rarer_but_never_stop(guided, start):
    values = [rules.new_arm_probability(pulls, guided) for pulls in (0, 150, 1_200, 10**8)]
    assert values == pytest.approx([start, start / 2, start / 5, start / math.sqrt(1 + 2e6)]) and values[-1] > 0


def test_a_third_of_the_pulls_must_continue_an_arm():
    assert [rules.must_continue_an_arm(continued, pulls=9) for continued in (2, 3, 4)] == [True, False, False]
    assert not rules.must_continue_an_arm(0, pulls=0)


def test_the_better_arm_is_chosen_and_at_a_tie_the_paused_one():
    assert rules.should_continue(2.0, 1.0, must_continue=False)
    assert rules.should_continue(1.0, 1.0, must_continue=False)
    assert not rules.should_continue(1.0, 2.0, must_continue=False)
    assert rules.should_continue(1.0, 2.0, must_continue=True)


def test_most_steps_are_for_training_to_completion_once_that_found_the_best_arm():
    assert rules.completion_share(best_completed=-math.inf, best_other=0.3) == 0.15
    assert rules.completion_share(best_completed=0.3, best_other=0.3) == 0.15
    assert rules.completion_share(best_completed=0.4, best_other=0.3) == 0.7


def test_training_to_completion_stays_within_its_share_of_the_steps():
    assert not rules.should_train_to_completion(started=0, spent=66, max_steps=10, share=0.15)
    assert rules.should_train_to_completion(started=0, spent=67, max_steps=10, share=0.15)
    assert not rules.should_train_to_completion(started=1, spent=67, max_steps=10, share=0.15)


def test_failed_arms_are_added_in_order_of_age_with_the_lowest_score():
    arms, scores = np.array([0, 2, 5]), np.array([0.1, 0.7, 0.4])
    known, known_scores = rules.add_failed_arms(arms, scores, {4, 1}, lowest=-3.0)
    assert known.tolist() == [0, 1, 2, 4, 5] and known_scores.tolist() == [0.1, 0.1, 0.7, 0.1, 0.4]
    assert rules.add_failed_arms(arms, scores, {1}, lowest=0.3)[1].tolist() == [0.1, 0.3, 0.7, 0.4]
    assert rules.add_failed_arms(arms, scores, set(), lowest=0.3)[0] is arms


def test_there_is_a_complete_arm_after_5_10_20_and_so_on_full_trainings():
    assert [rules.steps_to_finish_by(spent, 10) for spent in (0, 49, 50, 99, 100, 399)] == [50, 50, 100, 100, 200, 400]
    assert [rules.may_finish_an_arm(spent, 1, 10) for spent in (37, 38, 49, 50, 88)] == [False, True, True, False, True]
    assert not rules.may_finish_an_arm(60, 3, 10) and rules.may_finish_an_arm(60, 4, 10)


def test_the_best_arm_is_finished_as_late_as_possible_but_in_time():
    arms, bests = np.array([3, 5, 8]), np.array([0.2, 0.9, 0.5])

    def finished(spent):
        return rules.arm_to_finish(arms, bests, np.array([2, 7, 4]), spent, max_steps=10)

    assert [finished(spent) for spent in (40, 41, 43)] == [None, 5, 5]  # two steps are reserved
    assert [finished(spent) for spent in (44, 46, 47, 48, 49)] == [8, 8, 3, 3, None]  # the best one that is still in time


def test_arms_in_flight_are_pending_until_their_first_reward():
    assert rules.pending_arms({5: "pull", 2: "pull", 1: "pull"}, np.array([1, 3, 0, 0, 0, 0])) == [2, 5]


def test_candidates_are_tried_by_bound_those_near_a_failed_arm_last():
    bounds = np.array([0.5, 2.0, 1.0, 1.0 + 1e-12])
    assert rules.candidate_order(bounds) == [1, 2, 3, 0]  # equal up to nine digits: the first comes first
    assert rules.candidate_order(bounds, np.array([False, True, False, False])) == [2, 3, 0, 1]
    assert bounds[1] == 2.0


COMPLETE = np.array([False, True, False, True])
SLICES, MEANS, BESTS = np.array([1, 3, 2, 3]), np.array([0.9, 0.4, 0.7, 0.5]), np.array([0.9, 0.8, 0.9, 0.6])


def test_the_best_reward_is_recommended_and_at_a_tie_the_arm_trained_furthest():
    arms = np.arange(4)
    assert rules.recommended_arm(arms, SLICES, MEANS, BESTS, COMPLETE, stationary=False, margin=0.0) == 2
    assert rules.recommended_arm(arms[[1, 3]], SLICES, MEANS, BESTS, COMPLETE, stationary=False, margin=0.0) == 1


def test_a_complete_arm_is_preferred_if_it_is_worse_by_no_more_than_the_margin():
    found = [rules.recommended_arm(np.arange(4), SLICES, MEANS, BESTS, COMPLETE, False, margin) for margin in (0.05, 0.15)]
    assert found == [2, 1]
    unfinished = np.zeros(4, dtype=bool)
    assert rules.recommended_arm(np.arange(4), SLICES, MEANS, BESTS, unfinished, stationary=False, margin=9.0) == 2


def test_the_margin_applies_early_and_is_in_spreads():
    assert [rules.unfinished_margin(spent, 10, spread=2.0) for spent in (0, 50, 51)] == [0.6, 0.6, 0.0]


def test_at_a_tie_of_reward_and_training_the_oldest_arm_is_recommended():
    same = np.ones(3)
    assert rules.recommended_arm(np.arange(3), same.astype(int), same, same, same > 0, stationary=False, margin=0.0) == 0


def test_for_repeated_measurements_the_best_mean_of_the_fully_trained_arms_is_recommended():
    assert rules.recommended_arm(np.arange(4), SLICES, MEANS, BESTS, COMPLETE, stationary=True, margin=0.0) == 3
    assert rules.recommended_arm(np.array([0, 2]), SLICES, MEANS, BESTS, COMPLETE, stationary=True, margin=0.0) == 0
