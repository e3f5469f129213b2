"""A study's arms and pulls as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .journal import Event
from .tally import Tally

if TYPE_CHECKING:
    import pandas as pd


def arm_status(running: bool, failed: bool, steps: int, max_steps: int | None) -> str:
    """One word: running, failed, done or paused."""
    if running:
        return "running"
    if failed:
        return "failed"
    return "done" if max_steps is not None and steps >= max_steps else "paused"


def arm_rows(tally: Tally, max_steps: int | None) -> Iterator[dict[str, Any]]:
    """A row for each arm, in the order they were made."""
    for id, record in tally.arms.items():
        yield {
            "arm": id,
            "parents": list(record.arm.parents),
            "steps": record.steps,
            "reward": record.reward,
            "status": arm_status(id in tally.in_flight, record.failed, record.steps, max_steps),
            "config": record.arm.config,
        }


def pull_rows(events: Iterable[Event]) -> list[dict[str, Any]]:
    """A row for each pull, in the order they were asked for."""
    rows: list[dict[str, Any]] = []
    running: dict[int | None, dict[str, Any]] = {}
    for event in events:
        if event.kind == "asked":
            rows.append({"arm": event.arm, "start": event.start, "stop": event.stop, "status": "running"})
            running[event.arm] = rows[-1]
        elif event.kind in ("told", "failed"):
            row, data = running.pop(event.arm), event.data
            row.update(reward=event.reward, status=event.kind, seconds=event.seconds)
            row.update({name: data[name] for name in ("reason", "cost", "attempts", "retrained", "curve") if name in data})
            row.update({f"metric_{name}": value for name, value in data.get("metrics", {}).items()})
    return rows


def frame(rows: Iterable[dict[str, Any]], first: Iterable[str]) -> pd.DataFrame:
    """The rows as a pandas table; the columns `first` are there even if no row is."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError('tables need pandas: pip install "manyarms[pandas]"') from None
    rows = list(rows)
    filled = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    return pd.DataFrame(rows, columns=list(dict.fromkeys([*first, *filled])))
