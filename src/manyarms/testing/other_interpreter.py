"""Calls functions in a second interpreter, where sets of strings have a different order."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
from collections.abc import Callable

import cloudpickle


def elsewhere(function: Callable[[], str]) -> str:
    """What the function returns in another process, where sets of strings have a different order."""
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
        """What the function returns. Raises `EOFError` if the function fails."""
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
