"""D-TTTS decides as top-two Thompson sampling would among all the arms it queried, and recommends the most probably best."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import integrate, special, stats

from manyarms import DTTTS, Choice, Float, NoResult, Space, Study
from manyarms.bench.problems import Reservoir
from manyarms.strategies import d_ttts
from manyarms.strategies.d_ttts import challenger, challenger_law, top_two
from manyarms.strategies.kit.beta_laws import log_best
from manyarms.testing import play

SPACE = Space(x=Float(0, 1), y=Float(0, 1))

WRONG = {
    "no budget": ({"budget": 0}, ValueError, "budget must be at least 1, got 0"),
    "float budget": ({"budget": 100.0}, TypeError, "budget must be a whole number, got 100.0"),
    "beta above one": ({"beta": 1.1}, ValueError, "beta must be between 0 and 1, got 1.1"),
    "nan beta": ({"beta": math.nan}, ValueError, "beta must be between 0 and 1, got nan"),
    "beta in words": ({"beta": "half"}, TypeError, "beta must be a number, got 'half'"),
    "no steps": ({"max_steps": 0}, ValueError, "max_steps must be at least 1, got 0"),
    "unknown rule": (
        {"recommend": "best"},
        ValueError,
        "recommend must be one of 'optimal', 'most_pulled', 'mean', got 'best'",
    ),
    "negative seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
}

POSTERIORS = {  # a, b and the fresh arms
    "two arms and one fresh": ([2, 1], [1, 2], 1),
    "two arms and two fresh": ([2, 1], [1, 2], 2),
    "an arm ahead": ([8, 3, 2], [2, 4, 2], 3),
    "fresh ones ahead": ([2, 1, 1], [5, 4, 6], 6),
    "equal arms": ([3, 3, 3, 1], [2, 2, 2, 1], 4),
}


def arrays(*columns):
    return [np.array(column, dtype=float) for column in columns]


def top_two_of_all(a, b, fresh, beta, rng, size):
    """What top-two Thompson sampling pulls where every fresh arm is an arm of its own; all of them count as len(a)."""
    a, b = np.concatenate([a, np.ones(fresh)]), np.concatenate([b, np.ones(fresh)])
    leaders = rng.beta(a, b, (size, len(a))).argmax(axis=1)
    chosen = leaders.copy()
    waiting = np.flatnonzero(rng.random(size) >= beta) if len(a) > 1 else []
    while len(waiting):
        chosen[waiting] = rng.beta(a, b, (len(waiting), len(a))).argmax(axis=1)
        waiting = waiting[chosen[waiting] == leaders[waiting]]
    return np.minimum(chosen, len(a) - fresh)


def looks_alike(one, other):
    """Whether two samples of small numbers may come from one law: chi-square, with a mistake once in 100,000."""
    counts = np.array([np.bincount(sample, minlength=max(*one, *other) + 1) for sample in (one, other)])
    counts = counts[:, counts.sum(axis=0) > 0]
    return counts.shape[1] == 1 or stats.chi2_contingency(counts).pvalue > 1e-5


def reference(space, reward, budget, beta, seed):
    """The algorithm with everything counted anew in every round: the arms pulled, and the successes of each.

    It draws as `DTTTS` does: all posteriors for the leader, a number against beta, all posteriors and a number for each
    possible challenger, in batches that double, a config, and a number to make the reward a success.
    """
    rng, history, configs = np.random.default_rng(seed), [], []
    for t in range(1, budget + 1):
        successes = [sum(x for arm, x in history if arm == i) for i in range(len(configs))]
        pulls = [sum(arm == i for arm, _ in history) for i in range(len(configs))]
        fresh = t - len(configs)
        a = [1 + s for s in successes] + [fresh]
        b = [1 + n - s for n, s in zip(pulls, successes, strict=True)] + [1]
        chosen = None if configs else 0
        if chosen is None:
            leader = int(np.argmax(rng.beta(a, b)))
            chosen = leader if rng.random() < beta else None
        batch = 1
        while chosen is None:
            winners = [int(np.argmax(draw)) for draw in [rng.beta(a, b) for _ in range(batch)]]
            for winner, number in zip(winners, rng.random(batch), strict=True):
                same = winner == leader and (leader < len(configs) or number >= 1 - 1 / fresh)
                chosen = winner if chosen is None and not same else chosen
            batch *= 2
        if chosen == len(configs):
            configs.append(space.sample(rng))
        history.append((chosen, rng.random() < reward(configs[chosen])))
    return [arm for arm, _ in history], [sum(x for arm, x in history if arm == i) for i in range(len(configs))]


def drawn(seed):
    """Rewards of 0 and 1 from the mean that is the arm's config."""
    rng = np.random.default_rng(seed)
    return lambda pull: float(rng.random() < pull.config["mean"])


