"""The families of models for tables, each with a space of its parameters that begins with a good default."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ... import checks
from ...spaces import Choice, Float, Int, Space
from ..training.slices import SOLVER
from .prepare import Prepare
from .targets import target_type

_ROUNDS = 150  # of boosting, for four classes or fewer
_FEWEST_ROUNDS = 50
_EPOCHS = 100  # of a network, for a thousand rows or fewer
_FEWEST_EPOCHS = 20
_QUICK_ROWS = 3_000  # to fit a support vector machine on
_TREES, _FEWEST_TREES = 100, 20  # of a forest: the fewest where classes are very many
_MANY_CLASSES = 100
_FOREST_BYTES = 500_000_000  # that a forest may take, at most
_NODE_BYTES = 64  # of a node of a tree, beside a number for each class
_ROWS_A_LEAF = 20_000  # rows for each row more that a leaf of a forest holds


@dataclass(frozen=True, slots=True)
class Family:
    """Models of one kind.

    Args:
        estimator: a pipeline of "prepare" and "model".
        space: of the parameters of both.
        resource: what a slice of training is, as for `BanditSearchCV`; None where training cannot be cut.
        max_steps: slices of a full training.
    """

    estimator: Any
    space: Space
    resource: str | None = None
    max_steps: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """What models are for.

    Args:
        classes: How many there are; 0 for numbers.
        rows: How many there are to train on.
        columns: About how many numbers a row becomes.
    """

    classes: int
    rows: int
    columns: int = 10

    @property
    def classifies(self) -> bool:
        """Whether it is a classification."""
        return self.classes > 0

    @property
    def rounds(self) -> int:
        """Of boosting: each grows a tree a class."""
        return max(_FEWEST_ROUNDS, min(_ROUNDS, 4 * _ROUNDS // max(self.classes, 1)))

    @property
    def trees(self) -> int:
        """Of a forest: each takes room for every class in every node."""
        return max(_FEWEST_TREES, min(_TREES, _TREES * _MANY_CLASSES // max(self.classes, 1)))

    def leaves(self, trees: int) -> int | None:
        """The most leaves of each of so many trees, so that all of them fit into memory; None where any number does."""
        nodes = _FOREST_BYTES // (trees * (_NODE_BYTES + 8 * self.classes))
        return None if 2 * self.rows <= nodes else max(8, nodes // 2)

    @property
    def epochs(self) -> int:
        """Of a network."""
        return max(_FEWEST_EPOCHS, min(_EPOCHS, _EPOCHS * 1_000 // max(self.rows, 1)))


def families(names: Collection[str] | None = None, *, classes: int, rows: int = 1_000, columns: int = 10) -> dict[str, Family]:
    """The families for a task, by name.

    Args:
        names: Which of them; None for all that are installed, and quick enough for a table of this size.
        classes: How many are to be told apart; 0 for a regression.
        rows: How many there are to train on.
        columns: About how many numbers a row becomes.

    >>> sorted(families(["linear", "forest"], classes=2))
    ['forest', 'linear']
    """
    task = Task(checks.whole("classes", classes, 0), checks.whole("rows", rows, 1), checks.whole("columns", columns, 1))
    chosen = _usual(task) if names is None else _named(names)
    able = [name for name in chosen if task.classifies or name not in _CLASSIFIERS_ONLY]
    if not able:
        raise ValueError(f"families must hold one that predicts numbers, got {', '.join(chosen)}")
    return {name: _told(_MAKERS[name](task), task) for name in able}


def _told(family: Family, task: Task) -> Family:
    """The family, whose preparation knows the type of the target: whole numbers alone do not tell it."""
    return replace(family, estimator=clone(family.estimator).set_params(prepare__target_type=target_type(task.classes)))


def _usual(task: Task) -> list[str]:
    """All that are installed and quick enough; scikit-learn's boosting only where LightGBM, the same but quicker, is not."""
    names = [name for name in _MAKERS if _available(name) and is_quick(name, task)] or ["neighbours"]
    return [name for name in names if name != "boosting" or "lightgbm" not in names]


def is_quick(name: str, task: Task) -> bool:
    """Whether no piece of a family's training takes too long for a table of this size.

    >>> is_quick("svm", Task(classes=2, rows=50_000)), is_quick("lightgbm", Task(classes=1_000, rows=50_000))
    (False, False)
    """
    if name == "svm":  # its time grows with the square of the rows, and with that of the classes
        return task.rows <= 20_000 and task.classes <= 50
    if name == "neighbours":  # distances of held-out rows to all others
        return task.rows * min(task.rows / 4, 10_000) * task.columns <= 3e9
    if name == "discriminant":  # a square matrix for each class
        return task.columns <= 500 and task.classes <= _MANY_CLASSES
    if name in ("lightgbm", "xgboost", "boosting"):  # a tree for each class in each round
        return task.classes <= _MANY_CLASSES
    if name == "naive_bayes":  # a loop over the classes
        return task.classes <= 2_000
    work = task.rows * task.columns * task.classes
    if name in ("linear", "network"):  # an iteration, or an epoch
        return work <= 5e8
    if name in ("tree", "forest", "extra_trees"):  # a tree, in which each split looks at every class
        return work <= 3e8 or not task.classifies
    return True


