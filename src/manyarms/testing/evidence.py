"""What the contract of strategies looks at: states, recommendations and pulls as values that can be compared."""

from __future__ import annotations

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
    """Its state as the text that a snapshot would hold; None if it has no state."""
    return None if extended(strategy) is None else StudyState(strategy, "maximize", None).state()


def load(strategy: Strategy, text: str) -> None:
    """Put a strategy into a state that `state` gave."""
    StudyState(strategy, "maximize", None).load(text)


def best(strategy: Strategy) -> int | None:
    """The arm it recommends; None if it says that there is none."""
    try:
        return strategy.best().id
    except NoResult:
        return None


def space(strategy: Strategy) -> Any:
    """The space its arms are from; None if it does not show it."""
    own = extended(strategy)
    return None if own is None else own.ledger.space


def is_endless(strategy: Strategy) -> bool:
    """Whether it says that it never ends."""
    own = extended(strategy)
    return own is not None and own.ledger.budget is None


def arm_text(arm: Arm, space: Any) -> str:
    """An arm as text, which stands for it where two are compared: a config need not define equality."""
    return json.dumps([arm.id, to_json(space, arm.config), arm.parents], sort_keys=True, default=repr)


def pull_text(pull: Pull | None, space: Any) -> str:
    """A pull as text."""
    return "nothing" if pull is None else f"{pull.start} to {pull.stop} of {arm_text(pull.arm, space)}"


def noise(pull: Pull) -> float:
    """A reward from 0 to 1 that depends on the arm and the step, and means nothing."""
    return zlib.crc32(f"{pull.arm.id} {pull.stop}".encode()) / 2**32


def loss(pull: Pull) -> float:
    """The same on another scale, where every fifth arm diverges, the first one too."""
    return -100.0 * noise(pull) - (1e9 if pull.arm.id % 5 == 0 else 0.0)


def landscape(space: Any) -> Callable[[Any], float]:
    """How near a config is to one that was drawn as the target, from 0 to 1; any fixed value where the space has no codes."""
    if not hasattr(space, "encode"):
        return lambda config: zlib.crc32(json.dumps(to_json(space, config)).encode()) / 2**32
    target = np.asarray(space.encode(space.sample(np.random.default_rng(12345))), dtype=float)
    return lambda config: 1.0 - float(np.abs(np.asarray(space.encode(config)) - target).mean())


def elsewhere(function: Callable[[], str]) -> str:
    """What the function gives in a new process, where sets and dicts of text have another order."""
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    code = "import sys, cloudpickle; sys.stdout.write(cloudpickle.load(sys.stdin.buffer)())"
    command, given = [sys.executable, "-c", code], cloudpickle.dumps(function)
    done = subprocess.run(command, input=given, env=environment, stdout=subprocess.PIPE, check=True)
    return str(done.stdout, "utf-8")
