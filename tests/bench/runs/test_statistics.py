"""Ranks, the Friedman test and critical differences, compared with published values and other implementations."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats

from manyarms.bench.runs.statistics import ALPHA, critical_difference, friedman, mean_and_error, ranks, standard_error


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)]
)
def test_the_critical_values_are_those_of_demsars_table_5(k, q):
    assert critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1e-3)


def test_demsars_example_of_four_classifiers_on_fourteen_sets():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.005)


def test_mean_ranks_differ_by_the_critical_difference_where_nemenyis_test_of_scikit_posthocs_is_significant():
    rng = np.random.default_rng(0)
    for n, k in ((5, 3), (12, 4), (17, 22)):
        ranked = pd.DataFrame(stats.rankdata(rng.normal(np.linspace(0, 4, k), size=(n, k)).round(1), axis=1))
        p_values = scikit_posthocs.posthoc_nemenyi_friedman(ranked).to_numpy()
        means = ranked.mean().to_numpy()
        apart = np.abs(means[:, None] - means) > critical_difference(k, n)
        assert apart.any() and (apart == (p_values < ALPHA)).all()


def test_the_friedman_test_agrees_with_scipy_with_and_without_ties():
    rng = np.random.default_rng(0)
    for digits in (6, 0):
        values = np.round(rng.normal([0.0, 0.5, 1.0, 1.0], size=(12, 4)), digits)
        ranked = pd.DataFrame(stats.rankdata(values, axis=1))
        chi2 = stats.friedmanchisquare(*values.T).statistic
        n, k = values.shape
        expected = stats.f.sf((n - 1) * chi2 / (n * (k - 1) - chi2), k - 1, (k - 1) * (n - 1))
        assert friedman(ranked) == pytest.approx(expected)


def test_the_friedman_test_of_constant_ranks_is_certain():
    assert friedman(pd.DataFrame([[1.0, 2.0, 3.0]] * 5)) == 0.0
    assert friedman(pd.DataFrame([[2.0, 2.0, 2.0]] * 5)) == 1.0


def test_ranks_of_equal_values_and_of_none():
    assert ranks([7.0, 7.0, 7.0]).tolist() == [2.0, 2.0, 2.0]
    assert ranks([]).tolist() == []
    assert ranks([0.0, 2e-9, 1e-9]).tolist() == [2.0, 2.0, 2.0]  # each within the tolerance of the next


def test_ranks_are_those_of_scipy_where_values_are_not_nearly_equal():
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = rng.integers(0, 6, size=9) / 7
        assert ranks(values).tolist() == stats.rankdata(values).tolist()


def test_standard_errors_need_two_values():
    assert math.isnan(standard_error(np.array([1.0])))
    assert standard_error(np.array([1.0, 3.0])) == pytest.approx(1.0)
    assert mean_and_error([1.0, 3.0]) == (2.0, pytest.approx(1.0))
