"""Tells browsers when something changed: one poller for each study that is open, however many browsers show it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from .pace import rest_after

_PAUSE = 0.75  # seconds between polls
_LONGEST_PAUSE = 15.0
_PAUSE_AFTER_ERROR = 3.0
_KEEP_ALIVE = 15.0  # seconds; a message that nobody reads shows that a browser is gone


class Watch:
    """Polls while at least one browser listens. Messages are small; the page then asks for what it shows.

    Args:
        poll: Returns what browsers compare: if it differs from the last message, they get it. Runs in a thread.
        rest: Called in a thread when nobody listens any more.
        pause: Least seconds between polls. A poll that takes long is followed by a longer pause.
    """

    def __init__(
        self, poll: Callable[[], dict[str, Any]], rest: Callable[[], None] | None = None, pause: float = _PAUSE
    ) -> None:
        self._poll, self._rest, self._pause = poll, rest, pause
        self._latest: str | None = None
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.listeners = 0

    async def listen(self) -> AsyncIterator[str]:
        """The messages for one browser, as server-sent events."""
        self.listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        sent = None
        try:
            yield "retry: 2000\n\n"
            while not self._closed:
                news = self._news
                if self._latest is not None and self._latest != sent:
                    sent = self._latest
                    yield f"data: {sent}\n\n"
                try:
                    await asyncio.wait_for(news.wait(), _KEEP_ALIVE)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self.listeners -= 1
            if self.listeners == 0:
                self._stop()
                if self._rest is not None and not self._closed:
                    asyncio.get_running_loop().run_in_executor(None, self._rest)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        self._news.set()
        self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = None
        self._latest = None

    async def _run(self) -> None:
        while not self._closed:
            message, took = await run_in_threadpool(self._timed_poll)
            text = json.dumps(message, allow_nan=False)
            if text != self._latest:
                self._latest = text
                self._news.set()
                self._news = asyncio.Event()
            if "problem" in message:
                await asyncio.sleep(_PAUSE_AFTER_ERROR)
            elif message.get("complete", True):
                await asyncio.sleep(min(_LONGEST_PAUSE, rest_after(took, self._pause)))

    def _timed_poll(self) -> tuple[dict[str, Any], float]:
        """The message, and the processor time that it took. On a busy machine it takes longer, but uses no more."""
        began = time.thread_time()
        return self._poll(), time.thread_time() - began
