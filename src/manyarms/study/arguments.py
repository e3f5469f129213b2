"""Checks the arguments of `Study`, `Study.optimize` and `tune`, before anything is written or started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import checks
from ..budget import Budget
from ..checkpoints import Checkpoints
from ..checkpoints.remote import location
from ..runners import InlineRunner, ProcessRunner, Runner
from ..runners.engines import engine_runner
from ..runners.execute import Function
from ..runners.pull_timeout import REMAINING
from ..strategies import extended
from .restored_strategy import as_json

ALL = "all"
"""The value of `workers` that means all processors of this machine, or all workers of a cluster."""

_RUNNER = ("start", "submit", "collect", "now", "close")


def check_strategy(strategy: Any) -> None:
    """Raise an error if this is not a strategy, or if it has been used already."""
    if isinstance(strategy, type):
        raise TypeError(f"strategy must be an object such as {strategy.__name__}(space, ...), got the class itself")
    missing = [name for name in ("ask", "tell", "best") if not callable(getattr(strategy, name, None))]
    if missing:
        raise TypeError(f"strategy must have the methods ask, tell and best, got {strategy!r} without {missing[0]}")
    known = extended(strategy)
    if known is not None and known.ledger.arms:
        raise ValueError("strategy must be new, got one that is already in use")


def check_checkpoints(checkpoints: Any) -> None:
    """Raise an error unless this is a `Checkpoints` object, the path of a directory, or None."""
    if checkpoints is not None and not isinstance(checkpoints, Checkpoints):
        if not isinstance(checkpoints, (str, os.PathLike)):
            raise TypeError(f"checkpoints must be a directory, ma.Checkpoints(...) or None, got {checkpoints!r}")
        location("checkpoints", checkpoints)


def check_study(
    strategy: Any,
    checkpoints: Any,
    direction: Any,
    bounds: Any,
    budget: Budget | str | None,
    origin: Any,
) -> tuple[Budget | None, tuple[float, float] | None]:
    """Check the arguments of `Study`. Returns the budget as limits, and the bounds."""
    check_strategy(strategy)
    check_checkpoints(checkpoints)
    checks.one_of("direction", direction, ("maximize", "minimize"))
    limits = None if budget is None else Budget.of(budget)
    if limits is not None and limits.steps is not None:
        raise ValueError("budget of a Study must be in seconds or cost: pass the number of steps to the strategy")
    if origin is not None:
        _check_origin(origin)
    return limits, None if bounds is None else checks.interval("bounds", bounds)


def _check_origin(origin: Any) -> None:
    if not isinstance(origin, Mapping):
        raise TypeError(f"origin must be a dict or None, got {origin!r}")
    try:
        as_json(origin)
    except (TypeError, ValueError, RecursionError):
        raise TypeError(f"origin must be a dict of JSON values, got {origin!r:.200}") from None


def check_remaining(pull_timeout: Any, timeout: Any, time_budget: float | str | None) -> None:
    """Raise an error for `pull_timeout="remaining"` if the search has no time limit."""
    if pull_timeout == REMAINING and timeout is None and time_budget is None:
        raise ValueError(
            f"pull_timeout must be seconds where the search has no time limit, got {REMAINING!r}: "
            'give timeout="8h", or a budget of time'
        )


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The checked arguments of `Study.optimize`.

    Attributes:
        limit: Seconds after which no more pulls are started; None means no limit.
        verbose: How much is shown: 0, 1 or 2.
        runner: Runs the pulls.
        finish: Whether Ctrl-C waits for the pulls in flight.
    """

    limit: float | None
    retries: int
    deterministic: bool
    verbose: int
    callbacks: tuple[Callable[..., object], ...]
    runner: Runner
    finish: bool


def run_arguments(
    function: Function,
    *,
    workers: int | str | None,
    timeout: float | str | None,
    retries: int,
    pull_timeout: float | str | None,
    deterministic: bool,
    verbose: int,
    progress: bool,
    resources: Mapping[str, float] | None,
    callbacks: Iterable[Callable[..., object]],
    runner: Any,
    finish: bool,
) -> RunArguments:
    """Check the arguments of `Study.optimize`. Each error names one argument."""
    checks.function("function", function, "pull")
    return RunArguments(
        limit=None if timeout is None else checks.seconds("timeout", timeout),
        retries=checks.whole("retries", retries, 0),
        deterministic=checks.flag("deterministic", deterministic),
        verbose=_checked_verbose(verbose) if checks.flag("progress", progress) else 0,
        callbacks=_checked_callbacks(callbacks),
        runner=_chosen_runner(runner, _checked_workers(workers), pull_timeout, resources),
        finish=checks.flag("finish", finish),
    )


def check_function(function: Function, runner: Runner) -> None:
    """Raise an error if the function cannot be sent to the workers of this runner."""
    check = getattr(runner, "check", None)
    if check is not None:
        check(function)


def _checked_workers(workers: Any) -> int | str | None:
    if workers is None or workers == ALL:
        return workers  # type: ignore[no-any-return]
    if isinstance(workers, str):
        raise ValueError(f'workers must be a number or "{ALL}", got {workers!r}')
    return checks.whole("workers", workers, 1)


def _chosen_runner(runner: Any, workers: int | str | None, pull_timeout: Any, resources: Mapping[str, float] | None) -> Runner:
    """The runner of a search: the one given, that of an engine, worker processes, or this process. Nothing is started yet."""
    if runner is None:
        here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        own = ProcessRunner(here if workers == ALL else int(workers or 1), pull_timeout, resources)  # checks the arguments
        return InlineRunner() if workers in (None, 1) and pull_timeout is None and resources is None else own
    engine = engine_runner(runner, workers, pull_timeout, resources)
    if engine is not None:
        return engine
    if workers not in (None, 1) or pull_timeout is not None or resources is not None:
        raise _ignored_by_runner(workers, pull_timeout, resources)
    return _checked_runner(runner)


def _ignored_by_runner(workers: int | str | None, pull_timeout: Any, resources: Any) -> ValueError:
    """The error for arguments that a custom runner would ignore. It names the first of them."""
    given = {"workers": workers if workers != 1 else None, "pull_timeout": pull_timeout, "resources": resources}
    name, value = next((name, value) for name, value in given.items() if value is not None)
    return ValueError(f"{name} cannot be combined with runner, got {value!r}: set it on the runner, or do not pass a runner")


def _checked_verbose(verbose: Any) -> int:
    if checks.whole("verbose", verbose, 0) > 2:
        raise ValueError(f"verbose must be 0, 1 or 2, got {verbose!r}")
    return int(verbose)


def _checked_callbacks(callbacks: Any) -> tuple[Callable[..., object], ...]:
    if isinstance(callbacks, str) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of functions, got {callbacks!r}")
    return tuple(checks.function("callback", callback, "study", "outcome") for callback in callbacks)


def _checked_runner(runner: Any) -> Runner:
    missing = [name for name in _RUNNER if not callable(getattr(runner, name, None))]
    if isinstance(runner, type) or missing:
        raise TypeError(
            f'runner must be "dask", "ray", a Dask client, an executor, or an object with the methods {", ".join(_RUNNER)}, '
            f"got {runner!r}"
        )
    checks.whole("the number of workers of runner", getattr(runner, "workers", None), 1)  # type: ignore[arg-type]
    return runner  # type: ignore[no-any-return]
