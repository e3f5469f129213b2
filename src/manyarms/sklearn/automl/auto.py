"""AutoClassifier and AutoRegressor: a table in, a good trained model out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, check_is_fitted

from ... import checks
from ...errors import ManyarmsWarning
from .auto_study import Contest, Data, Rules
from .columns import as_table, check_useful, kinds_of
from .ensemble import average, probabilities
from .final_model import Lineup
from .notes import notes_on
from .targets import Target, class_target, number_target
from .task import doubt_about

_SECONDS = 60.0


class Auto(BaseEstimator):  # type: ignore[misc]
    """What both have: a search over families of models, prepared, ranked and put together. Use one of the two below.

    Each family (linear, neighbours, naive Bayes, trees, forests, boosting, networks, ...) is searched by a strategy of its own,
    and a `Cascade` decides which of them trains next, a slice at a time. The best models form an ensemble.

    Args:
        time_budget: seconds for all of `fit`, or text such as "5m"; None with a budget in steps. By default a minute.
        budget: steps of training in all: same seed, same result, which time does not give.
        metric: the name of a scorer of scikit-learn's, or one itself. By default accuracy, or R².
        families: names of those to search; None for all that are installed and quick enough for so many rows.
        ensemble: put the best models together; else the best one is taken.
        cv: how many folds; 1 is a holdout; "auto" goes by the number of rows. Or a splitter of scikit-learn's, or the folds.
        n_jobs: worker processes; -1 for one a core.
        storage: where the journal is kept, such as "fit.db": a fit that was killed goes on if it is run again.
        name: of the study there.
        random_state: a seed.
        progress: show how it goes.
        force: Accept a target that looks like names of rows or free text.

    Attributes:
        leaderboard_: a row for each model tried, the best first.
        members_: the ensemble: weight, family and arm of each, and its models.
        best_family_, best_config_, best_score_: of the best single model.
        ensemble_score_: of all of them together, on the rows held out that it was chosen by.
        baseline_score_: of a model that always says the same.
        pulls_: a row for each slice of training, in order.
        interrupted_: the search was ended by Ctrl-C.
        columns_: what each column was taken for.
        notes_: What is unusual about the model, a line each.
    """

    def __init__(
        self,
        time_budget: float | str | None = None,
        *,
        budget: int | None = None,
        scoring: Any = None,
        families: Sequence[str] | None = None,
        ensemble: bool = True,
        cv: Any = "auto",
        n_jobs: int | None = None,
        storage: str | os.PathLike[str] | None = None,
        name: str = "auto",
        random_state: int | None = None,
        progress: bool = False,
        force: bool = False,
    ) -> None:
        self.time_budget, self.budget, self.scoring, self.families = time_budget, budget, scoring, families
        self.ensemble, self.cv, self.n_jobs, self.storage, self.name = ensemble, cv, n_jobs, storage, name
        self.random_state, self.progress, self.force = random_state, progress, force

    def _search(self, X: Any, target: Target, sample_weight: Any) -> None:
        """Fit: everything that does not depend on the task."""
        rules = self._rules()
        if not checks.flag("force", self.force):
            _refuse_doubtful(target)
        _check_feature_names(self, _with_names(X), reset=True)
        table = as_table(X)
        if len(table) != len(target.values):
            raise ValueError(f"X and y must have as many rows, got {len(table)} and {len(target.values)}")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, table, ensure_non_negative=True, allow_all_zero_weights=False)
        self.n_features_in_ = table.shape[1]
        kinds = kinds_of(table)
        check_useful(kinds)
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        self.columns_ = pd.DataFrame({"column": list(names), "kind": kinds})
        with closing(Contest(Data(table, target, sample_weight), kinds, rules)) as contest:
            contest.run()
            self.interrupted_ = contest.study.interrupted
            lineup = Lineup(contest)
            weights = {member.arm: member.weight for member in lineup.members}
            self.leaderboard_, self.pulls_ = contest.leaderboard(weights), contest.pulls()
            self.notes_ = notes_on(contest, lineup.members, list(map(str, names)))
        for note in self.notes_:
            warnings.warn(note, ManyarmsWarning, stacklevel=3)
        self.members_, self.ensemble_score_, self.baseline_score_ = lineup.members, lineup.score, contest.baseline
        best = self.leaderboard_.iloc[0]
        self.best_family_, self.best_config_, self.best_score_ = best["family"], best["config"], float(best["score"])

    def _rules(self) -> Rules:
        """The settings, checked."""
        steps = None if self.budget is None else checks.whole("budget", self.budget, 1)
        seconds = None if self.time_budget is None else checks.seconds("time_budget", self.time_budget)
        return Rules(
            seconds=_SECONDS if steps is None and seconds is None else seconds,
            steps=steps,
            scoring=self.scoring,
            families=self.families,
            ensemble=checks.flag("ensemble", self.ensemble),
            cv=self.cv,
            workers=_workers(self.n_jobs),
            storage=self.storage,
            name=self.name,
            seed=None if self.random_state is None else checks.whole("random_state", self.random_state, 0),
            progress=checks.flag("progress", self.progress),
        )

    def _rows(self, X: Any) -> pd.DataFrame:
        """A table to be told about, with the columns that it was fitted with."""
        check_is_fitted(self, "members_")
        _check_feature_names(self, _with_names(X), reset=False)
        table = as_table(X)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {table.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.budget is None
        return tags


class AutoClassifier(ClassifierMixin, Auto):  # type: ignore[misc]
    """Finds, trains and puts together the best classifiers for a table. For arguments and attributes see `Auto`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoClassifier(budget=30, families=["linear", "discriminant", "tree"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AutoClassifier:
        """Search, train, and put together.

        Args:
            X: a table of anything: numbers, categories, dates, text, with gaps.
            y: the classes: numbers or text.
            sample_weight: of the rows; families that know none are left out.
        """
        target = class_target(y)
        self.classes_: Any = target.classes
        self._search(X, target, sample_weight)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        rows = self._rows(X)
        classes = len(self.classes_)
        return average(self.members_, rows, lambda model, X, factor: probabilities(model, X, classes, factor))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        said = self.predict_proba(X)
        return np.asarray(self.classes_[said.argmax(axis=1)])


class AutoRegressor(RegressorMixin, Auto):  # type: ignore[misc]
    """Finds, trains and puts together the best regressors for a table. For arguments and attributes see `Auto`.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AutoRegressor(budget=30, families=["linear", "tree"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.4
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AutoRegressor:
        """Search, train, and put together.

        Args:
            X: a table of anything: numbers, categories, dates, text, with gaps.
            y: numbers.
            sample_weight: of the rows; families that know none are left out.
        """
        self._search(X, number_target(y), sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """A number for each row."""
        rows = self._rows(X)
        return average(self.members_, rows, lambda model, rows, factor: np.asarray(model.predict(rows), dtype=float))


def _refuse_doubtful(target: Target) -> None:
    """Refuse a target that looks like names of rows or free text."""
    values = target.values if target.classes is None else target.classes[target.values]
    if (doubt := doubt_about(pd.Series(values, name="y"), target.task)) is not None:
        raise ValueError(f"y must be something to predict, but {doubt}. Choose another target, or set force=True")


def _with_names(X: Any) -> Any:
    """The table if its columns can be told apart by their names; else as one that has none."""
    return X if not isinstance(X, pd.DataFrame) or X.columns.is_unique else X.to_numpy(dtype=object)


def _workers(n_jobs: int | None) -> int:
    if n_jobs == -1:
        return os.cpu_count() or 1
    return 1 if n_jobs is None else checks.whole("n_jobs", n_jobs, 1)