def _named(names: Collection[str]) -> list[str]:
    if isinstance(names, str) or not names:
        raise ValueError(f"families must be a list of names, got {names!r}")
    for name in names:
        checks.one_of("families", name, tuple(_MAKERS))
        if not _available(name):
            raise ValueError(f"family {name!r} needs {name}: pip install {name}")
    return list(names)


def _available(name: str) -> bool:
    return name not in _LIBRARIES or find_spec(name) is not None


def _family(prepare: Prepare, model: Any, space: dict[str, Any], first: dict[str, Any], **slices: Any) -> Family:
    """A family, whose space's parameters are the model's; those of the preparation have their step's name."""
    place = "model__regressor__" if isinstance(model, TransformedTargetRegressor) else "model__"

    def named(parameters: dict[str, Any]) -> dict[str, Any]:
        return {name if name.startswith("prepare__") else f"{place}{name}": value for name, value in parameters.items()}

    pipeline = Pipeline([("prepare", prepare), ("model", model)])
    return Family(pipeline, Space(**named(space)).first(named(first)), **slices)


def _of_scaled_target(model: Any) -> TransformedTargetRegressor:
    """For models that only learn numbers about 1."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


_SCALED, _UNFILLED = Prepare(scale="standard"), Prepare(fill=False)
_SCALES = Choice("standard", "quantile")


def _linear(task: Task) -> Family:
    if task.classifies:
        from sklearn.linear_model import LogisticRegression

        space = {"prepare__scale": _SCALES, "C": Float(1e-4, 1e4, log=True)}
        first = {"prepare__scale": "standard", "C": 1.0}
        return _family(_SCALED, LogisticRegression(max_iter=200), space, first, resource=SOLVER)
    from sklearn.linear_model import Ridge

    space = {"prepare__scale": _SCALES, "alpha": Float(1e-4, 1e5, log=True)}
    return _family(_SCALED, Ridge(), space, {"prepare__scale": "standard", "alpha": 1.0})


def _discriminant(task: Task) -> Family:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    space = {"prepare__scale": _SCALES, "shrinkage": Float(1e-4, 1, log=True)}
    model = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1)
    return _family(_SCALED, model, space, {"prepare__scale": "standard", "shrinkage": 1e-2})


def _neighbours(task: Task) -> Family:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsClassifier() if task.classifies else KNeighborsRegressor()
    space = {
        "prepare__scale": _SCALES,
        "n_neighbors": Int(1, 50, log=True),
        "weights": Choice("uniform", "distance"),
        "p": Choice(1, 2),
    }
    return _family(_SCALED, model, space, {"prepare__scale": "standard", "n_neighbors": 5, "weights": "distance", "p": 2})


def _naive_bayes(task: Task) -> Family:
    from sklearn.naive_bayes import GaussianNB

    space = {"prepare__scale": _SCALES, "var_smoothing": Float(1e-9, 1, log=True)}
    return _family(_SCALED, GaussianNB(), space, {"prepare__scale": "standard", "var_smoothing": 1e-9})


def _svm(task: Task) -> Family:
    from sklearn.svm import SVC, SVR

    model = SVC(cache_size=500) if task.classifies else _of_scaled_target(SVR(cache_size=500))
    slices: dict[str, Any] = {"resource": "n_samples", "max_steps": 4} if task.rows > _QUICK_ROWS else {}
    space = {"prepare__scale": _SCALES, "C": Float(1e-2, 1e4, log=True), "gamma": Float(1e-4, 10, log=True)}
    return _family(_SCALED, model, space, {"prepare__scale": "standard", "C": 3.0, "gamma": 0.05}, **slices)


def _tree(task: Task) -> Family:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    model = (DecisionTreeClassifier if task.classifies else DecisionTreeRegressor)(max_leaf_nodes=task.leaves(trees=1))
    space = {"max_depth": Int(1, 30, log=True), "min_samples_leaf": Int(1, 64, log=True), "max_features": Float(0.2, 1)}
    first = {"max_depth": 10, "min_samples_leaf": 4, "max_features": 1.0}
    return _family(Prepare(), model, space | _criteria(task), first | _criterion(task))


def _criteria(task: Task) -> dict[str, Any]:
    return {"criterion": Choice("gini", "entropy")} if task.classifies else {}


def _criterion(task: Task) -> dict[str, Any]:
    return {"criterion": "gini"} if task.classifies else {}


def _forest(task: Task) -> Family:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return _of_trees(RandomForestClassifier if task.classifies else RandomForestRegressor, task)


def _extra_trees(task: Task) -> Family:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return _of_trees(ExtraTreesClassifier if task.classifies else ExtraTreesRegressor, task)


def _of_trees(kind: Any, task: Task) -> Family:
    """A forest: its trees are the slices."""
    model = kind(n_estimators=task.trees, max_leaf_nodes=task.leaves(task.trees))
    smallest = 1 + task.rows // _ROWS_A_LEAF
    space = {"max_features": Float(0.05, 1, log=True), "min_samples_leaf": Int(smallest, 32 * smallest, log=True)}
    first = {"max_features": 0.3 if task.classifies else 1.0, "min_samples_leaf": smallest}
    slices: dict[str, Any] = {"resource": "model__n_estimators", "max_steps": 8}
    return _family(Prepare(), model, space | _criteria(task), first | _criterion(task), **slices)


def _boosting(task: Task) -> Family:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if task.classifies else HistGradientBoostingRegressor
    model = kind(max_iter=task.rounds, early_stopping=False)
    space = {
        "learning_rate": Float(0.02, 0.5, log=True),
        "max_leaf_nodes": Int(4, 128, log=True),
        "min_samples_leaf": Int(2, 64, log=True),
        "l2_regularization": Float(1e-6, 10, log=True),
        "max_features": Float(0.3, 1),
    }
    first = {
        "learning_rate": 0.1,
        "max_leaf_nodes": 16,
        "min_samples_leaf": 10,
        "l2_regularization": 1e-3,
        "max_features": 0.7,
    }
    return _family(_UNFILLED, model, space, first, resource="model__max_iter", max_steps=8)


def _lightgbm(task: Task) -> Family:
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if task.classifies else LGBMRegressor)(
        n_estimators=task.rounds, subsample_freq=1, n_jobs=1, verbosity=-1
    )
    space = {
        "learning_rate": Float(0.02, 0.5, log=True),
        "num_leaves": Int(4, 128, log=True),
        "min_child_samples": Int(2, 64, log=True),
        "colsample_bytree": Float(0.3, 1),
        "subsample": Float(0.4, 1),
        "reg_lambda": Float(1e-6, 10, log=True),
    }
    first = {
        "learning_rate": 0.1,
        "num_leaves": 16,
        "min_child_samples": 10,
        "colsample_bytree": 0.7,
        "subsample": 0.8,
        "reg_lambda": 1e-3,
    }
    return _family(_UNFILLED, model, space, first, resource="model__n_estimators", max_steps=8)


def _xgboost(task: Task) -> Family:
    from xgboost import XGBClassifier, XGBRegressor

    model = (XGBClassifier if task.classifies else XGBRegressor)(n_estimators=task.rounds, n_jobs=1)
    space = {
        "learning_rate": Float(0.02, 0.5, log=True),
        "max_depth": Int(2, 10),
        "min_child_weight": Float(0.1, 30, log=True),
        "colsample_bytree": Float(0.3, 1),
        "subsample": Float(0.4, 1),
        "reg_lambda": Float(1e-3, 30, log=True),
    }
    first = {
        "learning_rate": 0.1,
        "max_depth": 5,
        "min_child_weight": 1.0,
        "colsample_bytree": 0.7,
        "subsample": 0.8,
        "reg_lambda": 1.0,
    }
    return _family(_UNFILLED, model, space, first, resource="model__n_estimators", max_steps=8)


def _network(task: Task) -> Family:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    epochs = task.epochs
    model = MLPClassifier(max_iter=epochs) if task.classifies else _of_scaled_target(MLPRegressor(max_iter=epochs))
    slices = {"resource": "partial_fit" if task.classifies else "n_samples", "max_steps": 8}
    space = {
        "prepare__scale": _SCALES,
        "hidden_layer_sizes": Choice([32], [64], [128], [256], [32, 32], [64, 64], [128, 128]),
        "learning_rate_init": Float(3e-4, 3e-2, log=True),
        "alpha": Float(1e-6, 10, log=True),
        "batch_size": Int(16, 256, log=True),
        "activation": Choice("relu", "tanh"),
    }
    first = {
        "prepare__scale": "standard",
        "hidden_layer_sizes": [128],
        "learning_rate_init": 5e-3,
        "alpha": 1e-2,
        "batch_size": 64,
        "activation": "relu",
    }
    return _family(_SCALED, model, space, first, **slices)


_MAKERS: dict[str, Callable[[Task], Family]] = {
    "linear": _linear,
    "lightgbm": _lightgbm,
    "forest": _forest,
    "svm": _svm,
    "extra_trees": _extra_trees,
    "boosting": _boosting,
    "network": _network,
    "discriminant": _discriminant,
    "xgboost": _xgboost,
    "neighbours": _neighbours,
    "tree": _tree,
    "naive_bayes": _naive_bayes,
}
"""By name, in the order they are tried: quick ones and those that are often good first, for where time is short."""

_CLASSIFIERS_ONLY = ("discriminant", "naive_bayes")
_LIBRARIES = ("lightgbm", "xgboost")
