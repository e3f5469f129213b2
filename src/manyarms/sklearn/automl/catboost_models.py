"""CatBoost models that read the categories of a frame by its column types."""

from __future__ import annotations

from typing import Any

import pandas as pd
from catboost import CatBoostClassifier, CatBoostRegressor


class _Categories:
    """Passes the categorical columns of a frame to CatBoost, in `fit` and in predictions."""

    def fit(self, X: Any, y: Any = None, eval_set: Any = None, **params: Any) -> Any:
        """Fit. Categorical columns of a frame are categories; other columns are numbers."""
        rows, places = _with_codes(X)
        checked = None if eval_set is None else (_with_codes(eval_set[0])[0], eval_set[1])
        return super().fit(rows, y, cat_features=places, eval_set=checked, **params)  # type: ignore[misc]

    def predict(self, X: Any, *args: Any, **params: Any) -> Any:
        """The predictions, one for each row."""
        return super().predict(_with_codes(X)[0], *args, **params).ravel()  # type: ignore[misc]


class TableCatBoostClassifier(_Categories, CatBoostClassifier):  # type: ignore[misc]
    """CatBoost's classifier."""

    def predict_proba(self, X: Any, *args: Any, **params: Any) -> Any:
        """The probability of each class."""
        return super().predict_proba(_with_codes(X)[0], *args, **params)


class TableCatBoostRegressor(_Categories, CatBoostRegressor):  # type: ignore[misc]
    """CatBoost's regressor."""


def _with_codes(X: Any) -> tuple[Any, list[int]]:
    """The rows with whole numbers as categories, and the positions of these columns."""
    if not isinstance(X, pd.DataFrame):
        return X, []
    places = [place for place, dtype in enumerate(X.dtypes) if isinstance(dtype, pd.CategoricalDtype)]
    codes = {X.columns[place]: X.iloc[:, place].cat.codes.astype("int64") for place in places}  # -1 if missing
    return X.assign(**codes), places
