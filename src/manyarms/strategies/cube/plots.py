"""Plots of the regions of a strategy on the unit cube. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..kit.ledger import Ledger
from .cube_strategy import coordinate_names
from .partition import Floats, Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Partitioned(Protocol):
    """A strategy on the unit cube, such as `TreeUCB`."""

    ledger: Ledger

    def regions(self) -> list[Region]:
        """The boxes that it compares."""

    def observations(self) -> tuple[Floats, Floats]:
        """The points of its pulls, and their values."""


def draw_partition(strategy: Partitioned, axes: Axes | None = None) -> Axes:
    """Draw the boxes and rewards of `PartitionUCB`, `TreeUCB` or a contextual variant that has one or two dimensions.

    In one dimension each box is a line at its mean, with its upper bound above it. In two dimensions it is a rectangle colored
    by its mean, white if it has no reward yet. With a context, the first dimension is the steps, as a share of `max_steps`.

    Args:
        strategy: The strategy to draw.
        axes: Where to draw it. By default a new figure.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "manyarms[plots]"') from None
    regions = strategy.regions()
    dimension = len(regions[0].low)
    if dimension not in (1, 2):
        raise ValueError(f"strategy must have 1 or 2 dimensions, including its context, to be drawn, got {dimension}")
    axes = plt.subplots(figsize=(7, 4.5) if dimension == 1 else (6.5, 5.2), layout="constrained")[1] if axes is None else axes
    (_draw_line if dimension == 1 else _draw_plane)(axes, regions, *strategy.observations())
    names = coordinate_names(strategy.ledger.space, dimension)
    axes.set_xlabel(names[0])
    if dimension == 2:
        axes.set_ylabel(names[1])
    axes.set_title(f"{type(strategy).__name__}: {len(regions)} regions after {len(strategy.observations()[1])} pulls")
    return axes


def _draw_line(axes: Axes, regions: list[Region], points: Floats, rewards: Floats) -> None:
    ends = [(region.low[0], region.high[0]) for region in regions]
    low, high = np.array(ends).T
    means, bounds = [region.mean for region in regions], [region.bound for region in regions]
    axes.bar(low, np.subtract(bounds, means), high - low, means, align="edge", color="C0", alpha=0.18, label="up to the bound")
    axes.hlines(bounds, low, high, color="C0", linewidth=1)
    axes.hlines(means, low, high, color="C0", linewidth=2.5, label="mean of the region")
    axes.plot(points[:, 0], rewards, ".", color="0.25", markersize=3, label="reward")
    axes.set_xlim(0, 1)
    axes.set_ylabel("reward")
    axes.legend(loc="best", frameon=False)


def _draw_plane(axes: Axes, regions: list[Region], points: Floats, rewards: Floats) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    known = [region.mean for region in regions if region.count]
    scale = Normalize(min(known, default=0.0), max(known, default=1.0))
    colors = [colormaps["viridis"](scale(region.mean)) if region.count else "white" for region in regions]
    corners = [(*region.low, *region.high) for region in regions]
    boxes = [Rectangle((left, low), right - left, high - low) for left, low, right, high in corners]
    axes.add_collection(PatchCollection(boxes, facecolors=colors, edgecolors="white", linewidths=0.4))
    axes.plot(*points.T, "o", color="black", markersize=2.6, markeredgecolor="white", markeredgewidth=0.4)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.figure.colorbar(ScalarMappable(scale, colormaps["viridis"]), ax=axes, label="mean of the region")
