"""The parameters of a study as numbers, and which of them matter."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .chart import MISSING, Axis
from .history import Floats, History

MOST_CATEGORIES = 30
"""Parameters with more different names than this are left out, because they identify arms rather than describe them."""
_LONGEST = 36  # characters of a label
_MOST_FITTED = 5_000  # arms that the forest is fitted to
_TREES, _REPEATS = 100, 10


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the arms that have a reward.

    Args:
        name: Its name; the path if it is nested.
        axis: The axis that shows it.
        values: A number for each arm; NaN if the arm does not have it.
    """

    name: str
    axis: Axis
    values: Floats = field(repr=False)


def parameters_of(history: History, positions: Any) -> list[Parameter]:
    """The parameters that vary among these arms, with their values as numbers.

    Args:
        history: The study.
        positions: The positions of the arms.
    """
    logarithmic = _logarithmic(history.header.get("space"))
    found = (_encoded(name, values, name in logarithmic) for name, values in history.parameters(positions).items())
    return [parameter for parameter in found if parameter is not None]


def _encoded(name: str, values: Sequence[Any], log: bool) -> Parameter | None:
    """The parameter as numbers; None if all arms have the same value, or if it has too many names."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there):
        numbers = np.array([math.nan if value is None else float(value) for value in values])
        finite = np.unique(numbers[np.isfinite(numbers)])
        return Parameter(name, Axis(name, log=log and finite[0] > 0), numbers) if len(finite) > 1 else None
    texts = [MISSING if value is None else _text(value) for value in values]
    names = sorted(set(texts))
    if not 1 < len(names) <= MOST_CATEGORIES:
        return None
    places = {text: place for place, text in enumerate(names)}
    return Parameter(name, Axis(name, categories=tuple(map(_label, names))), np.array([float(places[text]) for text in texts]))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _label(text: str) -> str:
    """The text of a value, shortened in the middle: names such as paths often begin alike."""
    return text if len(text) <= _LONGEST else f"{text[:15]}...{text[-18:]}"


def _logarithmic(description: Any, path: str = "") -> set[str]:
    """The names of the parameters with a logarithmic scale, from the description of the space."""
    if not isinstance(description, Mapping):
        return set()
    found: set[str] = set()
    for kind, content in description.items():
        if kind in ("float", "int") and isinstance(content, list):
            found |= {path} if len(content) > 2 and content[2] is True else set()
        elif kind in ("space", "joint") and isinstance(content, Mapping):
            for name, part in content.items():
                found |= _logarithmic(part, f"{path}.{name}" if path else str(name))
        elif kind == "choice" and isinstance(content, list):
            found |= {name for option in content for name in _logarithmic(option, path)}
    return found


class Forest:
    """A random forest that predicts the best reward of an arm from its parameters and its number of steps.

    The steps are an input, so that a parameter does not seem to matter only because arms with some of its values were trained
    for longer.

    Args:
        history: The study.
        most: Maximum number of arms that it is fitted to.

    Attributes:
        note: A sentence that says how many arms it was fitted to, if not all.
    """

    def __init__(self, history: History, most: int = _MOST_FITTED) -> None:
        try:
            from sklearn.ensemble import RandomForestRegressor
        except ImportError:
            raise ImportError('parameter importance needs scikit-learn: pip install "manyarms[sklearn]"') from None
        ranking = history.ranking()
        rng = np.random.default_rng(0)
        self.positions = ranking if len(ranking) <= most else np.sort(rng.choice(ranking, most, replace=False))
        self.parameters = parameters_of(history, self.positions)
        self.rewards = history.best_rewards()[self.positions]
        self._inputs = np.column_stack([_filled(p) for p in self.parameters] + [history.steps_of_arms()[self.positions]])
        self._model: Any = RandomForestRegressor(_TREES, min_samples_leaf=2, max_features=0.7, n_jobs=1, random_state=0)
        self._scale = float(np.abs(self.rewards).max(initial=0.0)) or 1.0
        self._targets = _without_outliers(self.rewards / self._scale)
        self._model.fit(self._inputs, self._targets)
        self._importances: tuple[Floats, Floats] | None = None
        self.note = "" if len(ranking) <= most else f"The forest is fitted to {most:,} of {len(ranking):,} arms."

    def importances(self) -> tuple[Floats, Floats]:
        """How much worse the forest predicts if a parameter is shuffled, as shares of the sum; mean and standard deviation."""
        if self._importances is None:
            self._importances = self._measured()
        return self._importances

    def _measured(self) -> tuple[Floats, Floats]:
        from sklearn.inspection import permutation_importance

        found = permutation_importance(self._model, self._inputs, self._targets, n_repeats=_REPEATS, n_jobs=1, random_state=0)
        mean = np.maximum(found.importances_mean[:-1], 0.0)
        total = mean.sum() or 1.0
        return mean / total, found.importances_std[:-1] / total

    def surface(self, first: int, second: int, x: Floats, y: Floats) -> Floats:
        """The mean prediction for fully trained arms at each point of a grid, with a row for each y.

        Args:
            first: Number of the parameter on the horizontal axis.
            second: Number of the parameter on the vertical axis.
            x, y: The coordinates of the grid.
        """
        rng = np.random.default_rng(0)
        rows = self._inputs[rng.choice(len(self._inputs), min(len(self._inputs), 50), replace=False)].copy()
        rows[:, -1] = self._inputs[:, -1].max()
        grid = np.array([(a, b) for b in y for a in x])
        inputs = np.repeat(rows[None], len(grid), axis=0)
        inputs[:, :, first], inputs[:, :, second] = grid[:, :1], grid[:, 1:]
        predicted = self._model.predict(inputs.reshape(-1, rows.shape[1])).reshape(len(grid), len(rows))
        surface: Floats = self._scale * predicted.mean(axis=1).reshape(len(y), len(x))
        return surface


def _without_outliers(rewards: Floats) -> Floats:
    """The rewards, with those far outside the others moved to the edge. One loss of 1e10 would hide all other differences."""
    low, high = np.quantile(rewards, [0.25, 0.75])
    room = 3.0 * (high - low)
    return np.clip(rewards, low - room, high + room) if room > 0 else rewards


def _filled(parameter: Parameter) -> Floats:
    """The values without NaN: an arm that does not have the parameter gets a value below all others."""
    values = parameter.values
    if not np.isnan(values).any():
        return values
    low, high = np.nanmin(values), np.nanmax(values)
    return np.where(np.isnan(values), low - (high - low) - 1.0, values)
