"""Pictures of partitions."""

import sys

import pytest

from manyarms import ContextualTreeUCB, Float, PartitionUCB, Space, TreeUCB
from manyarms.strategies.cube.plots import draw_partition
from manyarms.testing import play

LINE, PLANE = Space(x=Float(0, 1)), Space(x=Float(0, 1), y=Float(0, 1))


def searched(search):
    for _ in play(search, lambda pull: 1 - abs(pull.config["x"] - 0.3)):
        pass
    return search


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize(
    ("search", "labels"),
    [
        (PartitionUCB(LINE, budget=60, seed=0), ("x, from 0 to 1", "reward")),
        (TreeUCB(PLANE, budget=60, seed=0), ("x, from 0 to 1", "y, from 0 to 1")),
        (ContextualTreeUCB(LINE, budget=200, max_steps=9, seed=0), ("steps / max_steps", "x, from 0 to 1")),
    ],
    ids=["a line", "a plane", "a context"],
)
def test_a_partition_is_drawn_with_the_names_of_its_sides(search, labels, pyplot):
    axes = draw_partition(search)  # before its first pull
    assert axes.get_title().endswith("1 regions after 0 pulls")
    axes = draw_partition(searched(search), pyplot.subplots()[1])
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    assert axes.get_title() == f"{type(search).__name__}: {len(search.regions())} regions after {len(search.ledger.arms)} pulls"
    axes.figure.canvas.draw()


def test_more_dimensions_are_refused(pyplot):
    with pytest.raises(ValueError, match="strategy must have 1 or 2 dimensions, including its context, to be drawn, got 3"):
        draw_partition(ContextualTreeUCB(PLANE, budget=200, max_steps=9, seed=0))


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'plots need matplotlib: pip install "manyarms\[plots\]"'):
        draw_partition(TreeUCB(LINE, budget=60, seed=0))
