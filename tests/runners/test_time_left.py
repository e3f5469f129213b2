"""A pull knows how much time it has, and ends at a report when it has none."""

from __future__ import annotations

import math

import pytest

import manyarms as ma
from manyarms.checkpoints.recipe import Slice
from manyarms.checkpoints.state import SavedState
from manyarms.runners.execute import execute
from manyarms.testing.runners import make_task

from .pool import started

SPACE = ma.Space(x=ma.Float(0, 1))


class Clock:
    """Stands still until it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


def reporting(clock, rewards, seconds=10.0, save=False):
    """A function that reports these rewards, each after so many seconds, and says how much time was left each time."""

    def train(pull):
        for reward in rewards:
            clock.pass_by(seconds)
            if save:
                pull.save(reward)
            left.append(pull.time_left)
            pull.report(reward)
        return 99.0

    left = train.left = []
    return train


def run(directory, rewards=(0.1, 0.2, 0.3), save=False, **limits):
    """The outcome of a pull that reports every 10 seconds, and the time that it saw left."""
    clock = Clock()
    train = reporting(clock, rewards, save=save)
    return execute(train, make_task(directory, 0, **limits), clock), train.left


def test_a_pull_without_a_limit_has_infinite_time_and_is_never_stopped(tmp_path):
    outcome, left = run(tmp_path)
    assert outcome.reward == 99.0 and not outcome.stopped_early
    assert left == [math.inf] * 3


def test_time_left_counts_down_to_zero_and_no_further(tmp_path):
    clock, left = Clock(), []

    def train(pull):
        for _ in range(4):
            left.append(pull.time_left)
            clock.pass_by(10)
        return 1.0

    outcome = execute(train, make_task(tmp_path, 0, time_left=25), clock)
    assert left == [25, 15, 5, 0] and outcome.reward == 1.0 and outcome.seconds == 40
    assert not outcome.stopped_early, "only reports stop a pull"


def test_the_first_report_after_the_time_is_over_ends_the_pull_with_its_reward(tmp_path):
    outcome, left = run(tmp_path, time_left=15, save=True)
    assert (outcome.reward, outcome.curve, outcome.stopped_early, outcome.seconds) == (0.2, (0.1, 0.2), True, 20)
    assert outcome.reason is None and left == [5, 0]
    assert outcome.checkpoint == "arm-0-step-1" and SavedState(tmp_path / outcome.checkpoint).load() == 0.2


def test_a_pull_stopped_before_it_saved_has_no_checkpoint_and_says_why(tmp_path):
    outcome, _ = run(tmp_path, time_left=5)
    assert outcome.reward == 0.1 and outcome.checkpoint is None and outcome.unsaved == "its time was up before it saved one"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_where_the_last_report_is_not_finite_the_last_finite_one_counts(tmp_path, bad):
    outcome, _ = run(tmp_path, (0.1, 0.2, bad, 0.4), time_left=25)
    assert (outcome.reward, outcome.curve, outcome.stopped_early) == (0.2, (0.1, 0.2), True)


def test_a_stopped_pull_without_a_finite_report_fails_and_leaves_nothing(tmp_path):
    outcome, _ = run(tmp_path, (math.nan, 0.2), time_left=5, save=True)
    assert outcome.reward is None and outcome.reason == "its time was up before it reported a finite reward"
    assert outcome.checkpoint is None and not list(tmp_path.iterdir())


def test_code_that_catches_every_exception_does_not_swallow_the_stop(tmp_path):
    def train(pull):
        for step in range(5):
            try:
                pull.report(step)
            except Exception:
                pytest.fail("the stop must not be an Exception")
        return 99.0

    assert execute(train, make_task(tmp_path, 0, time_left=0), Clock()).reward == 0


def test_what_a_function_saves_on_the_way_out_is_its_state_and_what_it_returns_there_its_reward(tmp_path):
    def train(pull):
        try:
            pull.report(0.5)
        finally:
            pull.save("on the way out")

    outcome = execute(train, make_task(tmp_path, 0, time_left=0), Clock())
    assert (outcome.reward, outcome.checkpoint, outcome.unsaved) == (0.5, "arm-0-step-1", None)

    def catching(pull):
        try:
            pull.report(0.5)
        except BaseException:
            return 0.75

    outcome = execute(catching, make_task(tmp_path, 1, time_left=0), Clock())
    assert (outcome.reward, outcome.stopped_early) == (0.75, True)


def test_where_it_would_be_killed_a_pull_ends_at_the_last_report_that_comes_in_time(tmp_path):
    outcome, left = run(tmp_path, range(10), kill_after=35)
    assert (outcome.reward, outcome.seconds, left) == (2, 30, [25, 15, 5])
    outcome, left = run(tmp_path, range(10), kill_after=95, time_left=35)
    assert (outcome.reward, left) == (3, [25, 15, 5, 0]), "not killed at the limit, it may run over it"


def test_training_a_lost_state_again_never_stops_early(tmp_path):
    clock, reports = Clock(), []

    def train(pull):
        for step in range(pull.start, pull.stop):
            clock.pass_by(10)
            reports.append((step, pull.time_left))
            pull.report(step)
        pull.save(pull.stop)
        return pull.stop

    task = make_task(tmp_path, 0, start=3, stop=6, time_left=5)
    recipe = (Slice(ma.Pull(task.pull.arm, 0, 3), seed=0),)
    outcome = execute(train, make_task(tmp_path, 0, start=3, stop=6, time_left=5, recipe=recipe), clock)
    assert reports == [(0, math.inf), (1, math.inf), (2, math.inf), (3, 0.0)]
    assert (outcome.reward, outcome.retrained, outcome.stopped_early) == (3, 3, True)


def test_the_time_to_train_a_lost_state_again_is_no_time_between_reports(tmp_path):
    clock = Clock()
    train = reporting(clock, range(10), save=True)
    recipe = (Slice(make_task(tmp_path, 0).pull, seed=0),)
    outcome = execute(train, make_task(tmp_path, 0, start=1, stop=2, kill_after=135, recipe=recipe), clock)
    assert (outcome.reward, outcome.seconds) == (2, 130), "100 s of which were training again"


def test_worker_processes_are_told_the_time_as_a_duration(tmp_path):
    def train(pull):
        left = pull.time_left
        pull.report(0.5)
        return {"reward": 1.0, "left": min(left, 1e300)}

    with started(tmp_path) as pool:
        assert pool.run(train)[0].metrics == {"left": 1e300}
        assert 0 < pool.run(train, time_left=1e6)[0].metrics["left"] <= 1e6
        stopped = pool.run(train, time_left=0.0)[0]
        assert (stopped.reward, stopped.stopped_early) == (0.5, True)
    with started(tmp_path, pull_timeout=600) as pool:
        assert 0 < pool.run(train, time_left=1e6)[0].metrics["left"] <= 600


def test_in_simulated_time_a_pull_has_the_time_that_it_started_with():
    left = []

    def train(pull):
        left.append(pull.time_left)
        pull.report(0.5)
        return 1.0

    study = ma.Study(ma.RandomSearch(SPACE, budget=3, seed=0))
    study.optimize(train, runner=ma.SimulatedRunner(1, lambda pull: 100.0), timeout="10m", progress=False)
    assert left == [600, 500, 400] and study.best_reward == 1.0


def test_remaining_ends_simulated_pulls_with_the_search():
    study = ma.Study(ma.RandomSearch(SPACE, seed=0))
    runner = ma.SimulatedRunner(2, lambda pull: math.inf if pull.arm.id == 3 else 100.0, pull_timeout="remaining")
    assert repr(runner).startswith('SimulatedRunner(workers=2, pull_timeout="remaining")')
    study.optimize(lambda config: 1.0, runner=runner, timeout=250, progress=False)
    assert runner.now() == 250
    assert study.counts.reasons == {'took longer than the time that was left (pull_timeout="remaining")': 2}
    assert study.pulls_dataframe()["seconds"].tolist() == [100, 100, 100, 150, 50]


def test_remaining_ends_the_pull_of_a_worker_process_by_the_time_it_was_given(tmp_path):
    began = tmp_path / "began"

    def hang(pull):
        began.touch()
        pull.directory.joinpath("half").touch()
        import time

        time.sleep(600)

    with started(tmp_path / "saved", pull_timeout="remaining", clock=lambda: 3600.0 if began.exists() else 0.0) as pool:
        assert pool.run(lambda pull: 1.0)[0].reward == 1.0, "without a limit of the search there is none"
        outcome = pool.run(hang, time_left=600.0)[0]
    assert outcome.reward is None and outcome.reason == 'took longer than the time that was left (pull_timeout="remaining")'
