"""The rules of AdaptiveMutantUCB as pure functions. The class keeps the counts that they need.

The *spread* is the best score minus the median score. All thresholds are multiples of it, so the scale of the rewards does
not matter. A *slice* is one pull's share of a full training.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RANDOM_ARM_PROBABILITY = 0.1  # probability of a new random arm at the start of the search
GUIDED_ARM_PROBABILITY = 0.5  # the same if the Gaussian process chooses that arm among candidates
RANDOM_MUTANT_PROBABILITY = 0.25  # share of mutants drawn at random: they reach details that the Gaussian process cannot see
DEVIATIONS = 2.0  # standard deviations added to the prediction of a candidate for a new arm
COMPLETION_DEVIATIONS = 1.0  # the same for an arm that is trained to completion, which costs more
MIN_CONTINUED_SHARE = 1 / 3  # share of the pulls after the initial arms that must continue a paused arm
COMPLETION_SHARE = 0.15  # share of the steps for arms trained to completion
COMPLETION_SHARE_IN_LEAD = 0.7  # the same while one of these arms is the best
FINISH_BY = 5  # full trainings by which an arm to recommend is complete for the first time
FINISH_FACTOR = 2  # factor from each of these budgets to the next
FINISH_SLACK = 0.2  # full trainings by which such an arm is completed earlier, in case another one takes the lead meanwhile
UNFINISHED_MARGIN = 0.3  # spreads by which an unfinished arm must be better than a complete one to be recommended
MARGIN_UNTIL = 5  # full trainings after which this margin no longer applies
TURN_DEPTH = 0.1  # a reward counts as a drop if it is this many spreads below the best reward
TURN_LENGTH = 2  # drops in a row after which the curve of an arm has turned
MAX_SPREADS_BELOW_MEDIAN = 5.0  # lower scores are raised to this one, so that a diverged run does not set the scale
SLOWNESS_WEIGHT = 0.1  # spreads by which an arm must be better if its steps take twice as long, with a time budget
SHORTEST_STEP = 1e-3  # seconds: it does not matter how fast faster steps are, because deciding takes longer
NEAR_FAILED_PENALTY = 100.0  # spreads subtracted from a candidate whose nearest arm failed: it is tried only as a last resort
MEASURE_FACTOR = 1.1  # growth of the number of rewards after which the spread is measured again
RERANK_FACTOR = 1.2  # change of the spread after which all arms are ranked again
CANDIDATE_DIGITS = 9  # digits by which candidates are compared, because later digits differ between machines


def initial_arms(initial: int, budget: int | None, max_steps: int, first_slice: int) -> int:
    """Number of random arms at the start: `initial`, reduced for a small budget.

    At most half of the steps before the last full training go to these arms.
    """
    if budget is None:
        return initial
    return min(initial, max(1, (budget - max_steps) // (2 * first_slice)))


# The reward that an arm will reach.


def predicted_rewards(averages: Array, bests: Array, corrections: Array, turned: Array) -> Array:
    """The reward that each arm is predicted to reach: its average plus what other arms gained after the same step.

    An arm whose curve has turned is not trained further, so the prediction is its best reward.
    """
    return np.where(turned, bests, averages + corrections)


def exploration_bonus(exploration: float, spread: float, chosen: int) -> float:
    """The bonus added to the predicted reward of an arm that was chosen this many times."""
    return exploration * spread / math.sqrt(chosen)


def lowest_score(median: float, spread: float) -> float:
    """The lowest score an arm can have; -inf while the spread is not known."""
    return median - MAX_SPREADS_BELOW_MEDIAN * spread if spread else -math.inf


def should_measure(rewards: int, measured: int) -> bool:
    """Whether to measure the spread again, given the number of rewards now and when it was last measured."""
    return rewards >= measured * MEASURE_FACTOR + 1


def should_rerank(before: float, spread: float) -> bool:
    """Whether the spread changed so much that the bonus of every arm must be computed again."""
    return not before / RERANK_FACTOR <= spread <= before * RERANK_FACTOR


def slowness_penalty(seconds: float, steps: int) -> float:
    """What is subtracted from the index of an arm whose steps took this long, in spreads. Only differences matter."""
    return SLOWNESS_WEIGHT * math.log2(max(seconds / steps, SHORTEST_STEP))


# When the curve of an arm has turned.


def drops_in_a_row(before: int, reward: float, best: float, spread: float) -> int:
    """How many of an arm's latest rewards in a row, including the new one, are well below its best reward."""
    return before + 1 if spread and reward < best - TURN_DEPTH * spread else 0


def curve_has_turned(drops: Any) -> Any:
    """Whether more training makes an arm worse, given its drops in a row. Takes a number or an array."""
    return drops >= TURN_LENGTH


# Which arm to train or mutate, and when to make a new arm.


def new_arm_probability(pulls: int, guided: bool) -> float:
    """Probability that the next pull starts a new arm that is not a mutant. It decreases with the pulls but never becomes zero.

    It is larger when `guided`: the Gaussian process then chooses the arm, instead of a random draw.
    """
    return (GUIDED_ARM_PROBABILITY if guided else RANDOM_ARM_PROBABILITY) / math.sqrt(1.0 + pulls / 50.0)


