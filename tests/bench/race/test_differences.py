"""Critical differences, against what is published, and the pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from manyarms.bench.race.differences import critical_difference, draw_differences, friedman, groups
from manyarms.bench.race.plots import line_styles, save_plots

from .made_up import OURS, made_up


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)]
)
def test_the_critical_values_are_those_of_demsars_table_5(k, q):
    assert critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1e-3)


def test_demsars_example_of_four_classifiers_on_fourteen_sets():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.005)


def test_friedmans_test_agrees_with_scipy_where_nothing_is_tied_and_where_something_is():
    rng = np.random.default_rng(0)
    for digits in (6, 0):
        values = np.round(rng.normal([0.0, 0.5, 1.0, 1.0], size=(12, 4)), digits)
        ranked = pd.DataFrame(stats.rankdata(values, axis=1))
        chi2 = stats.friedmanchisquare(*values.T).statistic
        n, k = values.shape
        expected = stats.f.sf((n - 1) * chi2 / (n * (k - 1) - chi2), k - 1, (k - 1) * (n - 1))
        assert friedman(ranked) == pytest.approx(expected)


def test_ranks_that_never_change_are_no_chance_and_equal_ones_are_nothing_else():
    assert friedman(pd.DataFrame([[1.0, 2.0, 3.0]] * 5)) == 0.0
    assert friedman(pd.DataFrame([[2.0, 2.0, 2.0]] * 5)) == 1.0


def test_groups_are_the_longest_runs_and_none_lies_within_another():
    assert groups([1.0, 2.0, 3.0, 4.0], 1.0) == [(0, 1), (1, 2), (2, 3)]
    assert groups([1.0, 2.0, 3.0, 9.0], 5.0) == [(0, 2)]
    assert groups([1.0, 5.0], 1.0) == []
    assert groups([1.964, 2.0, 2.893, 3.143], 1.25) == [(0, 3)]  # Demšar's example: all within 1.25 of each other
    assert groups([1.964, 2.0, 2.893, 3.143], 1.12) == [(0, 2), (2, 3)]


def test_the_diagram_has_every_name_and_says_where_nothing_is_significant():
    ranked = pd.DataFrame([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], columns=[OURS, "b", "Peer"])
    axes = draw_differences(ranked, 20, {"Peer"}).axes[0]
    texts = " ".join(text.get_text() for text in axes.texts)
    assert all(name in texts for name in ranked.columns)
    assert "no difference is significant" in axes.get_title(loc="left")


def test_plots_are_drawn_for_any_race(tmp_path):
    rows = made_up(
        *(
            (entrant, problem, 0, {1: 60.0, 5: 50.0 + shift, 10: 20.0 + shift})
            for shift, entrant in enumerate((OURS, "Other", "Peer 1", "Peer 2"))
            for problem in ("a1", "a2", "b1")
        ),
        ("Peer 3", "a1", 0, {1: float("nan"), 5: float("nan"), 10: float("nan")}),
    )
    names = {path.name for path in save_plots(rows, tmp_path / "new")}
    assert names == {"anytime.png", "differences-5.png", "differences-10.png"}
    assert all((tmp_path / "new" / name).stat().st_size > 5000 for name in names)
    single = rows[(rows["problem"] == "a1") & (rows["entrant"] == OURS)]
    assert [path.name for path in save_plots(single, tmp_path)] == ["anytime.png"]


def test_lines_can_be_told_apart():
    peers = [f"Peer {number}" for number in range(12)]
    styles = line_styles([OURS, "Other", *peers], set(peers))
    assert len({(style["color"], str(style.get("linestyle"))) for style in styles.values()}) == 14
    assert styles[OURS]["linewidth"] > 2 * max(style["linewidth"] for name, style in styles.items() if name != OURS) * 0.9