def played(search, reward, workers=1):
    for _ in play(search, reward, workers):
        pass
    return search


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named_with_the_rule_and_the_value(arguments, error, message):
    with pytest.raises(error) as raised:
        DTTTS(SPACE, **arguments)
    assert message in str(raised.value)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_every_decision_is_that_of_the_algorithm(beta):
    for seed in range(3):
        search = DTTTS(SPACE, budget=150, beta=beta, seed=seed)
        pulls = [pull.arm.id for pull, _ in play(search, lambda pull: pull.config["x"])]
        assert (pulls, search._successes.all.tolist()) == reference(SPACE, lambda config: config["x"], 150, beta, seed)


@pytest.mark.parametrize(("a", "b", "fresh"), POSTERIORS.values(), ids=POSTERIORS)
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_the_pseudo_arm_stands_for_all_fresh_arms(a, b, fresh, beta):
    (a, b), rng = arrays(a, b), np.random.default_rng(0)
    ours = [top_two(a, b, fresh, beta, rng) for _ in range(6_000)]
    assert looks_alike(ours, top_two_of_all(a, b, fresh, beta, np.random.default_rng(1), 100_000))


@pytest.mark.parametrize(("a", "b", "fresh"), POSTERIORS.values(), ids=POSTERIORS)
def test_past_the_draws_the_challenger_has_the_same_law(a, b, fresh, monkeypatch):
    (a, b), rng = arrays([*a, fresh], [*b, 1]), np.random.default_rng(0)
    for leader in range(len(a)):
        repeat = 1 - 1 / fresh if leader == len(a) - 1 else 0.0
        drawn = [challenger(a, b, leader, repeat, rng) for _ in range(2_000)]
        with monkeypatch.context() as patch:
            patch.setattr(d_ttts, "_BATCHES", ())
            assert looks_alike(drawn, [challenger(a, b, leader, repeat, rng) for _ in range(2_000)])
        law = challenger_law(a, b, leader, repeat)
        assert law.sum() == pytest.approx(1) and (law[leader] > 0) == (repeat > 0)
        assert np.abs(np.bincount(drawn, minlength=len(a)) / 2_000 - law).max() < 0.04


def test_a_challenger_that_hardly_ever_wins_is_found_at_once():
    a, b = arrays([5000, 30, 20, 1], [1, 30, 40, 1])
    law, rng = challenger_law(a, b, 0, 0.0), np.random.default_rng(0)
    odds = special.betaln(5030, 30) - special.betaln(30, 30) - special.betaln(5001, 1)  # as the others are sure to be below
    assert law[0] == 0 and math.log(law[1] / law[3]) == pytest.approx(odds, rel=1e-3)
    assert all(challenger(a, b, 0, 0.0, rng) == 3 for _ in range(100))


def test_a_challenger_is_found_where_floats_cannot_say_how_unlikely_it_is():
    law = challenger_law(*arrays([900_000, 3, 2], [100_000, 3000, 3000]), 0, 0.0)
    rest = np.exp(log_best(*arrays([3, 2], [3000, 3000])))
    assert law[0] == 0 and law[1:] == pytest.approx(rest, abs=1e-3)


def test_without_fresh_arms_it_is_plain_top_two_sampling():
    (a, b), rng = arrays([3, 2, 1], [1, 2, 1]), np.random.default_rng(0)
    ours = [top_two(a, b, 0, 0.3, rng) for _ in range(10_000)]
    assert looks_alike(ours, top_two_of_all(a, b, 0, 0.3, np.random.default_rng(1), 100_000))
    assert top_two(a[:1], b[:1], 0, 0.0, rng) == top_two(a[:0], b[:0], 7, 0.0, rng) == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 2, 3], [1, 1, 4]),
        ([1, 1], [1, 1]),
        ([40, 38, 9, 2], [10, 9, 1, 1]),
        ([500, 300, 1, 1, 1], [20, 10, 1, 1, 1]),
        ([2] * 30 + [7], [2] * 30 + [3]),
    ],
)
def test_probabilities_of_being_best_agree_with_draws_and_with_quadrature(a, b):
    a, b = arrays(a, b)
    ours = np.exp(log_best(a, b))
    assert ours.sum() == pytest.approx(1)
    draws = np.concatenate([np.random.default_rng(i).beta(a, b, (50_000, len(a))).argmax(axis=1) for i in range(10)])
    assert np.abs(np.bincount(draws, minlength=len(a)) / len(draws) - ours).max() < 3e-3
    for i, law in enumerate(ours[:4]):
        others = [j for j in range(len(a)) if j != i]
        exact, _ = integrate.quad(
            lambda x, i=i, others=others: stats.beta.pdf(x, a[i], b[i]) * np.prod(stats.beta.cdf(x, a[others], b[others])),
            0, 1, points=[0.5, 0.9, 0.95, 0.97, 0.99], limit=500,
        )  # fmt: skip
        assert law == pytest.approx(exact, abs=1e-4)


