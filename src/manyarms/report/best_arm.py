"""The recommended arm: its config and how it differs from its parent's, its lineage, its learning curve and its pulls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..html import format, parts
from ..plots.chart import BLUE, SKY, Axis, Chart, Line, Panel, Points
from ..plots.svg_figure import svg_figure
from .content import Content

_NOT_SET, _SAME = "not set", "same"


def best_arm(content: Content) -> str:
    """Everything about the recommended arm."""
    arm = content.best
    if arm is None:
        return parts.nothing("No recommended arm yet", "No pull has ended with a reward.")
    return (
        f'{parts.facts(_facts(arm))}<div class="best"><div>{_config(arm)}{_pulls(arm)}</div>'
        f"<div>{_curve(arm)}{_lineage(content, arm)}</div></div>"
    )


def _facts(arm: Mapping[str, Any]) -> list[str]:
    return [
        parts.fact("Arm", str(int(arm["arm"])), "strong"),
        parts.fact("Status", parts.badge(arm["status"])),
        parts.fact("Best reward", format.number(arm["best_reward"])),
        parts.fact("Best step", format.number(arm["best_step"])),
        parts.fact("Last reward", format.number(arm["reward"])),
        parts.fact("Steps", format.number(arm["steps"])),
        parts.fact("Training time", format.duration(arm["seconds"])),
        parts.fact("Checkpoint", format.size(arm["checkpoint_bytes"])),
    ]


def _config(arm: Mapping[str, Any]) -> str:
    has_parent = bool(arm["parents"])
    title = f"Config, compared with arm {arm['parents'][0]}" if has_parent else "Config"
    heads = ["Name", "Value", "Parent"][: 3 if has_parent else 2]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "".join(_value(value, has_parent) for value in arm["values"])
    table = parts.scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>", "Config")
    shown = table if arm["values"] else parts.paragraph("The config is empty.")
    return f"<h3>{parts.text(title)}</h3>{shown}{parts.folded('As JSON', parts.code(arm['config']))}"


def _value(value: Mapping[str, Any], has_parent: bool) -> str:
    """A parameter, and its value in the parent if that is different."""
    own = _NOT_SET if value["missing"] else format.plain(value["value"])
    before = _SAME if not value["changed"] else _NOT_SET if value["added"] else format.plain(value["before"])
    kind = ' class="changed"' if value["changed"] else ""
    parent = f"<td>{parts.text(before)}</td>" if has_parent else ""
    return f'<tr{kind}><th scope="row">{parts.text(value["name"])}</th><td>{parts.text(own)}</td>{parent}</tr>'


def _curve(arm: Mapping[str, Any]) -> str:
    """The learning curve: rewards at the ends of pulls, and what the function reported between them."""
    points = {name: np.array(values, dtype=float) for name, values in arm["curve"].items()}
    layers: list[Line | Points] = []
    if len(points["point_steps"]):
        layers.append(Line(points["point_steps"], points["point_rewards"], "reported", SKY))
    if len(points["steps"]):
        layers.append(Line(points["steps"], points["rewards"], "reward", BLUE, 2))
        layers.append(Points(points["steps"], points["rewards"], opacity=1.0))
    chart = Chart("Learning curve", (Panel(Axis("step"), Axis("reward"), tuple(layers)),), height=290)
    drawn = f'<div class="frame">{svg_figure(chart)}</div>' if layers else parts.paragraph("No reward yet.")
    return f"<h3>Learning curve</h3>{drawn}"


def _lineage(content: Content, arm: Mapping[str, Any]) -> str:
    """The ancestors by first parents, all parents and the children. Arms that are in the table are links."""
    listed = {row["arm"] for row in content.rows}
    steps = "".join(f"<li>{_link(id, listed)} ({format.number(reward)})</li>" for id, reward in content.lineage)
    more = arm["children_total"] - len(arm["children"])
    children = ", ".join(_link(id, listed) for id in arm["children"]) or "none"
    parents = ", ".join(_link(id, listed) for id in arm["parents"]) or "none (not a mutant)"
    rest = f" and {more:,} more" if more else ""
    label = "From the first ancestor to this arm, with best rewards"
    return (
        f'<h3>Lineage</h3><ol class="lineage" aria-label="{label}">{steps}</ol>'
        f'<dl class="pairs"><dt>Parents</dt><dd>{parents}</dd><dt>Children</dt><dd>{children}{rest}</dd></dl>'
    )


def _link(arm: int, listed: set[int]) -> str:
    return f'<a href="#arm-{int(arm)}">arm {int(arm)}</a>' if arm in listed else f"arm {int(arm)}"


def _pulls(arm: Mapping[str, Any]) -> str:
    pulls = arm["pull_rows"]
    metrics = list(dict.fromkeys(name for pull in pulls for name in pull.get("metrics", {})))[:20]
    rows = [
        [
            f"{format.number(pull['start'])}–{format.number(pull['stop'])}",
            str(pull["status"]),
            format.number(pull.get("reward")),
            format.duration(pull.get("seconds")),
            *(format.plain(pull.get("metrics", {}).get(name)) for name in metrics),
            ", ".join(f"{name}: {format.plain(value)}" for name, value in pull.get("notes", {}).items()),
        ]
        for pull in pulls
    ]
    less = parts.paragraph(f"The last {len(pulls)} pulls." if len(pulls) < arm["pulls_total"] else "")
    table = parts.table(["Steps", "Status", "Reward", "Time", *metrics, "Notes"], rows, "Pulls", "low")
    return f"<h3>Pulls ({arm['pulls_total']:,})</h3>{less}{table}"
