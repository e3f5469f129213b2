"""∞-UCB-E decides as algorithm 1 of the paper does, with the settings of its theorem, and keeps its promises beyond it."""

import math
from collections import Counter

import numpy as np
import pytest

from manyarms import Choice, Float, InfiniteUCBE, NoResult, Space
from manyarms.bench.problems import Reservoir
from manyarms.strategies.infinite_ucb_e import regret_bound, theory_exploration, theory_initial, tightest_delta
from manyarms.strategies.kit.upper_bounds import upper_bound
from manyarms.testing import play

SPACE = Space(x=Float(0, 1), y=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "no arms": ({"initial": 0}, ValueError, "initial must be at least 1, got 0"),
    "float arms": ({"initial": 5.0}, TypeError, "initial must be a whole number, got 5.0"),
    "nan exploration": ({"exploration": math.nan}, ValueError, "exploration must be at least 0, got nan"),
    "negative exploration": ({"exploration": -0.1}, ValueError, "exploration must be at least 0, got -0.1"),
    "exploration in words": ({"exploration": "much"}, TypeError, "exploration must be a number, got 'much'"),
    "alpha above one": ({"alpha": 1.5}, ValueError, "alpha must be between 0 and 1, got 1.5"),
    "nan alpha": ({"alpha": math.nan}, ValueError, "alpha must be between 0 and 1, got nan"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "less than the first arms": ({"budget": 19, "initial": 20}, ValueError, "budget must be at least 20: one step for each of"),
}

WRONG_BOUNDS = {
    "no arms": ((100, 0), ValueError, "initial must be at least 1, got 0"),
    "as many arms as steps": ((5, 5), ValueError, "budget must be more than initial=5, got 5"),
    "one step": ((1, 1), ValueError, "budget must be at least 2, got 1"),
    "float budget": ((1e4, 2), TypeError, "budget must be a whole number, got 10000.0"),
    "delta above one": ((100, 2, 1.1), ValueError, "delta must be between 0 and 1, got 1.1"),
}


def algorithm_1(space, reward, *, budget, initial, exploration, max_steps, seed):
    """The paper's algorithm by plain scans: what is trained, as (arm, config, sub-trains before).

    It draws from the generator as `InfiniteUCBE` does: a number against ties with every reward of an arm that may go on. Where
    none may, which the paper does not have, it draws a new arm.
    """
    rng = np.random.default_rng(seed)
    configs, rewards, ties = [], [], []

    def index(k):
        return sum(rewards[k]) / len(rewards[k]) + math.sqrt(exploration / len(rewards[k])), -ties[k]

    for t in range(budget):
        awake = [k for k in range(len(configs)) if max_steps is None or len(rewards[k]) < max_steps]
        if t < initial or not awake:
            configs.append(space.sample(rng))
            rewards.append([])
            ties.append(None)
            k = len(configs) - 1
        else:
            k = max(awake, key=index)
        yield k, configs[k], len(rewards[k])
        rewards[k].append(reward(k, len(rewards[k]) + 1))
        if max_steps is None or len(rewards[k]) < max_steps:
            ties[k] = rng.random()


def coarse(arm, step):
    """A reward with many ties."""
    return int(np.random.default_rng([arm, step]).integers(9)) / 8


def smooth(arm, step):
    return np.random.default_rng([arm, step]).random()


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        InfiniteUCBE(SPACE, **arguments)
    assert message in str(raised.value)


def test_the_budget_that_the_message_names_is_enough():
    search = InfiniteUCBE(SPACE, budget=20, initial=20, seed=0)
    assert [pull.arm.id for pull, _ in play(search, lambda pull: 0.5)] == list(range(20))


@pytest.mark.parametrize("reward", [coarse, smooth])
@pytest.mark.parametrize(
    ("budget", "initial", "exploration", "max_steps"),
    [
        (400, 20, 0.05, None),
        (400, 1, 0.05, None),
        (400, 20, 0.0, None),
        (400, 20, 5.0, None),
        (200, 20, 0.05, 4),
        (20, 20, 1.0, 1),
    ],
)
def test_every_decision_is_that_of_algorithm_1(reward, budget, initial, exploration, max_steps):
    settings = {"budget": budget, "initial": initial, "exploration": exploration, "max_steps": max_steps}
    for seed in range(3):
        search = InfiniteUCBE(SPACE, **settings, seed=seed)
        pulls = [pull for pull, _ in play(search, lambda pull: reward(pull.arm.id, pull.stop))]
        expected = algorithm_1(SPACE, reward, **settings, seed=seed)
        assert [(pull.arm.id, pull.config, pull.start) for pull in pulls] == list(expected)
        assert all(pull.steps == 1 and pull.arm.parents == () for pull in pulls)
        means = {k: np.mean([reward(k, n + 1) for n in range(steps)]) for k, steps in enumerate(search.ledger.steps)}
        assert means[search.best().id] == pytest.approx(max(means.values()))


def test_the_defaults_are_those_of_the_theory():
    for budget in (1, 2, 100, 10_000, 10**6):
        search = InfiniteUCBE(SPACE, budget=budget)
        arms = math.ceil(budget**0.19)
        assert search.initial == arms
        assert search.exploration == pytest.approx(25 / 36 * (budget - arms) / arms**5)
    assert InfiniteUCBE(SPACE, budget=10_000, alpha=0.5).initial == 100
    assert InfiniteUCBE(SPACE, budget=10_000, initial=3).exploration == theory_exploration(10_000, 3)
    endless, usual = InfiniteUCBE(SPACE), InfiniteUCBE(SPACE, budget=10_000)
    assert (endless.initial, endless.exploration) == (usual.initial, usual.exploration)


def test_whole_powers_are_not_rounded_up():
    assert [theory_initial(n**5, 0.2) for n in range(1, 60)] == list(range(1, 60))
    assert [theory_initial(n**5 + 1, 0.2) for n in range(1, 60)] == list(range(2, 61))


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG_BOUNDS.values(), ids=WRONG_BOUNDS)
def test_a_bound_of_what_the_theorem_does_not_cover_is_refused(arguments, error, message):
    with pytest.raises(error) as raised:
        regret_bound(*arguments)
    assert message in str(raised.value)


