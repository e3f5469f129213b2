"""Arguments that a study refuses by name."""

from __future__ import annotations

import functools
import inspect
import threading
from pathlib import Path

import numpy as np
import pytest

import manyarms as ma
from manyarms import strategies
from manyarms.journal import MemoryJournal
from manyarms.study.tuning import _ELSEWHERE

from .searches import SPACE, height, search


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, float("nan"), "soon", None])
def test_a_budget_that_is_none_is_refused_by_name(budget):
    with pytest.raises((ValueError, TypeError), match="budget must"):
        ma.tune(height, SPACE, budget=budget, progress=False)


class Halfway:
    """A runner that cannot be closed."""

    workers = 1
    start = submit = collect = now = print


NAN, INF = float("nan"), float("inf")
WRONG = {
    "workers": (0, -1, 1.5, True, "two"),
    "timeout": ("soon", "x", 0, -1, NAN, INF, [1]),
    "retries": (-1, 0.5, "once", None),
    "pull_timeout": ("long", 0, NAN, INF),
    "deterministic": ("no", 0, None),
    "verbose": (-1, 3, 1.5, True, "very", None),
    "progress": ("no", 1, None),
    "resources": (5, "gpu", {"tpu": 1}, {"gpu": -1}, {"gpu": "all"}, {"gpu": 10**6}),
    "callbacks": (5, "print", height, None),
    "callback": ([5], [height]),
    "runner": (5, "inline", ma.SimulatedRunner, Halfway()),
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_wrong_arguments_of_optimize_are_refused_by_name_before_anything_runs(name, value):
    study, called = ma.Study(search()), []
    argument = {"callback": "callbacks"}.get(name, name)
    with pytest.raises((ValueError, TypeError), match=rf"^{name}\b") as raised:
        study.optimize(lambda config: called.append(config) or 0.5, **{argument: value})
    assert "\n" not in str(raised.value)
    assert not called and not study.counts.arms


@pytest.mark.parametrize(("name", "value"), CASES)
def test_wrong_arguments_of_tune_leave_no_study_behind(name, value, tmp_path):
    argument = {"callback": "callbacks"}.get(name, name)
    with pytest.raises((ValueError, TypeError), match=rf"^{name}\b"):
        ma.tune(height, SPACE, budget=20, storage=tmp_path / "study.db", **{argument: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "value"), [("workers", 2), ("pull_timeout", 60), ("resources", {"gpu": 0})])
def test_an_argument_that_a_runner_would_ignore_is_refused_by_name(name, value, tmp_path):
    given = {"runner": ma.SimulatedRunner(2), name: value, "progress": False}
    words = rf"^{name} cannot be combined with runner, got .*: set it on the runner, or do not pass a runner$"
    study = ma.Study(search())
    with pytest.raises(ValueError, match=words):
        study.optimize(height, **given)
    assert not study.counts.arms
    with pytest.raises(ValueError, match=words):
        ma.tune(height, SPACE, budget=20, storage=tmp_path / "study.db", **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"worker": 2}, "unexpected keyword argument 'worker'"),
        ({"max_steps": 0}, "max_steps must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": "lucky"}, "seed must be a whole number, got 'lucky'"),
        ({"strategy": "best"}, "strategy must be one of .*, got 'best'"),
        ({"strategy": ma.RandomSearch(SPACE)}, "strategy must be a name such as 'asha', or a class"),
        ({"strategy": lambda space, **given: ma.RandomSearch}, r"strategy must be an object such as RandomSearch\(space"),
        ({"bounds": (-1e308, 1e308)}, "the distance between bounds must be finite, got inf"),
        ({"direction": "up"}, "direction must be one of 'maximize', 'minimize', got 'up'"),
        ({"name": "\x1b[2J"}, "name must be 1 to 255 printable characters"),
        ({"checkpoints": 5}, "checkpoints must be a directory"),
        ({"origin": 5}, "origin must be a dict or None, got 5"),
        ({"origin": {"files": {1}}}, "origin must be a dict of JSON values, got {'files'"),
        ({"budget": ma.Budget}, "budget must be"),
        ({"space": ma.Space}, r"space.sample must be callable as space.sample\(rng\)"),
        ({"space": {}}, "space must have at least one parameter, got {}"),
        ({"function": None}, r"function must be callable as function\(pull\), got None"),
    ],
)
def test_any_wrong_argument_of_tune_leaves_no_study_behind(changed, words, tmp_path):
    given = {"function": height, "space": SPACE, "budget": 20, "storage": tmp_path / "study.db", "progress": False, **changed}
    with pytest.raises((ValueError, TypeError), match=words):
        ma.tune(**given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"max_step": 3}, "; did you mean 'max_steps'?"),
        ({"worker": 2}, "; did you mean 'workers'?"),
        ({"Seed": 2}, "; did you mean 'seed'?"),
        ({"n_trials": 9}, "; use 'budget'"),
        ({"n_jobs": -1}, "; use 'workers'"),
        ({"study_name": "mine"}, "; use 'name'"),
        ({"load_if_exists": True}, "; it is not needed, because a stored study is always resumed"),
        ({"gamma": 2}, "; its arguments are listed in help(ma.tune)"),
        ({"eta": 4}, "; its arguments are listed in help(ma.tune)"),  # an option of other strategies
    ],
    ids=repr,
)
def test_an_unknown_argument_of_tune_is_answered_with_the_right_one(option, hint, tmp_path):
    with pytest.raises(TypeError) as raised:
        ma.tune(height, SPACE, budget=20, storage=tmp_path / "study.db", progress=False, **option)
    assert str(raised.value) == f"tune() got an unexpected keyword argument {next(iter(option))!r}{hint}"
    assert not list(tmp_path.iterdir())


