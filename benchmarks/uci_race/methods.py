"""Who takes part, by name. Each fits a model in the time of a task and says in a few words which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from .sets import Task

Fitted = tuple[Any, str]
"""A model that predicts, and a few words on it."""


@dataclass(frozen=True, slots=True)
class Method:
    """One line of the table.

    Attributes:
        title: in the table.
        library: whose version goes with the results.
        modules: imported before the clock is started.
        fit: what is measured.
        timed: uses all the time it gets.
    """

    title: str
    library: str
    modules: tuple[str, ...]
    fit: Callable[[Task], Fitted]
    timed: bool = True

    def load(self) -> None:
        """Import what it needs."""
        for module in self.modules:
            import_module(module)

    @property
    def version(self) -> str:
        """Of its library."""
        return f"{self.library} {version(self.library)}"


def ours(task: Task, ensemble: bool = True) -> Fitted:
    """`AutoClassifier`, with its defaults."""
    from manyarms.sklearn import AutoClassifier

    model = AutoClassifier(time_budget=task.seconds, ensemble=ensemble, n_jobs=task.cores, random_state=task.seed)
    model.fit(task.X, task.y)
    members = "+".join(member.family for member in model.members_)
    return model, f"{members} {model.best_score_:.4f}, {len(model.leaderboard_)} candidates"


def single(task: Task) -> Fitted:
    """`AutoClassifier` without its ensemble."""
    return ours(task, ensemble=False)


def searched(search: str) -> Callable[[Task], Fitted]:
    """A search of `peers`, then the refit of what it found."""

    def fit(task: Task) -> Fitted:
        from . import peers
        from .candidates import Candidates
        from .searches import best_in_time

        candidates = Candidates(task)
        best, tried = best_in_time(getattr(peers, search), task, candidates)
        return candidates.refit(best.family, best.config), f"{best.family} {best.score:.4f}, {tried} candidates"

    return fit


def flaml(task: Task) -> Fitted:
    """FLAML, with its own estimators, searches and ways to validate. It reads categories and gaps itself."""
    from flaml import AutoML

    model = AutoML()
    limits = {"time_budget": task.seconds, "n_jobs": task.cores, "seed": task.seed}
    model.fit(X_train=task.X, y_train=task.y, task="classification", metric="accuracy", verbose=0, **limits)
    return model, f"{model.best_estimator} {1 - model.best_loss:.4f}"


def lightgbm(task: Task) -> Fitted:
    """LightGBM as it comes. It reads categories and gaps itself."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=task.cores, random_state=task.seed, verbose=-1).fit(task.X, task.y), ""


def forest(task: Task) -> Fitted:
    """A random forest as it comes: gaps filled, and categories as indicators, which suits it better here than codes."""
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
