"""What a study was created with: its name, what may not change, and making its strategy again."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rechaining import rechain

import manyarms as ma
from manyarms.errors import StorageError, StudyMismatch
from manyarms.journal import MemoryJournal
from manyarms.networks import table_space
from manyarms.study.header import check_same, make_header, restored_strategy, study_name
from manyarms.study.verify import audit

SPACE = ma.Space(lr=ma.Float(1e-5, 1e-1, log=True), act=ma.Choice("relu", ma.Space(slope=ma.Float(0, 1))), layers=3)


class Walk:
    """A space of one's own, which cannot be described."""

    def sample(self, rng):
        return float(rng.random())

    def mutate(self, config, rng):
        return float(rng.random())


def header(strategy=None, *, seed=7, direction="maximize", bounds=None, **settings):
    return make_header(strategy or ma.MutantUCB(SPACE, seed=seed, **settings), seed, direction, bounds)


# -- names


@pytest.mark.parametrize("name", ["x", "x" * 255, "it's", "a/b", "<b>", "日本 🦾", "a b", "'; DROP TABLE studies; --"])
def test_a_printable_name_is_taken_as_it_is(name):
    assert study_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * 256, "x" * 10_000, "a\nb", "a\tb", "\x00", "\x1b[31m", "\x7f", "\ud800", "\u200f"])
def test_a_name_that_cannot_be_shown_is_refused_with_the_rule(name):
    with pytest.raises(ValueError, match=f"name must be 1 to 255 printable characters, got {len(name)}: ") as raised:
        study_name(name)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("name", [None, 3, b"study", ["study"]])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(TypeError, match="name must be a string, got"):
        study_name(name)


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_is_taken_as_it_is_or_refused(name):
    try:
        assert study_name(name) == name
    except ValueError:
        return
    assert name.encode().decode() == name


# -- going on with a study


def test_the_same_arguments_are_the_same_study():
    check_same("study", header(), header(), seed_given=True)


def test_another_budget_or_a_seed_that_is_not_given_is_the_same_study():
    check_same("study", header(budget=100), header(budget=200), seed_given=True)
    check_same("study", header(budget=100), header(budget=None), seed_given=True)
    check_same("study", header(seed=1), header(seed=2), seed_given=False)


CHANGED = {
    "strategy": (header(ma.RandomSearch(SPACE, max_steps=10, seed=7)), "'MutantUCB'", "'RandomSearch'"),
    "direction": (header(direction="minimize"), "'maximize'", "'minimize'"),
    "bounds": (header(bounds=(0.0, 1.0)), "None", "[0.0, 1.0]"),
    "seed": (header(seed=8), "7", "8"),
    "max_steps": (header(max_steps=20), "10", "20"),
    "exploration": (header(exploration=0.5), "0.05", "0.5"),
    "train_probability": (header(train_probability="exponential"), "'linear'", "'exponential'"),
}


@pytest.mark.parametrize(("argument", "case"), CHANGED.items(), ids=CHANGED)
def test_another_argument_is_named_with_both_values(argument, case):
    other, before, now = case
    for old, new, first, second in ((header(), other, before, now), (other, header(), now, before)):
        with pytest.raises(StudyMismatch) as raised:
            check_same("it's", old, new, seed_given=True)
        made, given = str(raised.value).split(", but now has ")
        assert made.startswith(f'study "it\'s" was created with {argument}=') and first in made
        assert given.startswith(f"{argument}=") and second in given
        assert "use the old value to resume it, or another name" in given


def test_another_space_is_named_by_the_parameter_that_differs():
    other = ma.Space(lr=ma.Float(1e-5, 1.0, log=True), act=ma.Choice("relu", ma.Space(slope=ma.Float(0, 1))), layers=3)
    with pytest.raises(StudyMismatch) as raised:
        check_same("mine", header(), header(ma.MutantUCB(other, seed=7)), seed_given=True)
    assert raised.value.setting == "space"
    assert str(raised.value) == (
        "study 'mine' was created with another space (parameter 'lr': Float(1e-05, 0.1, log=True) was stored, "
        "got Float(1e-05, 1, log=True)): use the old value to resume it, or another name to start a new study"
    )


def test_a_space_with_many_differences_is_named_by_a_few():
    one, two = (ma.Space(**{f"p{n}": ma.Int(0, high) for n in range(9)}) for high in (1, 2))
    with pytest.raises(
        StudyMismatch, match="'p2': Int\\(0, 1\\) was stored, got Int\\(0, 2\\); and 6 more\\): use the old value"
    ):
        check_same("mine", header(ma.MutantUCB(one, seed=7)), header(ma.MutantUCB(two, seed=7)), seed_given=True)


