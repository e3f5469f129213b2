"""Helpers of the contract of strategies: states, recommendations and pulls as values that can be compared."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np

from ..core import Arm, Pull
from ..errors import NoResult
from ..spaces import to_json
from ..strategies import Strategy, extended
from ..study.replay import StudyState


def state(strategy: Strategy) -> str | None:
    """The state of a strategy as the text of a snapshot; None if it has no state."""
    return None if extended(strategy) is None else StudyState(strategy, "maximize", None).state()


def load(strategy: Strategy, text: str) -> None:
    """Restore a state that `state` returned."""
    StudyState(strategy, "maximize", None).load(text)


def best(strategy: Strategy) -> int | None:
    """The arm that a strategy recommends; None if it raises `NoResult`."""
    try:
        return strategy.best().id
    except NoResult:
        return None


def space(strategy: Strategy) -> Any:
    """The space of a strategy; None if it has no ledger."""
    own = extended(strategy)
    return None if own is None else own.ledger.space


def is_endless(strategy: Strategy) -> bool:
    """Whether a strategy has no budget, so that it never ends."""
    own = extended(strategy)
    return own is not None and own.ledger.budget is None


def arm_text(arm: Arm, space: Any) -> str:
    """An arm as text, to compare arms whose configs do not define equality."""
    return json.dumps([arm.id, to_json(space, arm.config), arm.parents], sort_keys=True, default=repr)


def pull_text(pull: Pull | None, space: Any) -> str:
    """A pull as text."""
    return "nothing" if pull is None else f"{pull.start} to {pull.stop} of {arm_text(pull.arm, space)}"


def noise(pull: Pull) -> float:
    """A meaningless reward from 0 to 1 that depends on the arm and the step."""
    return zlib.crc32(f"{pull.arm.id} {pull.stop}".encode()) / 2**32


def loss(pull: Pull) -> float:
    """The same on another scale. Every fifth arm diverges, starting with the first."""
    return -100.0 * noise(pull) - (1e9 if pull.arm.id % 5 == 0 else 0.0)


def landscape(space: Any) -> Callable[[Any], float]:
    """How close a config is to a random target, from 0 to 1; an arbitrary fixed value if the space does not encode."""
    if not hasattr(space, "encode"):
        return lambda config: zlib.crc32(json.dumps(to_json(space, config)).encode()) / 2**32
    target = np.asarray(space.encode(space.sample(np.random.default_rng(12345))), dtype=float)
    return lambda config: 1.0 - float(np.abs(np.asarray(space.encode(config)) - target).mean())


def elsewhere(function: Callable[[], str]) -> str:
    """What the function returns in another process, where sets of strings have another order."""
    path = os.pathsep.join(filter(None, sys.path))
    try:
        return _process(path).call(function)
    except EOFError:
        _process.cache_clear()  # it has ended, with a traceback on standard error
        raise RuntimeError("The function failed in another process. Its traceback is on standard error.") from None


@functools.cache
def _process(path: str) -> _Process:
    """The process with this search path. It is started once: starting and importing take longer than most calls."""
    process = _Process(path)
    atexit.register(process.close)
    return process


class _Process:
    """A process that calls functions, one after another."""

    _CODE = """
import os, sys, cloudpickle
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # so that what a function prints does not mix with the answers
while size := sys.stdin.buffer.read(8):
    function = cloudpickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "big")))
    answer = function().encode()
    answers.write(len(answer).to_bytes(8, "big") + answer)
    answers.flush()
"""

    def __init__(self, path: str) -> None:
        environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": path}
        command = [sys.executable, "-c", self._CODE]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def call(self, function: Callable[[], str]) -> str:
        """What the function returns. `EOFError` if it raises an error."""
        asked, answers = self._child.stdin, self._child.stdout
        assert asked is not None and answers is not None
        given = cloudpickle.dumps(function)
        asked.write(len(given).to_bytes(8, "big") + given)
        asked.flush()
        size = answers.read(8)
        if not size:
            raise EOFError
        return str(answers.read(int.from_bytes(size, "big")), "utf-8")

    def close(self) -> None:
        """End the process."""
        self._child.communicate()