def test_the_bound_is_that_of_theorem_3_4():
    written_out = 1 / 3 + 0.4 + 2 * 10_000 * 2 * math.exp(-(10_000 - 2) * 0.4**2 / (18 * 2**3))
    assert regret_bound(10_000, 2, 0.4) == pytest.approx(written_out)
    assert regret_bound(10_000, 2) == regret_bound(10_000, 2, 1 / 2) == pytest.approx(0.834, abs=5e-4)
    assert [arms for arms in range(1, 200) if regret_bound(10_000, arms) < 1] == [2]


@pytest.mark.parametrize(("budget", "initial"), [(1000, 1), (10_000, 2), (10**6, 5), (10**9, 20)])
def test_no_other_delta_gives_a_tighter_bound(budget, initial):
    delta = tightest_delta(budget, initial)
    best = regret_bound(budget, initial, delta)
    assert best < 1 and all(regret_bound(budget, initial, other) >= best for other in np.linspace(0, 1, 2001).tolist())


def test_where_the_bound_says_nothing_there_is_still_a_delta():
    assert tightest_delta(2, 1) == tightest_delta(100, 20) == 1.0


def test_the_regret_on_a_uniform_reservoir_is_that_of_the_best_of_its_arms():
    problem, regrets = Reservoir(1, 1), []
    for seed in range(100):
        search, rng = InfiniteUCBE(problem.space, budget=600, initial=5, seed=seed), np.random.default_rng(seed)
        for _ in play(search, lambda pull, rng=rng: float(rng.random() < pull.config["mean"])):
            pass
        regrets.append(1 - problem.value(search.best().config))
    assert abs(np.mean(regrets) - 1 / 6) < 0.05


