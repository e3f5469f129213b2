"""A constructor's keyword arguments are remembered as they were given."""

import inspect

import pytest

from manyarms import ASHA, Float, MutantUCB, Space
from manyarms.strategies import fresh_copy

SPACE = Space(x=Float(0, 1))


def test_settings_are_all_keyword_arguments_in_the_order_of_the_signature():
    settings = ASHA(SPACE, seed=3, max_steps=9).settings
    assert list(settings.items()) == [("budget", None), ("max_steps", 9), ("eta", 3), ("min_steps", 1), ("seed", 3)]


def test_the_space_is_no_setting_even_as_a_keyword():
    assert "space" not in MutantUCB(space=SPACE, budget=100).settings


def test_the_signature_stays_visible_and_a_wrong_argument_is_refused_as_usual():
    assert list(inspect.signature(ASHA).parameters) == ["space", "budget", "max_steps", "eta", "min_steps", "seed"]
    with pytest.raises(TypeError, match=r"ASHA.__init__\(\) got an unexpected keyword argument 'step'"):
        ASHA(SPACE, max_steps=9, step=3)
    with pytest.raises(TypeError, match=r"ASHA.__init__\(\) missing 1 required keyword-only argument: 'max_steps'"):
        ASHA(SPACE)


def test_a_fresh_copy_has_the_same_settings_except_for_the_changes():
    search = MutantUCB(SPACE, budget=100, seed=1)
    search.tell(search.ask(), 0.5)
    copy = fresh_copy(search, seed=2)
    assert copy is not search and copy.ledger.space is search.ledger.space and not copy.ledger.arms
    assert copy.settings == {**search.settings, "seed": 2} and len(search.ledger.arms) == 1
