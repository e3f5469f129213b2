"""The family tree of mutants."""

from __future__ import annotations

import numpy as np

from ..chart import GRAY, Axis, Chart, Line, Panel, Points, empty_chart
from ..history import History

TITLE = "Family tree"
MOST_ARMS = 1_000


def family(history: History, most: int = MOST_ARMS) -> Chart:
    """Which arm was mutated from which. Generations grow upwards, and each line leads from a parent to its child.

    Args:
        history: The study.
        most: Maximum number of arms. If there are more, the best ones are shown with all their ancestors.
    """
    if not any(history.parents):
        return empty_chart(TITLE, "No arm has been mutated from another yet.")
    shown = _with_ancestors(history, most)
    generation, children = _generations(history, shown)
    places = _places(shown, generation, children)
    xs, ys = np.array([places[arm] for arm in shown]), np.array([float(generation[arm]) for arm in shown])
    edges = [
        point
        for arm in shown
        for parent in _known_parents(history, arm)
        if parent in places
        for point in ((places[parent], generation[parent]), (places[arm], generation[arm]), (np.nan, np.nan))
    ]
    lines = np.array(edges, dtype=float).reshape(-1, 2)
    rewards = history.best_rewards()[shown]
    texts = [_text(history, arm, reward) for arm, reward in zip(shown, rewards, strict=True)]
    layers = (
        Line(lines[:, 0], lines[:, 1], color=GRAY, width=1, opacity=0.6),
        Points(xs, ys, values=rewards, scale="best reward", texts=texts, size=8, opacity=1.0),
    )
    note = (
        "" if len(shown) == history.arms else f"Shows {len(shown):,} of {history.arms:,} arms: the best, and their ancestors."
    )
    return Chart(TITLE, (Panel(Axis(hidden=True), Axis("generation", whole=True), layers),), note=note)


def _text(history: History, arm: int, reward: float) -> str:
    parents = ", ".join(str(history.id_of(parent)) for parent in _known_parents(history, arm))
    gained = "no reward" if np.isnan(reward) else f"{reward:.6g}"
    return f"arm {history.id_of(arm)}: {gained}" + (f", from arm {parents}" if parents else "")


def _known_parents(history: History, arm: int) -> list[int]:
    """The positions of the parents. A file from someone else may name arms that do not exist, or that came later."""
    found = (history.position_of(parent) for parent in history.parents[arm])
    return [parent for parent in found if parent is not None and parent < arm]


def _with_ancestors(history: History, most: int) -> list[int]:
    """The best arms and all their ancestors, about `most` in total, in the order in which they were created."""
    if history.arms <= most:
        return list(range(history.arms))
    shown: set[int] = set()
    for arm in history.ranking():
        if len(shown) >= most:
            break
        waiting = [int(arm)]
        while waiting:
            one = waiting.pop()
            if one not in shown:
                shown.add(one)
                waiting += _known_parents(history, one)
    return sorted(shown)


def _generations(history: History, shown: list[int]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """The generation of each arm, and its children, by its first parent."""
    generation: dict[int, int] = {}
    children: dict[int, list[int]] = {arm: [] for arm in shown}
    for arm in shown:  # parents come first
        parents = [parent for parent in _known_parents(history, arm) if parent in children]
        generation[arm] = 1 + max((generation[parent] for parent in parents), default=-1)
        if parents:
            children[parents[0]].append(arm)
    return generation, children


def _places(shown: list[int], generation: dict[int, int], children: dict[int, list[int]]) -> dict[int, float]:
    """The horizontal place of each arm: leaves side by side, and each parent above the middle of its children."""
    is_child = {child for some in children.values() for child in some}
    places: dict[int, float] = {}
    next_leaf = 0.0
    waiting = [(arm, False) for arm in reversed(shown) if arm not in is_child]
    while waiting:
        arm, are_children_placed = waiting.pop()
        if are_children_placed:
            places[arm] = (places[children[arm][0]] + places[children[arm][-1]]) / 2
        elif children[arm]:
            waiting.append((arm, True))
            waiting += [(child, False) for child in reversed(children[arm])]
        else:
            places[arm] = next_leaf
            next_leaf += 1
    return places
