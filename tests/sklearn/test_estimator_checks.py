"""`BanditSearchCV` passes scikit-learn's own checks of an estimator, whatever it searches."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from manyarms.sklearn import BanditSearchCV

TINY = {"cv": 2, "max_steps": 2, "budget": 3, "error_score": "raise", "random_state": 0}
LOGISTIC = (LogisticRegression(), {"C": [0.1, 1.0]})
REDUCED = (make_pipeline(PCA(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]})
SEARCHES = [
    BanditSearchCV(make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}, **TINY),  # a regressor; growing rows
    BanditSearchCV(GradientBoostingClassifier(n_estimators=4), {"max_depth": [1, 2]}, **TINY),  # a classifier; more trees
    BanditSearchCV({"plain": LOGISTIC, "reduced": REDUCED}, **TINY),  # several
]


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # NumPy, of an infinite target
@parametrize_with_checks(SEARCHES)
def test_a_check_of_scikit_learn(estimator, check):
    check(estimator)
