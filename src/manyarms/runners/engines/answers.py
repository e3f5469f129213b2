"""The answers of a cluster, which arrive in a thread of the engine."""

from __future__ import annotations

import queue
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class Answers:
    """Collects futures when they are done. Any thread may add them; one thread takes them."""

    def __init__(self) -> None:
        self._done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def expect(self, answer: Future[Any]) -> None:
        """Collect this future when it is done."""
        answer.add_done_callback(self._done.put)

    def add(self, answer: Future[Any]) -> None:
        """Collect this future now, although it is not done."""
        self._done.put(answer)

    def take(self, timeout: float) -> list[Future[Any]]:
        """The futures that were collected. Waits up to `timeout` seconds for the first one."""
        taken = []
        with suppress(queue.Empty):
            taken.append(self._done.get(timeout=timeout))
            while True:
                taken.append(self._done.get_nowait())
        return taken


def has_result(answer: Future[Any]) -> bool:
    """Whether the answer has arrived and is not an error."""
    return answer.done() and not answer.cancelled() and answer.exception() is None