def test_probabilities_of_being_best_agree_with_two_million_draws_to_a_thousandth():
    a, b = arrays([12, 10, 30, 3, 1], [4, 3, 12, 1, 1])
    counts = sum(np.bincount(np.random.default_rng(i).beta(a, b, (200_000, 5)).argmax(axis=1), minlength=5) for i in range(10))
    assert np.abs(counts / 2e6 - np.exp(log_best(a, b))).max() < 1e-3


def test_sharp_laws_and_many_arms_stay_exact():
    a, b = arrays([900_000, 900_300], [100_000, 99_700])
    gap = 0.0003 / math.sqrt(0.9 * 0.1 * 2 / 1e6)
    assert np.exp(log_best(a, b)) == pytest.approx([1 - stats.norm.cdf(gap), stats.norm.cdf(gap)], abs=1e-3)
    many = np.exp(log_best(np.append(np.full(20_000, 2.0), 30_000), np.ones(20_001)))
    assert many[-1] == pytest.approx(30_000 / 70_000, rel=1e-3)  # of Beta(a_i, 1): a_i of their sum
    assert many[0] == many[1] == pytest.approx(2 / 70_000, rel=1e-3)


@pytest.mark.parametrize(("b", "arms"), [(1, 500), (3, 700), (10, 840)])
@pytest.mark.parametrize("workers", [1, 10])
def test_the_harder_the_reservoir_the_more_arms_are_sampled(b, arms, workers):
    problem = Reservoir(1, b)
    sampled = []
    for seed in range(3):
        search = played(DTTTS(problem.space, budget=1000, seed=seed), drawn(seed), workers)
        sampled.append(len(search.ledger.arms))
    assert abs(np.mean(sampled) - arms) < 40


def test_it_finds_a_good_arm_of_a_uniform_reservoir():
    problem = Reservoir(1, 1)
    for rule in ("optimal", "most_pulled", "mean"):
        searches = [played(DTTTS(problem.space, budget=1000, recommend=rule, seed=seed), drawn(seed)) for seed in range(5)]
        assert np.mean([problem.value(search.best().config) for search in searches]) > 0.93


def test_a_reward_is_a_success_as_often_as_it_is_large():
    search = played(DTTTS(SPACE, budget=2000, seed=0), lambda pull: 0.3)
    assert search._successes.all.sum() / 2000 == pytest.approx(0.3, abs=0.05)
    assert set(np.unique(search._successes.all % 1)) == {0}
    for value, successes in ((0.0, 0), (1.0, 50)):
        assert played(DTTTS(SPACE, budget=50, seed=0), lambda pull, value=value: value)._successes.all.sum() == successes


def test_a_sleeping_arm_is_not_pulled_and_for_want_of_others_a_new_one_is_sampled():
    search = DTTTS(SPACE, budget=100, seed=0)
    pulls = [search.ask() for _ in range(30)]
    assert [pull.arm.id for pull in pulls] == list(range(30))
    for pull in pulls[:5]:
        search.tell(pull, 1.0)
    asked = [search.ask().arm.id for _ in range(30)]
    assert len(set(asked)) == 30 and not set(asked) & set(range(5, 30)) and set(asked) & set(range(5))


def test_an_arm_that_failed_is_neither_pulled_nor_recommended():
    search, failed = DTTTS(SPACE, budget=300, seed=0), set()
    for pull, reward in play(search, lambda pull: None if pull.start == 5 else 0.9, workers=3):
        assert pull.arm.id not in failed
        failed |= {pull.arm.id} if reward is None else set()
        assert search.best().id not in failed
        assert all(search.priority(arm) == -math.inf for arm in failed)
    assert len(failed) > 5


def test_a_failed_arm_with_rewards_is_recommended_only_for_want_of_others():
    search = DTTTS(Space(c=Choice("a")), budget=3, seed=0)
    search.tell(search.ask(), 1.0)
    search.tell(search.ask(), None)
    assert search.best().id == 0
    pull = search.ask()
    search.tell(pull, 0.0)
    assert search.best().id == pull.arm.id == 1


