"""Training functions for the runner contract, and the outcomes that they must lead to."""

from __future__ import annotations

import asyncio
import json
import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..runners import RunningPull

_MOMENT = 0.01  # seconds between two checks
_PATIENCE = 10_000  # checks before a pull stops waiting, so that a broken runner does not hang the test


def _raise(error: BaseException) -> Any:
    raise error


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


REWARDS: Mapping[str, tuple[Callable[[], Any], float, float | None, dict[str, float], dict[str, Any]]] = {
    "float": (lambda: 0.25, 0.25, None, {}, {}),
    "int": (lambda: -3, -3.0, None, {}, {}),
    "bool": (lambda: True, 1.0, None, {}, {}),
    "fraction": (lambda: Fraction(1, 4), 0.25, None, {}, {}),
    "NumPy float": (lambda: np.float32(0.5), 0.5, None, {}, {}),
    "NumPy int": (lambda: np.int64(7), 7.0, None, {}, {}),
    "NumPy bool": (lambda: np.bool_(True), 1.0, None, {}, {}),
    "0-d array": (lambda: np.array(1.5), 1.5, None, {}, {}),
    "dict": (lambda: {"reward": 2}, 2.0, None, {}, {}),
    "dict with metrics": (
        lambda: {"reward": 1, "cost": np.int64(3), "loss": 2, "note": "x"},
        1.0,
        3.0,
        {"loss": 2.0},
        {"note": "x"},
    ),
    "dict with odd metrics": (
        lambda: {"reward": 1, "cost": None, 5: 2, "loss": math.nan},
        1.0,
        None,
        {"5": 2.0},
        {"loss": "NaN"},
    ),
    "dict with attributes": (
        lambda: {
            "reward": 1,
            "layers": (8, np.int64(4)),
            "deep": {"a": np.array([1.5, np.inf])},
            "none": None,
            "odd": object(),
        },
        1.0,
        None,
        {},
        {"layers": [8, 4], "deep": {"a": [1.5, "Infinity"]}},
    ),
}
"""By name: a function that returns the value, and the reward, cost, metrics and attributes that must be recorded for it."""

FAILURES: Mapping[str, tuple[Callable[[], Any], str, bool]] = {
    "NaN": (lambda: math.nan, "nan", False),
    "infinity": (lambda: math.inf, "inf", False),
    "minus infinity": (lambda: np.float64("-inf"), "-inf", False),
    "nothing": (lambda: None, "None", False),
    "text": (lambda: "0.5", "'0.5'", False),
    "list": (lambda: [0.5], "list", False),
    "array": (lambda: np.zeros(3), "ndarray", False),
    "complex": (lambda: 1j, "complex", False),
    "huge": (lambda: 10**400, "too large for a float", False),
    "object": (object, "object", False),
    "dict without reward": (lambda: {"loss": 1}, "without 'reward': ['loss']", False),
    "dict with NaN": (lambda: {"reward": math.nan}, "nan", False),
    "dict with text": (lambda: {"reward": "1"}, "'1'", False),
    "dict with a bad cost": (lambda: {"reward": 1, "cost": -1}, "cost", False),
    "exception": (lambda: _raise(ValueError("wrong\nin two lines")), "ValueError: wrong in two lines", True),
    "exit": (lambda: sys.exit(3), "SystemExit: 3", True),
    "memory": (lambda: _raise(MemoryError()), "out of memory", True),
    "recursion": (lambda: _raise(RecursionError("deep")), "RecursionError: deep", True),
    "cancelled": (lambda: _raise(asyncio.CancelledError()), "CancelledError", True),
    "exception without text": (lambda: _raise(_Unspeakable()), "_Unspeakable", True),
}
"""By name: a function that returns the value or raises, what the reason must say, and whether there is a traceback."""


def give(pull: RunningPull) -> Any:
    """Return or raise what the config names."""
    name = pull.config["value"]
    return (REWARDS[name][0] if name in REWARDS else FAILURES[name][0])()


def look(pull: RunningPull) -> dict[str, Any]:
    """Return what the function sees of its pull."""
    same = pull.config == {"x": 0.1, "deep": [{"name": "é"}, None]} and pull["x"] == 0.1 and pull.load() is None
    return {"reward": 0, "start": pull.start, "stop": pull.stop, "seed": pull.seed, "arm": pull.arm.id, "same": same}


def read_like_a_dict(config: Any) -> bool:
    """Whether the pull can be read like its config, a dict, regardless of the name of the parameter."""
    expected = {"x": 0.1, "deep": [{"name": "é"}, None]}
    copies = [dict(config), {**config}, json.loads(json.dumps(config)), pickle.loads(pickle.dumps(config)), config.copy()]
    single = config["x"] == config.get("x") == 0.1 and "y" not in config and config.get("y", 7) == 7
    return config == expected and sorted(config) == ["deep", "x"] and single and all(copy == expected for copy in copies)


def spoil(pull: RunningPull) -> Any:
    """Change its own config."""
    pull.config["deep"]["y"].clear()
    pull.config["new"] = threading.Lock()  # cannot be pickled
    return pull.config.pop("x")


def remember(pull: RunningPull) -> int:
    """Save the number of pulls so far, as an object and as a file. A mutant adds 100 to the number of its parent."""
    loaded = pull.load()
    before: int = 0 if loaded is None else loaded
    if pull.previous is not None and (pull.previous / "notes.txt").read_text(encoding="utf-8") != str(before):
        raise ValueError("the files are not the ones that were saved")
    count = before + 1 if pull.parent is None else int(pull.parent.load()) + 100
    (pull.directory / "notes.txt").write_text(str(count), encoding="utf-8")
    pull.save(count)
    return count


def save_then(pull: RunningPull) -> int:
    """Save, then return or raise as the config says."""
    pull.save(bytes(1000))
    if pull.config == "raise":
        raise ValueError("after saving")
    return 1


def report(pull: RunningPull) -> int:
    """Report rewards, not all of them finite."""
    for point in (0, float("nan"), 0.5, float("inf"), 2):
        pull.report(point)
    return 0


def report_then_save(pull: RunningPull) -> dict[str, float]:
    """Report once, then save, and return how much time was left."""
    left = pull.time_left
    pull.report(0.5)
    pull.save("trained")
    return {"reward": 1, "left": left}


def count_others(pull: RunningPull) -> int:
    """Number of pulls that use the directory of the config at the same time."""
    mark = Path(pull.config, str(pull.arm.id))
    mark.touch()
    time.sleep(0.02)
    present = len(os.listdir(pull.config))
    mark.unlink()
    return present


def here() -> list[int]:
    """This process and thread. A pull that runs in the process that submits it must not wait for later pulls."""
    return [os.getpid(), threading.get_ident()]


def meet(pull: RunningPull) -> int:
    """Wait until the expected number of pulls use the directory of the config, and return their number."""
    Path(pull.config["place"], str(pull.arm.id)).touch()
    for _ in range(_PATIENCE):
        present = len(os.listdir(pull.config["place"]))
        if present >= pull.config["expected"] or here() == pull.config["here"]:
            return present
        time.sleep(_MOMENT)
    return present


def run_forever(pull: RunningPull) -> int:
    """Run forever, except in the process named in the config. Leave a file if the pull is not ended."""
    if os.getpid() != pull.config["process"]:  # a pull in the process of the test cannot be abandoned
        time.sleep(_PATIENCE * _MOMENT)
        Path(pull.config["place"], str(pull.arm.id)).touch()
    return 0