def must_continue_an_arm(continued: int, pulls: int) -> bool:
    """Whether too few of the pulls have continued a paused arm: the gains can only be learned from arms that are continued."""
    return continued < MIN_CONTINUED_SHARE * pulls


def should_continue(paused: float, complete: float, must_continue: bool) -> bool:
    """Whether to train the best paused arm for one more slice, rather than mutate the best complete arm.

    Args:
        paused: The score plus bonus of the best paused arm.
        complete: The score plus bonus of the best complete arm.
        must_continue: Continue the paused arm regardless of the scores.
    """
    return must_continue or paused >= complete


# When to train an arm to completion, regardless of its early rewards.


def completion_share(best_completed: float, best_other: float) -> float:
    """Share of the steps for arms trained to completion: small until one of them is better than all other arms, then large."""
    return COMPLETION_SHARE_IN_LEAD if best_completed > best_other else COMPLETION_SHARE


def should_train_to_completion(started: int, spent: int, max_steps: int, share: float) -> bool:
    """Whether the next new arm is trained to completion, because early rewards can mislead.

    At most `share` of the `spent` steps go to the arms already `started` this way and the next one.
    """
    return (started + 1) * max_steps <= share * spent


def steps_to_finish_by(spent: int, max_steps: int) -> int:
    """The steps of the whole search after which there should be a complete arm to recommend: 5, 10, 20, ... full trainings."""
    end = FINISH_BY * max_steps
    while end <= spent:
        end *= FINISH_FACTOR
    return end


def may_finish_an_arm(spent: int, workers: int, max_steps: int) -> bool:
    """Whether it may be time to complete an arm. If not, `arm_to_finish` need not be called."""
    return spent + (workers + FINISH_SLACK) * max_steps >= steps_to_finish_by(spent, max_steps)


def arm_to_finish(arms: Array, bests: Array, missing: Array, spent: int, max_steps: int) -> int | None:
    """The arm to train to completion now, before all other arms; None if this can wait.

    It is the best arm that can still be completed in time. This happens as late as possible, because a better one may appear.

    Args:
        arms: The paused arms, by number.
        bests, missing: The best reward of each of these, and the steps that the search spends until it is fully trained.
        spent: Steps spent by the search.
        max_steps: Steps of a full training.
    """
    end = steps_to_finish_by(spent, max_steps)
    fitting = np.flatnonzero(spent + missing <= end)
    if not len(fitting):
        return None
    leader = fitting[bests[fitting].argmax()]
    return int(arms[leader]) if spent + missing[leader] >= end - FINISH_SLACK * max_steps else None


# How a new arm is chosen among candidates.


def add_failed_arms(arms: Array, scores: Array, failed: Collection[int], lowest: float) -> tuple[Array, Array]:
    """The arms and scores, with the failed arms added in order of age. Failed arms get the lowest score.

    Otherwise the region around a failed arm would look unexplored.
    """
    if not failed:
        return arms, scores
    numbers = np.array(list(failed), dtype=np.int64)
    arms = np.concatenate([arms, numbers])
    scores = np.concatenate([scores, np.full(len(numbers), max(lowest, scores.min()))])
    order = arms.argsort()
    return arms[order], scores[order]


def pending_arms(in_flight: Iterable[int], slices: Array) -> list[int]:
    """Numbers of the arms in flight that have no reward yet, in order of age.

    They enter the Gaussian process with their predicted scores. Otherwise several workers would pursue the same idea.
    """
    return sorted(arm for arm in in_flight if not slices[arm])


def candidate_order(bounds: Array, near_failed: Array | None = None) -> list[int]:
    """Numbers of the candidates in the order in which to try them: by upper confidence bound, those near a failed arm last."""
    if near_failed is not None:
        bounds = bounds - NEAR_FAILED_PENALTY * near_failed
    order: list[int] = np.argsort(-bounds.round(CANDIDATE_DIGITS), kind="stable").tolist()
    return order


# What to recommend.


def unfinished_margin(spent: int, max_steps: int, spread: float) -> float:
    """By how much an unfinished arm must be better than a complete one to be recommended.

    Early in the search, a fully trained model is worth more than a slightly better reward. Later, there are many such models.
    """
    return UNFINISHED_MARGIN * spread if spent <= MARGIN_UNTIL * max_steps else 0.0


def recommended_arm(
    arms: Array, slices: Array, means: Array, bests: Array, complete: Array, stationary: bool, margin: float
) -> int:
    """The arm with the best reward; ties go to the one trained longest, then to the oldest.

    The best complete arm is preferred if its reward is lower by no more than the margin. If rewards are stationary (repeated
    measurements of one value), it is instead the complete arm with the best mean, or the best mean of all arms if none is
    complete.

    Args:
        arms: The arms to choose from, by number.
        slices, means, bests: For every arm, the number of slices trained, and the mean and the best of its rewards.
        complete: For every arm, whether it is fully trained or its curve has turned.
        stationary: Whether rewards are repeated measurements of one value.
        margin: As returned by `unfinished_margin`.
    """
    finished = arms[complete[arms]]
    if stationary:
        candidates = finished if len(finished) else arms
        return int(candidates[means[candidates].argmax()])
    if margin and len(finished) and bests[finished].max() >= bests[arms].max() - margin:
        arms = finished
    return int(arms[np.lexsort((-arms, slices[arms], bests[arms]))[-1]])
