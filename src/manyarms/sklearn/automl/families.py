"""The model families for tables: each has a pipeline and a search space that starts with a good default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ...spaces import Choice, Float, Int, Space
from ..training.resources import EARLY_STOPPING, SOLVER
from .family import Family, Task
from .prepare import Prepare

_QUICK_ROWS = 3_000  # up to this many rows, a support vector machine is fitted in a single step
_ROWS_PER_LEAF = 20_000  # rows of the table for each further row in a leaf of a forest


def _family(prepare: Prepare, model: Any, space: dict[str, Any], first: dict[str, Any], **slices: Any) -> Family:
    """A family. Parameters without a prefix are those of the model; those of the preparation start with `prepare__`."""
    place = "model__regressor__" if isinstance(model, TransformedTargetRegressor) else "model__"

    def named(parameters: dict[str, Any]) -> dict[str, Any]:
        return {name if name.startswith("prepare__") else f"{place}{name}": value for name, value in parameters.items()}

    pipeline = Pipeline([("prepare", prepare), ("model", model)])
    return Family(pipeline, Space(**named(space)).first(named(first)), **slices)


def _with_scaled_target(model: Any) -> TransformedTargetRegressor:
    """A model that needs a target with a standard deviation of about 1."""
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


def _neighbors(task: Task) -> Family:
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

    model = SVC(cache_size=500) if task.classifies else _with_scaled_target(SVR(cache_size=500))
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

    return _forest_of(RandomForestClassifier if task.classifies else RandomForestRegressor, task)


def _extra_trees(task: Task) -> Family:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return _forest_of(ExtraTreesClassifier if task.classifies else ExtraTreesRegressor, task)


def _forest_of(kind: Any, task: Task) -> Family:
    """A forest, which is trained a few trees at a time."""
    model = kind(n_estimators=task.trees, max_leaf_nodes=task.leaves(task.trees))
    smallest = 1 + task.rows // _ROWS_PER_LEAF
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
        "prepare__categories": Choice("native", "encode"),
    }
    first = {
        "learning_rate": 0.1,
        "num_leaves": 31 if task.is_large else 16,
        "min_child_samples": 20 if task.is_large else 10,
        "colsample_bytree": 0.7,
        "subsample": 0.8,
        "reg_lambda": 1e-3,
        "prepare__categories": "native" if task.is_large else "encode",
    }
    return _family(_UNFILLED, model, space, first, resource="model__n_estimators", max_steps=8)


def _catboost(task: Task) -> Family:
    from .catboost_models import TableCatBoostClassifier, TableCatBoostRegressor

    model = (TableCatBoostClassifier if task.classifies else TableCatBoostRegressor)(
        n_estimators=task.rounds,
        learning_rate=0.1,
        random_seed=0,
        thread_count=1,
        logging_level="Silent",
        allow_writing_files=False,
    )
    space = {
        "learning_rate": Float(0.03, 0.3, log=True),
        "depth": Int(3, 8),
        "l2_leaf_reg": Float(1, 30, log=True),
        "random_strength": Float(0.1, 10, log=True),
        "one_hot_max_size": Choice(2, 10, 30),
    }
    first = {
        "learning_rate": 0.1,
        "depth": 6,
        "l2_leaf_reg": 3.0,
        "random_strength": 1.0,
        "one_hot_max_size": 2,
    }
    return _family(Prepare(fill=False, categories="native"), model, space, first, resource=EARLY_STOPPING)


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
    model = MLPClassifier(max_iter=epochs) if task.classifies else _with_scaled_target(MLPRegressor(max_iter=epochs))
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


FAMILIES: dict[str, Callable[[Task], Family]] = {
    "linear": _linear,
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "forest": _forest,
    "svm": _svm,
    "extra_trees": _extra_trees,
    "boosting": _boosting,
    "network": _network,
    "discriminant": _discriminant,
    "xgboost": _xgboost,
    "neighbors": _neighbors,
    "tree": _tree,
    "naive_bayes": _naive_bayes,
}
"""The families by name, in the order in which they are tried: fast families and those that are often good come first."""

CLASSIFIERS_ONLY = ("discriminant", "naive_bayes")
"""Families that cannot predict numbers."""

LIBRARIES = ("lightgbm", "xgboost", "catboost")
"""Families that need a package of the same name."""
