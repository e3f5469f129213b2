"""The test problems do what they say: reservoirs, curve worlds, and tables of real curves."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from manyarms import AdaptiveMutantUCB, Arm, Choice, Float, Int, ManyarmsError, MutantUCB, Pull, Space
from manyarms.problems import (
    CurveWorld,
    Hartmann,
    Reservoir,
    TableProblem,
    TableSpace,
    evaluate,
    lcbench,
    lcdb,
    nasbench201,
    regret,
    taskset,
)
from manyarms.problems.tables import data_folder
from manyarms.testing import SPACE_CHECKS

KINDS = ("fast", "slow", "crossing")


def samples(problem, n, seed=50):
    """Random configs, by a generator that no landscape was drawn from."""
    rng = np.random.default_rng(seed)
    return [problem.space.sample(rng) for _ in range(n)]


def table(diverged=True):
    """Nine settings and four steps; the best is a rate of 0.1 at depth 3, and the last one diverges at its third step."""
    space = Space(rate=Float(0.01, 1, log=True), depth=Int(1, 3))
    rows = [{"rate": rate, "depth": depth} for rate in (0.01, 0.1, 1.0) for depth in (1, 2, 3)]
    curves = np.array([[row["depth"] * step / 4 - abs(row["rate"] - 0.1) for step in (1, 2, 3, 4)] for row in rows])
    if diverged:
        curves[-1, 2:] = np.nan
    return TableProblem("nine", TableSpace(space, rows), curves)


# -- what all have in common

PROBLEMS = {
    "bernoulli": lambda: Reservoir(1, 3),
    "gaussian": lambda: Reservoir(2, 1, low=-3, high=5, noise=0.4),
    **{kind: lambda kind=kind: CurveWorld(kind, dimensions=3, seed=4) for kind in KINDS},
    "hartmann": lambda: Hartmann(3, noise=0.3, seed=2),
    "table": table,
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def problem(request):
    return request.param()


@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_its_space_keeps_the_contract_of_spaces(problem, check):
    check(problem.space)


def test_no_config_is_worth_more_than_the_best_and_the_middling_one_is_typical(problem):
    values = np.array([problem.value(config) for config in samples(problem, 4000)])
    assert values.max() <= problem.best
    assert problem.typical < problem.best
    spread = values.max() - values.min()
    middle = values.mean() if isinstance(problem, Reservoir) else np.median(values)
    assert abs(middle - problem.typical) < 0.03 * spread


def test_the_same_seed_gives_the_same_reward_and_another_one_another(problem):
    config = samples(problem, 1)[0]
    rewards = [problem.reward(config, 1, seed) for seed in range(40)]
    assert rewards == [problem.reward(config, 1, seed) for seed in range(40)]
    assert (len(set(rewards)) == 1) == isinstance(problem, TableProblem)


def test_the_reward_of_a_pull_depends_on_seed_arm_and_step_alone(problem):
    config = samples(problem, 1)[0]
    one, again, another = (Pull(Arm(number, config, ()), 0, 1) for number in (3, 3, 4))
    assert evaluate(problem, one, seed=0) == evaluate(problem, again, seed=0)
    draws = [[evaluate(problem, pull, seed) for seed in range(40)] for pull in (one, another, Pull(one.arm, 1, 2))]
    assert isinstance(problem, TableProblem) or draws[0] != draws[1] != draws[2] != draws[0]


def test_the_order_of_a_configs_parameters_makes_no_difference(problem):
    for config in samples(problem, 20):
        turned = dict(reversed(config.items()))
        assert problem.value(turned) == problem.value(config)
        assert problem.reward(turned, 1, seed=0) == problem.reward(config, 1, seed=0)


def test_regret_counts_in_percent_from_the_best_to_a_middling_config(problem):
    configs = sorted(samples(problem, 500), key=problem.value)
    regrets = [regret(problem, config) for config in configs]
    assert regrets == sorted(regrets, reverse=True)
    assert min(regrets) >= 0
    for config, value in zip(configs, regrets, strict=True):
        assert problem.value(config) == pytest.approx(problem.best - value / 100 * (problem.best - problem.typical))


# -- reservoirs


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 3), (3, 1), (0.5, 0.5)])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.2, 0.6), (-3, 5)])
def test_the_means_of_a_reservoir_follow_its_law(a, b, low, high):
    problem = Reservoir(a, b, low, high, noise=0.1)
    means = [problem.value(config) for config in samples(problem, 2000)]
    law = stats.beta(a, b, loc=low, scale=high - low)
    assert stats.kstest(means, law.cdf).pvalue > 0.001
    assert problem.best == high
    assert problem.typical == pytest.approx(law.mean())


@pytest.mark.parametrize("step", [1, 9])
def test_bernoulli_rewards_are_0_or_1_with_the_arms_mean_whatever_the_step(step):
    problem = Reservoir()
    for mean in (0.0, 0.3, 1.0):
        rewards = [problem.reward({"mean": mean}, step, seed) for seed in range(4000)]
        assert set(rewards) <= {0.0, 1.0}
        assert abs(np.mean(rewards) - mean) <= 4 * np.sqrt(mean * (1 - mean) / 4000)


@pytest.mark.parametrize("noise", [0, 0.5])
def test_gaussian_rewards_have_the_arms_mean_and_the_noise_asked_for(noise):
    problem = Reservoir(low=-10, high=10, noise=noise)
    rewards = [problem.reward({"mean": 3.0}, 1, seed) for seed in range(4000)]
    assert np.mean(rewards) == pytest.approx(3.0, abs=4 * noise / np.sqrt(4000))
    assert np.std(rewards) == pytest.approx(noise, rel=0.05)


def test_mutants_of_a_reservoir_are_near_and_within_its_law():
    problem, rng = Reservoir(1, 3, 0.2, 0.6), np.random.default_rng(0)
    for config in samples(problem, 200):
        mutant = problem.space.mutate(config, rng)
        assert 0.2 <= mutant["mean"] <= 0.6
        assert abs(mutant["mean"] - config["mean"]) < 5 * 0.1 * 0.4


def test_reservoirs_are_named_after_their_law():
    assert Reservoir(1, 3).name == "Beta(1, 3)"
    assert Reservoir(0.5, 1, 0.2, 0.6).name == "Beta(0.5, 1) on [0.2, 0.6]"


# -- curve worlds


def test_fast_and_slow_curves_keep_their_order_from_the_first_step_on():
    for kind in ("fast", "slow"):
        world = CurveWorld(kind, noise=0, seed=1)
        configs = samples(world, 200)
        for step in (1, 3, 10):
            early = [world.reward(config, step, seed=0) for config in configs]
            assert stats.spearmanr(early, [world.value(config) for config in configs])[0] > 0.9999


@pytest.mark.parametrize(("kind", "first"), [("fast", 0.86), ("slow", 0.14)])
def test_after_one_step_fast_curves_are_nearly_there_and_slow_ones_have_hardly_begun(kind, first):
    world = CurveWorld(kind, noise=0, seed=1)
    for config in samples(world, 20):
        assert world.reward(config, 1, seed=0) == pytest.approx(first * world.value(config), rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_in_the_crossing_world_the_first_step_ranks_good_arms_upside_down_and_the_last_one_rightly(seed):
    world = CurveWorld("crossing", noise=0, seed=seed)
    rng = np.random.default_rng(50)
    configs = sorted((near_the_top(world, rng) for _ in range(300)), key=world.value)
    values = [world.value(config) for config in configs]
    for step, order in [(1, -1), (10, 1)]:
        rewards = [world.reward(config, step, seed=0) for config in configs]
        good = [reward for reward, value in zip(rewards, values, strict=True) if value > 0.68 * world.best]
        assert len(good) > 20
        assert good == sorted(good, reverse=order < 0)
    first = [world.reward(config, 1, seed=0) for config in configs]
    assert regret(world, configs[int(np.argmax(first))]) > 50
    assert regret(world, configs[-1]) < 10


def near_the_top(world, rng):
    """A config between a random one and the highest hill."""
    top, point = world._peaks[-1], rng.random(len(world._peaks[-1]))
    return world.space.decode(top + rng.random() * (point - top))


@pytest.mark.parametrize("kind", KINDS)
def test_every_curve_rises_and_ends_at_the_value(kind):
    world = CurveWorld(kind, max_steps=7, noise=0, seed=2)
    for config in samples(world, 50):
        curve = [world.reward(config, step, seed=0) for step in range(1, 8)]
        assert curve == sorted(curve)
        assert curve[-1] == pytest.approx(world.value(config))


def test_noise_is_added_to_each_reward():
    quiet, loud = (CurveWorld("fast", noise=noise, seed=1) for noise in (0, 0.2))
    config = samples(quiet, 1)[0]
    errors = [loud.reward(config, 4, seed) - quiet.reward(config, 4, seed) for seed in range(2000)]
    assert np.std(errors) == pytest.approx(0.2, rel=0.1)
    assert abs(np.mean(errors)) < 4 * 0.2 / np.sqrt(2000)


@pytest.mark.parametrize("seed", range(4))
def test_mutants_are_nearer_in_value_to_their_parents_than_random_arms_are(seed):
    world, rng = CurveWorld(seed=seed), np.random.default_rng(50)
    configs = samples(world, 400)
    values = np.array([world.value(config) for config in configs])
    mutants = np.array([world.value(world.space.mutate(config, rng)) for config in configs])
    to_mutants, to_others = np.abs(mutants - values), np.abs(np.roll(values, 1) - values)
    assert np.mean(to_mutants) < 0.5 * np.mean(to_others)
    assert np.corrcoef(values, mutants)[0, 1] > 0.7


@pytest.mark.parametrize("dimensions", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_is_attained_at_the_top_of_the_highest_hill(dimensions, seed):
    world = CurveWorld(dimensions=dimensions, noise=0, seed=seed)
    tops = [world.space.decode(peak) for peak in world._peaks]
    assert max(map(world.value, tops)) == pytest.approx(world.best)
    assert max(world.reward(top, world.max_steps, seed=0) for top in tops) == pytest.approx(world.best)


def test_the_seed_makes_the_landscape_and_the_kind_only_its_curves():
    one, same, crossing, other = CurveWorld(seed=1), CurveWorld(seed=1), CurveWorld("crossing", seed=1), CurveWorld(seed=2)
    configs = samples(one, 20)
    values = [[world.value(config) for config in configs] for world in (one, same, crossing, other)]
    assert values[0] == values[1] == values[2] != values[3]
    assert one.name == "fast curves" and crossing.name == "crossing curves"


def test_a_search_finds_its_way_up_and_is_misled_where_curves_cross():
    found = {}
    for kind in ("fast", "crossing"):
        world = CurveWorld(kind, seed=101)
        search = AdaptiveMutantUCB(world.space, budget=300, max_steps=10, seed=0)
        while (pull := search.ask()) is not None:
            search.tell(pull, evaluate(world, pull, seed=0))
        found[kind] = regret(world, search.best().config)
    assert found["fast"] < 30 < found["crossing"]


# -- tables


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


def test_where_most_trainings_diverged_a_middling_config_is_as_bad_as_the_worst():
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


# -- wrong arguments

MISTAKES = {
    "a must be at least 0.001, got 0": lambda: Reservoir(a=0),
    "b must be at least 0.001, got -1": lambda: Reservoir(b=-1),
    "low and high must be two numbers, the first below the second": lambda: Reservoir(low=1, high=0),
    "low and high must be finite, got inf": lambda: Reservoir(high=np.inf),
    "noise must be one of 'bernoulli', got 'loud'": lambda: Reservoir(noise="loud"),
    "noise must be a number where means leave": lambda: Reservoir(high=2),
    "noise must be at least 0, got -0.1": lambda: Reservoir(noise=-0.1),
    "kind must be one of 'fast', 'slow', 'crossing', got 'odd'": lambda: CurveWorld("odd"),
    "dimensions must be at least 1, got 0": lambda: CurveWorld(dimensions=0),
    "max_steps must be at least 1, got 0": lambda: CurveWorld(max_steps=0),
    "noise must be at least 0, got nan": lambda: CurveWorld(noise=np.nan),
    "dataset must be one of 'cifar10', 'cifar100', 'imagenet', got 'mnist'": lambda: nasbench201("mnist"),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_wrong_argument_is_refused_with_its_name_the_rule_and_the_value(words):
    with pytest.raises(ValueError) as error:
        MISTAKES[words]()
    assert words in str(error.value)


LOADERS = {"lcbench": lambda: next(lcbench()), "taskset": lambda: next(taskset()), "nasbench201": nasbench201, "lcdb": lcdb}


@pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)
def test_without_the_data_folder_a_loader_says_what_to_do(load, monkeypatch, tmp_path):
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ManyarmsError, match="there is no data folder at .*nowhere.*: set MANYARMS_DATA to the folder"):
        load()
    monkeypatch.delenv("MANYARMS_DATA")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ManyarmsError, match="there is no data folder at '../shared/data': set MANYARMS_DATA"):
        load()


def test_the_data_folder_is_the_one_named_or_beside_the_checkout(monkeypatch, tmp_path):
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "checkout").mkdir()
    monkeypatch.delenv("MANYARMS_DATA", raising=False)
    monkeypatch.chdir(tmp_path / "checkout")
    assert data_folder().samefile(tmp_path / "shared" / "data")
    monkeypatch.setenv("MANYARMS_DATA", str(tmp_path))
    assert data_folder() == tmp_path


# -- the real tables, where they are

DATA = Path(os.environ.get("MANYARMS_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(not (DATA / "bench").is_dir(), reason="set MANYARMS_DATA to the folder with the tables")


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setenv("MANYARMS_DATA", str(DATA))


def check_table(problem, rows, steps, best, typical):
    """Whether a real table has its shape and its known values, and its space finds every row."""
    space = problem.space
    assert len(space.configs) == rows
    assert problem.max_steps == steps
    assert problem.best == pytest.approx(best, abs=1e-4)
    assert problem.typical == pytest.approx(typical, abs=1e-4)
    assert max(map(problem.value, space.configs)) == problem.best
    rng = np.random.default_rng(0)
    for _ in range(20):
        config = space.sample(rng)
        mutant = space.mutate(config, rng)
        assert mutant != config
        assert space.configs[space.row(mutant)] == mutant
        assert space.decode(space.encode(config)) == config
        assert problem.reward(config, 1, seed=0) == problem.reward(config, 1, seed=1)


@needs_data
@pytest.mark.usefixtures("data")
def test_lcbench_is_there():
    problems = list(lcbench())
    assert len(problems) == 17
    assert problems[0].name == "LCBench 3945"
    check_table(problems[0], rows=500, steps=52, best=0.99599, typical=0.89969)
    check_table(problems[-1], rows=500, steps=52, best=0.90591, typical=0.80998)
    for problem in problems:
        rewards = [problem.reward(config, step, seed=0) for config in problem.space.configs[:50] for step in (1, 26, 52)]
        assert 0 <= min(rewards) <= max(rewards) <= 1  # accuracies, and none diverged


@needs_data
@pytest.mark.usefixtures("data")
def test_taskset_is_there():
    problems = list(taskset())
    assert len(problems) == 6
    assert problems[0].name == "TaskSet patch128_LSTM128_avg_bs64"
    check_table(problems[0], rows=1000, steps=51, best=-0.13989, typical=-0.69319)  # log 2: a network that only guesses
    check_table(problems[3], rows=1000, steps=51, best=-0.49705, typical=-1.3197)
    diverged = [sum(problem.reward(config, 51, seed=0) is None for config in problem.space.configs) for problem in problems]
    assert diverged == [84, 78, 0, 245, 3, 171]


@needs_data
@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("dataset", "best", "typical"),
    [("cifar10", 0.91607, 0.87312), ("cifar100", 0.73493, 0.65167), ("imagenet", 0.46733, 0.3655)],
)
def test_nasbench201_is_there(dataset, best, typical):
    problem = nasbench201(dataset)
    assert problem.name == f"NAS-Bench-201 {dataset}"
    check_table(problem, rows=5**6, steps=10, best=best, typical=typical)


@needs_data
@pytest.mark.usefixtures("data")
def test_the_curves_of_nasbench201_pass_through_the_two_points_that_are_known():
    problem = nasbench201("cifar10", max_steps=50)  # a step of 4 epochs
    with np.load(DATA / "bench" / "nasbench201.npz") as known:
        early, final = known["cifar10_val_acc_e12"] / 100, np.nanmean(known["cifar10_val_acc"], axis=1) / 100
    for row in range(0, 15625, 1000):
        config = problem.space.configs[row]
        assert problem.reward(config, 3, seed=0) == pytest.approx(early[row], abs=1e-5)
        assert problem.reward(config, 50, seed=0) == problem.value(config) == pytest.approx(final[row], abs=1e-5)


@needs_data
@pytest.mark.usefixtures("data")
def test_lcdb_is_there():
    problem = lcdb(3)
    assert problem.name == "LCDB 3"
    check_table(problem, rows=20, steps=16, best=0.99561, typical=0.96034)
    assert {"learner": "SVC_linear"} in problem.space.configs
    half_missing = lcdb(38)  # where only nine learners have a score at the largest sample
    assert all(np.isfinite(regret(half_missing, config)) for config in half_missing.space.configs)
    with pytest.raises(ValueError, match="dataset must be one of the 124 OpenML ids in the table, such as .*, got 6"):
        lcdb(6)
