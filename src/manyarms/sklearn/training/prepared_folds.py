"""The rows of the folds, prepared once for all models with the same preparation."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from .candidate import Candidate, Metadata, fit_params, pickled, split, split_fit_params

_PREPARED = 4  # cached preparations of the whole data
_PREPARED_BYTES = 1 << 30  # largest total size of the cached rows


@dataclass(frozen=True, slots=True)
class Fold:
    """The rows of a fold, prepared by the fitted first steps of a pipeline."""

    number: int
    first: Any
    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    fit_params: Mapping[str, Any]


class Preparations:
    """Prepares the rows of the folds and caches them.

    Args:
        X, y: The data.
        folds: For each fold, the rows to train on and the rows to score.
        metadata: Sample weights and other metadata.
        shared: Directory in which fitted preparations are shared with other processes; None to share nothing.
    """

    def __init__(self, X: Any, y: Any, folds: Sequence[tuple[Any, Any]], metadata: Metadata, shared: Path | None) -> None:
        self._X, self._y, self._folds, self._metadata, self._shared = X, y, folds, metadata, shared
        self._prepared: OrderedDict[tuple[int, bytes], Fold] = OrderedDict()
        self._firsts: dict[tuple[int, bytes], Any] = {}  # fitted by other processes

    def fold(self, number: int, estimator: Any, candidate: Candidate) -> Fold:
        """The rows of a fold, as passed to the last step of the estimator."""
        key = _key(number, estimator, candidate)
        if (known := self._prepared.get(key)) is not None:
            self._prepared.move_to_end(key)
            return known
        fold = self._prepared[key] = self._make(number, split(estimator)[0], estimator, candidate)
        if self._shared is not None and fold.first is not None:
            _share(self._shared / _name(key), fold.first)
        while self._are_too_many():
            self._prepared.popitem(last=False)
        return fold

    def _are_too_many(self) -> bool:
        """Whether the oldest rows must be removed from the cache. The newest stay, even if they are large."""
        size = sum(_bytes(rows) for fold in self._prepared.values() for rows in (fold.X_train, fold.X_test))
        number = len(self._prepared)
        return number > _PREPARED * len(self._folds) or (number > 1 and size > _PREPARED_BYTES)

    def first(self, number: int, estimator: Any, candidate: Candidate) -> Any:
        """The fitted first steps for a fold. If another process has shared them, they are not fitted again."""
        key = _key(number, estimator, candidate)
        if self._shared is None or key in self._prepared:
            return self.fold(number, estimator, candidate).first
        if key not in self._firsts:
            try:
                self._firsts[key] = pickle.loads((self._shared / _name(key)).read_bytes())
            except (OSError, EOFError, pickle.UnpicklingError):
                return self.fold(number, estimator, candidate).first
        return self._firsts[key]

    def _make(self, number: int, first: Any, estimator: Any, candidate: Candidate) -> Fold:
        train, test = self._folds[number]
        X_train, y_train = _safe_split(estimator, self._X, self._y, train)
        # for a precomputed kernel, the columns of `train`
        X_test, y_test = _safe_split(estimator, self._X, self._y, test, train)
        rest, own = split_fit_params(
            estimator, _check_method_params(self._X, fit_params(candidate, self._metadata), indices=train)
        )
        if first is not None:
            first = clone(first)  # fitted for this fold only
            X_train, X_test = first.fit_transform(X_train, y_train, **rest), first.transform(X_test)
        return Fold(number, first, X_train, y_train, X_test, y_test, own)

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling, without the caches."""
        return {**vars(self), "_prepared": OrderedDict(), "_firsts": {}}


def joined_rows(one: Any, other: Any) -> Any:
    """The rows of two arrays, frames or sparse matrices."""
    if sparse.issparse(one):
        return sparse.vstack([one, other], format="csr")
    return pd.concat([one, other], ignore_index=True) if isinstance(one, pd.DataFrame) else np.concatenate([one, other])


def _bytes(rows: Any) -> int:
    """The approximate size of an array, a frame or a sparse matrix in memory."""
    if sparse.issparse(rows):
        return sum(part.nbytes for part in vars(rows).values() if isinstance(part, np.ndarray))
    return int(rows.memory_usage().sum()) if isinstance(rows, pd.DataFrame) else getattr(rows, "nbytes", 0)


def _key(number: int, estimator: Any, candidate: Candidate) -> tuple[int, bytes]:
    """The key of a preparation: the fold, the first steps, and the `fit` arguments that only this candidate has."""
    first = split(estimator)[0]
    return number, (b"" if first is None else pickled(first)) + (b"" if candidate.fit_params is None else pickled(candidate))


def _name(key: tuple[int, bytes]) -> str:
    """The file name of a shared preparation."""
    return f"prepared-{key[0]}-{blake2b(key[1], digest_size=16).hexdigest()}.pickle"


def _share(file: Path, first: Any) -> None:
    """Write a preparation for other processes, completely or not at all. Other processes work without it too."""
    aside = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        aside.write_bytes(pickled(first))
        os.replace(aside, file)
