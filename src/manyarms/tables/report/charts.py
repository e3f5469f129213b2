"""The charts of a report, and its confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...html.parts import scrolling, text
from ...plots.chart import BLUE, GRAY, PALETTE, Axis, Bars, Chart, Line, Panel, Points, empty_chart, thinned
from ...sklearn.automl.wording import counted

MOST_POINTS, MOST_CLASSES, MOST_BARS = 3_000, 15, 20
"""The largest number of points, classes and bars in a chart."""

OTHER = "all others"
"""Label of the remaining classes."""

_COLORS = (*PALETTE, "#7b52ab", "#a6761d", "#607d8b", "#5b8c00", "#c2185b")
_SEE_THROUGH = 0.6  # opacity of points that overlap
_HEATS = 10  # colors of a confusion matrix, in the stylesheet


def colors_of(families: Sequence[str]) -> dict[str, str]:
    """A color for each family, the same in all charts."""
    return {name: _COLORS[place % len(_COLORS)] for place, name in enumerate(dict.fromkeys(families))}


def score_over_time(pulls: pd.DataFrame, scoring: str, colors: Mapping[str, str], baseline: float | None = None) -> Chart:
    """Every pull, colored by family, the best score so far, and the baseline, over the training time.

    Very low scores are cut off, and so is a baseline that is as low.
    """
    spent = pulls["seconds"].fillna(0.0).cumsum()
    finished = pulls["status"].eq("told") & pulls["reward"].notna()
    if not finished.any():
        return empty_chart("Score over time", "No pull has ended with a score.")
    shown = pulls[finished].assign(at=spent[finished])
    best = shown["reward"].cummax()
    lowest = _lowest(shown["reward"])
    line = Line(shown["at"].to_numpy(), best.clip(lower=lowest).to_numpy(), "best so far", "currentColor", 2.5, steps=True)
    shown = shown[shown["reward"] >= lowest]
    shown = shown.iloc[thinned(len(shown), MOST_POINTS)]
    points = [_points(shown[shown["family"] == family], family, color) for family, color in colors.items()]
    axes = Axis("seconds of training, summed over all workers"), Axis(scoring)
    ends = np.array([float(line.x.min()), float(line.x.max())])
    level = [] if baseline is None or baseline < lowest else [Line(ends, np.full(2, baseline), "baseline", GRAY)]
    return Chart("Score over time", (Panel(*axes, (*points, line, *level)),))


def _points(pulls: pd.DataFrame, family: str, color: str) -> Points:
    columns = (pulls[name] for name in ("arm", "start", "stop", "reward"))
    texts = [
        f"{family}, arm {arm}, step {start} to {stop}: {reward:.4g}" for arm, start, stop, reward in zip(*columns, strict=True)
    ]
    return Points(pulls["at"].to_numpy(), pulls["reward"].to_numpy(), family, color, texts=texts, opacity=0.7)


def _lowest(rewards: pd.Series[Any]) -> float:
    """The lowest score that is shown: twice as far below the median as the best score is above it."""
    if not len(rewards):
        return -np.inf
    middle, high = float(rewards.median()), float(rewards.max())
    return middle - 2.0 * (high - middle) - 1e-9


def time_by_family(pulls: pd.DataFrame, colors: Mapping[str, str]) -> Chart:
    """The training time and the number of pulls of each family."""
    if not len(pulls):
        return empty_chart("Time by family", "No pull has started.")
    spent = pulls.groupby("family")["seconds"].agg(["sum", "count"]).sort_values("sum")
    labels = tuple(
        f"{shortened(name)}: {total:.1f} s, {counted(count, 'pull')}"
        for name, total, count in zip(spent.index, spent["sum"], spent["count"], strict=True)
    )
    bars = Bars(np.arange(len(spent), dtype=float), spent["sum"].to_numpy(), colors=[colors[name] for name in spent.index])
    panel = Panel(Axis("seconds of training"), Axis(categories=labels), (bars,))
    return Chart("Time by family", (panel,), height=150 + 30 * len(spent))


def confusion(held_out: pd.DataFrame, classes: Sequence[Any]) -> str:
    """The confusion matrix as a table. If there are many classes, it shows the most frequent ones and groups the others."""
    names, counts = confusion_counts(held_out, classes)
    heats = np.rint(_HEATS * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).astype(int)
    head = "".join(f'<th scope="col">{text(shortened(name))}</th>' for name in names)
    rows = "".join(
        f'<tr><th scope="row">{text(shortened(name))}</th>'
        + "".join(f'<td class="heat-{heat}">{number:,}</td>' for number, heat in zip(row, colors, strict=True))
        + "</tr>"
        for name, row, colors in zip(names, counts.tolist(), heats.tolist(), strict=True)
    )
    heads = f'<tr><td class="quiet">actual \\ predicted</td>{head}</tr>'
    table = f'<table class="matrix"><thead>{heads}</thead><tbody>{rows}</tbody></table>'
    return scrolling(table, "Number of rows by actual and predicted class", "plain")


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


def predicted_against_actual(held_out: pd.DataFrame, target: str) -> Chart:
    """A point for each held-out row; on the line, the prediction is exact."""
    rows = held_out if len(held_out) <= MOST_POINTS else held_out.sample(MOST_POINTS, random_state=0)
    ends = np.array([float(rows.to_numpy().min()), float(rows.to_numpy().max())])
    actual, predicted = rows["actual"].to_numpy(dtype=float), rows["predicted"].to_numpy(dtype=float)
    layers = Line(ends, ends, "", GRAY), Points(actual, predicted, "", opacity=_SEE_THROUGH, size=5)
    panel = Panel(Axis(f"actual {target}"), Axis(f"predicted {target}"), layers)
    return Chart("Predicted against actual", (panel,))


def residuals(held_out: pd.DataFrame, target: str) -> Chart:
    """The error of each held-out row against its prediction."""
    rows = held_out if len(held_out) <= MOST_POINTS else held_out.sample(MOST_POINTS, random_state=0)
    actual, predicted = rows["actual"].to_numpy(dtype=float), rows["predicted"].to_numpy(dtype=float)
    ends = np.array([predicted.min(), predicted.max()])
    layers = Line(ends, np.zeros(2), "", GRAY), Points(predicted, predicted - actual, "", opacity=_SEE_THROUGH, size=5)
    return Chart("Residuals", (Panel(Axis(f"predicted {target}"), Axis("predicted minus actual"), layers),))


def residual_histogram(held_out: pd.DataFrame) -> Chart:
    """A histogram of the errors on the held-out rows. The most extreme 1% of the errors are cut off."""
    errors = held_out["predicted"].to_numpy(dtype=float) - held_out["actual"].to_numpy(dtype=float)
    low, high = np.quantile(errors, [0.005, 0.995])
    bins = int(np.clip(np.sqrt(len(errors)), 5, 40))
    if not low < high:  # a constant error
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(errors, bins, (float(low), float(high)))
    x, y = np.repeat(edges, 2), np.concatenate([[0], np.repeat(counts, 2), [0]]).astype(float)
    zero = Line(np.zeros(2), np.array([0.0, float(counts.max())]), "", GRAY)
    return Chart(
        "Distribution of the residuals",
        (Panel(Axis("predicted minus actual"), Axis("rows"), (zero, Line(x, y, "", BLUE, 2.0))),),
    )


def importance_of_columns(importance: pd.DataFrame, scoring: str) -> Chart:
    """The permutation importance of the most important columns, with error bars."""
    top = importance.iloc[:MOST_BARS][::-1]
    means, errors = top["mean"].to_numpy(dtype=float), top["std"].fillna(0.0).to_numpy(dtype=float)
    texts = [f"{mean:.4g} ± {error:.2g}" if error else f"{mean:.4g}" for mean, error in zip(means, errors, strict=True)]
    bars = Bars(np.arange(len(top), dtype=float), means, errors=errors if errors.any() else None, texts=texts)
    panel = Panel(Axis(f"drop in {scoring}"), Axis(categories=tuple(shortened(str(name)) for name in top.index)), (bars,))
    return Chart("Feature importance", (panel,), height=160 + 24 * len(top))


def shortened(name: str, most: int = 32) -> str:
    """A name on one line, cut to `most` characters."""
    name = " ".join(name.split())
    return name if len(name) <= most else f"{name[: most - 1]}…"
