"""Turn a table into numbers: missing values, categories, dates, text and scaling."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer, StandardScaler, TargetEncoder
from sklearn.utils.validation import check_is_fitted

from .column_kinds import CATEGORY, DATE, MANY, NOTHING, NUMBER, TEXT, as_table, check_useful, kinds_of, topics_per_text
from .conversions import HUGE, column_format, date_parts, is_day_first, number_matrix, texts_of, words_of
from .number_formats import NumberFormat

_TERMS = 5_000  # size of the vocabulary of a text
_TEXTS = 20_000  # rows from which topics are learned
_CLASSES = 10  # largest number of classes for target encoding
_FREQUENT = 50  # one-hot encoded categories, if there are more classes
_NATIVE = 1_000  # native categories of a column, at most; the rest are a category together
_CODES = "codes"  # name of the step that makes native categories
_FALLBACK_KIND = {NUMBER: MANY, DATE: MANY, TEXT: MANY, CATEGORY: NOTHING, MANY: NOTHING}
"""The kind of a column that cannot be converted as its kind."""


class Prepare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns any table into numbers.

    Infinite numbers become missing. Dates become a time and its parts. Categories are one-hot encoded or, if there are many,
    target encoded. Text becomes up to 100 topics. Columns that are constant, empty, or only identify the rows are dropped.

    Args:
        scale: None, "standard", or "quantile" (to a normal distribution).
        fill: Whether to impute missing numbers by the median and add a column that marks them; else they stay NaN.
        kinds: What each column holds, as returned by `kinds_of`. By default the columns are inspected.
        formats: How numbers are written in columns of text, as returned by `column_formats`. By default the columns are
            inspected.
        categories: "encode" (one-hot or target encoded), or "native": a frame with categorical columns, for models that
            support them.
        target_type: "continuous", "binary" or "multiclass". With "auto", floats are numbers and anything else is a class.
        random_state: Random seed for the topics and of the folds of the target encoding.

    Attributes:
        kinds_: The kind of each column.
        demoted_: For columns that could not be converted as their kind, the kinds before and after, by position.

    >>> import pandas as pd
    >>> Prepare().fit_transform(pd.DataFrame({"size": [1.0, None, 3.0], "color": ["red", "blue", "red"]}))
    array([[1., 0., 1.],
           [2., 1., 0.],
           [3., 0., 1.]])
    """

    def __init__(
        self,
        scale: str | None = None,
        fill: bool = True,
        kinds: Sequence[str] | None = None,
        target_type: str = "auto",
        random_state: int | None = None,
        categories: str = "encode",
        formats: Mapping[int, NumberFormat] | None = None,
    ) -> None:
        self.scale, self.fill, self.kinds, self.target_type = scale, fill, kinds, target_type
        self.random_state, self.categories, self.formats = random_state, categories, formats

    def fit(self, X: Any, y: Any = None) -> Prepare:
        """Learn from a table."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Learn from a table and transform it. The target encoding of a row is learned from other rows."""
        table = as_table(X)
        self.n_features_in_ = table.shape[1]
        self.kinds_ = kinds_of(table) if self.kinds is None else list(self.kinds)
        self.demoted_: dict[int, tuple[str, str]] = {}
        y = np.asarray(y, dtype=float) if self.target_type == "continuous" and y is not None else y
        try:
            return self._learn(table, y)
        except MemoryError:
            raise
        except Exception:
            if not self._demote(table, y):
                raise
            return self._learn(table, y)

    def transform(self, X: Any) -> Any:
        """Transform a table into numbers."""
        check_is_fitted(self, "transformer_")
        table = as_table(X)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have the {self.n_features_in_} columns it was fitted with, got {table.shape[1]}")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Found unknown categories")
            return self._framed(_finite(self.transformer_.transform(table)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the output columns."""
        return np.asarray(self.transformer_.get_feature_names_out(), dtype=object)

    def _learn(self, table: Any, y: Any) -> Any:
        check_useful(self.kinds_)
        self.transformer_ = ColumnTransformer(self._steps(enumerate(self.kinds_), y, len(table)), sparse_threshold=0.0)
        rows = _finite(self.transformer_.fit_transform(table, y))
        codes = self.transformer_.output_indices_.get(_CODES, slice(0, 0))
        self.levels_ = {place: int(rows[:, place].max()) + 1 for place in range(codes.start, codes.stop)}
        return self._framed(rows)

    def _framed(self, rows: NDArray[np.float64]) -> Any:
        """The rows; if there are native categories, as a frame."""
        if not self.levels_:
            return rows
        columns: dict[str, Any] = {f"c{place}": rows[:, place] for place in range(rows.shape[1])}
        for place, levels in self.levels_.items():
            codes = np.nan_to_num(rows[:, place], nan=-1).astype(np.int64)
            columns[f"c{place}"] = pd.Categorical.from_codes(codes, categories=pd.RangeIndex(levels))
        return pd.DataFrame(columns)

    def _demote(self, table: Any, y: Any) -> bool:
        """Give each column that cannot be converted a simpler kind; returns whether there was one."""
        for place, kind in enumerate(self.kinds_):
            while kind != NOTHING and not self._converts(table, place, kind, y):
                kind = _FALLBACK_KIND[kind]
            if kind != self.kinds_[place]:
                self.demoted_[place] = (self.kinds_[place], kind)
                self.kinds_[place] = kind
        return bool(self.demoted_)

    def _converts(self, table: Any, place: int, kind: str, y: Any) -> bool:
        try:
            ColumnTransformer(self._steps([(place, kind)], y, len(table))).fit_transform(table, y)
        except MemoryError:
            raise
        except Exception:  # anything, depending on the column
            return False
        return True

    def _steps(self, kinds: Any, y: Any, rows: int) -> list[tuple[str, Pipeline, Any]]:
        """The transformers for columns of these positions and kinds."""
        columns: dict[str, list[int]] = {kind: [] for kind in (NUMBER, CATEGORY, MANY, DATE, TEXT, NOTHING)}
        for place, kind in kinds:
            columns[kind].append(place)
        return [*self._numeric(columns, rows), *self._categorical(columns, y, rows), *self._texts(columns[TEXT])]

    def _numeric(self, columns: dict[str, list[int]], rows: int) -> list[tuple[str, Pipeline, list[int]]]:
        """Numbers and dates, imputed and scaled."""
        known = self.formats or {}
        reading = {NUMBER: _Reader(NUMBER, [known.get(place) for place in columns[NUMBER]]), DATE: _Reader(DATE)}
        after: list[Any] = [SimpleImputer(strategy="median", add_indicator=True)] if self.fill else []
        if self.scale == "standard":
            after.append(StandardScaler())
        elif self.scale == "quantile":
            normal = QuantileTransformer(n_quantiles=min(1_000, rows), output_distribution="normal")
            after.append(normal.set_params(random_state=self.random_state))
        return [(kind, make_pipeline(reader, *after), columns[kind]) for kind, reader in reading.items() if columns[kind]]

    def _categorical(self, columns: dict[str, list[int]], y: Any, rows: int) -> list[tuple[str, Pipeline, list[int]]]:
        """Categories, one-hot or target encoded, or as codes if they are native."""
        if self.categories == "native":
            unknown: dict[str, Any] = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
            places = sorted(columns[CATEGORY] + columns[MANY])
            codes = make_pipeline(_Reader(CATEGORY), OrdinalEncoder(max_categories=_NATIVE, **unknown))
            return [(_CODES, codes, places)] if places else []
        steps = []
        if columns[CATEGORY]:
            each = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
            steps.append((CATEGORY, make_pipeline(_Reader(CATEGORY), each), columns[CATEGORY]))
        if columns[MANY] and y is not None:
            steps.append((MANY, make_pipeline(_Reader(CATEGORY), *self._averages(y, rows)), columns[MANY]))
        return steps

    def _averages(self, y: Any, rows: int) -> list[Any]:
        """Target encoding. With many classes, which would be a column each, the frequent categories are one-hot encoded."""
        target_type = target_type_of(y) if self.target_type == "auto" else self.target_type
        if target_type == "multiclass" and len(np.unique(y)) > _CLASSES:
            return [OneHotEncoder(max_categories=_FREQUENT, handle_unknown="infrequent_if_exist", sparse_output=False)]
        folds = KFold(min(5, rows), shuffle=True, random_state=self.random_state)
        return [TargetEncoder(target_type=target_type, cv=folds), *([StandardScaler()] if self.scale else [])]

    def _texts(self, columns: list[int]) -> list[tuple[str, Pipeline, int]]:
        """The topics of each text."""
        return [
            (
                f"{TEXT}{column}",
                make_pipeline(_Reader(TEXT), _Topics(topics_per_text(len(columns)), self.random_state)),
                column,
            )  # each with its own vocabulary
            for column in columns
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def target_type_of(y: Any) -> str:
    """The type of a target, as in scikit-learn, by its dtype: floats are continuous, even if they are whole numbers.

    >>> target_type_of([1.0, 2.0, 3.0]), target_type_of([1, 2, 3]), target_type_of(["a", "b"])
    ('continuous', 'multiclass', 'binary')
    """
    values = np.asarray(y)
    if values.dtype.kind == "f":
        return "continuous"
    return "binary" if len(np.unique(values)) == 2 else "multiclass"


def _finite(rows: Any) -> NDArray[np.float64]:
    rows = np.asarray(rows, dtype=np.float64)
    return np.asarray(np.clip(rows, -HUGE, HUGE))  # NaN stays NaN


class _Reader(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Converts columns to numbers, parts of dates, categories or text.

    Args:
        kind: The kind of the columns.
        formats: How the numbers of each column are written; None for columns that are inspected.
    """

    def __init__(self, kind: str, formats: Sequence[NumberFormat | None] = ()) -> None:
        self.kind, self.formats = kind, formats

    def fit(self, X: Any, y: Any = None) -> _Reader:
        self.day_first_ = [is_day_first(X[column]) for column in X] if self.kind == DATE else []
        self.formats_ = [known or column_format(X[column]) for column, known in zip(X, self.formats, strict=False)]
        return self

    def transform(self, X: Any) -> Any:
        if self.kind == TEXT:
            return texts_of(X)
        if self.kind == NUMBER:
            return number_matrix(X, getattr(self, "formats_", None))  # models saved by version 0.1 have none
        if self.kind == DATE:
            return np.column_stack([date_parts(X[column], first) for column, first in zip(X, self.day_first_, strict=True)])
        return np.column_stack([words_of(X[column]) for column in X])

    def get_feature_names_out(self, names: Any = None) -> NDArray[Any]:
        parts = ("", " year", " month", " day", " weekday", " hour") if self.kind == DATE else ("",)
        return np.array([f"{name}{part}" for name in names for part in parts], dtype=object)


class _Topics(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Topics: the main components of the word counts of a text column, learned from a sample."""

    def __init__(self, topics: int, random_state: int | None) -> None:
        self.topics, self.random_state = topics, random_state

    def fit(self, X: Any, y: Any = None) -> _Topics:
        some = X
        if len(X) > _TEXTS:
            some = X[np.sort(np.random.default_rng(self.random_state or 0).permutation(len(X))[:_TEXTS])]
        self.words_ = TfidfVectorizer(max_features=_TERMS, token_pattern=r"\S+", sublinear_tf=True)
        terms = self.words_.fit_transform(some)
        self.svd_ = TruncatedSVD(min(self.topics, *terms.shape), random_state=self.random_state).fit(terms)
        return self

    def transform(self, X: Any) -> Any:
        return self.svd_.transform(self.words_.transform(X))

    def get_feature_names_out(self, names: Any = None) -> NDArray[Any]:
        return np.array([f"topic {i}" for i in range(len(self.svd_.components_))], dtype=object)
