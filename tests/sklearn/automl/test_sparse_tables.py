"""Sparse tables are searched without ever being made dense."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manyarms as ma
from manyarms.sklearn import AutoClassifier, AutoRegressor
from manyarms.sklearn.automl.family_choice import families
from manyarms.sklearn.automl.sparse_families import DENSE_ONLY
from manyarms.sklearn.automl.sparse_tables import PrepareSparse, as_sparse, is_sparse, sparse_kinds

LEFT_OUT = "ignore:X is sparse, so families that need a dense table:manyarms.ManyarmsWarning"


def words(n=300, columns=60, seed=0):
    """Counts of words, and which of two topics they are about."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    counts = rng.poisson(np.where(np.arange(columns) % 2 == y[:, None], 0.3, 0.05))
    return sparse.csr_matrix(counts.astype(float)), y


class NeverDense(sparse.csr_matrix):
    """A sparse matrix that cannot be made dense."""

    def toarray(self, *args, **options):
        raise AssertionError("the matrix was made dense")

    todense = __array__ = toarray


def test_only_families_for_sparse_tables_are_searched_and_the_others_are_named():
    X, y = words()
    with pytest.warns(ma.ManyarmsWarning, match="X is sparse, so families that need a dense table were not used: .*discrim"):
        model = AutoClassifier(budget=12, cv=2, random_state=0).fit(NeverDense(X), y)
    found = set(model.leaderboard_["family"])
    assert {"linear", "lightgbm", "xgboost", "naive_bayes", "extra_trees"} <= found
    assert not found & set(DENSE_ONLY)
    test, truth = words(seed=1)
    assert model.score(NeverDense(test), truth) > 0.9
    assert sum("discriminant" in note for note in model.notes_) == 1
    assert not model.leaderboard_["score"].isna().any()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok"])
def test_every_format_gives_the_same_model(form):
    X, y = words(100, 20)
    options = {"budget": 2, "cv": 2, "families": ["linear"], "random_state": 0}
    expected = AutoClassifier(**options).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(AutoClassifier(**options).fit(X.asformat(form), y).predict_proba(X.asformat(form)), expected)
    np.testing.assert_allclose(AutoClassifier(**options).fit(sparse.csr_array(X), y).predict_proba(X.toarray()), expected)


def test_a_frame_of_sparse_columns_is_the_same_as_a_sparse_matrix():
    X, y = words(100, 20)
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=[f"word {place}" for place in range(20)])
    frame["word 3"] = frame["word 3"].sparse.to_dense()  # most columns are sparse, not all
    options = {"budget": 3, "cv": 2, "families": ["linear", "tree"], "random_state": 0}
    model = AutoClassifier(**options).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame)
    np.testing.assert_allclose(model.predict_proba(frame), AutoClassifier(**options).fit(X, y).predict_proba(X))


@pytest.mark.filterwarnings(LEFT_OUT)
def test_numbers_are_predicted_from_a_sparse_matrix_with_missing_values():
    rng = np.random.default_rng(0)
    X = sparse.random(400, 200, density=0.05, format="csr", random_state=rng)
    y = X @ rng.normal(size=200) + 0.01 * rng.normal(size=400)
    X.data[:20] = [np.nan, np.inf] * 10
    model = AutoRegressor(budget=10, cv=2, random_state=0).fit(NeverDense(X), y)
    assert model.score(NeverDense(X), y) > 0.8
    assert not model.leaderboard_["score"].isna().any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", sorted(set(families(classes=2, sparse_columns=50))))
@pytest.mark.parametrize("classes", [0, 3])
def test_every_family_for_sparse_tables_is_trained_on_negative_and_missing_values(name, classes):
    if name == "naive_bayes" and not classes:
        return
    family = families([name], classes=classes, rows=90, columns=5, sparse_columns=50)[name]
    X = sparse.random(90, 50, density=0.1, format="csr", random_state=np.random.default_rng(0), data_rvs=np.random.randn)
    X.data[:5] = np.nan
    y = np.arange(90) % classes if classes else np.arange(90.0)
    for config in (*family.space.firsts, family.space.sample(np.random.default_rng(1))):
        fitted = family.estimator.set_params(**config).fit(X, y)
        assert np.isfinite(fitted.predict(X)).all()


def test_families_for_dense_tables_alone_are_an_error():
    X, y = words(60, 10)
    with pytest.raises(ValueError, match="families must include one for sparse tables, got discriminant"):
        AutoClassifier(budget=2, families=["discriminant"]).fit(X, y)


def test_a_column_without_values_has_no_importance():
    X, y = words(200, 6)
    X = sparse.hstack([X, sparse.csr_matrix((200, 2))], format="csr")
    model = AutoClassifier(budget=2, cv=2, families=["linear"], random_state=0).fit(NeverDense(X), y)
    assert list(model.columns_["kind"]) == ["number"] * 6 + ["nothing"] * 2
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert (model.feature_importances_[6:] == 0).all() and (model.feature_importances_[:6] > 0).all()


def test_a_single_validation_set_and_retraining_keep_it_sparse():
    X, y = words(300, 30)
    model = AutoClassifier(budget=3, cv=1, families=["linear", "lightgbm", "xgboost"], random_state=0).fit(NeverDense(X), y)
    assert model.score(NeverDense(X), y) > 0.8


def test_only_sparse_numbers_make_a_table_sparse():
    zeros = pd.arrays.SparseArray([0, 0, 1])
    gaps = pd.arrays.SparseArray([np.nan, np.nan, 1.0])
    assert is_sparse(pd.DataFrame({"a": zeros, "b": [1, 2, 3]}))
    assert not is_sparse(pd.DataFrame({"a": gaps}))
    assert not is_sparse(pd.DataFrame({"a": zeros, "b": ["x", "y", "z"]}))
    assert not is_sparse(pd.DataFrame())


def test_duplicates_are_added_and_infinite_values_are_missing():
    X = sparse.coo_matrix(([1.0, 2.0, np.inf, 1e20], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 3))
    np.testing.assert_array_equal(as_sparse(X).toarray(), [[0, 3, 0], [np.nan, 1e19, 0]])
    assert sparse_kinds(as_sparse(X)) == ["nothing", "number", "nothing"]
    np.testing.assert_array_equal(PrepareSparse().fit_transform(X).toarray(), [[0, 3, 0], [0, 1e19, 0]])


@pytest.mark.parametrize("X", [sparse.csr_matrix((0, 3)), sparse.csr_matrix((3, 0))])
def test_an_empty_sparse_matrix_is_an_error(X):
    with pytest.raises(ValueError, match="while a minimum of 1 is required"):
        as_sparse(X)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits its own memory")
@pytest.mark.parametrize("form", ["matrix", "frame"])
def test_a_table_of_eight_gigabytes_if_it_were_dense_is_learned_in_four(form):
    script = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
        import numpy as np, pandas as pd
        from scipy import sparse
        from manyarms.sklearn import AutoClassifier

        rng = np.random.default_rng(0)
        X = sparse.random(20_000, 50_000, density=0.001, format="csr", random_state=rng)
        weights = np.where(rng.random(50_000) < 0.1, rng.normal(size=50_000), 0.0)
        y = X @ weights > 0
        if {form!r} == "frame":
            X = pd.DataFrame.sparse.from_spmatrix(X)
        model = AutoClassifier(budget=4, random_state=0, families=["linear", "naive_bayes", "lightgbm", "extra_trees"])
        model.fit(X, y)
        print(model.score(X, y))
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=600, check=False
    )
    assert found.returncode == 0, found.stderr[-2_000:]
    assert float(found.stdout) > 0.6
