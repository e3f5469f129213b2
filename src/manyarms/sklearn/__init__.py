"""Estimators with the interface of scikit-learn: a hyperparameter search, and automatic models for tables."""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise ImportError('manyarms.sklearn needs scikit-learn: pip install "manyarms[sklearn]"') from error

from .automl.auto import AutoClassifier, AutoRegressor
from .search.search import BanditSearchCV

__all__ = ["AutoClassifier", "AutoRegressor", "BanditSearchCV"]
