"""Plots of a race: regret over full trainings, and critical differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...strategies import DEFAULT_STRATEGY
from .differences import draw_differences
from .standings import Standings, comparable
from .tables import method_order, scopes, table_marks

_COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito: also for color-blind readers
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)))  # used in turn if there are more lines than colors
_MARKERS = "osD^vPX<>*ph"
_GRAY_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 2)))
_COLUMNS = 4
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_REGRETS = (0, 1, 3, 10, 30, 100, 300)


def save_plots(rows: pd.DataFrame, folder: Path) -> list[Path]:
    """Save all plots in a folder: `anytime.png`, and `differences-N.png` for each mark of the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    standings = Standings.of(comparable(rows))
    figures = {"anytime": draw_curves(standings)}
    for mark in table_marks(standings):
        ranks = standings.ranks(mark)
        if min(ranks.shape) > 1:  # at least two problems and two methods
            figures[f"differences-{mark}"] = draw_differences(ranks, mark, standings.peers)
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130)
    return paths


def draw_curves(standings: Standings) -> Figure:
    """Draw the mean regret over full trainings with its standard error: a panel for each family and one for all problems."""
    parts, styles = scopes(standings), line_styles(method_order(standings), standings.peers)
    columns = min(_COLUMNS, len(parts))
    lines = math.ceil(len(parts) / columns)
    figure = Figure(figsize=(max(3.1 * columns, 6.0), 2.5 * lines + 1.1), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for panel in panels[len(parts) :]:
        panel.remove()
    handles: dict[str, Any] = {}
    for place, (name, part) in enumerate(parts.items()):
        handles |= _draw_panel(panels[place], name, part, styles)
        panels[place].set_ylabel("regret in %" if place % columns == 0 else "", fontsize=8)
        panels[place].set_xlabel("full trainings" if place + columns >= len(parts) else "", fontsize=8)
    names = [name for name in styles if name in handles]
    look = {"ncols": min(5, columns + 1), "frameon": False, "fontsize": 8}
    figure.legend([handles[name] for name in names], names, loc="outside lower center", **look)
    return figure


def line_styles(order: Sequence[str], peers: set[str]) -> dict[str, dict[str, Any]]:
    """Line styles by method.

    Our default strategy is bold and black, peers are colored, and our other strategies are thin and gray. Without peers, our
    other strategies are colored.
    """
    colored = [name for name in order if name in peers] or [name for name in order if name != DEFAULT_STRATEGY]
    gray = [name for name in order if name not in colored and name != DEFAULT_STRATEGY]
    styles: dict[str, dict[str, Any]] = {}
    if DEFAULT_STRATEGY in order:
        styles[DEFAULT_STRATEGY] = {"color": "black", "linewidth": 2.8, "zorder": 5}
    for number, name in enumerate(colored):
        color, dash = _COLORS[number % len(_COLORS)], _DASHES[number // len(_COLORS) % len(_DASHES)]
        marker = _MARKERS[number % len(_MARKERS)]
        styles[name] = {"color": color, "linestyle": dash, "linewidth": 1.4, "marker": marker, "markersize": 3.5, "zorder": 3}
    for number, name in enumerate(gray):
        shade, dash = ("0.65", "0.35")[number // len(_GRAY_DASHES) % 2], _GRAY_DASHES[number % len(_GRAY_DASHES)]
        styles[name] = {"color": shade, "linestyle": dash, "linewidth": 1.0, "zorder": 2}
    return styles


def _draw_panel(panel: Axes, title: str, standings: Standings, styles: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw one panel and return its lines by method."""
    handles, drawn = {}, list[float]()
    for name, style in styles.items():
        found = {mark: standings.estimate(name, mark) for mark in standings.marks}
        known = [mark for mark, part in found.items() if not math.isnan(part.mean)]
        if known:
            means = np.array([found[mark].mean for mark in known])
            errors = np.nan_to_num([found[mark].error for mark in known])
            drawn += means.tolist()
            handles[name] = panel.plot(known, means, **style)[0]
            panel.fill_between(known, means - errors, means + errors, color=style["color"], alpha=0.10, linewidth=0)
    ticks = [mark for mark in _TICKS if mark <= standings.marks[-1]]
    panel.set_xscale("log")
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.set_yscale("symlog", linthresh=1.0, linscale=0.4)  # because a regret may be 0 or slightly negative
    panel.set_yticks(_REGRETS, [str(regret) for regret in _REGRETS])
    panel.set_ylim(*_limits(drawn))
    panel.minorticks_off()
    panel.set_title(title, fontsize=10, fontweight="bold", loc="left")
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    return handles


def _limits(regrets: Sequence[float]) -> tuple[float, float]:
    """Limits of the axis: from the smallest to the largest regret, including 0 if it is near."""
    low, high = min(regrets, default=0.0), max(regrets, default=100.0)
    return (0.85 * low if low >= 1 else min(-0.1, 1.1 * low), 1.15 * max(high, 1.0))
