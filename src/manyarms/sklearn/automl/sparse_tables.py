"""Sparse tables: most of their values are 0 and are not stored. They are never converted to dense tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .column_kinds import NOTHING, NUMBER
from .conversions import HUGE

_SHARE = 0.5  # minimum share of sparse columns in a frame


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix, or a numeric frame with mostly sparse columns whose fill value is 0.

    >>> import pandas as pd
    >>> is_sparse(pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])})), is_sparse(pd.DataFrame({"a": [0, 0, 1]}))
    (True, False)
    """
    if not isinstance(X, pd.DataFrame):
        return bool(sparse.issparse(X))
    stored = [isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in X.dtypes]
    numeric = all(pd.api.types.is_numeric_dtype(dtype) for dtype in set(X.dtypes))
    return bool(stored) and numeric and float(np.mean(stored)) >= _SHARE


def as_sparse(X: Any) -> Any:
    """Any table of numbers as a sparse matrix of finite numbers and NaN."""
    X = X if isinstance(X, pd.DataFrame) or sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {X.ndim}. Reshape your data if it is a single column.")
    for place, what in ((1, "feature(s)"), (0, "sample(s)")):
        if not X.shape[place]:
            raise ValueError(f"0 {what} (shape={X.shape}) while a minimum of 1 is required.")
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported")
    rows = sparse.csr_matrix(_from_frame(X) if isinstance(X, pd.DataFrame) else X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.data = np.where(np.isfinite(rows.data), np.clip(rows.data, -HUGE, HUGE), np.nan)
    rows.eliminate_zeros()
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # with 32-bit indices if they suffice


def _from_frame(frame: pd.DataFrame) -> Any:
    """The columns of a frame side by side, without making the sparse ones dense."""
    data, rows, counts = list[Any](), list[Any](), list[int]()
    for place in range(frame.shape[1]):
        values = frame.iloc[:, place].array
        if isinstance(values, pd.arrays.SparseArray) and values.fill_value == 0:
            stored, where = values.sp_values, values.sp_index.to_int_index().indices
        else:
            stored = frame.iloc[:, place].to_numpy(dtype=float, na_value=np.nan)
            where = np.flatnonzero(stored)
            stored = stored[where]
        data.append(np.asarray(stored, dtype=float))
        rows.append(where)
        counts.append(len(where))
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csc_matrix((np.concatenate(data), np.concatenate(rows), starts), shape=frame.shape)


def sparse_kinds(rows: Any) -> list[str]:
    """What each column of a sparse matrix holds: numbers, or nothing if it is constant."""
    varies = rows.nanmin(axis=0).toarray() < rows.nanmax(axis=0).toarray()
    return [NUMBER if each else NOTHING for each in varies.ravel()]


def stored_per_row(rows: Any) -> int:
    """The mean number of stored values per row, rounded up.

    >>> from scipy import sparse
    >>> stored_per_row(sparse.csr_matrix([[0, 1, 0], [1, 1, 0]]))
    2
    """
    return max(1, math.ceil(int(rows.nnz) / int(rows.shape[0])))


class PrepareSparse(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Prepares a sparse matrix for a model. Zeros stay zeros, so it stays sparse.

    Args:
        scale: None, "max_abs" (to a largest absolute value of 1) or "standard" (to a standard deviation of 1).
        fill: Whether missing values become 0; otherwise they stay NaN.
        clip: Whether negative values become 0, for models of counts.

    >>> from scipy import sparse
    >>> PrepareSparse(scale="max_abs").fit_transform(sparse.csr_matrix([[0.0, 4.0], [2.0, 1.0]])).toarray()
    array([[0.  , 1.  ],
           [1.  , 0.25]])
    """

    def __init__(self, scale: str | None = None, fill: bool = True, clip: bool = False) -> None:
        self.scale, self.fill, self.clip = scale, fill, clip

    def fit(self, X: Any, y: Any = None) -> PrepareSparse:
        """Learn the scale of each column."""
        rows = self._filled(as_sparse(X))
        self.n_features_in_ = rows.shape[1]
        scaler = None if self.scale is None else MaxAbsScaler() if self.scale == "max_abs" else StandardScaler(with_mean=False)
        self.scaler_ = None if scaler is None else scaler.fit(rows)
        return self

    def transform(self, X: Any) -> Any:
        """The prepared rows, as a sparse matrix."""
        check_is_fitted(self, "scaler_")
        rows = self._filled(as_sparse(X))
        return rows if self.scaler_ is None else self.scaler_.transform(rows)

    def _filled(self, rows: Any) -> Any:
        if self.fill:
            rows.data = np.nan_to_num(rows.data)
        if self.clip:
            rows.data = np.maximum(rows.data, 0.0)
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the output columns, which are those of the input."""
        return np.asarray(range(self.n_features_in_) if input_features is None else input_features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags
