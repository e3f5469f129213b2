"""The loop: what it asks, starts, starts again and records, and in which order."""

import random
from dataclasses import replace

import pytest

import manyarms as ma
from manyarms import Arm, Outcome, Pull
from manyarms.checkpoints.retraining import Slice
from manyarms.runners.execute import execute
from manyarms.runners.loop import MOST_LOSSES, run
from manyarms.testing.runners import make_task


class FakeStudy:
    """Asks for so many pulls, each of an arm of its own, and writes down all that happens to it."""

    def __init__(self, directory, pulls, waits_after=None):
        self.directory, self.left, self.waits_after = directory, pulls, waits_after
        self.happened, self.tasks, self.lost, self.outcomes = [], [], set(), []

    def ask(self):
        asked = sum(1 for what, _ in self.happened if what == "ask")
        if self.left == 0 or (asked == self.waits_after and len(self.outcomes) < asked):
            return None
        self.left -= 1
        self.happened.append(("ask", asked))
        return Pull(Arm(asked, None), 0, 1)

    def task(self, pull, slots):
        recipe = (Slice(pull, 0),) * len(self.lost)
        self.tasks.append(replace(make_task(self.directory, pull.arm.id), recipe=recipe))
        return self.tasks[-1]

    def mark_lost(self, checkpoint):
        self.lost.add(checkpoint)

    def record(self, outcomes):
        outcomes = list(outcomes)
        self.happened.append(("record", [outcome.pull.arm.id for outcome in outcomes]))
        self.outcomes += outcomes

    @property
    def recorded(self):
        return [arms for what, arms in self.happened if what == "record"]


class FakeRunner:
    """Ends its tasks in any order, as `end` says."""

    def __init__(self, workers, choose=0, end=lambda task: Outcome(task.pull, 1.0, seconds=9.0, attempts=task.attempt)):
        self.workers, self._choose, self._end = workers, choose, end
        self.running, self.started = [], []

    def submit(self, task):
        assert len(self.running) < self.workers, "more tasks than workers"
        self.running.append(task)
        self.started.append(task)

    def collect(self):
        assert self.running, "nothing to wait for"
        place = self._choose(len(self.running)) if callable(self._choose) else self._choose
        return [self._end(self.running.pop(place))]


def never():
    return False


def test_outcomes_are_recorded_as_they_arrive(tmp_path):
    study = FakeStudy(tmp_path, pulls=4)
    run(study, FakeRunner(3, choose=-1), never)
    assert study.recorded == [[2], [3], [1], [0]]


class Stuttering(ma.SimulatedRunner):
    """Gives every outcome twice, the second time with another reward, and some of those before again."""

    given = ()

    def collect(self):
        new = [change for outcome in super().collect() for change in (outcome, replace(outcome, reward=1e9))]
        before, self.given = self.given, (*self.given, *new)
        return [*before[::7], *new]


@pytest.mark.parametrize("deterministic", [False, True])
def test_late_and_repeated_outcomes_of_a_runner_change_nothing(deterministic):
    decided = []
    for kind in (ma.SimulatedRunner, Stuttering):
        study = ma.Study(ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=40, max_steps=3, seed=0))
        runner = kind(3, lambda pull: 1 + pull.arm.id % 4)
        study.optimize(lambda pull: pull["x"], runner=runner, deterministic=deterministic, progress=False)
        decided.append([event.decision for event in study.journal.events()])
    assert decided[0] == decided[1]


class Confused(ma.SimulatedRunner):
    """Gives outcomes of pulls that nobody asked for."""

    def collect(self):
        return [replace(outcome, pull=Pull(Arm(99, {"x": 0.5}), 0, 1), reward=1e9) for outcome in super().collect()]


def test_an_outcome_of_a_pull_that_was_never_asked_for_is_an_error_and_the_study_goes_on():
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=6, seed=0))
    with pytest.raises(ValueError, match="pull must be one that this study asked for, got arm 99 from 0 to 1"):
        study.optimize(lambda pull: pull["x"], runner=Confused(2), progress=False)
    study.optimize(lambda pull: pull["x"], progress=False)
    assert study.counts.pulls == 6 and study.best_reward < 1


def test_deterministic_outcomes_are_recorded_one_by_one_in_the_order_asked(tmp_path):
    study = FakeStudy(tmp_path, pulls=20)
    run(study, FakeRunner(4, choose=random.Random(0).randrange), never, deterministic=True)
    assert study.recorded == [[arm] for arm in range(20)]


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_every_pull_is_started_once_and_recorded_once(tmp_path, seed, deterministic):
    study = FakeStudy(tmp_path, pulls=30)
    runner = FakeRunner(4, choose=random.Random(seed).randrange)
    run(study, runner, never, deterministic=deterministic)
    assert [task.pull.arm.id for task in runner.started] == list(range(30))
    assert sorted(outcome.pull.arm.id for outcome in study.outcomes) == list(range(30))


def test_a_study_that_must_wait_is_asked_again_after_each_reward(tmp_path):
    study = FakeStudy(tmp_path, pulls=6, waits_after=4)
    run(study, FakeRunner(3), never)
    assert len(study.outcomes) == 6


