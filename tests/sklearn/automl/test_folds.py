"""Which rows are held out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneGroupOut

from manyarms.sklearn.automl.folds import count_folds, group_folds, make_folds


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=2, max_size=5), st.integers(1, 6), st.integers(0, 5))
def test_every_class_is_trained_on_and_rows_are_held_out_once(counts, folds, seed):
    if max(counts) < 2:
        counts[0] = 2
    labels = np.repeat(np.arange(len(counts)), counts)
    made = make_folds(labels, len(labels), folds, seed)
    for train, test in made:
        assert not set(train) & set(test) and len(test)
        if folds == 1 or max(counts) >= folds:
            assert set(labels[train]) >= {kind for kind, count in enumerate(counts) if count == 1}
    if len(made) > 1:
        held_out = sorted(row for _, test in made for row in test)
        assert held_out == [row for row in range(len(labels)) if counts[labels[row]] > 1]


def test_classes_are_divided_alike_and_the_seed_decides():
    labels = np.repeat([0, 1], [80, 20])
    for _, test in make_folds(labels, 100, 5, seed=0):
        assert (labels[test] == 1).sum() == 4
    assert not np.array_equal(make_folds(labels, 100, 5, 0)[0][1], make_folds(labels, 100, 5, 1)[0][1])


def test_many_rows_have_a_holdout():
    assert [count_folds("auto", n) for n in (50, 5_000, 5_001)] == [5, 5, 1]
    assert count_folds(7, 50) == 7
    with pytest.raises(ValueError, match="cv must be at least 1, got 0"):
        count_folds(0, 50)


def test_groups_are_never_divided_between_training_and_validation():
    groups = np.repeat(np.arange(30), 5)
    for labels in (np.arange(150) % 3, None):
        for train, test in group_folds("auto", labels, groups, 150, 0):
            assert not set(groups[train]) & set(groups[test])
    assert len(group_folds(1, None, groups, 150, 0)) == 1
    assert len(group_folds(LeaveOneGroupOut(), None, groups, 150, 0)) == 30
    with pytest.raises(ValueError, match="one value per row, got 150 for 151"):
        group_folds("auto", None, groups, 151, 0)
    with pytest.raises(ValueError, match="at least two different values"):
        group_folds("auto", None, np.zeros(150), 150, 0)


def test_missing_groups_are_a_group_and_groups_may_be_a_column():
    groups = np.where(np.arange(60) < 30, np.nan, 1.0)
    for values in (groups, groups[:, None]):
        (train, test), *_ = group_folds(2, None, values, 60, seed=0)
        assert np.isnan(groups[train]).all() != np.isnan(groups[test]).all()
