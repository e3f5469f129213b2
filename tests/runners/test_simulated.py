"""Simulated time: outcomes come by the clock, whatever the real time."""

import pytest

import manyarms as ma
from manyarms.testing.runners import make_task

SPACE = ma.Space(x=ma.Float(0, 1))


def started(workers, function=lambda config: 1.0, **options):
    runner = ma.SimulatedRunner(workers, **options)
    runner.start(function)
    return runner


def submit(runner, directory, *configs):
    for arm, config in enumerate(configs):
        runner.submit(make_task(directory, arm, config))


def arms(outcomes):
    return [outcome.pull.arm.id for outcome in outcomes]


def test_outcomes_come_in_the_order_of_the_clock(tmp_path):
    runner = started(3, seconds=lambda pull: pull.config)
    submit(runner, tmp_path, 30, 10, 20)
    assert [(arms(runner.collect()), runner.now()) for _ in range(3)] == [([1], 10), ([2], 20), ([0], 30)]


def test_pulls_that_end_together_come_together_in_the_order_they_began(tmp_path):
    runner = started(4, seconds=lambda pull: pull.config)
    submit(runner, tmp_path, 5, 2, 5, 5)
    assert [arms(runner.collect()) for _ in range(2)] == [[1], [0, 2, 3]]


def test_a_pull_begins_when_the_one_before_it_ended(tmp_path):
    runner = started(2, seconds=lambda pull: pull.config)
    submit(runner, tmp_path, 4, 6)
    runner.collect()
    runner.submit(make_task(tmp_path, 2, 1))
    assert [(arms(runner.collect()), runner.now()) for _ in range(2)] == [([2], 5), ([1], 6)]


def test_a_pull_takes_as_many_seconds_as_the_clock_says(tmp_path):
    runner = started(1)
    runner.submit(make_task(tmp_path, 0, start=2, stop=9))
    assert runner.collect()[0].seconds == 7


def test_a_pull_that_would_take_too_long_is_ended_at_the_limit_and_never_run(tmp_path):
    ran = []

    def train(pull):
        ran.append(pull.config)
        return 1.0

    runner = started(2, function=train, seconds=lambda pull: pull.config, pull_timeout="1m")
    submit(runner, tmp_path, 61, 60)
    late, in_time = runner.collect()
    assert (late.reward, late.reason, late.seconds) == (None, "took longer than pull_timeout=60 s", 60)
    assert in_time.reward == 1 and ran == [60] and runner.now() == 60


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1"])
def test_a_time_that_is_none_is_refused(tmp_path, seconds):
    runner = started(1, seconds=lambda pull: seconds)
    with pytest.raises((ValueError, TypeError), match="seconds"):
        submit(runner, tmp_path, None)


def test_the_timeout_of_a_study_counts_simulated_time():
    study = ma.Study(ma.RandomSearch(SPACE, seed=0))
    study.optimize(lambda config: config["x"], runner=ma.SimulatedRunner(10), timeout="100s", progress=False)
    assert study.counts.steps == 1000


def test_512_workers_are_kept_busy_to_the_end():
    runner = ma.SimulatedRunner(512, seconds=lambda pull: 3600.0)
    study = ma.Study(ma.RandomSearch(SPACE, budget=5120, seed=0))
    study.optimize(lambda config: config["x"], runner=runner, progress=False)
    assert runner.now() == 10 * 3600
    assert study.counts.pulls == 5120 and not study.counts.in_flight


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
def test_uneven_times_with_512_workers_lose_no_pull():
    runner = ma.SimulatedRunner(512, seconds=lambda pull: 1 + 100 * pull.config["x"], pull_timeout=90)
    study = ma.Study(ma.MutantUCB(SPACE, budget=3000, max_steps=5, seed=0))
    study.optimize(lambda pull: pull.config["x"], runner=runner, progress=False)
    failed = study.pulls_dataframe().query("status == 'failed'")
    assert study.counts.pulls + study.counts.failures == len(study.pulls_dataframe())
    assert set(failed.seconds) == {90} and study.best_config["x"] <= 0.89
