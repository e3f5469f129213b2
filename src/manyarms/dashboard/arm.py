"""Everything about one arm: its config and how it differs from its parent, lineage, learning curve, pulls and failures."""

from __future__ import annotations

from typing import Any

from ..journal.protocol import Event
from . import json_values
from .columns import named_values
from .feed import StudyFeed
from .network import network_drawing

_MOST_PULLS = 200
_MOST_CHILDREN = 100
_MOST_VALUES = 500  # of a config
_MOST_POINTS = 2_000  # of a learning curve
_NOTED = ("cost", "attempts", "retrained", "left_out", "stopped_early", "inherited")
"""Other fields of a pull that are shown if it has them."""


def arm_details(feed: StudyFeed, arm: int) -> dict[str, Any] | None:
    """One arm; None if the study has no such arm. The caller holds the lock of the feed."""
    columns = feed.columns
    row = columns.row_of.get(arm)
    if row is None:
        return None
    numbers = columns.events_of(arm)
    events = feed.stored(numbers)
    pulls = _pulls([events[number] for number in numbers if number in events])
    parents, children = columns.parents[row], columns.children_of(arm)
    config, parent = configs_of(feed, arm)
    drawing = network_drawing(feed.header, config, parent)
    return {
        "arm": arm,
        "status": columns.status(row),
        "parents": list(parents),
        "children": children[:_MOST_CHILDREN],
        "children_total": len(children),
        **{name: columns.value(name, row) for name in ("steps", "pulls", "failures", "reward", "best_reward", "best_step")},
        "seconds": columns.value("seconds", row),
        "checkpoint_bytes": columns.value("checkpoint_bytes", row),
        "config": json_values.document(config),
        "values": _values(config, parent),
        "network": None if drawing is None else drawing.text,
        "pull_rows": pulls[-_MOST_PULLS:],
        "pulls_total": len(pulls),
        "curve": _curve(pulls),
    }


def configs_of(feed: StudyFeed, arm: int) -> tuple[Any, Any]:
    """The configs of an arm and of its first parent, as JSON; None if they are not known. The caller holds the lock."""
    row = feed.columns.row_of.get(arm)
    parents = () if row is None else feed.columns.parents[row]
    return _config_of(feed, arm), _config_of(feed, parents[0]) if parents else None


def _config_of(feed: StudyFeed, arm: int) -> Any:
    row = feed.columns.row_of.get(arm)
    if row is None:
        return None
    number = int(feed.columns.value("asked", row) or 0)
    events = feed.stored([number])
    return events[number].data.get("config") if number in events else None


def _values(config: Any, parent: Any) -> list[dict[str, Any]]:
    """The values of a config, with those of the parent where they differ. Values that only the parent has are included."""
    own, before = named_values(config), named_values(parent)
    rows = []
    for name in list(dict.fromkeys([*own, *(before if parent is not None else ())]))[:_MOST_VALUES]:
        changed = parent is not None and (name not in own or name not in before or own[name] != before[name])
        row = {"name": name, "value": json_values.cell(own.get(name)), "missing": name not in own, "changed": changed}
        rows.append(row | ({"before": json_values.cell(before.get(name)), "added": name not in before} if changed else {}))
    return rows


def _pulls(events: list[Event]) -> list[dict[str, Any]]:
    """The pulls of an arm, in the order in which they were asked for."""
    pulls: list[dict[str, Any]] = []
    for event in events:
        if event.kind == "asked":
            pulls.append({"start": event.start, "stop": event.stop, "status": "running"})
        elif pulls and event.kind in ("told", "failed"):
            pulls[-1] |= _ended(event)
    return pulls


def _ended(event: Event) -> dict[str, Any]:
    data = event.data
    metrics, attributes, curve = data.get("metrics"), data.get("attributes"), data.get("curve")
    failure = {"reason": json_values.reason(data.get("reason", "")), "details": json_values.text(data.get("details", ""))}
    return {
        "status": "failed" if event.kind == "failed" else "done",
        "reward": json_values.number(event.reward),
        "seconds": json_values.number(event.seconds),
        "checkpoint_bytes": json_values.number(data.get("checkpoint_bytes")),
        "metrics": _shown(metrics),
        "notes": _shown({name: data[name] for name in _NOTED if name in data}) | _shown(attributes),
        "points": [json_values.number(point) for point in curve[-_MOST_POINTS:]] if isinstance(curve, list) else [],
        **(failure if event.kind == "failed" else {}),
    }


def _shown(values: Any) -> dict[str, Any]:
    return (
        {json_values.name(name): json_values.cell(value) for name, value in values.items()} if isinstance(values, dict) else {}
    )


def _curve(pulls: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The learning curve: rewards at the ends of pulls, and the points that the function reported during them."""
    ends = [pull for pull in pulls if pull.get("reward") is not None]
    steps, rewards = [], []
    for pull in pulls:
        points = pull.pop("points", [])
        length = (pull["stop"] or 0) - (pull["start"] or 0)
        for place, point in enumerate(points, 1):
            steps.append(pull["start"] + length * place / len(points))
            rewards.append(point)
    return {
        "steps": [pull["stop"] for pull in ends],
        "rewards": [pull["reward"] for pull in ends],
        "point_steps": steps[-_MOST_POINTS:],
        "point_rewards": rewards[-_MOST_POINTS:],
    }
