"""Strategies by name."""

import pytest

import manyarms as ma
from manyarms.strategies import strategy_class, strategy_factory
from manyarms.strategies.names import SHORT_NAMES, strategy_classes

SPACE = ma.Space(x=ma.Float(0, 1))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MutantUCB", ma.MutantUCB),
        ("mutantucb", ma.MutantUCB),
        ("mutant-ucb", ma.MutantUCB),
        ("Mutant UCB", ma.MutantUCB),
        ("asha", ma.ASHA),
        ("hyperband", ma.Hyperband),
        ("random", ma.RandomSearch),
        ("random_search", ma.RandomSearch),
        ("d-ttts", ma.DTTTS),
        ("infinite-ucb-e", ma.InfiniteUCBE),
        ("adaptive", ma.AdaptiveMutantUCB),
        ("halving", ma.SuccessiveHalving),
        ("evolution", ma.SteadyStateEA),
    ],
)
def test_a_strategy_is_found_by_its_name_in_any_spelling(name, kind):
    assert strategy_class(name) is kind


def test_every_strategy_of_the_library_that_needs_only_a_space_has_a_name():
    public = {name for name in ma.__all__ if hasattr(getattr(ma, name), "plan") and name not in ("Cascade", "Study")}
    assert set(strategy_classes()) == public
    assert set(SHORT_NAMES.values()) <= public


@pytest.mark.parametrize("name", ["luck", "", "cascade", "Strategy", "ucb1"])
def test_an_unknown_name_is_answered_with_the_short_names(name):
    with pytest.raises(
        ValueError, match="strategy must be one of adaptive, asha, .*mutant-ucb, .*random, tree-ucb, got"
    ) as raised:
        ma.tune(lambda config: config["x"], SPACE, budget=5, strategy=name, progress=False)
    assert str(raised.value).endswith(f"got {name!r}")
    listed = str(raised.value).removeprefix("strategy must be one of ").partition(", got")[0].split(", ")
    assert {strategy_class(short) for short in listed} == set(strategy_classes().values())


@pytest.mark.parametrize(
    ("name", "meant"),
    [("hyperbandd", "hyperband"), ("Random-Serch", "random"), ("adaptve", "adaptive"), ("Mutant_UBC", "mutant-ucb")],
)
def test_a_misspelled_name_is_answered_with_the_name_that_was_meant(name, meant):
    with pytest.raises(ValueError, match=f"got '{name}'; did you mean '{meant}'\\?$"):
        strategy_class(name)


def test_what_makes_no_strategy_is_refused():
    with pytest.raises(TypeError, match="strategy must be a name such as 'asha', or a class or function"):
        strategy_factory(3)


def test_tune_takes_the_name_of_a_strategy_and_decides_as_with_its_class():
    by_name, by_class = (
        ma.tune(lambda config: config["x"], SPACE, budget=8, strategy=strategy, seed=1, progress=False)
        for strategy in ("random", ma.RandomSearch)
    )
    assert by_name.header["strategy"] == "RandomSearch"
    assert [event.decision for event in by_name.journal.events()] == [event.decision for event in by_class.journal.events()]
