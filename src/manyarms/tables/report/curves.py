"""Curves of predicted probabilities: ROC, precision and recall, calibration, and the choice of a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from ...plots.chart import BLUE, GRAY, GREEN, ORANGE, PALETTE, Axis, Chart, Line, Panel, Points, thinned
from .metrics import ClassPredictions, Floats, share_interval

MOST_CURVES = 5
"""Classes with their own curve."""

_POINTS = 200  # points of a curve
_BINS = 10
_FEWEST_IN_BIN = 10
_WANTED = 0.9  # recall or precision of a suggested threshold


def ranking_curves(rows: ClassPredictions) -> tuple[Chart, Chart] | None:
    """The ROC curves and the precision-recall curves of `curve_classes`; None if all held-out rows have the same class."""
    ranked, found = [_diagonal("random ranking")], list[Line]()
    for color, place in zip(PALETTE, curve_classes(rows), strict=False):
        truth, scores = rows.actual == place, rows.probabilities[:, place]
        if not 0 < truth.sum() < len(truth):
            continue
        false_positives, true_positives, _ = roc_curve(truth, scores)
        precision, recall, _ = precision_recall_curve(truth, scores)
        ranked.append(_curve(false_positives, true_positives, rows.classes[place], color))
        found.append(_curve(recall, precision, rows.classes[place], color))
    if not found:
        return None
    if len(rows.classes) == 2:
        share = np.full(2, np.mean(rows.actual == rows.positive))
        found.insert(0, Line(np.array([0.0, 1.0]), share, "random ranking", GRAY))
    roc = Panel(Axis("false positive rate"), Axis("true positive rate (recall)"), tuple(ranked))
    precision_recall = Panel(Axis("recall"), Axis("precision"), (_corner(), *found))
    return Chart("ROC curve", (roc,)), Chart("Precision-recall curve", (precision_recall,))


def curve_classes(rows: ClassPredictions) -> list[int]:
    """The classes with a curve."""
    if len(rows.classes) == 2:
        return [rows.positive]
    counts = np.bincount(rows.actual, minlength=len(rows.classes))
    return [int(place) for place in np.argsort(-counts, kind="stable")[:MOST_CURVES] if counts[place]]


def _curve(x: Floats, y: Floats, name: str, color: str) -> Line:
    chosen = thinned(len(x), _POINTS)
    return Line(x[chosen], y[chosen], name, color, 2.0)


def _diagonal(name: str) -> Line:
    return Line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), name, GRAY)


def _corner() -> Line:
    """An invisible line, so that the axes range from 0 to 1."""
    return Line(np.array([0.0, np.nan, 1.0]), np.array([0.0, np.nan, 1.0]), "", GRAY)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Predicted probabilities and observed shares, in bins with equal numbers of rows.

    Args:
        predicted: Average probability of each bin.
        observed: Share of the rows in each bin for which the prediction was right.
        counts: Number of rows in each bin.
    """

    predicted: Floats
    observed: Floats
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The average distance between predicted and observed."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.counts))


def calibration(rows: ClassPredictions) -> Calibration:
    """The calibration of the positive class, if there are two classes; otherwise of the predicted class."""
    if len(rows.classes) == 2:
        chances, truth = rows.probabilities[:, rows.positive], rows.actual == rows.positive
    else:
        chances, truth = rows.probabilities.max(axis=1), rows.predicted == rows.actual
    bins = max(1, min(_BINS, len(chances) // _FEWEST_IN_BIN))
    order = np.argsort(chances, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return Calibration(
        np.array([chances[part].mean() for part in parts]),
        np.array([truth[part].mean() for part in parts]),
        np.array([len(part) for part in parts]),
    )


def calibration_chart(found: Calibration, what: str) -> Chart:
    """Observed against predicted probabilities, with 95% intervals."""
    bounds = [share_interval(share, int(n)) for share, n in zip(found.observed, found.counts, strict=True)]
    x = np.repeat(found.predicted, 3)
    y = np.array([value for low, high in bounds for value in (low, high, np.nan)])
    texts = [
        f"predicted {p:.0%}, observed {o:.0%} in {n:,} rows"
        for p, o, n in zip(found.predicted, found.observed, found.counts, strict=True)
    ]
    layers = (
        _diagonal("perfect calibration"),
        Line(x, y, "95% interval", BLUE, 1.5, opacity=0.5),
        Points(found.predicted, found.observed, "held-out rows", BLUE, texts=texts, size=8, opacity=1.0),
    )
    return Chart("Calibration", (Panel(Axis(f"predicted probability of {what}"), Axis("observed share"), layers),))


def threshold_curves(rows: ClassPredictions) -> pd.DataFrame:
    """Precision, recall, F1, balanced accuracy and the share of positive predictions, by threshold."""
    truth = (rows.actual == rows.positive).astype(float)
    scores = rows.probabilities[:, rows.positive]
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # rows with equal scores are predicted together
    hits, predicted = np.cumsum(truth[order])[ends], ends + 1.0
    positives, negatives = truth.sum(), len(truth) - truth.sum()
    precision, recall = hits / predicted, hits / positives
    specificity = 1.0 - (predicted - hits) / negatives
    f1 = 2 * hits / (predicted + positives)
    return pd.DataFrame(
        {
            "threshold": scores[order][ends],
            "precision": precision,
            "recall": recall,
            "F1": f1,
            "balanced accuracy": (recall + specificity) / 2,
            "predicted share": predicted / len(truth),
        }
    )


def threshold_chart(curves: pd.DataFrame) -> Chart:
    """Precision, recall and F1 against the threshold."""
    some = curves.iloc[thinned(len(curves), _POINTS)]
    x = some["threshold"].to_numpy()
    colors = {"precision": BLUE, "recall": ORANGE, "F1": GREEN}
    lines = tuple(Line(x, some[name].to_numpy(), name, color, 2.0) for name, color in colors.items())
    return Chart("Threshold", (Panel(Axis("threshold"), Axis("score"), (_corner(), *lines)),))


def threshold_choices(curves: pd.DataFrame) -> pd.DataFrame:
    """Thresholds for common goals: a row for each, with its scores."""
    at_half = curves[curves["threshold"] >= 0.5].tail(1).assign(threshold=0.5)
    found = [
        ("the default", at_half),
        ("best F1", curves.loc[[curves["F1"].idxmax()]]),
        ("best balanced accuracy", curves.loc[[curves["balanced accuracy"].idxmax()]]),
        (f"recall of at least {_WANTED:.0%}", curves[curves["recall"] >= _WANTED].head(1)),
        (f"precision of at least {_WANTED:.0%}", curves[curves["precision"] >= _WANTED].tail(1)),
    ]
    return pd.concat([row.assign(goal=goal) for goal, row in found], ignore_index=True)
