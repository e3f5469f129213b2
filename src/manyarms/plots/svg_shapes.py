"""The shapes of an SVG image. Places are pixels; NaN is left out. Shades are colors that the stylesheet sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..html.parts import text
from .history import Floats

SHADES = 12
"""Number of shades, from the smallest to the largest value."""


def svg_image(width: float, height: float, label: str, svg: str) -> str:
    """An image that is as wide as its place allows."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg class="image" {size} role="img" aria-label="{text(label)}">{svg}</svg>'


def svg_text(x: float, y: float, words: str, anchor: str, transform: str = "", kind: str = "") -> str:
    """Text at a place. In `transform`, {y} is replaced by the height."""
    more = f' transform="{transform.format(y=f"{y:.1f}")}"' if transform else ""
    more += f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{text(words)}</text>'


def tooltip(words: str) -> str:
    """Text that is shown on hovering over a shape."""
    return f"<title>{text(words)}</title>"


def shade_numbers(values: Floats) -> NDArray[np.int64]:
    """The shade of each value; -1 if it has none.

    >>> shade_numbers(np.array([0.0, 0.5, 1.0, np.nan])).tolist()
    [0, 6, 11, -1]
    """
    known = np.isfinite(values)
    if not known.any():
        return np.full(values.shape, -1)
    low, high = values[known].min() / 2, values[known].max() / 2  # halves cannot overflow
    shares = np.where(known, values / 2 - low, 0.0) / ((high - low) or 1.0)
    return np.where(known, np.minimum((shares * SHADES).astype(int), SHADES - 1), -1)


def polylines(x: Floats, y: Floats, color: str, width: float, opacity: float, steps: bool) -> str:
    """A line through points, with gaps where a point is not known.

    Args:
        x, y: The points.
        color, width, opacity: How it looks.
        steps: Whether it keeps each height until the next point.
    """
    parts, is_begun = [], False
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if a - a != 0 or b - b != 0:  # not finite
            is_begun = False
        elif not is_begun:
            parts.append(f"M{a:.1f} {b:.1f}")
            is_begun = True
        else:
            parts.append(f"H{a:.1f}V{b:.1f}" if steps else f"L{a:.1f} {b:.1f}")
    return f'<path class="line" d="{"".join(parts)}" stroke="{text(color)}" stroke-width="{width:g}" opacity="{opacity:g}"/>'


def dots(
    x: Floats,
    y: Floats,
    radius: float,
    color: str,
    opacity: float,
    shades: NDArray[np.int64] | None,
    texts: Sequence[str] | None,
) -> str:
    """Points, of one color or each with a shade."""
    known = np.isfinite(x) & np.isfinite(y)
    numbers = np.full(len(x), -1) if shades is None else shades
    groups = []
    for number in np.unique(numbers[known]).tolist():
        look = f'fill="{text(color)}"' if number < 0 else f'class="shade-{number}"'
        circles = "".join(
            f'<circle cx="{x[place]:.1f}" cy="{y[place]:.1f}" r="{radius:g}"{_closed(texts, place, "circle")}'
            for place in np.flatnonzero(known & (numbers == number)).tolist()
        )
        groups.append(f'<g {look} opacity="{opacity:g}">{circles}</g>')
    return "".join(groups)


def rectangles(
    x: Floats, y: Floats, widths: Floats, heights: Floats, colors: Iterable[str], texts: Sequence[str] | None
) -> str:
    """Rectangles, each with a color. None is too narrow to be seen."""
    return "".join(
        f'<rect x="{x[place]:.1f}" y="{y[place]:.1f}" width="{max(widths[place], 0.6):.1f}" height="{heights[place]:.1f}" '
        f'fill="{text(color)}"{_closed(texts, place, "rect")}'
        for place, color in enumerate(colors)
        if np.isfinite(widths[place])
    )


def _closed(texts: Sequence[str] | None, place: int, tag: str) -> str:
    """The end of a shape, with its text if it has one."""
    return "/>" if texts is None else f">{tooltip(texts[place])}</{tag}>"
