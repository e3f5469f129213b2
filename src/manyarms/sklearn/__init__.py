"""The library with scikit-learn's interface: searches, and estimators that search by themselves."""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:
    raise ImportError('manyarms.sklearn needs scikit-learn: pip install "manyarms[sklearn]"') from error

from .automl.auto import AutoClassifier, AutoRegressor
from .search.search import BanditSearchCV

__all__ = ["AutoClassifier", "AutoRegressor", "BanditSearchCV"]
