"""The methods, by name. Each fits a model within the time limit of a task and describes it in a few words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from .datasets import Task

Fitted = tuple[Any, str]
"""A fitted model and a short description of it."""


@dataclass(frozen=True, slots=True)
class Method:
    """One line of the table.

    Attributes:
        title: Name in the table.
        library: Distribution whose version is stored with the results.
        modules: Modules to import before the time is measured.
        fit: Fits a model.
        timed: Whether it uses all its time.
    """

    title: str
    library: str
    modules: tuple[str, ...]
    fit: Callable[[Task], Fitted]
    timed: bool = True

    def load(self) -> None:
        """Import its modules."""
        for module in self.modules:
            import_module(module)

    @property
    def version(self) -> str:
        """Name and version of its library."""
        return f"{self.library} {version(self.library)}"


def ours(task: Task, ensemble: bool = True) -> Fitted:
    """`AutoClassifier` with default settings."""
    from manyarms.sklearn import AutoClassifier

    model = AutoClassifier(time_budget=task.seconds, ensemble=ensemble, n_jobs=task.cores, random_state=task.seed)
    model.fit(task.X, task.y)
    members = "+".join(member.family for member in model.members_)
    return model, f"{members} {model.best_score_:.4f}, {len(model.leaderboard_)} candidates"


def single(task: Task) -> Fitted:
    """`AutoClassifier` without its ensemble."""
    return ours(task, ensemble=False)


def searched(search: str) -> Callable[[Task], Fitted]:
    """A search of `peers`, followed by the refit of its best candidate."""

    def fit(task: Task) -> Fitted:
        from . import peers
        from .candidates import Candidates
        from .searches import best_in_time

        candidates = Candidates(task)
        best, tried = best_in_time(getattr(peers, search), task, candidates)
        return candidates.refit(best.family, best.config), f"{best.family} {best.score:.4f}, {tried} candidates"

    return fit


def flaml(task: Task) -> Fitted:
    """FLAML with its own estimators, search and validation. It handles categories and missing values itself."""
    from flaml import AutoML

    model = AutoML()
    limits = {"time_budget": task.seconds, "n_jobs": task.cores, "seed": task.seed}
    model.fit(X_train=task.X, y_train=task.y, task="classification", metric="accuracy", verbose=0, **limits)
    return model, f"{model.best_estimator} {1 - model.best_loss:.4f}"


def lightgbm(task: Task) -> Fitted:
    """LightGBM with default settings. It handles categories and missing values itself."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=task.cores, random_state=task.seed, verbose=-1).fit(task.X, task.y), ""


def forest(task: Task) -> Fitted:
    """A random forest with default settings, imputed values and one-hot categories, which score better here than codes."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    model = make_pipeline(prepare, RandomForestClassifier(n_jobs=task.cores, random_state=task.seed))
    return model.fit(task.X, task.y), ""


_FAMILIES = ("manyarms.sklearn", "uci_race.candidates", "uci_race.peers", "uci_race.searches")

METHODS = {
    "ours": Method("manyarms", "manyarms", _FAMILIES, ours),
    "single": Method("manyarms, single model", "manyarms", _FAMILIES, single),
    "random": Method("RandomizedSearchCV", "scikit-learn", _FAMILIES, searched("at_random")),
    "halving": Method("HalvingRandomSearchCV", "scikit-learn", _FAMILIES, searched("by_halving")),
    "optuna": Method("Optuna, TPE", "optuna", (*_FAMILIES, "optuna"), searched("by_optuna")),
    "flaml": Method("FLAML", "FLAML", ("flaml", "flaml.automl", "lightgbm", "xgboost"), flaml),
    "lightgbm": Method("LightGBM, default", "lightgbm", ("lightgbm",), lightgbm, timed=False),
    "forest": Method("random forest, default", "scikit-learn", ("sklearn.ensemble", "sklearn.compose"), forest, timed=False),
}
