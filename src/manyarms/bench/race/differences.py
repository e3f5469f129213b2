"""The critical difference diagram: which methods differ in mean rank by more than chance.

Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import scikit_posthocs
from matplotlib.figure import Figure

from ...strategies import DEFAULT_STRATEGY
from ..runs.statistics import ALPHA, critical_difference, friedman


def draw_differences(ranks: pd.DataFrame, mark: int, peers: Collection[str] = ()) -> Figure:
    """Draw mean ranks on a line, with bars that join methods whose ranks do not differ significantly.

    Args:
        ranks: Ranks, with a row for each problem and a column for each method.
        mark: Number of full trainings, for the title.
        peers: Methods whose names are blue.
    """
    n, k = ranks.shape
    figure = Figure(figsize=(8.5, 1.4 + 0.2 * k), layout="constrained")
    axes = figure.subplots()
    artists = scikit_posthocs.critical_difference_diagram(
        ranks.mean(),
        scikit_posthocs.posthoc_nemenyi_friedman(ranks),
        alpha=ALPHA,
        ax=axes,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        label_props={"fontsize": 9},
        elbow_props={"linewidth": 1},
        marker_props={"s": 8},
        color_palette={name: "#0072b2" if name in peers else "black" for name in ranks.columns},
    )
    for label in artists["labels"]:
        if DEFAULT_STRATEGY in label.get_text():
            label.set_fontweight("bold")
    p_value = friedman(ranks)
    detail = f"critical difference {critical_difference(k, n):.2f}"
    if p_value > ALPHA:
        detail = f"no difference is significant (Friedman, p = {p_value:.2f})"
    title = f"Mean rank after {mark} full trainings, {n} problems; {detail}"
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure
