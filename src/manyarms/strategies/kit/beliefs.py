"""What a strategy has learned from the rewards, as charts show it: predictions, posteriors, and a partition of the space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The final rewards that a surrogate predicts for arms, and what was measured. Larger is better.

    A surrogate is a model that predicts the reward of a config that was not tried. Here it does not know the rewards of the arm
    itself, so that the measured reward shows how well it predicts.

    Args:
        arms: The ids of the arms.
        predicted: The predicted final reward of each arm.
        deviations: The standard deviation of each prediction.
        measured: The best reward of each arm so far.
        complete: Whether each arm is fully trained.
    """

    arms: NDArray[np.int64]
    predicted: Floats
    deviations: Floats
    measured: Floats
    complete: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Posteriors:
    """For each arm, the distribution of its mean value given its rewards: Beta(a, b) on the range from 0 to 1.

    Args:
        arms: The ids of the arms.
        a, b: The parameters of the distributions.
    """

    arms: NDArray[np.int64]
    a: Floats
    b: Floats


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes into which a strategy has split the unit cube, and the pulls in them.

    Args:
        names: What each coordinate of the cube is.
        low, high: The corners of each box, with a row for each box.
        means: The mean value in each box.
        counts: The number of pulls in each box.
        bounds: The upper bound of each box. The next arm comes from the box with the largest one.
        points: The point of each pull, with a row for each pull.
        values: The value of each pull, from 0 to 1; NaN if it is in flight.
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    means: Floats
    counts: Floats
    bounds: Floats
    points: Floats
    values: Floats
