"""The arms and pulls of a study as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..journal import Event
from .counts import Counts

if TYPE_CHECKING:
    import pandas as pd


_NOTED = ("reason", "details", "cost", "attempts", "retrained", "curve", "left_out", "stopped_early")
"""Other fields of an event. Each is a column if any pull has it."""


def arm_status(running: bool, failed: bool, steps: int, max_steps: int | None) -> str:
    """The status of an arm: running, failed, done or paused."""
    if running:
        return "running"
    if failed:
        return "failed"
    return "done" if max_steps is not None and steps >= max_steps else "paused"


def arm_rows(counts: Counts, max_steps: int | None) -> Iterator[dict[str, Any]]:
    """A row for each arm, in the order in which they were created."""
    for id, record in counts.arms.items():
        yield {
            "arm": id,
            "parents": list(record.arm.parents),
            "steps": record.steps,
            "reward": record.reward,
            "best_reward": record.best_reward,
            "best_step": record.best_step if record.best_reward is not None else None,
            "status": arm_status(id in counts.in_flight, record.failed, record.steps, max_steps),
            "config": record.arm.config,
        }


def flat_arm_rows(counts: Counts, max_steps: int | None) -> Iterator[dict[str, Any]]:
    """A row for each arm, with a column for each value of its config and for each metric of its last pull."""
    from ..spaces.flattening import flattened  # here: it imports NumPy, which `manyarms arms` does not need

    for row, record in zip(arm_rows(counts, max_steps), counts.arms.values(), strict=True):
        config = row.pop("config")
        columns = _named("config", flattened(config)) if isinstance(config, dict) else {"config": config}
        size = {"checkpoint_bytes": record.checkpoint_bytes}
        yield row | {"seconds": record.seconds} | columns | _named("metric", record.metrics) | size


def _named(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{kind}_{name}": value for name, value in values.items()}


def pull_rows(events: Iterable[Event]) -> list[dict[str, Any]]:
    """A row for each pull, in the order in which they were asked for."""
    rows: list[dict[str, Any]] = []
    running: dict[int | None, dict[str, Any]] = {}
    for event in events:
        if event.kind == "asked":
            rows.append({"arm": event.arm, "start": event.start, "stop": event.stop, "status": "running"})
            running[event.arm] = rows[-1]
        elif event.kind in ("told", "failed"):
            row, data = running.pop(event.arm), event.data
            row.update(reward=event.reward, status=event.kind, seconds=event.seconds)
            row.update({name: data[name] for name in _NOTED if name in data})
            row.update(_named("metric", data.get("metrics", {})) | _named("attribute", data.get("attributes", {})))
    return rows


def frame(rows: Iterable[dict[str, Any]], first: Iterable[str]) -> pd.DataFrame:
    """The rows as a pandas DataFrame. It has the columns `first` even if there are no rows."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError('tables need pandas: pip install "manyarms[pandas]"') from None
    rows = list(rows)
    filled = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    return pd.DataFrame(rows, columns=list(dict.fromkeys([*first, *sorted(filled, key=_group)])))


def _group(column: str) -> int:
    """Position of a group of columns: configs first, then others, then metrics and attributes."""
    kinds = {"config": 0, "metric": 2, "attribute": 3}
    return kinds.get(column.partition("_")[0], 1)
