"""The learning curves of arms."""

from __future__ import annotations

import numpy as np

from ..chart import GRAY, ORANGE, Axis, Chart, Line, Panel, empty_chart, thinned
from ..history import History

TITLE = "Learning curves"
MOST_ARMS = 2_000
_BEST = 5


def curves(history: History, most: int = MOST_ARMS) -> Chart:
    """The reward of each arm over its steps, with the best arm highlighted.

    Args:
        history: The study.
        most: Maximum number of curves. The best ones are always shown, and the others are chosen evenly by rank.
    """
    ranking = history.ranking()
    if not len(ranking):
        return empty_chart(TITLE, "No pull has ended with a reward yet.")
    others = ranking[_BEST:]
    chosen = np.r_[ranking[:_BEST], others[thinned(len(others), max(0, most - _BEST))]]
    points = _points_by_arm(history, chosen)
    lines = [points[arm] for arm in chosen[1:]]
    best = points[chosen[0]]
    layers = []
    if lines:
        gaps = [np.r_[line, [[np.nan, np.nan]]] for line in lines]
        rest = np.concatenate(gaps)
        texts = [f"arm {history.id_of(arm)}" for arm, line in zip(chosen[1:], gaps, strict=True) for _ in range(len(line))]
        layers.append(Line(rest[:, 0], rest[:, 1], "other arms", GRAY, 1, texts=texts, opacity=0.5))
    name = f"best: arm {history.id_of(chosen[0])}"
    layers.append(Line(best[:, 0], best[:, 1], name, ORANGE, 3, texts=[name] * len(best)))
    note = "" if len(chosen) == len(ranking) else f"Shows {len(chosen):,} of {len(ranking):,} arms."
    return Chart(TITLE, (Panel(Axis("step", whole=True), Axis("reward"), tuple(layers)),), note=note)


def _points_by_arm(history: History, chosen: np.ndarray) -> dict[int, np.ndarray]:
    """For each chosen arm, its steps and rewards in two columns."""
    reward = history.column("reward")
    told = ~np.isnan(reward)
    arms = history.column("arm")[told].astype(int)
    points = np.column_stack([history.column("stop")[told], reward[told]])
    order = np.lexsort((points[:, 0], arms))
    arms, points = arms[order], points[order]
    begins, ends = np.searchsorted(arms, chosen, "left"), np.searchsorted(arms, chosen, "right")
    return {int(arm): points[begin:end] for arm, begin, end in zip(chosen, begins, ends, strict=True)}
