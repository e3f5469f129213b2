"""Runs one pull: calls the training function, and turns the result or error into an outcome."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ..checkpoints import commit, committed_size, remove
from ..checkpoints.objects import upload
from ..checkpoints.remote import Location, RemotePath
from ..checkpoints.retraining import Slice
from ..checkpoints.scratch import process_directory
from ..checkpoints.state import DamagedCheckpoint
from ..checkpoints.uploads import uploads
from ..core import Outcome
from ..safe_text import short_repr, storable_text
from .attributes import attributes_of
from .running_pull import PullStopped, RunningPull, finite_curve
from .task import Task
from .timer import Timer

Function = Callable[..., Any]

_STOPPED = "its time was up before it saved one"
"""Why a pull that was stopped early has no checkpoint. If the function never saves, nothing is lost."""


def execute(function: Function, task: Task, clock: Callable[[], float] = time.perf_counter) -> Outcome:
    """Run one pull and return its outcome. Errors of the function are not raised, except `KeyboardInterrupt`.

    Args:
        function: The training function.
        task: The pull, its seed, and its files.
        clock: Returns the time in seconds, from any start. Time limits use it.
    """
    timer = Timer(clock, task.time_left, task.kill_after)
    if task.attempt > 1:
        task.discard()
    try:
        with task.writing() as staged:
            return _run(function, task, staged, timer)
    except OSError as error:  # the temporary directory cannot be created
        return _failed(task, timer.elapsed(), f"{type(error).__name__}: {_text(error)}", error)


def _run(function: Function, task: Task, staged: Path, timer: Timer) -> Outcome:
    """Run one pull that writes its checkpoint to `staged`."""
    with _scratch() if task.recipe else _Nowhere() as scratch:
        try:
            again = retrain(function, task.recipe, Path(scratch))
            timer.mark()
            previous = again.get(task.pull.arm.id, task.previous)
            parent = again.get(task.pull.arm.parents[0], task.parent) if task.parent is not None else None
            pull = RunningPull(task.pull, task.seed, staged, previous, parent, task.room, task.owner, timer)
            returned = _returned(function, pull)
        except DamagedCheckpoint as damage:
            reason = f"the checkpoint {damage} is corrupt or missing"
            return replace(_failed(task, timer.elapsed(), reason), damaged=str(damage))
        except MemoryError as error:
            return _failed(task, timer.elapsed(), "out of memory", error)
        except BadReward as error:
            return _failed(task, timer.elapsed(), str(error))
        except KeyboardInterrupt:
            remove(staged)
            raise
        except BaseException as error:  # also SystemExit, asyncio.CancelledError and the panics of Rust extensions
            return _failed(task, timer.elapsed(), f"{type(error).__name__}: {_text(error)}", error)
    name, size, unsaved = _keep(task, staged, pull)
    return Outcome(
        task.pull,
        **returned._asdict(),
        seconds=timer.elapsed(),
        curve=finite_curve(pull.curve),
        checkpoint=name,
        size=size,
        unsaved=unsaved,
        inherited=pull.parent is not None and pull.parent.used,
        attempts=task.attempt,
        retrained=sum(part.pull.steps for part in task.recipe),
        stopped_early=pull.stopped_early,
    )


def _returned(function: Function, pull: RunningPull) -> Returned:
    """What the function returned; if it was stopped at a report, the last finite reward that it reported."""
    try:
        return read_value(call(function, pull))
    except PullStopped:
        if rewards := finite_curve(pull.curve):
            return read_value(rewards[-1])
        raise BadReward("its time was up before it reported a finite reward") from None


def call(function: Function, pull: RunningPull) -> Any:
    """What the function returns. A process that it forked ends here, because the pull is that of its parent."""
    process = os.getpid()
    try:
        value = function(pull)
    except BaseException as error:
        if os.getpid() != process:
            _exit_fork(error)
        raise
    if os.getpid() != process:
        _exit_fork()
    return value


def _exit_fork(error: BaseException | None = None) -> NoReturn:
    """End this process as Python would after a script that ended like this, but without its exit handlers."""
    code = 0 if error is None else 1
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        code = error.code or 0
    elif error is not None:
        traceback.print_exception(error)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may be closed
            stream.flush()
    os._exit(code & 0xFF)


class Returned(NamedTuple):
    """What a training function returned. The fields are those of an `Outcome`."""

    reward: float
    cost: float | None
    metrics: dict[str, float]
    attributes: dict[str, Any]
    left_out: str | None


def read_value(value: Any) -> Returned:
    """Read what a training function returned: a number, or a dict with "reward" and other values."""
    if not isinstance(value, Mapping):
        return Returned(_number("the returned value", value), None, {}, {}, None)
    if "reward" not in value:
        raise BadReward(f"the function returned a dict without 'reward': {sorted(map(str, value))}")
    reward = _number("'reward'", value["reward"])
    cost = _number("'cost'", value["cost"]) if value.get("cost") is not None else None
    if cost is not None and cost < 0:
        raise BadReward(f"'cost' must be at least 0, got {cost!r}")
    others = {storable_text(str(key)): item for key, item in value.items() if key not in ("reward", "cost")}
    metrics = {key: number for key, item in others.items() if (number := _metric(item)) is not None}
    attributes, left_out = attributes_of({key: item for key, item in others.items() if key not in metrics})
    return Returned(reward, cost, metrics, attributes, left_out)


class BadReward(ValueError):
    """The function did not return a reward."""


def _number(what: str, value: Any) -> float:
    """A finite float from a Python or NumPy number, or from a tensor with one element."""
    if value is None or isinstance(value, (str, bytes)):
        raise BadReward(f"{what} must be a number, got {short_repr(value)}")
    try:
        number = _as_float(value)
    except OverflowError:
        raise BadReward(f"{what} is too large for a float") from None
    except Exception:
        raise BadReward(f"{what} must be a number, got {type(value).__name__} {short_repr(value)}") from None
    if not math.isfinite(number):
        raise BadReward(f"{what} is {number}")
    return number


def _metric(value: Any) -> float | None:
    """The value as a finite float; None if it is something else."""
    if value is None or isinstance(value, (str, bytes)):
        return None
    try:
        number = _as_float(value)
    except Exception:
        return None
    return number if math.isfinite(number) else None


def _as_float(value: Any) -> float:
    if getattr(value, "mask", False):
        return math.nan  # a masked array of NumPy, such as the mean of nothing but masked values, whose item() is 0.0
    return float(value.item() if hasattr(value, "item") else value)


def retrain(function: Function, recipe: Iterable[Slice], scratch: Path) -> dict[int, Path]:
    """Train pulls again in a scratch directory. Returns the directory of the last state of each arm."""
    places: list[Path] = []
    latest: dict[int, Path] = {}
    for part in recipe:
        arm, number = part.pull.arm.id, len(places)
        parent = places[part.parent] if isinstance(part.parent, int) else part.parent
        pull = RunningPull(part.pull, part.seed, scratch / f"{number}.part", latest[arm] if part.pull.start else None, parent)
        call(function, pull)
        if pull.unsaved is not None:
            raise OSError(f"cannot train a lost state again: {pull.unsaved}")
        places.append(scratch / str(number))
        commit(pull.directory, places[-1], lasting=False)
        latest[arm] = places[-1]
    return latest


def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A directory that is removed at the end. On Windows, files that the function still has open remain.

    It is inside the directory of this process, so that it does not outlive a killed worker for long.
    """
    return tempfile.TemporaryDirectory(dir=process_directory(), ignore_cleanup_errors=True)


