"""The charts of a report, as HTML fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...sklearn.automl.wording import counted

PALETTE = (
    "#3366cc", "#e07b00", "#1a9850", "#c2185b", "#7b52ab", "#00909e",
    "#a6761d", "#d9534f", "#5b8c00", "#e377c2", "#607d8b", "#b59a00",
)  # fmt: skip
_BEST, _GRAY = "#1c2733", "#8a96a3"
MOST_POINTS, MOST_CLASSES, MOST_BARS = 5_000, 15, 20
"""The largest number of points, classes and bars in a chart."""

OTHER = "all others"
"""Label of the remaining classes."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"


def library() -> str:
    """The JavaScript that draws the charts; it is included in the page once."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def available() -> bool:
    """Whether plotly is installed."""
    import importlib.util

    return importlib.util.find_spec("plotly") is not None


def colors_of(families: Sequence[str]) -> dict[str, str]:
    """A color for each family, the same in all charts."""
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(dict.fromkeys(families))}


def score_over_time(pulls: pd.DataFrame, scoring: str, colors: Mapping[str, str]) -> str:
    """Every pull, colored by family, and the best score so far, over the training time."""
    spent = pulls["seconds"].fillna(0.0).cumsum()
    finished = pulls["status"].eq("told") & pulls["reward"].notna()
    figure = _figure(420)
    shown = pulls[finished].assign(at=spent[finished])
    best = shown["reward"].cummax()
    if len(shown) > MOST_POINTS:
        shown = shown.iloc[np.linspace(0, len(shown) - 1, MOST_POINTS).astype(int)]
    for family, color in colors.items():
        part = shown[shown["family"] == family]
        hover = [
            f"arm {arm}, step {start} to {stop}"
            for arm, start, stop in zip(*(part[c] for c in ("arm", "start", "stop")), strict=True)
        ]
        figure.add_scatter(
            x=part["at"], y=part["reward"], mode="markers", name=escape(family), text=hover,
            marker={"size": 6, "color": color, "opacity": 0.7},
            hovertemplate="%{text}<br>%{y:.4g} after %{x:.1f} s",
        )  # fmt: skip
    figure.add_scatter(
        x=spent[finished], y=best, mode="lines", name="best so far", line={"shape": "hv", "color": _BEST, "width": 2},
        hovertemplate="best %{y:.4g} after %{x:.1f} s",
    )  # fmt: skip
    figure.update_xaxes(title="seconds of training, summed over all workers", rangemode="tozero")
    figure.update_yaxes(title=escape(scoring), range=_score_range(shown["reward"]))
    return _drawn(figure, "score-over-time")


def _score_range(rewards: pd.Series[Any]) -> list[float] | None:
    """The range of the axis, from below the median to the best. Very bad scores are cut off."""
    if len(rewards) < 2:
        return None
    low, middle, high = (float(value) for value in np.quantile(rewards, [0.0, 0.5, 1.0]))
    low = max(low, middle - 2.0 * (high - middle) - 1e-9)
    room = 0.06 * (high - low) or 0.5
    return [low - room, high + room]


def time_by_family(pulls: pd.DataFrame, colors: Mapping[str, str]) -> str:
    """The training time and the number of pulls of each family."""
    spent = pulls.groupby("family")["seconds"].agg(["sum", "count"]).sort_values("sum")
    figure = _figure(60 + 30 * len(spent))
    figure.add_bar(
        x=spent["sum"], y=[escape(name) for name in spent.index], orientation="h",
        marker={"color": [colors[name] for name in spent.index]},
        text=[f"{total:.1f} s, {counted(count, 'pull')}" for total, count in zip(spent["sum"], spent["count"], strict=True)],
        textposition="auto", insidetextfont={"color": "white"}, hoverinfo="skip",
    )  # fmt: skip
    figure.update_xaxes(title="seconds of training")
    figure.update_layout(showlegend=False)
    return _drawn(figure, "time-by-family")


def confusion(held_out: pd.DataFrame, classes: Sequence[Any]) -> str:
    """The confusion matrix. If there are many classes, it shows the most frequent ones and groups the others."""
    names, counts = confusion_counts(held_out, classes)
    names = [escape(_shortened(name)) for name in names]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = 130 + max(34, 64 - 4 * len(names)) * len(names)
    figure = _figure(side)
    figure.add_heatmap(
        z=shares, x=list(range(len(names))), y=list(range(len(names))), text=counts.tolist(), texttemplate="%{text:,}",
        colorscale=[[0.0, "#f4f7fb"], [1.0, "#3366cc"]], zmin=0, zmax=1, showscale=False, xgap=2, ygap=2,
        customdata=[[(row, column) for column in names] for row in names],
        hovertemplate="%{customdata[0]} predicted as %{customdata[1]}: %{text:,} rows<extra></extra>",
    )  # fmt: skip
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(title="predicted", constrain="domain", **ticks)
    figure.update_yaxes(title="actual", autorange="reversed", scaleanchor="x", **ticks)
    return _drawn(figure, "confusion")


def confusion_counts(held_out: pd.DataFrame, classes: Sequence[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Class names, and the number of rows by actual and predicted class. Rare classes are grouped as the last one."""
    frequent = held_out["actual"].value_counts().index[:MOST_CLASSES]
    chosen = set(classes if len(classes) <= MOST_CLASSES + 1 else frequent)  # a single remaining class is shown, not grouped
    shown = [label for label in classes if label in chosen]
    place = {label: number for number, label in enumerate(shown)}
    grouped = len(shown) < len(classes)
    counts = np.zeros((len(shown) + grouped,) * 2, dtype=np.int64)
    places = [held_out[name].map(place).fillna(len(shown)).astype(int).to_numpy() for name in ("actual", "predicted")]
    np.add.at(counts, tuple(places), 1)
    return [str(label) for label in shown] + [OTHER] * grouped, counts