def test_a_study_with_nothing_to_ask_ends_at_once(tmp_path):
    study = FakeStudy(tmp_path, pulls=0)
    run(study, FakeRunner(3), never)
    assert study.happened == []


def test_stopped_it_asks_for_no_more_and_records_what_is_in_flight(tmp_path):
    study = FakeStudy(tmp_path, pulls=100)
    run(study, FakeRunner(3), stopped=lambda: len(study.outcomes) >= 5)
    assert sorted(outcome.pull.arm.id for outcome in study.outcomes) == list(range(7))


@pytest.mark.parametrize(
    ("workers", "seconds", "deterministic", "early"),
    [(2, 0.001, False, True), (2, 1.0, False, False), (1, 0.001, False, False), (2, 0.001, True, False)],
)
def test_only_quick_pulls_of_several_workers_are_followed_by_the_next_before_they_are_recorded(
    tmp_path, workers, seconds, deterministic, early
):
    study = FakeStudy(tmp_path, pulls=4)
    runner = FakeRunner(workers, end=lambda task: Outcome(task.pull, 1.0, seconds=seconds))
    run(study, runner, never, deterministic=deterministic)
    first = next(number for number, (what, _) in enumerate(study.happened) if what == "record")
    assert first == workers + early


def test_a_failed_pull_is_started_again_and_its_attempts_are_counted(tmp_path):
    def end(task):
        reward = 1.0 if task.attempt == 3 else None
        return Outcome(task.pull, reward, seconds=9.0, attempts=task.attempt)

    study = FakeStudy(tmp_path, pulls=2)
    runner = FakeRunner(2, end=end)
    run(study, runner, never, retries=2)
    assert [(outcome.reward, outcome.attempts) for outcome in study.outcomes] == [(1.0, 3), (1.0, 3)]
    assert [task.attempt for task in runner.started] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_a_pull_that_always_fails_is_recorded_once_after_its_retries(tmp_path, retries):
    study = FakeStudy(tmp_path, pulls=1)
    run(study, FakeRunner(1, end=lambda task: Outcome(task.pull, reason="no", attempts=task.attempt)), never, retries)
    assert [(outcome.reward, outcome.attempts) for outcome in study.outcomes] == [(None, retries + 1)]


def test_a_damaged_checkpoint_is_trained_again_and_is_no_retry(tmp_path):
    def end(task):
        if len(task.recipe) < 2:
            return Outcome(task.pull, damaged=f"checkpoint {len(task.recipe)}", attempts=task.attempt)
        return Outcome(task.pull, 1.0, attempts=task.attempt, retrained=len(task.recipe))

    study = FakeStudy(tmp_path, pulls=1)
    run(study, FakeRunner(1, end=end), never, retries=0)
    assert study.lost == {"checkpoint 0", "checkpoint 1"}
    assert [(outcome.reward, outcome.attempts, outcome.retrained) for outcome in study.outcomes] == [(1.0, 1, 2)]


@pytest.mark.parametrize("started", [True, False])
def test_a_pull_fails_if_it_loses_too_many_workers_but_not_if_it_only_waited_there(tmp_path, started):
    def end(task):
        if len(study.tasks) <= 2 * MOST_LOSSES:
            return Outcome(task.pull, reason="lost", attempts=task.attempt if started else task.attempt - 1, lost=True)
        return Outcome(task.pull, 1.0)

    study = FakeStudy(tmp_path, pulls=1)
    run(study, FakeRunner(1, end=end), never)
    assert [outcome.reward for outcome in study.outcomes] == [None if started else 1.0]
    assert len(study.tasks) == (MOST_LOSSES if started else 2 * MOST_LOSSES) + 1  # each with files of its own


def test_a_retry_that_finds_a_damaged_checkpoint_stays_the_same_attempt(tmp_path):
    def end(task):
        if task.attempt == 1:
            return Outcome(task.pull, reason="no")
        return Outcome(task.pull, 1.0 if task.recipe else None, damaged=None if task.recipe else "gone", attempts=task.attempt)

    study = FakeStudy(tmp_path, pulls=1)
    run(study, FakeRunner(1, end=end), never, retries=1)
    assert [(outcome.reward, outcome.attempts) for outcome in study.outcomes] == [(1.0, 2)]


@pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")
@pytest.mark.parametrize("retries", [0, 1])
def test_decisions_do_not_depend_on_the_order_of_arrival(retries):
    def train(pull):
        if (pull.seed + pull.start) % 7 == 0:
            raise ValueError("unlucky")
        return pull.config["x"] * (1 - 0.5**pull.stop)

    class Scrambling(FakeRunner):
        def __init__(self, seed):
            super().__init__(5, random.Random(seed).randrange, lambda task: execute(train, task))

        def start(self, function):
            pass

        def now(self):
            return 0.0

        def close(self):
            pass

    journals = []
    for seed in range(4):
        study = ma.Study(ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=150, max_steps=4, seed=2))
        study.optimize(train, runner=Scrambling(seed), deterministic=True, retries=retries, progress=False)
        journals.append([event.decision for event in study.journal.events()])
    assert journals[0] == journals[1] == journals[2] == journals[3]