def test_no_arm_goes_beyond_its_maximum():
    search = DTTTS(SPACE, budget=200, max_steps=2, seed=0)
    assert max(pull.stop for pull, _ in play(search, lambda pull: 1.0, workers=4)) == 2
    assert search.ledger.spent == 200 and search.priority(search.ledger.steps.index(2)) == -math.inf


def test_each_rule_recommends_what_it_says():
    rewards = {0: [1.0] * 3, 1: [1.0] * 40 + [0.0] * 10, 2: [1.0] * 30, 3: [0.0] * 60, 4: [1.0]}
    expected = {"optimal": 2, "most_pulled": 3, "mean": 2}
    for rule, best in expected.items():
        search = DTTTS(SPACE, recommend=rule, seed=0)
        for arm, values in rewards.items():
            search.tell(search.ledger.open(_fresh(search, arm), 1), values[0])
            for value in values[1:]:
                search.tell(search.ledger.open(search.ledger.arms[arm], 1), value)
        assert search.best().id == best


def _fresh(search, arm):
    """A new arm, whatever the strategy would ask for."""
    made = search.ledger.sample()
    assert made.id == arm
    for column in (search._pulls, search._successes, search._sums, search._awake):
        column.append(0)
    return made


@pytest.mark.parametrize("rule", ["optimal", "most_pulled", "mean"])
def test_of_arms_that_look_the_same_the_one_with_the_better_rewards_is_recommended(rule):
    search = DTTTS(SPACE, recommend=rule, seed=0)
    pulls = [search.ask() for _ in range(50)]
    for pull in pulls:
        search.tell(pull, 0.9 if pull.arm.id == 17 else 0.5)
    same = search._successes.all == search._successes[17]
    assert same.sum() > 10 and search._successes[17] == 1 and search.best().id == 17


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rewards_of_any_scale_are_successes_as_if_the_scale_of_now_had_been_known(scale):
    search = DTTTS(SPACE, budget=300, max_steps=5, seed=0)
    told = [(pull.arm.id, reward) for pull, reward in play(search, lambda pull: -scale * (pull.config["x"] - 0.3) ** 2, 4)]
    arms, rewards = np.array(told, dtype=object).T
    assert search._rewards.arms.all.tolist() == list(arms)
    values = search._rewards.values
    assert np.argsort(values, kind="stable").tolist() == np.argsort(rewards.astype(float), kind="stable").tolist()
    successes, sums = np.zeros((2, len(search.ledger.arms)))
    for arm, coin, value in zip(arms, search._coins.all, values, strict=True):
        successes[arm] += coin < value
        sums[arm] += value
    assert search._successes.all.tolist() == successes.tolist() and search._sums.all == pytest.approx(sums)
    assert 0.3 < successes.sum() / 300 < 0.7


def test_where_the_first_runs_diverge_the_best_config_is_found_all_the_same():
    """Were old rewards not brought to each new scale, 27 of 40 would find it."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        worths = rng.permutation(np.linspace(-3, -2, 6))
        with Study(DTTTS(Space(c=Choice(*range(6))), budget=200, seed=seed)) as study:
            while (pull := study.ask()) is not None:
                diverged = -1e9 * (1 + rng.random())
                study.tell(pull, diverged if study.counts.pulls < 10 else worths[pull.config["c"]] + 0.05 * rng.normal())
            found += study.best_config["c"] == worths.argmax()
    assert found >= 34


def test_before_any_reward_there_is_nothing_to_recommend():
    search = DTTTS(SPACE, budget=20, seed=0)
    search.ask()
    with pytest.raises(NoResult):
        search.best()


def test_it_is_anytime_so_more_budget_is_as_if_it_had_been_there():
    short, long = (DTTTS(SPACE, budget=budget, seed=0) for budget in (60, 150))
    first = list(play(short, lambda pull: pull.config["x"]))
    short.ledger.budget = 150
    assert first + list(play(short, lambda pull: pull.config["x"])) == list(play(long, lambda pull: pull.config["x"]))


def test_where_the_space_is_used_up_the_best_of_its_configs_is_pulled_most():
    search = DTTTS(Space(c=Choice("a", "b", "c")), budget=60, seed=0)
    counts = Counter(pull.config["c"] for pull, _ in play(search, lambda pull: 0.9 if pull.config["c"] == "a" else 0.1))
    assert len(search.ledger.arms) == 3 and counts["a"] > 25 and search.best().config["c"] == "a"


def test_the_plan_is_the_budget():
    (phase,) = DTTTS(SPACE, budget=500).plan()
    assert (phase.arms, phase.steps) == (500, 500)
    (phase,) = DTTTS(SPACE).plan()
    assert (phase.arms, phase.steps) == (None, None)