def test_words_of_other_libraries_are_answered_with_arguments_of_tune():
    own = {*inspect.signature(ma.tune).parameters, *inspect.signature(ma.Study.optimize).parameters}
    assert not own & _ELSEWHERE.keys()
    assert {hint.split("'")[1] for hint in _ELSEWHERE.values() if hint.startswith("use ")} <= own


@pytest.mark.parametrize("strategy", ["asha", ma.ASHA])
def test_an_option_of_a_strategy_is_answered_with_the_long_form(strategy):
    with pytest.raises(
        TypeError, match=r"^tune\(\) got 'eta', .* ma.Study\(ma.ASHA\(space, ..., eta=4\), ...\).optimize\(function\)$"
    ):
        ma.tune(height, SPACE, budget=20, strategy=strategy, eta=4, progress=False)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_function_with_a_large_array_is_sent_to_workers(order):
    data = np.ones((1000, 100), order=order)
    study = ma.tune(lambda config: data.sum() * config["x"], SPACE, budget=4, workers=2, seed=0, progress=False)
    assert study.counts.pulls == 4


@pytest.mark.parametrize("changed", [{"workers": 2}, {"pull_timeout": 60}])
def test_a_function_that_cannot_be_sent_to_workers_leaves_no_study_behind(changed, tmp_path):
    held = threading.Lock()
    with pytest.raises(TypeError, match="cannot be sent to worker processes .* or use workers=1"):
        ma.tune(lambda config: bool(held), SPACE, budget=20, storage=tmp_path / "study.db", progress=False, **changed)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changed",
    [
        {"direction": "up"},
        {"bounds": (1, 0)},
        {"bounds": (0, NAN)},
        {"bounds": (-1e308, 1e308)},
        {"bounds": "ab"},
        {"bounds": 5},
        {"name": ""},
        {"name": 5},
        {"storage": 7.5},
        {"storage": " "},
        {"storage": "a\0b"},
        {"storage": "sqlite:///a\0b"},
        {"storage": []},
        {"storage": MemoryJournal},
        {"checkpoints": 5},
        {"checkpoints": " "},
        {"checkpoints": "a\0b"},
        {"checkpoints": ma.Checkpoints},
        {"budget": 30},
        {"budget": INF},
        {"origin": "script"},
    ],
    ids=repr,
)
def test_wrong_arguments_of_a_study_are_refused_by_name(changed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError), match=next(iter(changed))) as raised:
        ma.Study(search(), **changed)
    assert str(raised.value).isprintable()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("storage", [" ", "a\0b", Path("a\0b")])
def test_a_storage_that_cannot_be_is_refused_by_name_when_a_study_is_loaded(storage):
    with pytest.raises(ValueError, match="storage must be a URL or a path that is not blank and has no NUL characters, got"):
        ma.load_study(storage)


@pytest.mark.parametrize("strategy", [ma.RandomSearch, ma.MutantUCB, ma.Cascade])
def test_a_class_instead_of_a_strategy_is_refused(strategy):
    with pytest.raises(TypeError, match=rf"strategy must be an object such as {strategy.__name__}\(space, \.\.\.\)"):
        ma.Study(strategy)


