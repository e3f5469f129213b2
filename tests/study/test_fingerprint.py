"""The same data has the same fingerprint, in any process; other data another."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("sklearn")

import pandas as pd
from scipy import sparse

from manyarms.study.fingerprint import fingerprint

TABLE = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": pd.Categorical(["u", "v"])})
DIFFERENT = {
    "array": np.arange(6.0),
    "shape": np.arange(6.0).reshape(2, 3),
    "type": np.arange(6),
    "order": np.arange(6.0)[::-1],
    "one value": np.array([0, 1, 2, 3, 4, 5.5]),
    "objects": np.array([1, "a", None], dtype=object),
    "list": [1, "a", None],
    "nested": [[1, "a"], None],
    "sparse": sparse.csr_matrix(np.eye(3)),
    "other sparse": sparse.csr_matrix(np.eye(4)),
    "table": TABLE,
    "renamed": TABLE.rename(columns={"a": "z"}),
    "columns swapped": TABLE[["b", "a", "c"]],
    "rows swapped": TABLE[::-1],
    "column": TABLE["a"],
    "nothing": None,
    "text": "nothing",
    "dict": {"weights": np.arange(6.0)},
    "another dict": {"groups": np.arange(6.0)},
    "empty": np.empty((0, 3)),
}


def test_what_differs_in_anything_has_another_fingerprint():
    prints = {name: fingerprint(part) for name, part in DIFFERENT.items()}
    assert len(set(prints.values())) == len(prints)


def test_copies_have_the_same_fingerprint():
    for part in (np.asfortranarray(np.ones((3, 2))), np.ones((6, 2))[::2]):
        assert fingerprint(part) == fingerprint(np.ones((3, 2)))
    assert fingerprint(TABLE) == fingerprint(TABLE.copy().set_index(pd.Index([7, 8])))
    assert fingerprint(sparse.coo_matrix(np.eye(3))) == fingerprint(sparse.csc_matrix(np.eye(3)))
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


def test_any_process_finds_the_same():
    parts = np.arange(3.0), np.array([1, "a", None], dtype=object), {"w": [1, 2.5, "x"]}
    assert fingerprint(*parts) == "e9dc119468fe4e56ff7756ffc8aa6a1f"


def test_wide_tables_are_told_apart_too():
    numbers = np.arange(4_000.0).reshape(2, 2_000)
    wide = pd.DataFrame(numbers).assign(text=["a", "b"])
    assert fingerprint(wide) == fingerprint(wide.copy())
    changed = wide.copy()
    changed.iloc[1, 1_999] += 1
    others = [
        changed,
        wide.rename(columns={0: "zero"}),
        wide.assign(text=["a", "c"]),
        wide.iloc[:, ::-1],
        wide.astype({0: int}),
    ]
    assert len({fingerprint(wide), *map(fingerprint, others)}) == 6