def _keep(task: Task, staged: Path, pull: RunningPull) -> tuple[str | None, int, str | None]:
    """Commit what the pull saved. Returns the name and size of the checkpoint or, if it was not saved, the reason."""
    if not staged.exists():
        return None, pull.refused, pull.unsaved or (_STOPPED if pull.stopped_early else None)
    unsaved, size = pull.unsaved, 0
    try:
        size = committed_size(staged)
        if unsaved is None and task.room is not None and size > task.room:
            unsaved = f"{size} bytes, but max_bytes leaves {task.room}"
        if unsaved is None:
            return task.final.name, _commit(staged, task.final, task.lasting), None
    except OSError as error:
        unsaved = unsaved or str(error)
    remove(staged)
    return None, size, unsaved


def _commit(staged: Path, final: Location, lasting: bool) -> int:
    """Turn a directory into a checkpoint. Returns its size in bytes."""
    if not isinstance(final, RemotePath):
        return commit(staged, final, lasting)
    size = upload(staged, final)
    uploads.add(final, staged, size)
    return size


def _failed(task: Task, seconds: float, reason: str, error: BaseException | None = None) -> Outcome:
    if task.staged is not None:
        remove(task.staged)
    details = None if error is None else storable_text("".join(traceback.format_exception(error))[-4000:])
    reason = storable_text(" ".join(reason.split())[:500])
    return Outcome(task.pull, reason=reason, details=details, seconds=seconds, attempts=task.attempt)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "an error without readable text"


class _Nowhere:
    """Placeholder for the scratch directory of a task that does not need one."""

    def __enter__(self) -> str:
        return ""

    def __exit__(self, *error: object) -> None:
        pass
