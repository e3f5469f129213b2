"""Spaces from ConfigSpace and from scikit-learn's distributions."""

import sys

import numpy as np
import pytest
from scipy import stats

from manyarms.spaces import Choice, Float, Int, Space, as_space, from_configspace, from_optuna, from_scipy
from manyarms.testing.spaces import SPACE_CHECKS

try:
    import ConfigSpace as cs
except ImportError:
    cs = None

needs_configspace = pytest.mark.skipif(cs is None, reason="needs ConfigSpace")


def models():
    """A ConfigSpace with two levels of conditions."""
    model = cs.Categorical("model", ["svm", "knn", "forest", "majority"])
    kernel = cs.Categorical("kernel", ["linear", "rbf", "poly"])
    c, gamma = cs.Float("C", (1e-3, 1e3), log=True), cs.Float("gamma", (0.1, 10))
    degree, neighbours = cs.Integer("degree", (2, 5)), cs.Integer("neighbours", (1, 100), log=True)
    seed, bins = cs.Constant("seed", 7), cs.OrdinalHyperparameter("bins", [8, 16, 32])
    space = cs.ConfigurationSpace()
    space.add(model, kernel, c, gamma, degree, neighbours, seed, bins)
    space.add(
        cs.EqualsCondition(c, model, "svm"),
        cs.EqualsCondition(kernel, model, "svm"),
        cs.InCondition(gamma, kernel, ["rbf", "poly"]),
        cs.EqualsCondition(degree, kernel, "poly"),
        cs.InCondition(bins, model, ["knn", "forest"]),
        cs.EqualsCondition(neighbours, model, "knn"),
    )
    return space


def flattened(config):
    """A converted config as ConfigSpace would write it."""
    flat = {}
    for name, value in config.items():
        flat.update(flattened(value) if isinstance(value, dict) else {name: value})
    return flat


@needs_configspace
def test_flat_hyperparameters_keep_their_bounds_scale_and_options():
    space = cs.ConfigurationSpace(
        {
            "lr": cs.Float("lr", (1e-5, 1e-1), log=True),
            "momentum": (0.0, 0.9),
            "width": (5, 50),
            "trees": cs.Integer("trees", (10, 1000), log=True),
            "act": ["relu", "tanh"],
            "layers": cs.Categorical("layers", [(8,), (8, 8)]),
            "bias": cs.Categorical("bias", [True, False]),
            "batch": cs.OrdinalHyperparameter("batch", [16, 32, 64]),
            "epochs": cs.Constant("epochs", 3),
        }
    )
    expected = {
        "lr": Float(1e-5, 1e-1, log=True),
        "momentum": Float(0, 0.9),
        "width": Int(5, 50),
        "trees": Int(10, 1000, log=True),
        "act": Choice("relu", "tanh"),
        "layers": Choice([8], [8, 8]),
        "bias": Choice(True, False),
        "batch": Choice(16, 32, 64, ordered=True),
        "epochs": Space(epochs=3).parameters["epochs"],
    }
    assert from_configspace(space).parameters == expected


@needs_configspace
def test_an_option_with_active_children_becomes_a_space_that_tells_which_option_it_is():
    space = from_configspace(models())
    assert set(space.parameters) == {"model", "seed"}
    svm = {"model": "svm", "C": 1.0, "kernel": {"kernel": "poly", "gamma": 1.0, "degree": 3}}
    for model in (svm, {**svm, "kernel": "linear"}, {"model": "knn", "bins": 8, "neighbours": 3}, "majority"):
        assert space.contains({"seed": 7, "model": model})
    for model in ("svm", {"model": "svm"}, {"model": "knn", "bins": 8, "neighbours": 3, "C": 1.0}, {"model": "majority"}):
        assert not space.contains({"seed": 7, "model": model})


@needs_configspace
@pytest.mark.parametrize("check", SPACE_CHECKS, ids=lambda check: check.__name__)
def test_a_converted_space_keeps_the_contract(check):
    check(from_configspace(models()))


@needs_configspace
def test_every_config_of_a_converted_space_is_legal_in_the_original():
    original, rng = models(), np.random.default_rng(0)
    space = from_configspace(original)
    for _ in range(200):
        cs.Configuration(original, values=flattened(space.sample(rng))).check_valid_configuration()


@needs_configspace
def test_equal_weights_are_no_weights():
    space = cs.ConfigurationSpace({"act": cs.Categorical("act", ["relu", "tanh"], weights=[2, 2])})
    assert from_configspace(space) == Space(act=Choice("relu", "tanh"))


