"""The best reward so far, over steps, training time or the time of day."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import checks
from ..chart import BLUE, GRAY, Axis, Chart, Line, Panel, Points, empty_chart, thinned
from ..history import Floats, History

TITLE = "Best reward over steps"
MOST_POINTS = 3_000
_AXES = {"steps": "training steps", "seconds": "training time in seconds (all workers)", "time": "time"}


def best_reward(history: History, x: str = "steps") -> Chart:
    """Every reward, and the best one so far.

    Args:
        history: The study.
        x: What the horizontal axis shows: "steps" spent, "seconds" of training, or "time", when each pull ended.
    """
    checks.one_of("x", x, tuple(_AXES))
    reward = history.column("reward")
    told = ~np.isnan(reward)
    if not told.any():
        return empty_chart(TITLE, "No pull has ended with a reward yet.")
    at = _places(history, x)[told]
    if np.isnan(at).any():
        return empty_chart(
            TITLE, "This study was recorded by an older version of manyarms, which did not store when pulls ended."
        )
    order = np.argsort(at, kind="stable")
    at, reward, arms = at[order], reward[told][order], history.column("arm")[told][order].astype(int)
    best = history.sign * np.maximum.accumulate(history.sign * reward)
    better = np.flatnonzero(np.r_[True, best[1:] != best[:-1]])
    shown = thinned(len(reward), MOST_POINTS)
    texts = [f"arm {history.id_of(arm)}: {value:.6g}" for arm, value in zip(arms[shown], reward[shown], strict=True)]
    note = "" if len(shown) == len(reward) else f"Shows {len(shown):,} of {len(reward):,} rewards."
    axis = Axis(_AXES[x], is_date=x == "time" and _is_date(at), whole=x == "steps")
    layers = (
        Points(at[shown], reward[shown], "rewards", GRAY, texts=texts, size=5, opacity=0.5),
        Line(np.r_[at[better], at[-1]], np.r_[best[better], best[-1]], "best so far", BLUE, 2.5, steps=True),
    )
    return Chart(TITLE, (Panel(axis, Axis("reward"), layers),), note=note)


def best_over_time(history: History) -> Chart:
    """The same over the time at which each pull ended."""
    return replace(best_reward(history, x="time"), title="Best reward over time")


def _places(history: History, x: str) -> Floats:
    """The place of each pull on the horizontal axis."""
    if x == "steps":
        return np.cumsum(history.column("stop") - history.column("start"))
    if x == "seconds":
        return np.cumsum(np.nan_to_num(history.column("seconds")))
    return history.column("ended")


def _is_date(at: Floats) -> bool:
    """Whether these are seconds since 1970, and not those of a simulated clock."""
    return bool(at.min() > 1e8 and at.max() < 1e11)
