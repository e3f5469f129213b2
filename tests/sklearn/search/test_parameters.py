"""What RandomizedSearchCV takes becomes a space of JSON, and its configs become the parameters that were meant."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import manyarms as ma
from manyarms.sklearn.search.parameters import n_configs, search_space


def samples(found, n=50):
    rng = np.random.default_rng(0)
    configs = [found.space.sample(rng) for _ in range(n)]
    assert json.loads(json.dumps(configs)) == configs
    return [found.params(config) for config in configs]


def test_lists_and_distributions_give_their_values():
    given = {"C": stats.loguniform(0.1, 10), "degree": stats.randint(2, 4), "kernel": ["rbf", "poly"], "tol": np.array([1e-3])}
    params = samples(search_space(given))
    assert all(0.1 <= p["C"] <= 10 and p["tol"] == 1e-3 for p in params)
    assert {p["degree"] for p in params} == {2, 3} and {p["kernel"] for p in params} == {"rbf", "poly"}


@pytest.mark.parametrize(
    ("distribution", "kind"), [(stats.expon(scale=100), float), (stats.norm(), float), (stats.poisson(3), int)]
)
def test_any_distribution_is_followed_through_its_quantiles(distribution, kind):
    values = [p["x"] for p in samples(search_space({"x": distribution}), 400)]
    assert {type(value) for value in values} == {kind}
    assert np.median(values) == pytest.approx(distribution.median(), rel=0.2, abs=0.2)


def test_numbers_that_rise_are_a_scale_and_others_are_not():
    parameters = search_space(
        {"a": [1, 10, 100], "b": [3, 1, 2], "c": [True, False, True][:2], "d": [5, 4, 1]}
    ).space.parameters
    assert [parameters[name].ordered for name in "abcd"] == [True, False, False, True]


def test_options_that_are_no_json_come_back_as_they_were():
    def twice(x):
        return 2 * x

    def thrice(x):
        return 3 * x

    found = search_space(
        {"layers": [(50,), (50, 50)], "model": [SVC(), LogisticRegression(C=3)], "function": [twice, thrice, None]}
    )
    params = samples(found)
    assert {p["layers"] for p in params} == {(50,), (50, 50)}
    assert {type(p["model"]) for p in params} == {SVC, LogisticRegression}
    assert {p["function"] for p in params} == {twice, thrice, None}
    assert params[0]["model"] is not params[1]["model"]  # none is fitted twice


def test_a_list_of_dicts_is_one_or_the_other():
    found = search_space(
        [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": stats.loguniform(0.1, 1), "shape": [(1,), (2,)]}]
    )
    params = samples(found)
    assert {frozenset(p) for p in params} == {frozenset({"kernel"}), frozenset({"kernel", "gamma", "shape"})}
    assert all(isinstance(p["shape"], tuple) for p in params if "shape" in p)
    assert search_space([{"C": [1]}]).space == ma.Space(C=ma.Choice(1))


def test_nested_spaces_are_flattened_and_plain_dicts_are_not():
    solver = ma.Choice("lbfgs", ma.Space(solver="sgd", momentum=ma.Float(0, 1)))
    found = search_space(ma.Space(group=ma.Space(alpha=0.5), solver=solver, class_weight={"yes": 2.0}))
    rng = np.random.default_rng(0)
    keys = {frozenset(found.params(found.space.sample(rng))) for _ in range(20)}
    common = {"alpha", "solver", "class_weight"}
    assert keys == {frozenset(common), frozenset(common | {"momentum"})}


def test_parameters_of_the_library_may_stand_in_a_dict():
    assert search_space({"clf__C": ma.Float(0, 1)}).space == ma.Space(clf__C=ma.Float(0, 1))


def test_any_object_that_samples_and_mutates_is_a_space():
    class Own:
        def sample(self, rng):
            return {"C": 1.0}

        def mutate(self, config, rng):
            return config

    assert samples(search_space(Own()), 1) == [{"C": 1.0}]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (3, "space must be a Space, a dict"),
        ("C", "space must be a Space, a dict"),
        ([], "space must be a Space, a dict"),
        ({"C": 3}, r"space\['C'\]: must be a list, a distribution"),
        ({"C": "abc"}, r"space\['C'\]: must be a list, a distribution"),
        ({"C": []}, r"space\['C'\]: options must name at least one"),
        ({"C": [1, 1]}, r"space\['C'\]: options must differ"),
        ({1: [1]}, "space must have strings as names, got 1"),
        ({"C": stats.loguniform(-1, 1)}, r"space\['C'\]: must be a list or a frozen distribution with a finite median"),
    ],
)
def test_what_is_no_space_is_refused_with_the_name_of_the_parameter(space, message):
    with pytest.raises((TypeError, ValueError), match=message):
        search_space(space)


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (None, 1),
        ({"a": [1, 2, 3], "b": ["x", "y"]}, 6),
        ([{"a": [1, 2]}, {"b": [1, 2, 3]}], 5),
        (ma.Space(n=ma.Int(1, 4), one=ma.Int(2, 2), c=7), 4),
        (ma.Space(n=ma.Int(1, 9, step=4), x=ma.Float(0, 1, step=0.5), one=ma.Float(2, 2)), 9),
        ({"a": [1, 2], "b": stats.uniform(0, 1)}, math.inf),
        (ma.Space(k=ma.Choice("a", ma.Space(k="b", n=ma.Int(1, 3)))), 4),
    ],
)
def test_finite_spaces_are_counted(space, count):
    assert n_configs(search_space(space).space) == count
