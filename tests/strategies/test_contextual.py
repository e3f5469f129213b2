"""The contextual strategies: how long each arm is trained, contexts the user gives, and studies that record them."""

import numpy as np
import pytest

import manyarms as ma
from manyarms.strategies.cube.schedules import harmonic, hyperband
from manyarms.testing import play

LINE = ma.Space(x=ma.Float(0, 1))
KINDS = [ma.ContextualPartitionUCB, ma.ContextualTreeUCB]


def curve(pull):
    return (1 - abs(pull.config["x"] - 0.3)) * (1 - 0.5**pull.stop)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schedule", ["harmonic", "hyperband"])
def test_each_round_is_a_new_arm_trained_as_the_schedule_says_and_the_last_is_cut(kind, schedule):
    search = kind(LINE, budget=500, max_steps=27, schedule=schedule, seed=0)
    pulls = [pull for pull, _ in play(search, curve)]
    steps = {"harmonic": harmonic, "hyperband": hyperband}[schedule]
    assert [pull.arm.id for pull in pulls] == list(range(len(pulls)))
    assert all(pull.start == 0 for pull in pulls)
    assert [pull.stop for pull in pulls[:-1]] == [steps(t, 27) for t in range(1, len(pulls))]
    assert sum(pull.stop for pull in pulls) == 500 == search.ledger.spent


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_gives_the_context_with_the_ask(kind):
    search = kind(LINE, budget=100, max_steps=81, schedule=None, seed=0)
    pull = search.ask(context=27)
    assert (pull.start, pull.stop) == (0, 27)
    search.tell(pull, 0.5)
    with pytest.raises(ValueError, match=r"context must be given, as in ask\(context=27\)"):
        search.ask()
    with pytest.raises(ValueError, match="context must be a whole number of steps between 1 and 81, got 82"):
        search.ask(context=82)
    assert search.ask(context=np.int64(73)).stop == 73
    assert search.ask(context=1) is None and search.ledger.left == 0
    with pytest.raises(ValueError, match="context must not be given unless schedule is None"):
        kind(LINE, budget=100, max_steps=81, seed=0).ask(context=27)


@pytest.mark.parametrize("kind", KINDS)
def test_what_long_trainings_told_decides_over_long_ones(kind):
    """Long trainings are good below 0.5, short ones above."""
    search = kind(LINE, budget=20_000, max_steps=100, schedule=lambda t: 100 if t % 2 else 1, seed=0)
    told = list(play(search, lambda pull: float((pull.config["x"] < 0.5) == (pull.stop == 100))))
    late = told[len(told) // 2 :]
    assert np.mean([reward for pull, reward in late if pull.stop == 100]) > 0.9
    assert np.mean([reward for pull, reward in late if pull.stop == 1]) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_reward_is_recommended_however_far_its_arm_was_trained(kind):
    search = kind(LINE, budget=300, max_steps=27, schedule=None, seed=0)
    with pytest.raises(ma.NoResult):
        search.best()
    for steps, reward, best in ((3, 0.5, 0), (9, 0.6, 1), (9, 0.4, 1), (3, 1.0, 3), (27, None, 3), (27, 0.1, 3)):
        pull = search.ask(context=steps)
        search.tell(pull, reward)
        assert search.best().id == best


@pytest.mark.parametrize("kind", KINDS)
def test_regions_can_be_those_of_one_context(kind):
    search = kind(LINE, budget=3_000, max_steps=27, seed=0)
    for _ in play(search, curve):
        pass
    every, some = search.regions(), search.regions(context=27)
    assert 1 <= len(some) < len(every)
    assert all(region.high[0] == 1.0 for region in some)
    assert sum(region.high[1] - region.low[1] for region in some) == pytest.approx(1)
    with pytest.raises(ValueError, match="context must be a whole number of steps between 1 and 27, got 0"):
        search.regions(context=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_records_the_contexts_and_goes_on(kind, tmp_path):
    def opened(budget=200):
        return ma.Study(kind(LINE, budget=budget, max_steps=27, schedule=None, seed=0), storage=tmp_path / "study.db")

    contexts = [3, 9, 27, 1, 9, 3]
    with opened() as study:
        left = study.ask(context=2)
        for context in contexts:
            pull = study.ask(context=context)
            study.tell(pull, curve(pull))
        state = study.strategy.state()["ledger"]
    with opened() as study:
        assert study.strategy.state()["ledger"]["generator"] == state["generator"]
        assert study.ask(context=9) == left  # what was in flight comes first
        study.tell(left, 0.5)
        assert study.pulls_dataframe()["stop"].tolist() == [2, *contexts]
        assert study.ask(context=9).stop == 9
    assert ma.load_study(tmp_path / "study.db").best_reward == pytest.approx(study.best_reward)


def test_a_context_given_to_a_strategy_that_knows_none_is_refused():
    with ma.Study(ma.RandomSearch(LINE, budget=3, seed=0)) as study, pytest.raises(TypeError, match="context"):
        study.ask(context=3)


def test_a_study_runs_the_schedule():
    study = ma.tune(curve_of, LINE, budget=600, max_steps=9, strategy=ma.ContextualTreeUCB, seed=0, progress=False)
    assert study.counts.steps == 600 and study.best_reward > 0.85


def curve_of(pull):
    return curve(pull)
