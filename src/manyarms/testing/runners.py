"""The runner contract: checks that every runner must pass.

    @pytest.mark.parametrize("check", RUNNER_CHECKS, ids=lambda check: check.__name__)
    def test_my_runner_keeps_the_contract_of_runners(check):
        check(lambda workers: MyRunner(workers))

A runner with fewer workers than requested is checked with the workers it has. They must have access to the files of this
machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..checkpoints import is_sound, size_of
from ..checkpoints.retraining import Slice
from ..core import Arm, Outcome, Pull
from ..runners import Runner
from ..runners.execute import Function
from ..runners.task import Task
from .functions import (
    FAILURES,
    REWARDS,
    count_others,
    give,
    here,
    look,
    meet,
    read_like_a_dict,
    remember,
    report,
    report_then_save,
    run_forever,
    save_then,
    spoil,
)

Make = Callable[[int], Runner]


def make_task(directory: Path, arm: int, config: Any = None, start: int = 0, stop: int = 1, **more: Any) -> Task:
    """A task that saves to this directory."""
    name = f"arm-{arm}-step-{stop}"
    places = {"staged": directory / f"{name}.part", "final": directory / name}
    return Task(Pull(Arm(arm, config), start, stop), **{"seed": arm, "previous": None, "parent": None, **places, **more})


def check_every_task_gives_one_outcome(make: Make, workers: int = 3) -> None:
    """Each task, successful or failed, returns one outcome for its own pull."""
    names = [*REWARDS, *FAILURES]
    with _started(make, workers, give) as (runner, directory):
        tasks = [make_task(directory, arm, {"value": name}, start=arm, stop=arm + 2) for arm, name in enumerate(names)]
        outcomes = _outcomes(runner, tasks)
    arms = sorted(outcome.pull.arm.id for outcome in outcomes)
    _check(arms == list(range(len(names))), "each task must return one outcome", arms)
    for outcome in outcomes:
        _check(outcome.pull == tasks[outcome.pull.arm.id].pull, "the outcome must name its pull", outcome)
        _check(outcome.seconds >= 0 and outcome.attempts == 1, "seconds and attempts must be counted", outcome)


def check_numbers_are_rewards(make: Make, workers: int = 3) -> None:
    """A reward can be any kind of number, or a dict with "reward" and optionally a cost, metrics and attributes."""
    with _started(make, workers, give) as (runner, directory):
        outcomes = _by_name(runner, directory, REWARDS)
    for name, (_, reward, cost, metrics, attributes) in REWARDS.items():
        outcome = outcomes[name]
        found = (outcome.reward, outcome.cost, dict(outcome.metrics), dict(outcome.attributes), outcome.reason)
        _check(found == (reward, cost, metrics, attributes, None), f"{name} must be recorded as reward {reward}", outcome)
        _check(type(outcome.reward) is float, "a reward must be a float", outcome)


def check_all_else_fails_with_a_reason(make: Make, workers: int = 3) -> None:
    """NaN, a value that is not a number, and an exception are failures. They have a one-line reason and a traceback."""
    with _started(make, workers, give) as (runner, directory):
        outcomes = _by_name(runner, directory, FAILURES)
    for name, (_, reason, raises) in FAILURES.items():
        outcome = outcomes[name]
        _check(outcome.reward is None, f"{name} must fail", outcome)
        said = outcome.reason or ""
        _check(reason in said and len(said.splitlines()) == 1, f"{name} must fail with one line that says {reason!r}", outcome)
        _check(not raises or "Traceback" in (outcome.details or ""), f"{name} must have its traceback", outcome)


def check_the_function_sees_its_pull(make: Make, workers: int = 3) -> None:
    """The function receives the config, seed, start and stop of its pull, and can read the pull like the config."""
    config = {"x": 0.1, "deep": [{"name": "é"}, None]}
    with _started(make, workers, look) as (runner, directory):
        task = make_task(directory, 5, config, start=3, stop=7, seed=2**32 - 1)
        seen = _outcomes(runner, [task])[0].metrics
        expected = {"start": 3, "stop": 7, "seed": 2**32 - 1, "arm": 5, "same": 1}
        _check(dict(seen) == expected, "the function must see its pull", seen)
    with _started(make, workers, read_like_a_dict) as (runner, directory):
        outcome = _outcomes(runner, [make_task(directory, 5, config)])[0]
        _check(outcome.reward == 1, "a pull must be readable like its config", outcome)


def check_a_function_may_change_its_config(make: Make, workers: int = 3) -> None:
    """A function may change its config; the config of the arm stays the same."""
    config = {"x": 0.5, "deep": {"y": [1, 2]}}
    with _started(make, workers, spoil) as (runner, directory):
        for stop in (1, 2):
            outcome = _outcomes(runner, [make_task(directory, 0, config, start=stop - 1, stop=stop)])[0]
            _check(outcome.reward == 0.5, "a pull must get the config as the space made it", outcome)
            kept = outcome.pull.config == config == {"x": 0.5, "deep": {"y": [1, 2]}}
            _check(kept, "the arm's config must not change", outcome.pull.config, config)


def check_saved_states_can_be_loaded(make: Make, workers: int = 3) -> None:
    """The next pull of the arm, and the first pull of its mutant, can load what a pull saved as an object or as files."""
    with _started(make, workers, remember) as (runner, directory):
        first = _outcomes(runner, [make_task(directory, 0)])[0]
        place = directory / "arm-0-step-1"
        _check(first.checkpoint == place.name and first.unsaved is None, "a saved state must be named", first)
        _check(is_sound(place), "a saved state must be sound, and where the task specified", list(directory.iterdir()))
        _check(first.size == size_of(place), "the outcome must have the size of the saved state", first, size_of(place))
        second = _outcomes(runner, [make_task(directory, 0, start=1, stop=2, previous=place)])[0]
        _check(second.reward == 2 and not second.inherited, "the next pull must be able to load what was saved", second)
        mutant = replace(make_task(directory, 1, parent=place), pull=Pull(Arm(1, None, (0,)), 0, 1))
        third = _outcomes(runner, [mutant])[0]
        _check(third.reward == 101 and third.inherited, "a mutant must be able to load its parent's state", third)


def check_a_lost_state_is_named_then_trained_again(make: Make, workers: int = 3) -> None:
    """A corrupt checkpoint is not loaded: the outcome names it, and a task with a recipe trains the state again."""
    with _started(make, workers, remember) as (runner, directory):
        _outcomes(runner, [make_task(directory, 0)])
        place = directory / "arm-0-step-1"
        (place / "notes.txt").write_text("other", encoding="utf-8")
        task = make_task(directory, 0, start=1, stop=2, previous=place)
        outcome = _outcomes(runner, [task])[0]
        _check(outcome.reward is None and outcome.damaged == place.name, "a corrupt checkpoint must be named", outcome)
        again = replace(task, previous=None, recipe=(Slice(Pull(Arm(0, None), 0, 1), seed=0),))
        outcome = _outcomes(runner, [again])[0]
        _check((outcome.reward, outcome.retrained) == (2, 1), "a recipe must be trained first, and counted", outcome)


def check_a_pull_without_space_or_that_fails_leaves_nothing(make: Make, workers: int = 3) -> None:
    """A state that is too large is not saved, but the reward counts. A failed pull saves nothing."""
    with _started(make, workers, save_then) as (runner, directory):
        outcome = _outcomes(runner, [make_task(directory, 0, "return", room=50)])[0]
        _check(outcome.reward == 1 and outcome.checkpoint is None, "the reward must be kept, but not the state", outcome)
        _check("50" in (outcome.unsaved or "") and outcome.size >= 1000, "the outcome must say why it was not saved", outcome)
        outcome = _outcomes(runner, [make_task(directory, 1, "raise")])[0]
        _check(outcome.reward is None and outcome.checkpoint is None, "a failed pull must save nothing", outcome)
        _check(not list(directory.iterdir()), "nothing must be left behind", list(directory.iterdir()))


def check_reports_are_the_curve(make: Make, workers: int = 3) -> None:
    """The curve has the finite rewards that the function reported, in order."""
    with _started(make, workers, report) as (runner, directory):
        outcome = _outcomes(runner, [make_task(directory, 0)])[0]
    _check(outcome.curve == (0.0, 0.5, 2.0), "the curve must be what was reported", outcome)


def check_a_pull_whose_time_is_up_ends_at_its_report(make: Make, workers: int = 3) -> None:
    """A pull without time left is ended and marked at its first report. A pull with enough time runs to its end."""
    with _started(make, workers, report_then_save) as (runner, directory):
        late = _outcomes(runner, [make_task(directory, 0, time_left=0.0)])[0]
        _check((late.reward, late.stopped_early) == (0.5, True), "a pull must end at a report when its time is up", late)
        _check(late.checkpoint is None, "a state that was not saved yet must not exist", late)
        early = _outcomes(runner, [make_task(directory, 1, time_left=1e9)])[0]
        _check((early.reward, early.stopped_early) == (1, False), "a pull must not end at a report while it has time", early)
        _check(0 < early.metrics["left"] <= 1e9, "a pull must see how much time it has", early)


def check_no_more_than_workers_run_at_once(make: Make, workers: int = 3) -> None:
    """At most `workers` pulls run at once."""
    with _started(make, workers, count_others) as (runner, directory), TemporaryDirectory() as meeting:
        size = runner.workers
        outcomes = _outcomes(runner, [make_task(directory, arm, meeting) for arm in range(4 * size)])
        most = max(outcome.reward or 0 for outcome in outcomes)
        _check(1 <= most <= size, f"at most {size} pulls must run at once", most)


def check_workers_run_at_once(make: Make, workers: int = 3) -> None:
    """As many pulls as workers run at once. If they run in the thread of the test, they overlap by the clock of the runner."""
    with _started(make, workers, meet) as (runner, directory), TemporaryDirectory() as place:
        size = runner.workers  # may grow when pulls turn out to be short
        config = {"place": place, "expected": size, "here": here()}
        began = runner.now()
        outcomes = _outcomes(runner, [make_task(directory, arm, config) for arm in range(size)])
        taken, alone = runner.now() - began, sum(outcome.seconds for outcome in outcomes)
        _check(taken >= 0, "the clock must not go backwards", taken)
        met = all(outcome.reward == size for outcome in outcomes)
        _check(met or taken < alone, f"{size} workers must work at the same time", outcomes, taken)


def check_closing_abandons_what_runs(make: Make, workers: int = 3) -> None:
    """Closing does not wait for pulls in flight, and a closed runner can be started again with another function."""
    with TemporaryDirectory() as home, TemporaryDirectory() as place:
        runner, directory = make(workers), Path(home)
        runner.start(run_forever)
        for arm in range(runner.workers):
            runner.submit(make_task(directory, arm, {"place": place, "process": os.getpid()}))
        runner.close()
        ended = sorted(path.name for path in Path(place).iterdir())
        _check(not ended, "closing must not wait for pulls in flight", ended)
        runner.close()
        runner.start(give)
        try:
            outcome = _outcomes(runner, [make_task(directory, 99, {"value": "float"})])[0]
        finally:
            runner.close()
        works = outcome.pull.arm.id == 99 and outcome.reward == 0.25
        _check(works, "a runner that is started again must run new tasks", outcome)


RUNNER_CHECKS: tuple[Callable[..., None], ...] = (
    check_every_task_gives_one_outcome,
    check_numbers_are_rewards,
    check_all_else_fails_with_a_reason,
    check_the_function_sees_its_pull,
    check_a_function_may_change_its_config,
    check_saved_states_can_be_loaded,
    check_a_lost_state_is_named_then_trained_again,
    check_a_pull_without_space_or_that_fails_leaves_nothing,
    check_reports_are_the_curve,
    check_a_pull_whose_time_is_up_ends_at_its_report,
    check_no_more_than_workers_run_at_once,
    check_workers_run_at_once,
    check_closing_abandons_what_runs,
)
"""The checks. Each takes a function that makes a runner with a number of workers, and raises `AssertionError`."""


def _check(holds: bool, rule: str, *witnesses: Any) -> None:
    if not holds:  # not an assert statement, which python -O removes
        raise AssertionError(f"{rule}, got {', '.join(map(repr, witnesses))}")


@contextmanager
def _started(make: Make, workers: int, function: Function) -> Iterator[tuple[Runner, Path]]:
    """A runner that is closed at the end, and a directory for checkpoints."""
    with TemporaryDirectory() as directory:
        runner = make(workers)
        runner.start(function)
        try:
            yield runner, Path(directory)
        finally:
            runner.close()


def _outcomes(runner: Runner, tasks: list[Task]) -> list[Outcome]:
    """The outcomes of tasks, which are submitted in the same way as by a study."""
    outcomes: list[Outcome] = []
    for number, task in enumerate(tasks):
        while number - len(outcomes) >= runner.workers:
            outcomes += runner.collect()
        runner.submit(task)
    while len(outcomes) < len(tasks):
        outcomes += runner.collect()
    return outcomes


def _by_name(runner: Runner, directory: Path, names: Any) -> dict[str, Outcome]:
    tasks = [make_task(directory, arm, {"value": name}) for arm, name in enumerate(names)]
    return {outcome.pull.config["value"]: outcome for outcome in _outcomes(runner, tasks)}
