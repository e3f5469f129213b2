"""From a table of anything to numbers: missing values, categories, dates, text and scales."""

from __future__ import annotations

import warnings
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
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler, TargetEncoder
from sklearn.utils.validation import check_is_fitted

from .columns import CATEGORY, DATE, MANY, NUMBER, TEXT, as_table, dates, kind_of_column, numbers

_TOPICS = 20  # numbers that a text becomes
_TERMS = 5_000  # words of a text that are looked at
_MISSING = "(missing)"


class Prepare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes a table of numbers of any table.

    Numbers stay, infinite ones become missing; dates become a time and its parts; categories a column each, or, where they are
    many, what the target is on average; text a few topics. Columns that never change, hold nothing, or only name the rows go.

    Args:
        scale: None, "standard", or "quantile" (to a normal distribution).
        fill: put the median for missing numbers, and a column that tells so; else they stay NaN.
        random_state: of the topics and of the folds of averages.

    Attributes:
        kinds_: what each column was taken for.

    >>> import pandas as pd
    >>> Prepare().fit_transform(pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]}))
    array([[1., 0., 1.],
           [2., 1., 0.],
           [3., 0., 1.]])
    """

    def __init__(self, scale: str | None = None, fill: bool = True, random_state: int | None = None) -> None:
        self.scale, self.fill, self.random_state = scale, fill, random_state

    def fit(self, X: Any, y: Any = None) -> Prepare:
        """Learn the columns."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> NDArray[np.float64]:
        """Learn the columns, and give the rows as numbers: averages of the target are those of other rows."""
        table = as_table(X)
        self.n_features_in_ = table.shape[1]
        self.kinds_ = [kind_of_column(table[column]) for column in table]
        columns = {
            kind: [i for i, known in enumerate(self.kinds_) if known == kind] for kind in (NUMBER, CATEGORY, MANY, DATE, TEXT)
        }
        if not any(columns.values()):
            raise ValueError(f"none of the {table.shape[1]} columns tells rows apart: they are empty, constant or row names")
        steps = [*self._numeric(columns, len(table)), *self._categorical(columns, y, len(table)), *self._texts(columns[TEXT])]
        self.transformer_ = ColumnTransformer(steps, sparse_threshold=0.0)
        return self._finite(self.transformer_.fit_transform(table, y))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The rows as numbers."""
        check_is_fitted(self, "transformer_")
        table = as_table(X)
        if table.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have the {self.n_features_in_} columns it was fitted with, got {table.shape[1]}")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Found unknown categories")
            return self._finite(self.transformer_.transform(table))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """A name for each number, after the columns'."""
        return np.asarray(self.transformer_.get_feature_names_out(), dtype=object)

    def _numeric(self, columns: dict[str, list[int]], rows: int) -> list[tuple[str, Pipeline, list[int]]]:
        """Numbers and dates, filled and scaled alike."""
        reading = {NUMBER: _Reader(NUMBER), DATE: _Reader(DATE)}
        after: list[Any] = [SimpleImputer(strategy="median", add_indicator=True)] if self.fill else []
        if self.scale == "standard":
            after.append(StandardScaler())
        elif self.scale == "quantile":
            normal = QuantileTransformer(n_quantiles=min(1_000, rows), output_distribution="normal")
            after.append(normal.set_params(random_state=self.random_state))
        return [(kind, make_pipeline(reader, *after), columns[kind]) for kind, reader in reading.items() if columns[kind]]

    def _categorical(self, columns: dict[str, list[int]], y: Any, rows: int) -> list[tuple[str, Pipeline, list[int]]]:
        """A column for each category, or the averages of the target."""
        steps = []
        if columns[CATEGORY]:
            each = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
            steps.append((CATEGORY, make_pipeline(_Reader(CATEGORY), each), columns[CATEGORY]))
        if columns[MANY] and y is not None:
            folds = KFold(min(5, rows), shuffle=True, random_state=self.random_state)
            averages: list[Any] = [TargetEncoder(cv=folds)]
            averages += [StandardScaler()] if self.scale else []
            steps.append((MANY, make_pipeline(_Reader(CATEGORY), *averages), columns[MANY]))
        return steps

    def _texts(self, columns: list[int]) -> list[tuple[str, Pipeline, int]]:
        """The topics of each text."""
        steps = []
        for column in columns:
            words = TfidfVectorizer(max_features=_TERMS, token_pattern=r"\S+", sublinear_tf=True)
            steps.append((f"{TEXT}{column}", make_pipeline(_Reader(TEXT), words, _Topics(self.random_state)), column))
        return steps

    def _finite(self, rows: Any) -> NDArray[np.float64]:
        rows = np.asarray(rows, dtype=np.float64)
        return np.asarray(np.clip(rows, -1e15, 1e15))  # squares of them must stay finite; NaN stays NaN

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


class _Reader(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Reads columns as what they are: numbers, parts of dates, words."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any = None) -> _Reader:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        if self.kind == TEXT:
            return X.fillna("").astype(str)
        if self.kind == CATEGORY:
            return np.column_stack([words_of(X[column]) for column in X])
        read = numbers if self.kind == NUMBER else date_parts
        return np.column_stack([read(X[column]) for column in X])

    def get_feature_names_out(self, names: Any = None) -> NDArray[Any]:
        parts = ("", " year", " month", " day", " weekday", " hour") if self.kind == DATE else ("",)
        return np.array([f"{name}{part}" for name in names for part in parts], dtype=object)


class _Topics(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A few directions in which texts differ most; fewer where there are fewer words."""

    def __init__(self, random_state: int | None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> _Topics:
        self.svd_ = TruncatedSVD(min(_TOPICS, X.shape[1]), random_state=self.random_state).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        return self.svd_.transform(X)

    def get_feature_names_out(self, names: Any = None) -> NDArray[Any]:
        return np.array([f"topic {i}" for i in range(len(self.svd_.components_))], dtype=object)


def words_of(values: pd.Series) -> NDArray[Any]:
    """Categories as text: 1, 1.0 and "1" are the same, and missing is one of them."""
    try:
        places, distinct = pd.factorize(values)
    except TypeError:  # lists, say
        places, distinct = pd.factorize(values.astype(str))
    return np.array([*map(_word, distinct), _MISSING], dtype=object)[places]  # the place of what is missing is -1


def _word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def date_parts(values: pd.Series) -> NDArray[np.float64]:
    """A time in days, and its year, month, day, weekday and hour; NaN where there is none."""
    times = dates(values).dt.tz_localize(None)
    days = (times - pd.Timestamp(0)) / pd.Timedelta(days=1)
    parts = [days, times.dt.year, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour]
    return np.column_stack([part.to_numpy(dtype=float, na_value=np.nan) for part in parts])