def test_a_sleeping_arm_is_left_out_until_its_reward_comes():
    search = InfiniteUCBE(SPACE, budget=100, initial=3, exploration=0.05, seed=0)
    for value in (0.9, 0.5, 0.1):
        search.tell(search.ask(), value)
    pulls = [search.ask() for _ in range(4)]
    assert [(pull.arm.id, pull.start) for pull in pulls] == [(0, 1), (1, 1), (2, 1), (3, 0)]
    search.tell(pulls[1], 0.5)
    assert search.ask().arm.id == 1
    search.tell(pulls[2], 0.1)
    search.tell(pulls[0], 0.9)
    assert [search.ask().arm.id for _ in range(2)] == [0, 2]


def test_pulls_in_flight_count_as_choices_of_the_arm():
    search = InfiniteUCBE(SPACE, budget=100, initial=1, exploration=0.05, seed=0)
    search.tell(search.ask(), 0.5)
    assert search.priority(0) == upper_bound(0.5, 1, 0.05)
    pull = search.ask()
    assert search.priority(0) == upper_bound(0.5, 2, 0.05)
    search.tell(pull, 0.5)
    assert search.priority(0) == upper_bound(0.5, 2, 0.05)


@pytest.mark.parametrize("workers", [4, 16])
def test_workers_draw_fresh_arms_only_where_all_others_are_asleep(workers):
    search = InfiniteUCBE(SPACE, budget=500, initial=10, seed=0)
    for _ in play(search, lambda pull: smooth(pull.arm.id, pull.stop), workers):
        pass
    assert len(search.ledger.arms) == max(10, workers) and search.ledger.spent == 500


def test_where_all_arms_are_trained_to_the_end_fresh_ones_are_drawn():
    search = InfiniteUCBE(SPACE, budget=40, initial=4, max_steps=2, seed=0)
    counts = Counter(pull.arm.id for pull, _ in play(search, lambda pull: 0.5))
    assert set(counts.values()) == {2} and len(counts) == 20
    assert search.priority(0) == -math.inf


def test_an_arm_that_failed_is_neither_pulled_nor_recommended():
    search, failed = InfiniteUCBE(SPACE, budget=60, initial=4, seed=0), set()
    for pull, reward in play(search, lambda pull: None if pull.arm.id < 2 and pull.start == 1 else 0.9 - 0.1 * pull.arm.id):
        assert pull.arm.id not in failed
        failed |= {pull.arm.id} if reward is None else set()
        assert search.best().id not in failed
    assert failed == {0, 1} and search.best().id == 2 and len(search.ledger.arms) == 4


def test_where_every_arm_fails_fresh_ones_are_drawn_to_the_end():
    search = InfiniteUCBE(SPACE, budget=20, initial=4, seed=0)
    pulls = [pull for pull, _ in play(search, lambda pull: 0.5 if pull.arm.id == 18 else None)]
    assert [pull.arm.id for pull in pulls] == [*range(19), 18] and search.best().id == 18


def test_before_any_reward_there_is_nothing_to_recommend():
    search = InfiniteUCBE(SPACE, budget=20, initial=2, seed=0)
    search.ask()
    with pytest.raises(NoResult):
        search.best()


def test_a_space_smaller_than_the_first_arms_does_not_keep_it_from_choosing():
    search = InfiniteUCBE(Space(c=Choice("a", "b")), budget=100, initial=10, exploration=0.01, seed=0)
    pulls = [pull.config["c"] for pull, _ in play(search, lambda pull: 0.9 if pull.config["c"] == "a" else 0.1)]
    assert len(search.ledger.arms) == 2 and set(pulls[10:]) == {"a"}


def test_more_budget_goes_on_with_the_same_arms():
    search = InfiniteUCBE(SPACE, budget=50, initial=10, seed=0)
    first = [pull for pull, _ in play(search, lambda pull: smooth(pull.arm.id, pull.stop))]
    search.ledger.budget = 120
    more = [pull for pull, _ in play(search, lambda pull: smooth(pull.arm.id, pull.stop))]
    assert (len(first), len(more), len(search.ledger.arms)) == (50, 70, 10)


def test_the_plan_adds_up_to_the_budget():
    assert [phase.steps for phase in InfiniteUCBE(SPACE, budget=500, initial=50).plan()] == [50, 450]
    assert [phase.steps for phase in InfiniteUCBE(SPACE, initial=50).plan()] == [50, None]
