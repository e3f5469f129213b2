"""AdaptiveMutantUCB judges arms by what they should become, whatever the scale of rewards, and whatever goes wrong."""

import math
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest

from manyarms import AdaptiveMutantUCB, Float, Int, NoResult, RandomSearch, Space
from manyarms.problems import CurveWorld, evaluate, regret
from manyarms.spaces.breeding import OneByOne
from manyarms.strategies import adaptive
from manyarms.testing import play

SPACE = Space(x=Float(0, 1), y=Float(0, 1))
WIDE = Space(**{f"x{i}": Float(0, 1) for i in range(5)})

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "budget of True": ({"budget": True}, TypeError, "budget must be a whole number, got True"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "steps of None": ({"max_steps": None}, TypeError, "max_steps must be a whole number, got None"),
    "no arms": ({"initial": 0}, ValueError, "initial must be at least 1, got 0"),
    "float arms": ({"initial": 5.0}, TypeError, "initial must be a whole number, got 5.0"),
    "nan exploration": ({"exploration": math.nan}, ValueError, "exploration must be at least 0, got nan"),
    "negative exploration": ({"exploration": -0.1}, ValueError, "exploration must be at least 0, got -0.1"),
    "exploration in words": ({"exploration": "much"}, TypeError, "exploration must be a number, got 'much'"),
    "no slices": ({"slices": 0}, ValueError, "slices must be at least 1, got 0"),
    "float slices": ({"slices": 2.5}, TypeError, "slices must be a whole number, got 2.5"),
    "a surrogate of 1": ({"surrogate": 1}, TypeError, "surrogate must be True or False, got 1"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "no space": ({"space": "x"}, TypeError, "space must have the methods sample(rng) and mutate(config, rng), got 'x'"),
    "less than one training": (
        {"budget": 9, "max_steps": 10},
        ValueError,
        "budget must be at least 10, one full training of max_steps, got 9",
    ),
}


class Digits:
    """The least a space can be."""

    def sample(self, rng):
        return int(rng.integers(1000))

    def mutate(self, config, rng):
        return (config + 1 + int(rng.integers(999))) % 1000


class Line(Digits):
    """It encodes, but neither crosses nor takes a size."""

    dimension = 1

    def encode(self, config):
        return np.array([config / 999])


class Watched(Space):
    """It writes down how its configs are made."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.sizes, self.crossings, self.encoded = Counter(), 0, 0

    def mutate(self, config, rng, size=0.15):
        self.sizes[size] += 1
        return super().mutate(config, rng, size)

    def crossover(self, a, b, rng):
        self.crossings += 1
        return super().crossover(a, b, rng)

    def encode(self, config):
        self.encoded += 1
        return super().encode(config)


def distance(config):
    """From the best config: 0 to 0.65, a middling one 0.27."""
    return float(np.mean([abs(value - 0.35) for value in config.values()]))


def noise(pull):
    return float(np.random.default_rng([pull.arm.id, pull.stop]).standard_normal())


def loss(pull):
    """Minus a loss that falls slowly, to the lower the nearer the config is to the best."""
    return -(1 + 3 * 0.7**pull.stop) * (0.2 + distance(pull.config)) + 0.005 * noise(pull)


def value(arm):
    """From 0 to 1, whatever the config: newcomers are no better than the first arms."""
    return np.random.default_rng(arm).random()


def climb(pull):
    """It rises slowly to the value of the arm, by the same for all but a little noise."""
    return value(pull.arm.id) - 0.5 * 0.8**pull.stop + 0.002 * noise(pull)


def draw(pull):
    """About the value of the arm, whatever the steps."""
    return value(pull.arm.id) + 0.1 * noise(pull)


def finish(search, reward, workers=1):
    """Play to the end: the rewards of each arm."""
    rewards = defaultdict(list)
    for pull, reward_ in play(search, reward, workers):
        rewards[pull.arm.id].append(reward_)
    return rewards


def pulls_of(search, reward, workers=1):
    return [(pull.arm.id, pull.arm.parents, pull.config, pull.start, pull.stop) for pull, _ in play(search, reward, workers)]


def whole(search):
    return {arm for arm, steps in enumerate(search.book.steps) if steps == search.max_steps and arm not in search.book.failed}


def never_straight(monkeypatch):
    monkeypatch.setattr(adaptive, "_STRAIGHT", (0.0, 0.0))


def never_fresh(monkeypatch):
    monkeypatch.setattr(adaptive, "fresh_probability", lambda pulls, guided: 0.0)


# What it is given.


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        AdaptiveMutantUCB(**{"space": SPACE, **arguments})
    assert message in str(raised.value)


@pytest.mark.parametrize("max_steps", [1, 4, 10, 52])
@pytest.mark.parametrize("slices", [1, 3, 10])
def test_the_least_budget_trains_one_arm_to_the_end(max_steps, slices):
    search = AdaptiveMutantUCB(SPACE, budget=max_steps, max_steps=max_steps, slices=slices, seed=0)
    assert [pull.stop for pull, _ in play(search, loss)] == search.stops
    assert whole(search) == {0} and search.best().id == 0


def test_small_budgets_begin_with_few_arms():
    initial = [AdaptiveMutantUCB(SPACE, budget=budget, max_steps=10).initial for budget in (10, 13, 14, 30, 57, 58, 9999, None)]
    assert initial == [1, 1, 2, 10, 23, 24, 24, 24]
    assert AdaptiveMutantUCB(SPACE, budget=500, max_steps=100).initial == 20  # slices of ten steps


@pytest.mark.parametrize("workers", [1, 5, 64])
@pytest.mark.parametrize(
    ("budget", "max_steps", "slices"), [(10, 10, 10), (99, 7, 10), (300, 9, 2), (501, 52, 10), (80, 1, 10)]
)
def test_the_budget_is_never_exceeded_and_at_most_a_training_is_left(budget, max_steps, slices, workers):
    search = AdaptiveMutantUCB(SPACE, budget=budget, max_steps=max_steps, slices=slices, seed=1)
    spent = 0
    for pull, _ in play(search, loss, workers):
        assert search.book.spent <= budget
        spent += pull.steps
        assert pull.stop in search.stops and pull.start in (0, *search.stops)
    assert budget - max_steps < spent == sum(search.book.steps) == search.book.spent <= budget
    assert max(search.book.steps) <= max_steps


def test_what_is_left_at_the_end_trains_the_best_arms_that_still_fit():
    search = AdaptiveMutantUCB(SPACE, budget=36, max_steps=6, initial=15, surrogate=False, seed=0)
    checked = 0
    while search.book.left >= 6:
        pull = search.ask()
        search.tell(pull, loss(pull))
    while True:
        able = [arm for arm, steps in enumerate(search.book.steps) if 0 < 6 - steps <= search.book.left]
        pull = search.ask()
        if pull is None:
            break
        assert pull.arm.id == max(able, key=search.promise)
        checked += len(able) > 1
        search.tell(pull, loss(pull))
    assert not able and checked


def test_more_budget_goes_on_with_the_search():
    search = AdaptiveMutantUCB(SPACE, budget=60, max_steps=5, seed=0)
    finish(search, loss)
    known, search.book.budget = len(search.book.arms), 200
    finish(search, loss)
    assert len(search.book.arms) > known + 20 and 196 <= search.book.spent <= 200


def test_the_plan_adds_up_to_the_budget():
    plan = AdaptiveMutantUCB(SPACE, budget=500, max_steps=10).plan()
    assert [phase.steps for phase in plan] == [24, 467, 9]
    assert [phase.steps for phase in AdaptiveMutantUCB(SPACE).plan()] == [24, None, None]


# What arms should become.


def test_the_score_is_the_running_average_corrected_by_the_gains_to_come():
    search = AdaptiveMutantUCB(SPACE, budget=400, max_steps=5, seed=0)
    increments = [0.0] * 6
    counts, rewards = Counter(), defaultdict(list)
    for pull, reward in play(search, climb):
        if pull.start:
            counts[pull.start] += 1
            step = reward - rewards[pull.arm.id][-1] - increments[pull.start]
            increments[pull.start] += max(0.02, 1 / counts[pull.start]) * step
        rewards[pull.arm.id].append(reward)
    to_come = [sum(increments[rung:5]) for rung in range(1, 6)]
    weights = {
        1: [1],
        2: [0.5, 0.5],
        3: [0.3, 0.3, 0.4],
        4: [0.18, 0.18, 0.24, 0.4],
        5: [0.108, 0.108, 0.144, 0.24, 0.4],
    }
    assert min(counts[rung] for rung in range(1, 5)) > 10 and to_come[0] > 0.15
    for arm, own in rewards.items():
        score = sum(w * (reward + gain) for w, reward, gain in zip(weights[len(own)], own, to_come, strict=False))
        assert search.promise(arm) == pytest.approx(score)


def test_where_rewards_are_draws_about_one_value_the_score_is_their_mean():
    search = AdaptiveMutantUCB(SPACE, budget=1_000, max_steps=10, seed=0)
    rewards = finish(search, draw)
    assert [search.promise(arm) for arm in rewards] == pytest.approx([np.mean(own) for own in rewards.values()])
    assert any(len(own) > 3 for own in rewards.values())


@pytest.mark.parametrize("seed", range(4))
def test_a_young_arm_is_not_held_to_what_old_ones_have_become(seed):
    search = AdaptiveMutantUCB(SPACE, budget=500, max_steps=10, seed=seed)
    finish(search, climb)
    young = [arm for arm, steps in enumerate(search.book.steps) if steps == 1]
    assert len(young) > 30
    for arm in young:
        assert search.promise(arm) == pytest.approx(value(arm) - 0.5 * 0.8**10, abs=0.03)  # their rewards are 0.35 lower


def test_an_arm_without_a_reward_or_with_a_failure_promises_nothing():
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, initial=2, seed=0)
    first, second = search.ask(), search.ask()
    assert search.promise(0) == search.promise(1) == -math.inf
    search.tell(first, 0.5)
    search.tell(second, None)
    assert search.promise(0) == 0.5 and search.promise(1) == -math.inf


# What it does next.


def test_the_first_pulls_are_random_arms_a_slice_each():
    search = AdaptiveMutantUCB(SPACE, max_steps=100, initial=7, seed=0)
    first = list(islice(play(search, loss), 7))
    assert [(pull.arm.id, pull.arm.parents, pull.stop) for pull, _ in first] == [(arm, (), 10) for arm in range(7)]


def test_an_arm_is_trained_to_the_end_and_only_then_mutated(monkeypatch):
    never_fresh(monkeypatch)
    never_straight(monkeypatch)
    search = AdaptiveMutantUCB(SPACE, budget=600, max_steps=6, seed=0)
    ended, mutants = set(), 0
    for pull, _ in play(search, loss):
        if pull.arm.id >= search.initial and not pull.start:
            assert pull.arm.parents[0] in ended
            mutants += 1
        ended |= {pull.arm.id} if pull.stop == 6 else set()
    assert mutants > 50 and max(search.book.steps) == 6


def test_the_arm_with_the_best_prospects_is_trained_on(monkeypatch):
    never_fresh(monkeypatch)
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, initial=10, exploration=0.0, seed=0)
    for pull, _ in islice(play(search, loss), 10):
        assert not pull.start
    for _ in range(10):
        best = max(range(10), key=search.promise)
        if search.book.steps[best] == 5:
            return
        pull = search.ask()
        assert pull.arm.id == best
        search.tell(pull, loss(pull))
    pytest.fail("no arm was trained to the end")


def test_exploration_trains_more_of_the_first_arms(monkeypatch):
    never_fresh(monkeypatch)
    trained = []
    for exploration in (0.0, 0.5, 10.0):
        search = AdaptiveMutantUCB(SPACE, max_steps=10, initial=20, exploration=exploration, surrogate=False, seed=0)
        for _ in islice(play(search, climb), 60):
            pass
        trained.append(sum(steps > 1 for steps in search.book.steps[:20]))
    assert trained[0] < trained[1] < trained[2]


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("seed", range(3))
def test_a_third_of_the_pulls_train_an_arm_on_while_one_is_paused(seed, workers):
    search = AdaptiveMutantUCB(WIDE, budget=1_500, exploration=0, surrogate=False, seed=seed)
    trainings = pulls = 0
    for pull, _ in islice(play(search, climb, workers), 1_000):
        pulls += pull.arm.id >= search.initial or pull.start > 0
        trainings += pull.start > 0
        if pulls > 150:  # fresh arms may come first
            assert trainings >= pulls / 3 - workers - 3
    assert pulls > 600


def test_without_that_rule_mutants_would_take_nearly_all_pulls(monkeypatch):
    never_straight(monkeypatch)
    shares = []
    for trained in (adaptive._TRAINED, 0.0):
        monkeypatch.setattr(adaptive, "_TRAINED", trained)
        search = AdaptiveMutantUCB(WIDE, budget=1_500, exploration=0, surrogate=False, seed=0)
        shares.append(np.mean([pull.start > 0 for pull, _ in play(search, climb)]))
    assert shares[0] > 0.3 > 0.2 > shares[1]


@pytest.mark.parametrize(("guided", "start"), [(True, 0.5), (False, 0.1)])
def test_the_probability_of_a_fresh_arm_falls_and_never_to_none(guided, start):
    values = [adaptive.fresh_probability(pulls, guided) for pulls in (0, 150, 1_200, 10**8)]
    assert values == pytest.approx([start, start / 2, start / 5, start / math.sqrt(1 + 2e6)]) and values[-1] > 0


def test_fresh_arms_come_with_that_probability(monkeypatch):
    never_straight(monkeypatch)
    search = AdaptiveMutantUCB(WIDE, surrogate=False, seed=0)
    pulls = [pull for pull, _ in islice(play(search, loss), 3_000)]
    fresh = [not pull.start and not pull.arm.parents for pull in pulls]
    for part in (slice(24, 300), slice(300, 3_000)):
        chances = [adaptive.fresh_probability(number, guided=False) for number in range(part.start, part.stop)]
        spread = math.sqrt(sum(p * (1 - p) for p in chances))
        assert abs(sum(fresh[part]) - sum(chances)) < 3 * spread


def test_while_all_arms_are_asleep_fresh_ones_are_drawn():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, initial=3, seed=0)
    pulls = [search.ask() for _ in range(20)]
    assert [pull.arm.id for pull in pulls] == list(range(20)) and not any(pull.start for pull in pulls)


def test_a_config_met_again_is_trained_on_instead():
    search = AdaptiveMutantUCB(Space(n=Int(1, 3)), budget=60, max_steps=10, seed=0)
    pulls = [pull for pull, _ in islice(play(search, lambda pull: 0.5), 15)]
    assert len({pull.arm.id for pull in pulls}) == len({pull.config["n"] for pull in pulls}) == 3


# Straight to the end.


def trained_in_a_row(pulls):
    """The arms that got all their pulls one after the other."""
    rows = [[pull.arm.id for pull in pulls[i : i + 10]] for i, pull in enumerate(pulls) if not pull.start]
    return [row[0] for row in rows if len(row) == 10 and len(set(row)) == 1]


def test_where_the_first_steps_mislead_arms_trained_straight_to_the_end_find_the_best(monkeypatch):
    found = []
    for share in (adaptive._STRAIGHT, (0.0, 0.0)):
        monkeypatch.setattr(adaptive, "_STRAIGHT", share)
        regrets = []
        for seed in range(3):
            problem = CurveWorld("crossing", seed=0)
            search = AdaptiveMutantUCB(problem.space, budget=600, seed=seed)
            finish(search, lambda pull, problem=problem, seed=seed: evaluate(problem, pull, seed))
            regrets.append(regret(problem, search.best().config))
        found.append(np.mean(regrets))
    assert found[0] < 20 < 40 < found[1]


def test_once_they_find_something_better_most_steps_are_theirs_and_few_before():
    shares = []
    for kind in ("crossing", "fast"):
        problem = CurveWorld(kind, seed=0)
        search = AdaptiveMutantUCB(problem.space, budget=1_000, seed=0)
        finish(search, lambda pull, problem=problem: evaluate(problem, pull, 0))
        shares.append(10 * len(search._straight) / 1_000)
    assert shares[0] > 0.5 and 0.05 < shares[1] <= 0.15


def test_such_an_arm_gets_all_its_pulls_at_once():
    problem = CurveWorld("crossing", seed=0)
    search = AdaptiveMutantUCB(problem.space, budget=600, seed=0)
    pulls = [pull for pull, _ in play(search, lambda pull: evaluate(problem, pull, 0))]
    ended = [arm for arm in search._straight if search.book.steps[arm] == 10]
    assert len(ended) > 10 and set(ended) <= set(trained_in_a_row(pulls))


def test_a_training_of_one_slice_is_always_straight_and_needs_no_rule():
    search = AdaptiveMutantUCB(WIDE, budget=300, max_steps=1, seed=0)
    finish(search, loss)
    assert not search._straight


# Newcomers.


@pytest.mark.parametrize("space", [WIDE, Line()], ids=["a space", "a space that neither crosses nor takes a size"])
def test_a_newcomer_is_the_most_promising_of_many_candidates(space):
    search = AdaptiveMutantUCB(space, max_steps=5, seed=0)
    forecast, seen = search._nursery.forecast.outlook, []

    def watched(candidates, *known):
        seen.append((candidates, forecast(candidates, *known)))
        return seen[-1][1]

    search._nursery.forecast.outlook = watched
    chosen = 0
    for pull, _ in islice(play(search, lambda pull: -abs(float(space.encode(pull.config)[0]) - 0.4)), 200):
        if pull.arm.id >= 24 and not pull.start and seen:
            candidates, outlook = seen.pop()
            assert len(candidates) == 64
            known = np.array([space.encode(arm.config) for arm in search.book.arms[: pull.arm.id]])
            unseen = [row for row in np.argsort(-outlook) if np.abs(known - candidates[row]).max(axis=1).min() > 1e-9]
            assert space.encode(pull.config) == pytest.approx(candidates[unseen[0]])
            chosen += 1
        seen.clear()
    assert chosen > 50


def test_candidates_are_mutants_of_several_sizes_and_crossings_with_good_arms():
    space = Watched(x=Float(0, 1), y=Float(0, 1))
    space.breeder = lambda: OneByOne(space)  # who asks for each of them
    search = AdaptiveMutantUCB(space, budget=400, max_steps=5, seed=0)
    finish(search, loss)
    sizes = {size: count for size, count in space.sizes.items() if size in (0.03, 0.1, 0.2, 0.4)}
    assert len(sizes) == 4 and min(sizes.values()) > 0.8 * max(sizes.values())
    assert 0.2 * sum(sizes.values()) < space.crossings < 0.4 * sum(sizes.values())
    assert {len(arm.parents) for arm in search.book.arms} == {0, 1, 2}


def test_newcomers_come_near_good_arms():
    near, anywhere = [], []
    for seed in range(4):
        search = AdaptiveMutantUCB(WIDE, max_steps=5, seed=seed)
        pulls = [pull for pull, _ in islice(play(search, loss), 300)]
        anywhere += [distance(pull.config) for pull in pulls[:24]]
        near += [distance(pull.config) for pull in pulls[24:] if not pull.start]
    assert np.median(near) < 0.5 * np.median(anywhere)


def test_with_and_without_the_surrogate_the_search_beats_random_search():
    found = np.zeros(3)
    for seed in range(4):
        searches = (
            AdaptiveMutantUCB(WIDE, budget=300, max_steps=5, seed=seed),
            AdaptiveMutantUCB(WIDE, budget=300, max_steps=5, surrogate=False, seed=seed),
            RandomSearch(WIDE, budget=300, max_steps=5, seed=seed),
        )
        for i, search in enumerate(searches):
            finish(search, loss)
            found[i] += distance(search.best().config) / 4
    assert max(found[:2]) < 0.5 * found[2]


def test_a_newcomer_is_never_a_known_config():
    space = Space(n=Int(1, 200), m=Int(1, 3))
    search = AdaptiveMutantUCB(space, budget=600, max_steps=4, seed=0)
    finish(search, lambda pull: -abs(pull.config["n"] - 100) / 200 - pull.stop)
    configs = [(arm.config["n"], arm.config["m"]) for arm in search.book.arms]
    assert len(configs) == len(set(configs)) > 100


def test_without_a_surrogate_the_space_is_not_asked_to_encode():
    space = Watched(x=Float(0, 1), y=Float(0, 1))
    search = AdaptiveMutantUCB(space, budget=300, max_steps=5, surrogate=False, seed=0)
    finish(search, loss)
    assert space.encoded == 0 == space.crossings and set(space.sizes) == {0.15}
    assert max(len(arm.parents) for arm in search.book.arms) == 1


def test_a_space_that_does_not_encode_goes_without():
    search = AdaptiveMutantUCB(Digits(), budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: -abs(pull.config - 300) / pull.stop)
    assert abs(search.best().config - 300) < 30 and {len(arm.parents) for arm in search.book.arms} == {0, 1}


def test_a_space_that_neither_crosses_nor_takes_a_size_has_its_newcomers_chosen_too():
    search = AdaptiveMutantUCB(Line(), budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: -abs(pull.config - 300) / pull.stop)
    assert abs(search.best().config - 300) < 10 and {len(arm.parents) for arm in search.book.arms} == {0, 1}


# What it recommends.


def test_only_arms_trained_to_the_end_are_recommended_and_by_their_last_reward():
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=6, seed=0)
    last, checked = {}, 0
    for pull, reward in play(search, lambda pull: 5 - pull.stop + loss(pull), workers=4):  # falling: the young look best
        last[pull.arm.id] = reward
        done = whole(search)
        if done:
            assert search.best().id == max(done, key=last.get)
            checked += max(last, key=last.get) not in done
        else:
            assert search.best().id == max(last, key=search.promise)
    assert checked > 300 and len(whole(search)) > 5


def test_on_level_rewards_the_mean_is_recommended_and_not_the_luckiest_last_draw():
    search = AdaptiveMutantUCB(SPACE, budget=1_500, max_steps=5, seed=0)
    rewards = finish(search, draw)
    done = whole(search)
    assert search.best().id == max(done, key=lambda arm: np.mean(rewards[arm]))
    assert search.best().id != max(done, key=lambda arm: rewards[arm][-1])


def test_an_arm_that_failed_is_neither_trained_nor_recommended_while_there_is_another():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    failed = set()
    for pull, reward in play(search, lambda pull: None if pull.arm.id % 3 == 0 and pull.start >= 3 else loss(pull), workers=3):
        assert pull.arm.id not in failed
        failed |= {pull.arm.id} if reward is None else set()
        assert search.best().id not in failed
    assert len(failed) > 3


def test_an_arm_that_failed_later_is_recommended_where_there_is_no_other():
    search = AdaptiveMutantUCB(SPACE, budget=30, max_steps=5, seed=0)
    finish(search, lambda pull: 0.5 if (pull.arm.id, pull.start) == (2, 0) else None)
    assert search.best().id == 2 and 2 in search.book.failed


def test_where_all_fails_there_is_nothing_to_recommend():
    search = AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, seed=0)
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()
    finish(search, lambda pull: None)
    assert search.book.spent == 96 and len(search.book.failed) == 96
    with pytest.raises(NoResult, match="no pull has succeeded yet"):
        search.best()


# What goes wrong.


def test_newcomers_avoid_a_region_where_all_arms_fail():
    search = AdaptiveMutantUCB(SPACE, max_steps=5, seed=0)
    reward = lambda pull: None if pull.config["x"] > 0.5 else loss(pull) - pull.config["x"]  # noqa: E731
    pulls = [pull for pull, _ in islice(play(search, reward), 400)]
    failed = [pull.config["x"] > 0.5 for pull in pulls if not pull.start]
    assert np.mean(failed[:24]) > 0.3 and np.mean(failed[24:]) < 0.06


@pytest.mark.parametrize("diverged", [-1e3, -1e9, -1e12, -1e300])
@pytest.mark.parametrize("workers", [1, 8])
def test_a_diverged_first_arm_is_as_bad_as_it_was_and_no_other_looks_better_for_it(diverged, workers):
    reward = lambda pull: diverged if pull.arm.id == 0 else loss(pull)  # noqa: E731
    search = AdaptiveMutantUCB(WIDE, budget=600, max_steps=10, seed=0)
    finish(search, reward, workers)
    scores = np.array([search.promise(arm) for arm in range(len(search.book.arms))])
    values = -np.array([1.1 * (0.2 + distance(arm.config)) for arm in search.book.arms])
    assert scores[0] == scores[:24].min() and search.book.steps[0] == 1
    assert np.abs(scores - values)[1:].max() < 2 and np.corrcoef(scores[1:], values[1:])[0, 1] > 0.8
    assert search._spread < 1
    assert distance(search.best().config) < 0.05


@pytest.mark.parametrize("diverged", [-1e3, -1e9, -1e12, -1e300])
def test_how_far_a_run_diverged_does_not_matter(diverged):
    def reward(pull):
        return diverged if pull.arm.id in (0, 5, 17) or (pull.arm.id % 4 == 3 and pull.stop > 3) else loss(pull)

    def failing(pull):
        return -1e6 if reward(pull) == diverged else loss(pull)

    one, two = (AdaptiveMutantUCB(WIDE, budget=400, max_steps=10, seed=1) for _ in range(2))
    assert pulls_of(one, reward) == pulls_of(two, failing)


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_runs_that_diverge_on_the_way_spoil_neither_the_search_nor_the_recommendation(share, workers):
    def reward(pull):
        unlucky = np.random.default_rng(pull.arm.id).random() < share
        return -1e9 if pull.arm.id == 0 or (unlucky and pull.stop > 3) else loss(pull)

    distances = []
    for seed in range(6):
        search = AdaptiveMutantUCB(WIDE, budget=1_000, max_steps=10, seed=seed)
        rewards = finish(search, reward, workers)
        done = [arm for arm in whole(search) if rewards[arm][-1] > -1e9]
        assert rewards[search.best().id][-1] == max(rewards[arm][-1] for arm in done)
        assert len(done) > 15 and search._spread < 1
        distances.append(distance(search.best().config))
    assert np.mean(distances) < 0.08  # of random arms, three in a thousand


def test_a_great_reward_on_the_way_is_not_recommended_for_it():
    search = AdaptiveMutantUCB(SPACE, budget=400, max_steps=5, seed=0)
    finish(search, lambda pull: 1e9 if (pull.arm.id, pull.stop) == (3, 1) else loss(pull))
    assert search.book.steps[3] == 5 and search.best().id != 3


@pytest.mark.parametrize("huge", [1e200, -1e200])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_rewards_whose_squares_are_no_numbers_are_rewards(huge, step):
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    finish(search, lambda pull: huge if pull.arm.id == 3 and pull.stop == step else loss(pull), workers=3)
    assert search.book.spent > 295 and search.best().id != 3


def test_where_all_rewards_are_equal_the_search_goes_on():
    search = AdaptiveMutantUCB(SPACE, budget=300, max_steps=5, seed=0)
    finish(search, lambda pull: 0.1)
    assert search.book.spent > 295 and whole(search) and search.best().id in whole(search)


# The scale of rewards.


@pytest.mark.parametrize("reward", [loss, climb, draw])
@pytest.mark.parametrize("scale", [2.0**-40, 0.5, 2.0**30])
def test_a_scale_that_rounds_nothing_changes_no_decision(reward, scale):
    one, two = (AdaptiveMutantUCB(SPACE, budget=500, max_steps=6, seed=0) for _ in range(2))
    assert pulls_of(one, reward, workers=3) == pulls_of(two, lambda pull: scale * reward(pull), workers=3)
    assert one.best() == two.best()


@pytest.mark.parametrize("reward", [loss, draw])
@pytest.mark.parametrize(("scale", "shift"), [(3.7, 0.0), (1.0, -100.0), (1e-3, 0.7), (1e6, -3e5)])
def test_no_unit_of_rewards_changes_what_is_found(reward, scale, shift):
    one, two = (AdaptiveMutantUCB(SPACE, budget=300, max_steps=6, seed=0) for _ in range(2))
    plain, scaled = pulls_of(one, reward), pulls_of(two, lambda pull: scale * reward(pull) + shift)
    same = next((i for i, pair in enumerate(zip(plain, scaled, strict=False)) if pair[0] != pair[1]), len(plain))
    assert same > 100  # then the rounding of one sum may decide a tie
    assert abs(distance(one.best().config) - distance(two.best().config)) < 0.05


# Cost and state.


def test_with_one_sound_arm_the_scores_are_not_measured_again_and_again(monkeypatch):
    search = AdaptiveMutantUCB(SPACE, budget=1_000, max_steps=10, surrogate=False, seed=0)
    scans, trained = [], AdaptiveMutantUCB._trained
    monkeypatch.setattr(AdaptiveMutantUCB, "_trained", lambda self, **options: scans.append(1) or trained(self, **options))
    finish(search, lambda pull: 0.5 if pull.arm.id == 0 else None)
    assert len(search.book.failed) > 900 and len(scans) <= 10


def test_the_scores_are_measured_as_often_as_the_rewards_grow_by_a_tenth(monkeypatch):
    search = AdaptiveMutantUCB(SPACE, surrogate=False, seed=0)
    scans, trained = [], AdaptiveMutantUCB._trained
    monkeypatch.setattr(AdaptiveMutantUCB, "_trained", lambda self, **options: scans.append(1) or trained(self, **options))
    for _ in islice(play(search, loss), 5_000):
        pass
    assert 0.8 * math.log(5_000 / 24, 1.1) < len(scans) <= math.log(5_000 / 24, 1.1) + 2


@pytest.mark.parametrize("reward", [loss, draw])
@pytest.mark.parametrize("moment", [10, 100, 400])
def test_a_loaded_state_goes_on_as_the_original(reward, moment):
    def flawed(pull):
        return None if pull.arm.id % 11 == 5 else -1e9 if pull.arm.id % 13 == 6 and pull.start else reward(pull)

    original, restored = (AdaptiveMutantUCB(SPACE, budget=900, max_steps=6, seed=seed) for seed in (0, 9))
    for _ in islice(play(original, flawed), moment):
        pass
    waiting = original.ask()
    restored.load(original.state())
    for search in (original, restored):
        search.tell(waiting, flawed(waiting))
    assert original._outlook.level == restored._outlook.level
    assert pulls_of(original, flawed) == pulls_of(restored, flawed)
    assert original.best() == restored.best()
    assert [original.promise(arm.id) for arm in original.book.arms] == [restored.promise(arm.id) for arm in restored.book.arms]
