"""A drawing of the ancestors of an arm, and what changed from each to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...core import Arm
from ...study.counts import ArmRecord, Counts
from ..graphs.differences import changes_in_words
from ..graphs.network_space import NetworkSpace
from .network import network_of
from .svg import ADDED_COLOR, CHANGED_COLOR, LIGHT_TEXT_COLOR, LINE_COLOR, TEXT_COLOR, Arrow, Box, diagram

_MAX_CHANGES = 4  # lines of changes in a box
_FILL, _BEST_FILL = "#eef3f7", "#e0f0dc"


class StudyWithArms(Protocol):
    """A study, or a read-only view of one."""

    counts: Counts

    def best(self) -> Arm:
        """The recommended arm."""


def draw_family(study: StudyWithArms, space: NetworkSpace, arm: int | None = None) -> str:
    """The text of an SVG file with all ancestors of an arm, oldest first. Dashed arrows start at the second of two parents.

    Args:
        study: A `Study`, or a result of `load_study`.
        space: Space of its networks.
        arm: Id of the arm. By default the recommended arm.

    >>> import manyarms as ma
    >>> from manyarms.networks import table_space
    >>> space = table_space(4, 3)
    >>> with ma.tune(lambda pull: pull.config.n_nodes, space, budget=50, seed=0, progress=False) as study:
    ...     draw_family(study, space)[:4]
    '<svg'
    """
    arms = study.counts.arms
    last = study.best().id if arm is None else arm
    if last not in arms:
        raise ValueError(f"arm must be the id of an arm of the study, got {last!r}")
    family = ancestry(arms, last)
    children = _n_children(arms)
    boxes = {id: _box(arms, id, space, children.get(id, 0), id == last) for id in family}
    arrows = [
        Arrow(parent, id, LINE_COLOR if place == 0 else LIGHT_TEXT_COLOR, dashed=place > 0)
        for id in family
        for place, parent in enumerate(dict.fromkeys(arms[id].arm.parents))
    ]
    record = arms[last]
    title = f"arm {last}: reward {_reward(record)}, {len(family) - 1} ancestors among {len(arms)} arms"
    return diagram([(title, TEXT_COLOR)], boxes, arrows)


def ancestry(arms: Mapping[int, ArmRecord], arm: int) -> list[int]:
    """An arm and all its ancestors, parents before their children."""
    found: set[int] = set()
    waiting = [arm]
    while waiting:
        id = waiting.pop()
        if id not in found:
            found.add(id)
            waiting.extend(arms[id].arm.parents)
    return sorted(found)  # arms are numbered in the order they are created


def _box(arms: Mapping[int, ArmRecord], id: int, space: NetworkSpace, n_children: int, best: bool) -> Box:
    record = arms[id]
    parents = record.arm.parents
    changes = _changes(record.arm.config, arms[parents[0]].arm.config, space) if parents else ["random"]
    if len(parents) > 1:
        changes.insert(0, f"crossed with arm {parents[1]}")
    if len(changes) > _MAX_CHANGES:
        changes[_MAX_CHANGES - 1 :] = [f"and {len(changes) - _MAX_CHANGES + 1} more changes"]
    lines = (
        f"arm {id}: {_reward(record)}",
        f"{_count(record.steps, 'step', 'steps')}, {_count(n_children, 'child', 'children')}",
    )
    edge = ADDED_COLOR if best else CHANGED_COLOR if record.failed else LINE_COLOR
    return Box((*lines, *changes), _BEST_FILL if best else _FILL, edge)


def _changes(child: Any, parent: Any, space: NetworkSpace) -> list[str]:
    return changes_in_words(network_of(parent, space), network_of(child, space))


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _n_children(arms: Mapping[int, ArmRecord]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for record in arms.values():
        for parent in set(record.arm.parents):
            counts[parent] = counts.get(parent, 0) + 1
    return counts


def _reward(record: ArmRecord) -> str:
    return "failed" if record.reward is None else f"{record.reward:.4g}"
