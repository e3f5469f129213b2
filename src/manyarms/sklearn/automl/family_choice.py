"""Which model families are searched for a table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec

from sklearn.base import clone

from ... import checks
from .families import CLASSIFIERS_ONLY, FAMILIES, LIBRARIES
from .family import Family, Task
from .sparse_families import DENSE_ONLY, sparse_family
from .targets import target_type

_MANY_CLASSES = 100


def families(
    names: Collection[str] | None = None, *, classes: int, rows: int = 1_000, columns: int = 10, sparse_columns: int = 0
) -> dict[str, Family]:
    """The families for a problem, by name.

    Args:
        names: Names of the families; None for all that are installed and fast enough for a table of this size.
        classes: Number of classes; 0 for regression.
        rows: Number of rows to train on.
        columns: Approximate number of columns after preparation; of a sparse table, the stored values per row.
        sparse_columns: Number of columns of a sparse table; 0 if the table is dense.

    >>> sorted(families(["linear", "forest"], classes=2))
    ['forest', 'linear']
    """
    task = Task(checks.whole("classes", classes, 0), checks.whole("rows", rows, 1), checks.whole("columns", columns, 1))
    task = replace(task, sparse_columns=checks.whole("sparse_columns", sparse_columns, 0))
    chosen = _default(task) if names is None else _named(names)
    able = [name for name in chosen if task.classifies or name not in CLASSIFIERS_ONLY]
    if not able:
        raise ValueError(f"families must include one for regression, got {', '.join(chosen)}")
    if not sparse_columns:
        return {name: _with_target_type(FAMILIES[name](task), task) for name in able}
    if not (sparse := [name for name in able if name not in DENSE_ONLY]):
        raise ValueError(f"families must include one for sparse tables, got {', '.join(able)}")
    return {name: sparse_family(name, FAMILIES[name](task), task) for name in sparse}


def _with_target_type(family: Family, task: Task) -> Family:
    """The family with the type of the target set, because it cannot be inferred from whole numbers."""
    return replace(family, estimator=clone(family.estimator).set_params(prepare__target_type=target_type(task.classes)))


def _default(task: Task) -> list[str]:
    """All installed families that are fast enough; scikit-learn's boosting only if LightGBM, which is faster, is missing."""
    names = [name for name in FAMILIES if _available(name) and is_fast_enough(name, task)] or ["neighbors"]
    return [name for name in names if name != "boosting" or "lightgbm" not in names]


def is_fast_enough(name: str, task: Task) -> bool:
    """Whether no slice of a family's training takes too long for a table of this size.

    >>> is_fast_enough("svm", Task(classes=2, rows=50_000)), is_fast_enough("lightgbm", Task(classes=1_000, rows=50_000))
    (False, False)
    """
    if name == "svm":  # quadratic in the rows and in the classes
        return task.rows <= 20_000 and task.classes <= 50
    if name == "neighbors":  # distances between the validation rows and all others
        return task.rows * min(task.rows / 4, 10_000) * task.columns <= 3e9
    if name == "discriminant":  # one square matrix per class
        return task.columns <= 500 and task.classes <= _MANY_CLASSES
    if name == "catboost":  # a tree with a value per class in each leaf, and slow with many classes
        return task.classes <= 20
    if name in ("lightgbm", "xgboost", "boosting"):  # one tree per class and round
        return task.classes <= _MANY_CLASSES
    if name == "naive_bayes":  # a Python loop over the classes
        return task.classes <= 2_000
    work = task.rows * task.columns * task.classes
    if name == "network" and task.sparse_columns:  # its weights and their gradients are dense
        return task.rows * task.sparse_columns * max(1, task.classes) <= 5e8
    if name in ("linear", "network"):  # time of an iteration or an epoch
        return work <= 5e8
    if name in ("tree", "forest", "extra_trees"):  # time of a tree: each split inspects every class
        return work <= 3e8 or not task.classifies
    return True


def dense_only(names: Collection[str] | None, classes: int) -> list[str]:
    """The families that are left out because a table is sparse.

    Args:
        names: Names of the families; None for all.
        classes: Number of classes; 0 for regression.
    """
    chosen = _default(Task(classes, 1)) if names is None else _named(names)
    return [name for name in chosen if name in DENSE_ONLY and (classes or name not in CLASSIFIERS_ONLY)]


def _named(names: Collection[str]) -> list[str]:
    if isinstance(names, str) or not names:
        raise ValueError(f"families must be a list of names, got {names!r}")
    for name in names:
        checks.one_of("families", name, tuple(FAMILIES))
        if not _available(name):
            raise ValueError(f"family {name!r} needs {name}: pip install {name}")
    return list(names)


def _available(name: str) -> bool:
    return name not in LIBRARIES or find_spec(name) is not None