def predicted_against_actual(held_out: pd.DataFrame, target: str) -> str:
    """A point for each held-out row; on the line, the prediction is exact."""
    rows = held_out if len(held_out) <= MOST_POINTS else held_out.sample(MOST_POINTS, random_state=0)
    low, high = float(rows.to_numpy().min()), float(rows.to_numpy().max())
    figure = _figure(480)
    figure.add_scatter(
        x=[low, high], y=[low, high], mode="lines", line={"color": _GRAY, "dash": "dot", "width": 1.5}, hoverinfo="skip"
    )
    figure.add_scatter(
        x=rows["actual"], y=rows["predicted"], mode="markers", marker={"size": 6, "color": PALETTE[0], "opacity": 0.55},
        hovertemplate="actual %{x:.5g}<br>predicted %{y:.5g}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title=f"actual {escape(target)}")
    figure.update_yaxes(title=f"predicted {escape(target)}")
    figure.update_layout(showlegend=False)
    return _drawn(figure, "predicted-against-actual")


def importance_of_columns(importance: pd.Series[Any], scoring: str) -> str:
    """The permutation importance of the most important columns."""
    top = importance.iloc[:MOST_BARS][::-1]
    figure = _figure(70 + 24 * len(top))
    figure.add_bar(
        x=top.to_numpy(), y=list(range(len(top))), orientation="h", marker={"color": PALETTE[0]},
        hovertemplate="%{x:.4g}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(tickvals=list(range(len(top))), ticktext=[escape(_shortened(str(name))) for name in top.index])
    figure.update_xaxes(title=f"drop in {escape(scoring)}")
    figure.update_layout(showlegend=False)
    return _drawn(figure, "importance")


def _shortened(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= 32 else f"{name[:31]}…"


def _figure(height: int) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        template="simple_white",
        height=height,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        font={"family": _FONT, "size": 13, "color": _BEST},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        hoverlabel={"font": {"family": _FONT}},
    )
    figure.update_xaxes(automargin=True, gridcolor="#e9edf2", showgrid=True, linecolor="#c7cfd8", tickcolor="#c7cfd8")
    figure.update_yaxes(automargin=True, gridcolor="#e9edf2", showgrid=True, linecolor="#c7cfd8", tickcolor="#c7cfd8")
    return figure


def _drawn(figure: Any, name: str) -> str:
    config = {"displayModeBar": False, "responsive": True}
    return str(figure.to_html(full_html=False, include_plotlyjs=False, div_id=f"chart-{name}", config=config))
