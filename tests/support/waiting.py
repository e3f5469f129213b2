"""Waiting for events: the only place where tests read a clock, and only to end a test that hangs."""

from __future__ import annotations

import time

PATIENCE = 100.0  # seconds; says nothing about speed: what is waited for comes in a moment, or never


def wait_until(holds) -> bool:
    """Whether the condition came to hold, sooner or later."""
    deadline = time.monotonic() + PATIENCE
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return held
