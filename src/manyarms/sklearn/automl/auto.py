"""AutoClassifier and AutoRegressor: find and train a good model for a table."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, check_is_fitted

from ... import checks
from ...errors import ManyarmsWarning
from ...html.notebook import html_or_nothing
from ..training.fitting import count_rows
from .auto_html import auto_html
from .auto_study import AutoStudy
from .column_kinds import NOTHING, as_table, check_useful, kinds_of
from .ensemble import average, probabilities
from .final_model import FinalModel
from .folds import group_folds
from .importances import RowSample, shuffled_importances
from .leaderboard import leaderboard, pulls_frame
from .leaks import find_leaks
from .notes import leak_notes, notes_on, number_notes
from .settings import Data, Settings
from .sparse_tables import as_sparse, is_sparse, sparse_kinds
from .targets import Target, class_target, number_target
from .task import doubt_about

_SECONDS = 60.0


class Auto(BaseEstimator):  # type: ignore[misc]
    """The base class of `AutoClassifier` and `AutoRegressor`.

    Each model family (linear, nearest neighbors, naive Bayes, trees, forests, boosting, networks, ...) has its own search, and
    a `Cascade` decides which family trains next. The best models form an ensemble.

    Args:
        time_budget: Total time of `fit`, in seconds or as a string such as "5m". By default one minute, or no limit if
            `budget` is set.
        budget: Total number of training steps. The same seed then gives the same result.
        scoring: Name of a scikit-learn scorer, or a scorer. By default accuracy or R².
        families: Names of the families to search. By default all that are installed and fast enough for the table.
        ensemble: Whether to build an ensemble of the best models. If False, the best model is used.
        cv: Number of folds, where 1 means a single validation set; "auto" to choose by the number of rows; a scikit-learn
            splitter; or the folds themselves.
        n_jobs: Number of worker processes; -1 for one per core, -2 for all cores but one, and so on.
        storage: Where to store the journal, such as "fit.db". A fit that was killed resumes if it is run again.
        name: Name of the study in the storage.
        random_state: Random seed.
        progress: Whether to show the progress.
        force: Whether to accept a target that looks like a row identifier or free text.
        max_predict_ms: Maximum time for the ensemble to predict 1,000 rows, in milliseconds, without preparing them. It is
            measured for each model during the search.
        max_model_mb: Maximum size of the ensemble, in megabytes.
        exclude_leaks: Whether to exclude columns that number or identify the rows and predict the target almost perfectly.

    Attributes:
        leaderboard_: A row for each model that was tried, the best first.
        members_: The models of the ensemble, with weight, family and arm.
        best_family_, best_config_, best_score_: The best single model.
        ensemble_score_: The score of the ensemble on the validation rows that were used to select it.
        n_folds_: Number of folds of the cross-validation; 1 means a single validation set.
        baseline_score_: The cross-validated score of a constant baseline. If no model reaches it, the prediction is constant.
        predict_ms_, model_mb_: Time for the ensemble to predict 1,000 prepared rows, in milliseconds, and its size in
            megabytes, as measured during the search.
        pulls_: A row for each slice of training, in order.
        interrupted_: Whether Ctrl-C ended the search.
        columns_: The kind of each column.
        formats_: How numbers are written in columns of text, by position.
        excluded_: The columns that were excluded as leaks, each with the reason.
        notes_: Notes on anything unusual about the model.
        feature_importances_: The importances of the columns, which sum to 1: how much the error increases when a column is
            shuffled. They are computed on first access, from 200 training rows that are stored with the model.
    """

    _importances: NDArray[np.float64] | None

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
        max_predict_ms: float | None = None,
        max_model_mb: float | None = None,
        exclude_leaks: bool = True,
    ) -> None:
        self.time_budget, self.budget, self.scoring, self.families = time_budget, budget, scoring, families
        self.ensemble, self.cv, self.n_jobs, self.storage, self.name = ensemble, cv, n_jobs, storage, name
        self.random_state, self.progress, self.force, self.exclude_leaks = random_state, progress, force, exclude_leaks
        self.max_predict_ms, self.max_model_mb = max_predict_ms, max_model_mb

    def _search(self, X: Any, target: Target, sample_weight: Any, groups: Any = None) -> None:
        """The part of `fit` that does not depend on the task."""
        settings = self._settings()
        if not checks.flag("force", self.force):
            _check_doubt(target)
        _check_feature_names(self, _with_names(X), reset=True)
        self._is_sparse = is_sparse(X)
        table = as_sparse(X) if self._is_sparse else as_table(X)
        n = count_rows(table)
        if n != len(target.values):
            raise ValueError(f"X and y must have the same number of rows, got {n} and {len(target.values)}")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, table, ensure_non_negative=True, allow_all_zero_weights=False)
        self.n_features_in_ = table.shape[1]
        kinds = sparse_kinds(table) if self._is_sparse else kinds_of(table)
        check_useful(kinds)
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        leaks: dict[int, str] = {}
        if checks.flag("exclude_leaks", self.exclude_leaks) and not self._is_sparse:  # row numbers and ids are not sparse
            leaks = find_leaks(table, list(names), kinds, target)
        kinds = [NOTHING if place in leaks else kind for place, kind in enumerate(kinds)]
        self.excluded_ = {names[place]: reason for place, reason in leaks.items()}
        if groups is not None:
            labels = target.values if target.n_classes else None
            settings = replace(settings, cv=group_folds(self.cv, labels, groups, n, settings.seed or 0))
        self.columns_ = pd.DataFrame({"column": list(names), "kind": kinds})
        with closing(AutoStudy(Data(table, target, sample_weight), kinds, settings)) as search:
            search.run()
            self.interrupted_, self.n_folds_ = search.study.interrupted, search.plan.folds
            self.formats_ = search.columns.formats
            final = FinalModel(search)
            self.leaderboard_, self.pulls_ = leaderboard(search, final), pulls_frame(search)
            self.notes_ = leak_notes(self.excluded_)
            self.notes_ += [] if self._is_sparse else number_notes(table, search.columns, list(map(str, names)))
            self.notes_ += notes_on(search, final, list(map(str, names)))
        for note in self.notes_:
            warnings.warn(note, ManyarmsWarning, stacklevel=3)
        self.members_, self.ensemble_score_, self.baseline_score_ = final.members, final.score, search.baseline.score
        self.predict_ms_ = sum(member.predict_ms for member in final.members)
        self.model_mb_ = sum(member.model_mb for member in final.members)
        self._sample, self._importances = RowSample.of(table, target), None
        best = self.leaderboard_.iloc[0]
        self.best_family_, self.best_config_, self.best_score_ = best["family"], best["config"], float(best["score"])

    def _settings(self) -> Settings:
        """The settings, checked."""
        steps = None if self.budget is None else checks.whole("budget", self.budget, 1)
        seconds = None if self.time_budget is None else checks.seconds("time_budget", self.time_budget)
        return Settings(
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
            max_predict_ms=_limit("max_predict_ms", self.max_predict_ms),
            max_model_mb=_limit("max_model_mb", self.max_model_mb),
        )

    def _predictions(self, rows: Any) -> NDArray[np.float64]:
        """Class probabilities or numbers for rows that are already checked."""
        raise NotImplementedError

    def _rows(self, X: Any) -> Any:
        """The table to predict, checked to have the columns of `fit`."""
        check_is_fitted(self, "members_")
        _check_feature_names(self, _with_names(X), reset=False)
        table = as_sparse(X) if self._is_sparse else as_table(X)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {table.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        return table

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the columns, which sum to 1, or are all 0 if the predictions are constant."""
        check_is_fitted(self, "members_")
        if self._importances is None:
            self._importances = shuffled_importances(self._predictions, self._sample, list(self.columns_["kind"]))
        return self._importances.copy()

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, once fitted, what the search found."""
        return str(super()._html_repr()) + html_or_nothing(auto_html, self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.budget is None
        return tags


class AutoClassifier(ClassifierMixin, Auto):  # type: ignore[misc]
    """Finds and trains an ensemble of classifiers for a table. For arguments and attributes see `Auto`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoClassifier(budget=30, families=["linear", "discriminant", "tree"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AutoClassifier:
        """Search, and train the final model.

        Args:
            X: A table of numbers, categories, dates and text, with or without missing values. A sparse matrix, or a frame of
                sparse columns, stays sparse, and families that need a dense table are not used.
            y: The classes, as numbers or text.
            sample_weight: Sample weights. Families that do not support them are not used.
            groups: The group of each row. The rows of a group are never divided between training and validation.
        """
        target = class_target(y)
        self.classes_: Any = target.classes
        self._search(X, target, sample_weight, groups)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        return self._predictions(self._rows(X))

    def _predictions(self, rows: Any) -> NDArray[np.float64]:
        """The probabilities for rows that are already checked."""
        classes = len(self.classes_)
        return average(self.members_, rows, lambda model, X, factor: probabilities(model, X, classes, factor))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probability of each class; minus infinity if it is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        predicted = self.predict_proba(X)
        return np.asarray(self.classes_[predicted.argmax(axis=1)])


class AutoRegressor(RegressorMixin, Auto):  # type: ignore[misc]
    """Finds and trains an ensemble of regressors for a table. For arguments and attributes see `Auto`.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AutoRegressor(budget=30, families=["linear", "tree"], random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.4
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AutoRegressor:
        """Search, and train the final model.

        Args:
            X: A table of numbers, categories, dates and text, with or without missing values. A sparse matrix, or a frame of
                sparse columns, stays sparse, and families that need a dense table are not used.
            y: Numbers.
            sample_weight: Sample weights. Families that do not support them are not used.
            groups: The group of each row. The rows of a group are never divided between training and validation.
        """
        self._search(X, number_target(y), sample_weight, groups)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number for each row."""
        return self._predictions(self._rows(X))

    def _predictions(self, rows: Any) -> NDArray[np.float64]:
        """The predictions for rows that are already checked."""
        return average(self.members_, rows, lambda model, rows, factor: np.asarray(model.predict(rows), dtype=float))


def _check_doubt(target: Target) -> None:
    """Raise an error if the target looks like a row identifier or free text."""
    values = target.values if target.classes is None else target.classes[target.values]
    if (doubt := doubt_about(pd.Series(values, name="y"), target.task)) is not None:
        raise ValueError(f"Nothing useful can be predicted: {doubt}. Choose another target, or set force=True.")


def _with_names(X: Any) -> Any:
    """The table if its column names are unique; otherwise an array without names."""
    return X if not isinstance(X, pd.DataFrame) or X.columns.is_unique else X.to_numpy(dtype=object)


def _limit(name: str, value: float | None) -> float | None:
    return None if value is None else checks.positive(name, value)


def _workers(n_jobs: int | None) -> int:
    """The number of processes. As in scikit-learn, -1 means one per core, and -2 means one less.

    >>> _workers(None), _workers(3), _workers(-1) - _workers(-2) <= 1
    (1, 3, True)
    """
    if n_jobs is not None and n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + checks.whole("n_jobs", n_jobs, -(10**6)))
    return 1 if n_jobs is None else checks.whole("n_jobs", n_jobs, 1)