def refused(*hyperparameters, rule=None):
    """A ConfigSpace of x in [0, 1], y in [0, 1], m of a, b and o of 1 < 2, and what else is given."""
    space = cs.ConfigurationSpace(
        {"x": (0.0, 1.0), "y": (0.0, 1.0), "m": ["a", "b"], "o": cs.OrdinalHyperparameter("o", [1, 2])}
    )
    space.add(*hyperparameters)
    if rule is not None:
        space.add(rule(space))
    return space


REFUSED = {
    "normal": (
        lambda: refused(cs.NormalFloatHyperparameter("z", 0, 1, -1, 1)),
        "hyperparameter 'z': must be uniform",
        "NormalFloat",
    ),
    "beta": (
        lambda: refused(cs.BetaIntegerHyperparameter("z", 2, 3, 1, 9)),
        "hyperparameter 'z': must be uniform",
        "BetaInteger",
    ),
    "weights": (lambda: refused(cs.Categorical("z", "ab", weights=[1, 2])), "hyperparameter 'z'", "equally likely"),
    "not JSON": (lambda: refused(cs.Categorical("z", [print, sum])), "hyperparameter 'z'", "an option must survive JSON"),
    "forbidden": (
        lambda: refused(rule=lambda s: cs.ForbiddenEqualsClause(s["m"], "b")),
        "hyperparameter 'm': a space has no forbidden clauses",
        "b",
    ),
    "forbidden together": (
        lambda: refused(
            rule=lambda s: cs.ForbiddenAndConjunction(cs.ForbiddenEqualsClause(s["m"], "b"), cs.ForbiddenInClause(s["o"], [2]))
        ),
        "hyperparameter 'm': a space has no forbidden clauses",
        "&&",
    ),
    "forbidden relation": (
        lambda: refused(rule=lambda s: cs.ForbiddenGreaterThanRelation(s["x"], s["y"])),
        "hyperparameter 'x': a space has no forbidden clauses",
        "y",
    ),
    "condition on a number": (
        lambda: refused(rule=lambda s: cs.GreaterThanCondition(s["x"], s["y"], 0.5)),
        "hyperparameter 'x': its condition must be",
        "y > 0.5",
    ),
    "condition of another kind": (
        lambda: refused(rule=lambda s: cs.NotEqualsCondition(s["x"], s["m"], "a")),
        "hyperparameter 'x': its condition must be",
        "m != 'a'",
    ),
    "condition on an ordinal": (
        lambda: refused(rule=lambda s: cs.EqualsCondition(s["x"], s["o"], 2)),
        "hyperparameter 'x': its condition must be",
        "o == 2",
    ),
    "two conditions": (
        lambda: refused(
            rule=lambda s: cs.AndConjunction(cs.EqualsCondition(s["x"], s["m"], "a"), cs.EqualsCondition(s["x"], s["o"], 2))
        ),
        "hyperparameter 'x': its condition must be",
        "&&",
    ),
}


