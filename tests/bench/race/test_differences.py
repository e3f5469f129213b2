"""The plots of a race."""

from __future__ import annotations

import pandas as pd

from manyarms.bench.race.differences import draw_differences
from manyarms.bench.race.plots import line_styles, save_plots

from .sample_rows import OURS, sample_rows


def test_the_diagram_names_every_method_and_says_if_nothing_is_significant():
    ranked = pd.DataFrame([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], columns=[OURS, "b", "Peer"])
    figure = draw_differences(ranked, 20, {"Peer"})
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(name in texts for name in ranked.columns)
    assert "no difference is significant" in figure.get_suptitle()


def test_plots_are_drawn_for_any_race(tmp_path):
    rows = sample_rows(
        *(
            (method, problem, 0, {1: 60.0, 5: 50.0 + shift, 10: 20.0 + shift})
            for shift, method in enumerate((OURS, "Other", "Peer 1", "Peer 2"))
            for problem in ("a1", "a2", "b1")
        ),
        ("Peer 3", "a1", 0, {1: float("nan"), 5: float("nan"), 10: float("nan")}),
    )
    names = {path.name for path in save_plots(rows, tmp_path / "new")}
    assert names == {"anytime.png", "differences-5.png", "differences-10.png"}
    assert all((tmp_path / "new" / name).stat().st_size > 5000 for name in names)
    single = rows[(rows["problem"] == "a1") & (rows["method"] == OURS)]
    assert [path.name for path in save_plots(single, tmp_path)] == ["anytime.png"]


def test_no_two_lines_look_the_same():
    peers = [f"Peer {number}" for number in range(12)]
    styles = line_styles([OURS, "Other", *peers], set(peers))
    assert len({(style["color"], str(style.get("linestyle"))) for style in styles.values()}) == 14
    assert styles[OURS]["linewidth"] > 2 * max(style["linewidth"] for name, style in styles.items() if name != OURS) * 0.9