def test_a_space_that_cannot_be_described_or_restored_is_shown_as_it_is_stored():
    for other in (Walk(), table_space(5, 2)):
        for one, two in ((SPACE, other), (other, SPACE)):
            with pytest.raises(StudyMismatch, match="was created with (space=.*, but now has space=|another space)"):
                check_same("mine", header(ma.MutantUCB(one, seed=7)), header(ma.MutantUCB(two, seed=7)), seed_given=True)


# -- making the strategy again


def test_a_strategy_is_made_again_as_it_was():
    original = ma.MutantUCB(SPACE, budget=np.int64(100), max_steps=5, initial=4, exploration=np.float64(0.1), seed=3)
    again = restored_strategy(header(original, seed=3))
    assert type(again) is ma.MutantUCB
    assert again.ledger.space == SPACE
    for _ in range(10):
        one, two = original.ask(), again.ask()
        assert one == two
        original.tell(one, one.config["lr"])
        again.tell(two, two.config["lr"])


def test_a_strategy_without_a_seed_is_made_again_with_the_one_it_took():
    original = ma.RandomSearch(SPACE, budget=10, max_steps=1)
    assert restored_strategy(header(original, seed=original.ledger.seed)).ask() == original.ask()


class Own:
    """A strategy with only the three methods."""

    def ask(self): ...
    def tell(self, pull, reward): ...
    def best(self): ...


UNKNOWN = {
    "a space of one's own": lambda: ma.MutantUCB(Walk(), seed=7),
    "a space that describes itself in words of its own": lambda: ma.MutantUCB(table_space(4, 2), seed=7),
    "one of these beside another": lambda: ma.MutantUCB(ma.Joint({"network": table_space(4, 2), "svm": SPACE}), seed=7),
    "a function among the settings": lambda: ma.MutantUCB(SPACE, train_probability=lambda trained, limit: 0.5, seed=7),
    "a strategy of one's own": Own,
    "a strategy of another name": lambda: type("Better", (ma.MutantUCB,), {})(SPACE, seed=7),
}


class MyUCB(ma.UCB1):
    """A picker of one's own."""


class Better(ma.MutantUCB):
    """A strategy of one's own, made of one of the library's."""


def cascade(picker=None, child=None):
    children = {"one": child or ma.MutantUCB(SPACE, max_steps=3), "two": ma.RandomSearch(SPACE)}
    return ma.Cascade({"inner": ma.Cascade(children, picker), "other": ma.RandomSearch(SPACE)}, seed=7)


UNKNOWN |= {
    "a picker of one's own": lambda: cascade(picker=MyUCB()),
    "a child of one's own": lambda: cascade(child=Better(SPACE, max_steps=3)),
    "a child with a function": lambda: cascade(child=ma.MutantUCB(SPACE, train_probability=lambda trained, limit: 0.5)),
}


@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_a_strategy_that_cannot_be_made_again_is_none(make):
    assert restored_strategy(header(make())) is None


@pytest.mark.parametrize("make", UNKNOWN.values(), ids=UNKNOWN)
def test_a_header_of_an_older_version_does_not_list_what_is_the_users_own(make):
    old = {key: value for key, value in header(make()).items() if key != "own"}
    assert restored_strategy(old) is None


@pytest.mark.parametrize("kind", [ma.TreeUCB, ma.ContextualTreeUCB])
def test_a_setting_of_an_older_version_is_read_under_its_new_name(kind):
    new = header(kind(ma.Space(x=ma.Float(0, 1)), budget=50, max_steps=5, min_gain=0.2, seed=0))
    old = {**new, "settings": {"eta" if name == "min_gain" else name: value for name, value in new["settings"].items()}}
    check_same("study", old, new, seed_given=True)
    assert restored_strategy(old).settings["min_gain"] == 0.2


