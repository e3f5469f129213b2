"""The family tree of an arm as a picture: what it came from, and what changed on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...core import Arm
from ...study.counts import ArmRecord, Counts
from ..graphs.changes import changes_in_words
from ..graphs.space import NetworkSpace
from .network import network_of
from .svg import CHANGED, FAINT, INK, LINE, NEW, Arrow, Box, diagram

_MOST_LINES = 4  # of changes in a box
_PLAIN, _BEST = "#eef3f7", "#e0f0dc"


class Searched(Protocol):
    """A study, or a view of a stored one."""

    counts: Counts

    def best(self) -> Arm:
        """The recommended arm."""


def draw_family(study: Searched, space: NetworkSpace, arm: int | None = None) -> str:
    """The text of an SVG file: all ancestors of an arm, the oldest on top; dashed arrows come from the second of two parents.

    Args:
        study: a `Study`, or what `load_study` gives.
        space: of its networks.
        arm: by default the recommended one.

    >>> import manyarms as ma
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> study = ma.tune(lambda pull: pull.config.n_nodes, space, budget=50, seed=0, progress=False)
    >>> draw_family(study, space)[:4]
    '<svg'
    """
    arms = study.counts.arms
    last = study.best().id if arm is None else arm
    if last not in arms:
        raise ValueError(f"arm must be one of the study's, got {last!r}")
    family = ancestry(arms, last)
    children = _n_children(arms)
    boxes = {id: _box(arms, id, space, children.get(id, 0), id == last) for id in family}
    arrows = [
        Arrow(parent, id, LINE if place == 0 else FAINT, dashed=place > 0)
        for id in family
        for place, parent in enumerate(dict.fromkeys(arms[id].arm.parents))
    ]
    record = arms[last]
    title = f"arm {last}: reward {_reward(record)}, {len(family) - 1} ancestors among {len(arms)} arms"
    return diagram([(title, INK)], boxes, arrows)


def ancestry(arms: Mapping[int, ArmRecord], arm: int) -> list[int]:
    """An arm and all it comes from, parents before their children."""
    found: set[int] = set()
    waiting = [arm]
    while waiting:
        id = waiting.pop()
        if id not in found:
            found.add(id)
            waiting.extend(arms[id].arm.parents)
    return sorted(found)  # arms are numbered as they are made


def _box(arms: Mapping[int, ArmRecord], id: int, space: NetworkSpace, n_children: int, best: bool) -> Box:
    record = arms[id]
    parents = record.arm.parents
    changes = _changes(record.arm.config, arms[parents[0]].arm.config, space) if parents else ["random"]
    if len(parents) > 1:
        changes.insert(0, f"crossed with arm {parents[1]}")
    if len(changes) > _MOST_LINES:
        changes[_MOST_LINES - 1 :] = [f"and {len(changes) - _MOST_LINES + 1} more changes"]
    lines = (
        f"arm {id}: {_reward(record)}",
        f"{_count(record.steps, 'step', 'steps')}, {_count(n_children, 'child', 'children')}",
    )
    return Box((*lines, *changes), _BEST if best else _PLAIN, NEW if best else CHANGED if record.failed else LINE)


def _changes(child: Any, parent: Any, space: NetworkSpace) -> list[str]:
    return changes_in_words(network_of(parent, space), network_of(child, space))


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _n_children(arms: Mapping[int, ArmRecord]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for record in arms.values():
        for parent in set(record.arm.parents):
            counts[parent] = counts.get(parent, 0) + 1
    return counts


def _reward(record: ArmRecord) -> str:
    return "failed" if record.reward is None else f"{record.reward:.4g}"
