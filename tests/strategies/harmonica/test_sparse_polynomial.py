"""A sparse polynomial of bits: it is found where it was planted, by the Lasso that scikit-learn has too."""

import itertools

import numpy as np
import pytest

from manyarms.strategies.harmonica.sparse_polynomial import (
    best_assignments,
    count_monomials,
    lasso,
    learnable_degree,
    learned,
    monomials,
    parities,
    samples_needed,
    standardized,
)

PLANTED = {(2, 8): 3.0, (15,): -2.0, (3, 6, 19): 2.0, (11,): 1.5, (0, 4): -1.0}


def random_signs(n, bits, seed=0):
    return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), (n, bits))


def height(signs, polynomial=PLANTED):
    return parities(signs, list(polynomial)) @ np.array(list(polynomial.values()))


@pytest.mark.parametrize(("n", "columns", "penalty"), [(40, 20, 0.1), (30, 300, 0.2), (100, 50, 0.01), (20, 5, 10.0)])
def test_the_lasso_is_that_of_scikit_learn(n, columns, penalty):
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(n)
    features = rng.choice([-1.0, 1.0], (n, columns)) + 0.3 * rng.standard_normal((n, 1))  # which are neither centred nor free
    values = 2 * features[:, 0] - features[:, 1] + 0.5 * rng.standard_normal(n) + 7
    theirs = linear_model.Lasso(alpha=penalty, tol=1e-12, max_iter=100_000).fit(features, values)
    np.testing.assert_allclose(lasso(features, values, penalty), theirs.coef_, atol=1e-5)


def test_the_lasso_takes_columns_that_are_equal_or_constant():
    rng = np.random.default_rng(0)
    column = rng.choice([-1.0, 1.0], 30)
    found = lasso(np.column_stack([column, column, -column, np.ones(30)]), 3 * column, 0.1)
    assert found[3] == 0
    assert found[0] + found[1] - found[2] == pytest.approx(3 - 0.1 / column.var())


def test_parities_are_the_products_of_the_bits():
    signs = random_signs(10, 5)
    products = monomials(range(5), 3)
    expected = [[np.prod(row[list(product)]) for product in products] for row in signs]
    assert parities(signs, products).tolist() == expected
    assert len(products) == count_monomials(5, 3) == 25


def test_the_degree_follows_the_samples():
    assert samples_needed(60, 3, 5) == 105
    assert learnable_degree(60, 104, 3, 5) == 2 and learnable_degree(60, 105, 3, 5) == 3
    assert learnable_degree(60, 300, 2, 5) == 2
    assert learnable_degree(60, 2, 3, 5) == 1
    assert learnable_degree(100, 3_000, 3, 5) == 2  # for the sake of memory
    assert learnable_degree(1, 50, 3, 5) >= 1


@pytest.mark.parametrize("scale", [1.0, 1e-6, -1e200])
def test_a_planted_polynomial_is_found_among_thousands_of_products(scale):
    signs = random_signs(150, 60)
    noise = np.random.default_rng(1).standard_normal(150)
    found = learned(signs, scale * (height(signs) + 0.3 * noise) + 5 * scale, range(60), degree=3, terms=5)
    assert set(found) == set(PLANTED)
    assert all(np.sign(found[term]) == np.sign(scale * PLANTED[term]) for term in PLANTED)
    assert next(iter(found)) == (2, 8)


def test_only_free_bits_are_looked_at():
    signs = random_signs(150, 20)
    found = learned(signs, height(signs), [bit for bit in range(20) if bit != 8], degree=3, terms=5)
    assert found and not any(8 in term for term in found)


def test_a_diverged_run_does_not_hide_the_others():
    signs = random_signs(150, 60)
    rewards = height(signs)
    rewards[:5] = -1e12
    assert set(learned(signs, rewards, range(60), degree=3, terms=5)) >= {(2, 8), (15,), (3, 6, 19)}


def test_failures_are_as_the_worst_and_tell_which_bit_is_to_blame():
    signs = random_signs(100, 12)
    rewards = np.where(signs[:, 3] > 0, np.nan, np.random.default_rng(0).random(100))
    found = learned(signs, rewards, range(12), degree=2, terms=3)
    assert next(iter(found)) == (3,) and found[(3,)] < 0
    assert standardized(np.array([np.nan, 0.0, 1.0]))[0] == standardized(np.array([np.nan, 0.0, 1.0]))[1]


@pytest.mark.parametrize("rewards", [[0.5] * 9, [np.nan] * 9, [1e308] * 9, [np.nan, 1.0] * 4 + [1.0]], ids=repr)
def test_rewards_that_are_all_equal_say_nothing(rewards):
    assert learned(random_signs(9, 4), np.array(rewards), range(4), degree=3, terms=5) == {}


def test_the_largest_rewards_there_are_do_not_overflow():
    with np.errstate(all="raise"):
        values = standardized(np.array([-1.7e308, 1.7e308, 0.0, 1e308]))
    assert np.isfinite(values).all() and values.std() == pytest.approx(1)


@pytest.mark.filterwarnings("error")
def test_a_run_that_diverged_by_more_than_a_float_can_hold_counts_as_the_worst():
    assert standardized(np.array([-1e300, 0.0, 0.0, 1e-300, 1e-300])).argmin() == 0


def test_the_best_assignments_are_those_of_all_that_are_highest():
    bits, rows = best_assignments(PLANTED, keep=4)
    assert bits == [0, 2, 3, 4, 6, 8, 11, 15, 19]
    every = np.array(list(itertools.product((1, -1), repeat=len(bits))))
    whole = np.zeros((len(every), 20), dtype=np.int8)
    whole[:, bits] = every
    ours = np.zeros((4, 20), dtype=np.int8)
    ours[:, bits] = rows
    assert height(ours).tolist() == sorted(height(whole), reverse=True)[:4]
    assert height(ours)[0] == 9.5
    assert len(np.unique(rows, axis=0)) == 4


def test_there_are_no_more_assignments_than_bits_allow():
    bits, rows = best_assignments({(3,): -1.0}, keep=4)
    assert bits == [3] and rows.tolist() == [[-1], [1]]


def test_of_too_many_bits_those_of_the_largest_terms_are_fixed():
    polynomial = {tuple(range(3 * i, 3 * i + 3)): 10.0 - i for i in range(8)}
    bits, rows = best_assignments(polynomial, keep=1)
    assert bits == list(range(15)) and rows.shape == (1, 15)