INNER = ("settings", "children", "inner")
CHANGES = {
    "a strategy misspelled": (("strategy",), "MutantUBC", "names the strategy 'MutantUBC'"),
    "a strategy in full": (("strategy",), "mine.MutantUCB", "names the strategy 'mine.MutantUCB'"),
    "a strategy that is a function": (("strategy",), "fresh_copy", "names the strategy 'fresh_copy'"),
    "a strategy that is a module": (("strategy",), "ledger", "names the strategy 'ledger'"),
    "a strategy that is a picker": (("strategy",), "UCB1", "names the strategy 'UCB1'"),
    "a strategy that is a protocol": (("strategy",), "ExtendedStrategy", "names the strategy 'ExtendedStrategy'"),
    "a strategy that is no text": (("strategy",), 5, "names the strategy 5"),
    "no settings": (("settings",), None, "cannot be created .AttributeError"),
    "no space": (("space",), None, "describes a space that manyarms cannot create"),
    "a space of an unknown kind": (("space",), {"graph": []}, "describes a space that manyarms cannot create"),
    "a picker misspelled": ((*INNER, "picker", "picker"), "UBC1", "names the picker 'UBC1'"),
    "a picker that is a strategy": ((*INNER, "picker", "picker"), "RandomSearch", "names the picker 'RandomSearch'"),
    "a child misspelled": ((*INNER, "children", "one", "strategy"), "Mutant", "names the strategy 'Mutant'"),
    "a child in full": ((*INNER, "children", "two", "strategy"), "a.b", "names the strategy 'a.b'"),
    "a function where there was none": ((*INNER, "children", "one", "train_probability"), "function f", "got 'function f'"),
    "a setting unknown": ((*INNER, "children", "one", "patience"), 3, "TypeError: .*'patience'"),
    "a picker's setting unknown": ((*INNER, "picker", "patience"), 3, "TypeError: .*'patience'"),
    "a cascade's setting unknown": (("settings", "patience"), 3, "TypeError: .*'patience'"),
    "children that are no dict": ((*INNER, "children"), [], "cannot be created .AttributeError"),
    "a list of own parts that is none": (("own",), 5, "cannot be created .TypeError"),
}


def changed(made, place, value):
    """A header with one entry changed."""
    made = json.loads(json.dumps(made))
    part = made
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return made


@pytest.mark.parametrize(("place", "value", "words"), CHANGES.values(), ids=CHANGES)
def test_a_header_that_names_what_does_not_exist_is_refused_and_not_taken_for_the_users_own(place, value, words):
    with pytest.raises(StudyMismatch, match=words) as raised:
        restored_strategy(changed(header(cascade()), place, value))
    assert f"this is {ma.__version__}, or the header was changed" in str(raised.value)


def test_a_misspelled_name_is_refused_though_the_space_is_the_users_own():
    with pytest.raises(StudyMismatch, match="names the strategy 'MutantUBC'"):
        restored_strategy(changed(header(ma.MutantUCB(Walk(), seed=7)), ("strategy",), "MutantUBC"))
    with pytest.raises(StudyMismatch, match="names the strategy 'Mutant'"):
        restored_strategy(changed(header(cascade(picker=MyUCB())), (*INNER, "children", "one", "strategy"), "Mutant"))


def test_a_study_whose_header_names_an_unknown_strategy_cannot_be_loaded_or_opened():
    journal = MemoryJournal()
    journal.create(changed(header(), ("strategy",), "MutantUBC"))
    with pytest.raises(StudyMismatch, match="names the strategy 'MutantUBC'"):
        ma.load_study(journal)
    with pytest.raises(StudyMismatch, match="created with strategy='MutantUBC', but now has strategy='MutantUCB'"):
        ma.Study(ma.MutantUCB(SPACE, seed=7), storage=journal)
    assert ["names the strategy 'MutantUBC'" in problem for problem in audit(journal)] == [True]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("[]", "the header must be a JSON object, but is list"),
        ("7", "the header must be a JSON object, but is int 7"),
        ("{", "the header is not JSON"),
        ("{}", "it has no strategy"),
        ({"settings": 5}, "it has settings=5"),
        ({"direction": "up"}, "it has direction='up'"),
        ({"bounds": [1]}, r"it has bounds=\[1\]"),
        ({"seed": "x"}, "it has seed='x'"),
    ],
)
def test_a_header_that_no_study_writes_is_refused_by_everything_that_opens_it(header, words, tmp_path):
    storage = tmp_path / "study.db"

    def make():
        return ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=3, seed=0), storage=storage)

    make().close()
    with closing(sqlite3.connect(storage)) as database, database:
        (text,) = database.execute("SELECT header FROM manyarms_studies").fetchone()
        text = header if isinstance(header, str) else json.dumps({**json.loads(text), **header})
        database.execute("UPDATE manyarms_studies SET header = ?", [text])
    rechain(storage)
    for attempt in (make, lambda: ma.load_study(storage)):
        with pytest.raises(StorageError, match=words):
            attempt()
