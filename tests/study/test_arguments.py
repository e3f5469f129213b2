"""Arguments that a study refuses by name."""

from __future__ import annotations

import pytest

import manyarms as ma

from .searches import SPACE, height, search


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, float("nan"), "soon", None])
def test_a_budget_that_is_none_is_refused_by_name(budget):
    with pytest.raises((ValueError, TypeError), match="budget must"):
        ma.tune(height, SPACE, budget=budget, progress=False)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("workers", 0), ("workers", 1.5), ("retries", -1), ("timeout", "soon"), ("timeout", 0), ("pull_timeout", float("nan"))],
)
def test_wrong_arguments_of_optimize_are_refused_by_name(argument, value):
    with pytest.raises((ValueError, TypeError), match=f"{argument} must be"):
        ma.Study(search()).optimize(height, **{argument: value})


@pytest.mark.parametrize(
    "changed", [{"direction": "up"}, {"bounds": (1, 0)}, {"bounds": (0, float("nan"))}, {"name": ""}, {"storage": 7.5}]
)
def test_wrong_arguments_of_a_study_are_refused_by_name(changed):
    with pytest.raises((ValueError, TypeError), match=next(iter(changed))):
        ma.Study(search(), **changed)


def test_a_function_that_cannot_be_called_and_a_used_strategy_are_refused():
    with pytest.raises(TypeError, match="function must be callable"):
        ma.Study(search()).optimize("train")
    used = search()
    used.ask()
    with pytest.raises(ValueError, match="strategy must be fresh"):
        ma.Study(used)