UNCALLABLE = {
    "no parameter": (lambda: 0.5, "too many positional arguments"),
    "two parameters": (lambda config, data: 0.5, "missing a required argument: 'data'"),
    "a keyword without a default": (lambda config, *, data: 0.5, "missing a required( keyword-only)? argument: 'data'"),
    "only keywords": (lambda **config: 0.5, "too many positional arguments"),
}


@pytest.mark.parametrize(("function", "words"), UNCALLABLE.values(), ids=UNCALLABLE)
def test_a_function_that_cannot_take_a_pull_is_refused_before_the_budget_is_spent(function, words):
    study = ma.Study(search())
    with pytest.raises(TypeError, match=rf"function must be callable as function\(pull\), got .*: {words}"):
        study.optimize(function, progress=False)
    assert study.counts.steps == 0


@pytest.mark.parametrize(
    "function", [len, lambda pull, data=1: 0.5, lambda *anything: 0.5, functools.partial(lambda data, pull: data, 0.5)]
)
def test_a_function_that_can_take_a_pull_is_not_refused(function):
    study = ma.Study(search(5))
    study.optimize(function, progress=False)
    assert study.counts.steps == 5


FLOATS = [
    (ma.MutantUCB, "exploration"),
    (ma.AdaptiveMutantUCB, "exploration"),
    (ma.InfiniteUCBE, "exploration"),
    (ma.InfiniteUCBE, "alpha"),
    (ma.DTTTS, "beta"),
    *[(kind, name) for kind in (ma.PartitionUCB, ma.ContextualPartitionUCB) for name in ("alpha", "l", "c", "s", "factor")],
    *[(ma.TreeUCB, name) for name in ("v", "min_gain")],
    *[(ma.ContextualTreeUCB, name) for name in ("v1", "v2", "v3", "min_gain")],
]


@pytest.mark.parametrize(("kind", "name"), FLOATS, ids=str)
def test_a_number_of_a_strategy_that_is_not_finite_is_refused_by_name(kind, name):
    for value in (NAN, INF, -INF, "0.5", True):
        with pytest.raises((ValueError, TypeError), match=f"^{name} must be"):
            kind(SPACE, **{name: value})


def test_every_number_that_a_strategy_takes_is_among_those_tested():
    for kind in [getattr(ma, name) for name in strategies.__all__ if hasattr(ma, name)]:
        floats = [name for name, given in inspect.signature(kind).parameters.items() if "float" in str(given.annotation)]
        if hasattr(kind, "plan"):
            assert {(kind, name) for name in floats if name not in ("train_probability",)} <= set(FLOATS)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ma.ERUCB(gamma=INF), "gamma must be finite, got inf"),
        (lambda: ma.ExtremeUCB(gamma=INF), "gamma must be finite, got inf"),
        (lambda: ma.Budget(cost=INF), "cost must be finite, got inf"),
        (lambda: ma.Budget(seconds=INF), "budget must be finite, got inf"),
        (lambda: ma.AdaptiveMutantUCB(SPACE, surrogate="no"), "surrogate must be True or False, got 'no'"),
        (lambda: ma.SteadyStateEA(SPACE, mutation_only="no"), "mutation_only must be True or False, got 'no'"),
        (lambda: ma.TreeUCB(SPACE, refit=1), "refit must be True, False or 'doubling', got 1"),
        (lambda: ma.MutantUCB(SPACE, train_probability=lambda: 1), r"train_probability must be callable as .*\(trained, max_"),
        (lambda: ma.ContextualTreeUCB(SPACE, schedule=lambda: 1), r"schedule must be callable as schedule\(t\)"),
        (lambda: ma.RandomSearch(ma.Space), r"space.sample must be callable as space.sample\(rng\)"),
        (lambda: ma.SimulatedRunner(2, seconds=5), r"seconds must be callable as seconds\(pull\), got 5"),
        (lambda: ma.Checkpoints(5), "directory must be a path, got 5"),
        (lambda: ma.Checkpoints(" "), "directory must be a path that is not blank"),
        (lambda: ma.load_study("study.db", name=5), "name must be a string, got 5"),
    ],
)
def test_other_arguments_that_cannot_be_are_refused_by_name(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_a_function_that_cannot_be_called_and_a_used_strategy_are_refused():
    with pytest.raises(TypeError, match="function must be callable"):
        ma.Study(search()).optimize("train")
    used = search()
    used.ask()
    with pytest.raises(ValueError, match="strategy must be new"):
        ma.Study(used)
