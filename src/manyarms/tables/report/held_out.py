"""The sections of a report on held-out rows: scores, mistakes, curves, thresholds and residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ...html.parts import paragraph, table, text
from ...sklearn.automl.wording import counted
from . import charts, curves
from .findings import Findings
from .metrics import ClassPredictions, Metric, accuracy_hint, class_metrics, number_metrics, per_class, share_interval
from .wording import drawn, figures, number, score_text

_FEW_ROWS = 100  # with fewer held-out rows, scores are uncertain
_MOST_CLASSES = 30  # in the table of classes


def held_out_sections(findings: Findings) -> Iterator[tuple[str, str, str]]:
    """The anchor, heading and content of each section on the held-out rows."""
    if findings.held_out is None:
        return
    if findings.facts.classes is None:
        yield from _regression(findings, findings.held_out)
    else:
        yield from _classification(findings, findings.held_out, findings.facts.classes)


def class_predictions(findings: Findings) -> ClassPredictions | None:
    """The predicted probabilities for the held-out rows; None if they are unknown, or no row has a known class."""
    known, held_out = findings.facts, findings.held_out
    if held_out is None or known.classes is None or findings.probabilities is None or findings.constant is None:
        return None
    found = ClassPredictions.of(held_out["actual"], findings.probabilities, np.asarray(findings.constant), known.classes)
    return found if len(found.actual) else None


def hints(findings: Findings) -> str:
    """What to know before reading a score, in boxes."""
    known, rows = findings.facts, len(findings.held_out) if findings.held_out is not None else 0
    found: list[str | None] = []
    if known.classes is not None and findings.constant is not None:
        found.append(accuracy_hint([str(name) for name in known.classes], np.asarray(findings.constant), known.scoring))
    if 0 < rows < _FEW_ROWS:
        found.append(f"Only {counted(rows, 'row')} held out, so the scores are uncertain.{_interval(findings)}")
    return "".join(f'<p class="hint">{text(words)}</p>' for words in found if words)


def _interval(findings: Findings) -> str:
    """The 95% interval of an accuracy; empty for any other score."""
    share, rows = findings.facts.scores.get("held out"), findings.held_out
    if findings.facts.scoring != "accuracy" or share is None or rows is None:
        return ""
    low, high = share_interval(share, len(rows))
    return f" The 95% confidence interval of the accuracy is {low:.0%} to {high:.0%}."


def _classification(findings: Findings, held_out: pd.DataFrame, classes: Sequence[object]) -> Iterator[tuple[str, str, str]]:
    rows = class_predictions(findings)
    if rows is not None:
        yield "scores", "Scores", _scores(class_metrics(rows), len(held_out), "the class frequencies")
    yield "held-out", "Mistakes", _mistakes(rows, held_out, classes)
    if rows is None:
        return
    if content := _curves(rows):
        yield "curves", "Curves", content
    if len(rows.classes) == 2 and 0 < int((rows.actual == rows.positive).sum()) < len(rows.actual):
        yield "threshold", "Threshold", _threshold(rows)


def _scores(found: Sequence[Metric], rows: int, constant: str) -> str:
    caption = paragraph(
        f"Measured on {counted(rows, 'row')} that were not used in the search. The baseline predicts {constant} of the "
        "training rows for every row."
    )
    cells = [[metric.name, score_text(metric.model), score_text(metric.baseline), metric.meaning] for metric in found]
    return caption + table(["metric", "model", "baseline", "meaning"], cells, "Scores", "plain", numbers=(1, 2))


def _mistakes(rows: ClassPredictions | None, held_out: pd.DataFrame, classes: Sequence[object]) -> str:
    """The confusion matrix, and precision and recall of each class."""
    others = len(classes) - charts.MOST_CLASSES
    more = (
        f" The {charts.MOST_CLASSES} most frequent classes are shown; the other {others:,} are grouped." if others > 1 else ""
    )
    caption = paragraph(f"Each row of the matrix is an actual class, each column a predicted one.{more}")
    content = caption + charts.confusion(held_out, classes)
    if rows is None:
        return content
    found = per_class(rows, _MOST_CLASSES)
    cells = [[name, f"{p:.3f}", f"{r:.3f}", f"{f:.3f}", f"{n:,}"] for name, p, r, f, n in found.itertuples(index=False)]
    note = f" The {_MOST_CLASSES} most frequent classes are shown." if len(rows.classes) > _MOST_CLASSES else ""
    explained = paragraph(
        "Precision: the share of predictions of a class that are correct. Recall: the share of rows of a class that are "
        f"found. F1: the harmonic mean of both.{note}"
    )
    kind = "plain" if len(found) <= charts.MOST_CLASSES else "plain long-list"
    heads = ["class", "precision", "recall", "F1", "rows"]
    return content + explained + table(heads, cells, "Classes", kind, numbers=range(1, 5))


def _curves(rows: ClassPredictions) -> str:
    """How well rows are ranked, and how well probabilities are calibrated."""
    ranking, found = curves.ranking_curves(rows), curves.calibration(rows)
    if ranking is None:
        return ""
    what = repr(rows.classes[rows.positive]) if len(rows.classes) == 2 else "the predicted class"
    calibrated = (
        "On the line, a predicted probability of 70% is right for 70% of the rows. "
        f"The average distance from the line is {found.error:.1%}."
    )
    drawings = figures(
        [
            ("roc", "ROC curve", "A good model is near the upper left corner.", ranking[0]),
            ("precision-recall", "Precision-recall curve", "A good model is near the upper right corner.", ranking[1]),
            ("calibration", "Calibration", calibrated, curves.calibration_chart(found, charts.shortened(what))),
        ]
    )
    n_curves = len(curves.curve_classes(rows))
    several = f"The first two charts show the {n_curves} most frequent classes, each against all others."
    return paragraph(several if len(rows.classes) > 2 else "") + drawings


def _threshold(rows: ClassPredictions) -> str:
    name, found = rows.classes[rows.positive], curves.threshold_curves(rows)
    caption = paragraph(
        f"The model predicts {name!r} if its probability is at least 0.5. A lower threshold finds more of these rows, with "
        "more false alarms. These thresholds were chosen on the held-out rows, so expect slightly lower scores on new rows."
    )
    choices = curves.threshold_choices(found)
    columns = ["threshold", "precision", "recall", "F1", "predicted share"]
    cells = [
        [row["goal"], *(f"{row[column]:.3f}" for column in columns[:-1]), f"{row['predicted share']:.1%}"]
        for _, row in choices.iterrows()
    ]
    heads = ["goal", "threshold", "precision", "recall", "F1", f"predicted {charts.shortened(name)!r}"]
    chosen = table(heads, cells, "Thresholds", "plain", numbers=range(1, 6))
    return caption + f'<div class="two">{drawn("threshold", curves.threshold_chart(found))}{chosen}</div>'


def _regression(findings: Findings, held_out: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    actual, predicted = (held_out[name].to_numpy(dtype=float) for name in ("actual", "predicted"))
    mean = float("nan") if findings.constant is None else float(np.asarray(findings.constant))
    yield "scores", "Scores", _scores(number_metrics(actual, predicted, mean), len(held_out), "the mean")
    sample = f" A random sample of {charts.MOST_POINTS:,} rows is drawn." if len(held_out) > charts.MOST_POINTS else ""
    target = findings.facts.target
    low, high = np.quantile(predicted - actual, [0.25, 0.75])
    drawings = [
        (
            "predicted-against-actual",
            "Predicted against actual",
            f"On the line, the prediction is exact.{sample}",
            charts.predicted_against_actual(held_out, target),
        ),
        (
            "residuals",
            "Residuals",
            "A pattern around the zero line shows what the model misses.",
            charts.residuals(held_out, target),
        ),
        (
            "errors",
            "Distribution of the residuals",
            f"Half of the residuals are between {number(low)} and {number(high)}. The most extreme 1% are cut off.",
            charts.residual_histogram(held_out),
        ),
    ]
    yield "held-out", "Held-out rows", figures(drawings)
