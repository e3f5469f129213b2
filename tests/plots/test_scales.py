"""Axes have ticks where a reader expects them."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms.journal import Event
from manyarms.plots import CHARTS, History, matplotlib_figure, plotly_figure, plotly_json
from manyarms.plots.chart import Axis
from manyarms.plots.scales import scale_of


@pytest.mark.parametrize("highest", [1, 2, 3, 7, 30, 1000])
def test_an_axis_of_whole_numbers_has_no_ticks_between_them(highest):
    scale = scale_of(Axis("generation", whole=True), [np.array([0.0, highest])], 0, 300, 0.04)
    labels = [label.replace(",", "") for _, label in scale.ticks(8)]
    assert len(labels) >= 2 and all(label.isdecimal() for label in labels)


def family(generations):
    history = History({"direction": "maximize"})
    for arm in range(generations):
        parents = {"parents": [arm - 1]} if arm else {}
        history.add(Event("asked", arm, 0, 1, data={"config": {"x": arm}, **parents}))
        history.add(Event("told", arm, 0, 1, float(arm), 1.0))
    return CHARTS["family"](history)


def test_generations_are_whole_numbers_in_every_figure():
    assert plotly_json(family(3))["layout"]["yaxis"]["dtick"] == 1
    assert plotly_figure(family(3)).layout.yaxis.dtick == 1
    assert "dtick" not in plotly_json(family(40))["layout"]["yaxis"]
    figure = matplotlib_figure(family(3))
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_yticks())
