"""A column is a list of numbers that NumPy can work on."""

import json

import numpy as np
import pytest

from manyarms.strategies.kit.arrays import Column


@pytest.mark.parametrize(("kind", "plain"), [(float, float), (np.int64, int)])
def test_it_grows_with_the_arms_and_gives_back_plain_numbers(kind, plain):
    column = Column(kind)
    for arm in range(1_000):
        column.append(3 * arm)
        assert column[arm] == 3 * arm and len(column.all) == arm + 1
    assert column.all.tolist() == [3 * arm for arm in range(1_000)] and column.all.dtype == kind
    assert type(column[999]) is plain and json.dumps([column[0], column[999]])


def test_a_new_column_is_empty():
    assert Column(float).all.tolist() == []


def test_what_is_set_is_seen_in_all_and_what_is_changed_in_all_is_read():
    column = Column(float)
    for _ in range(3):
        column.append(1.0)
    column[1] = 2.5
    assert column.all.tolist() == [1.0, 2.5, 1.0]
    np.maximum(column.all, 2.0, out=column.all)
    assert [column[arm] for arm in range(3)] == [2.0, 2.5, 2.0]
    column.append(7.0)
    assert column.all.tolist() == [2.0, 2.5, 2.0, 7.0]


@pytest.mark.parametrize("length", [0, 1, 64, 200])
def test_a_column_of_numbers_goes_on_from_them_and_leaves_them_as_they_are(length):
    numbers = np.arange(length, dtype=np.int64)
    column = Column.of(numbers)
    assert column.all.tolist() == list(range(length)) and column.all.dtype == np.int64
    for number in range(length, length + 100):
        column.append(number)
    column[0] = -1
    assert column.all.tolist() == [-1, *range(1, length + 100)]
    assert numbers.tolist() == list(range(length))
