"""Fingerprints of data, so that a stored study is not resumed with different data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

_WIDE = 1_000  # columns


def fingerprint(*parts: Any) -> str:
    """A short string that is the same for equal data, in any process, and almost surely different for different data.

    Args:
        parts: Tables, arrays, sparse matrices, plain values, and dicts and lists of these.

    >>> import numpy as np
    >>> fingerprint(np.arange(3), ["a", "b"]) == fingerprint(np.arange(3), ["a", "b"])
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    digest = blake2b(digest_size=16)
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()


def without_addresses(text: str) -> str:
    """The representation of an object without memory addresses, which differ between runs.

    >>> without_addresses("<function profit at 0x7f3a5c1b0d30>")
    '<function profit>'
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _feed(digest: Any, part: Any) -> None:
    """Add a value, with its type and shape, so that values of different types differ."""
    if hasattr(part, "iloc"):
        _feed_frame(digest, part)
    elif sparse.issparse(part):
        rows = part.tocsr().sorted_indices()
        for array in (np.array(part.shape), rows.indptr, rows.indices, rows.data):
            _feed(digest, array)
    elif isinstance(part, Mapping):
        for name in sorted(part, key=str):
            digest.update(f"{name!r}:".encode())
            _feed(digest, part[name])
    elif isinstance(part, np.ndarray) or hasattr(part, "__array__"):
        _feed_array(digest, np.asarray(part))
    elif isinstance(part, Sequence) and not isinstance(part, (str, bytes)):
        digest.update(f"{type(part).__name__} of {len(part)}".encode())
        for item in part:
            _feed(digest, item)
    else:
        digest.update(f"{type(part).__name__} {part!r};".encode())


def _feed_array(digest: Any, array: Any) -> None:
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.hasobject:
        _feed(digest, array.ravel().tolist())
    else:
        digest.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def _feed_frame(digest: Any, frame: Any) -> None:
    """Add a pandas DataFrame or Series without its index, because rows are identified by their order."""
    import pandas as pd

    if frame.ndim == 2 and frame.shape[1] > _WIDE:
        return _feed_wide(digest, frame)
    columns = [(frame.name, frame)] if frame.ndim == 1 else list(frame.items())
    for name, column in columns:
        digest.update(f"{name!r} {column.dtype} {len(column)}".encode())
        _feed_array(digest, pd.util.hash_pandas_object(column, index=False).to_numpy())


def _feed_wide(digest: Any, frame: Any) -> None:
    """Add a table with very many columns: all its numeric columns together, because one at a time would take too long."""
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "iufb" for dtype in frame.dtypes])
    digest.update(repr(list(zip(frame.columns, map(str, frame.dtypes), strict=True))).encode())
    _feed_array(digest, frame.loc[:, plain].to_numpy(dtype=float))
    for place in np.flatnonzero(~plain):
        _feed_frame(digest, frame.iloc[:, place])