@needs_configspace
@pytest.mark.parametrize(("make", "named", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_a_space_cannot_express_is_refused_by_name(make, named, reason):
    with pytest.raises(ValueError) as raised:
        from_configspace(make())
    assert str(raised.value).startswith(named) and reason in str(raised.value)


@needs_configspace
def test_only_a_configuration_space_is_converted():
    with pytest.raises(TypeError, match="configuration_space must be a ConfigSpace.ConfigurationSpace, got {'x': 1}"):
        from_configspace({"x": 1})


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ConfigSpace", None)
    with pytest.raises(ImportError, match=r'pip install "manyarms\[configspace\]"'):
        from_configspace(None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        from_scipy({"x": stats.uniform(0, 1)})


DISTRIBUTIONS = {
    "uniform": (stats.uniform(2, 3), Float(2, 5)),
    "uniform by name": (stats.uniform(loc=-1, scale=0.5), Float(-1, -0.5)),
    "uniform as it comes": (stats.uniform(), Float(0, 1)),
    "loguniform": (stats.loguniform(1e-5, 1e-1), Float(1e-5, 1e-1, log=True)),
    "loguniform scaled": (stats.loguniform(1, 10, scale=3), Float(3, 30, log=True)),
    "reciprocal": (stats.reciprocal(a=1, b=10), Float(1, 10, log=True)),
    "randint": (stats.randint(1, 11), Int(1, 10)),
    "randint moved": (stats.randint(1, 11, loc=5), Int(6, 15)),
    "list": (["l1", "l2", None], Choice("l1", "l2", None)),
    "list of tuples": ([(8,), (8, (4, 4))], Choice([8], [8, [4, 4]])),
    "list of dicts": ([None, {"a": (1, np.float64(2))}], Choice(None, {"a": [1, 2.0]})),
    "list of one list": ([[8, 8]], Choice([[8, 8]])),
    "range": (range(3), Choice(0, 1, 2)),
    "array": (np.array([0.1, 1.0]), Choice(0.1, 1.0)),
}


@pytest.mark.parametrize(("distribution", "expected"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_lists_and_distributions_become_parameters_with_exact_bounds(distribution, expected):
    space = from_scipy({"x": distribution})
    assert space == Space(x=expected)
    rng = np.random.default_rng(0)
    if hasattr(distribution, "rvs"):
        assert all(space.contains({"x": value.item()}) for value in distribution.rvs(200, random_state=rng))


UNKNOWN = {
    "another distribution": (stats.norm(), "distributions 'x': must be a list or a frozen uniform", "got norm"),
    "not frozen": (stats.uniform, "distributions 'x': must be a list or a frozen uniform", "got uniform"),
    "a number": (3, "distributions 'x': must be a list", "got 3"),
    "text": ("abc", "distributions 'x': must be a list", "got 'abc'"),
    "a shifted loguniform": (stats.loguniform(1, 10, loc=2), "distributions 'x': loguniform must have loc=0", "loc=2"),
    "a shifted loguniform, by place": (stats.loguniform(1, 10, 2), "distributions 'x': loguniform must have loc=0", "loc=2"),
    "impossible bounds": (stats.uniform(0, -1), "distributions 'x': must have one valid pair of bounds", "(0, -1)"),
    "many bounds": (stats.uniform([0, 1], 1), "distributions 'x': must have one valid pair of bounds", "[0, 1]"),
    "no options": ([], "distributions 'x': options must name at least one value", "none"),
    "the same option twice": ([1, 1], "distributions 'x': options must differ", "1 twice"),
    "an option that is not JSON": ([print], "distributions 'x': an option must survive JSON", "print"),
}


@pytest.mark.parametrize(("distribution", "named", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_converted_is_refused_by_name(distribution, named, reason):
    with pytest.raises(ValueError) as raised:
        from_scipy({"fine": [1, 2], "x": distribution})
    assert str(raised.value).startswith(named) and reason in str(raised.value)


def test_only_a_mapping_of_distributions_is_converted():
    with pytest.raises(TypeError, match="distributions must map names to lists and distributions, got"):
        from_scipy([{"x": [1, 2]}])


try:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
except ImportError:  # stand-ins with the attributes that Optuna's have

    class FloatDistribution:
        __module__ = "optuna.distributions"

        def __init__(self, low, high, log=False, step=None):
            self.low, self.high, self.log, self.step = low, high, log, step

    class IntDistribution:
        __module__ = "optuna.distributions"

        def __init__(self, low, high, log=False, step=1):
            self.low, self.high, self.log, self.step = low, high, log, step

    class CategoricalDistribution:
        __module__ = "optuna.distributions"

        def __init__(self, choices):
            self.choices = tuple(choices)


OPTUNA = {
    "float": (lambda: FloatDistribution(0, 1), Float(0, 1)),
    "float log": (lambda: FloatDistribution(1e-5, 1, log=True), Float(1e-5, 1, log=True)),
    "float step": (lambda: FloatDistribution(0, 1, step=0.25), Float(0, 1, step=0.25)),
    "int": (lambda: IntDistribution(1, 9), Int(1, 9)),
    "int log": (lambda: IntDistribution(1, 9, log=True), Int(1, 9, log=True)),
    "int step": (lambda: IntDistribution(8, 64, step=8), Int(8, 64, step=8)),
    "categorical": (lambda: CategoricalDistribution(["a", None, 1]), Choice("a", None, 1)),
}


@pytest.mark.parametrize(("make", "expected"), OPTUNA.values(), ids=OPTUNA)
def test_distributions_of_optuna_become_parameters_with_their_steps(make, expected):
    assert from_optuna({"x": make()}) == as_space({"x": make()}) == Space(x=expected)


def test_what_is_no_distribution_of_optuna_is_refused_by_name():
    class Other:
        __module__ = "optuna.distributions"

    with pytest.raises(ValueError, match="distributions 'x': must be a FloatDistribution, IntDistribution or Categorical"):
        from_optuna({"x": Other()})
    with pytest.raises(TypeError, match="distributions must map names to Optuna distributions"):
        from_optuna([1])


@needs_configspace
def test_a_categorical_or_ordinal_with_one_option_that_is_a_list_stays_one_option():
    one, ordered = cs.Categorical("one", [(8, 8)]), cs.OrdinalHyperparameter("ordered", [(8, 8)])
    space = from_configspace(cs.ConfigurationSpace({"one": one, "ordered": ordered}))
    assert space == Space(one=Choice([[8, 8]]), ordered=Choice([[8, 8]], ordered=True))
