"""Arguments that problems refuse."""

from __future__ import annotations

import numpy as np
import pytest

from manyarms.bench.problems import CurveWorld, Reservoir, nasbench201

MISTAKES = {
    "a must be at least 0.001, got 0": lambda: Reservoir(a=0),
    "b must be at least 0.001, got -1": lambda: Reservoir(b=-1),
    "low and high must be two numbers, the first below the second": lambda: Reservoir(low=1, high=0),
    "low and high must be finite, got inf": lambda: Reservoir(high=np.inf),
    "noise must be one of 'bernoulli', got 'loud'": lambda: Reservoir(noise="loud"),
    "noise must be a number where means leave": lambda: Reservoir(high=2),
    "noise must be at least 0, got -0.1": lambda: Reservoir(noise=-0.1),
    "kind must be one of 'fast', 'slow', 'crossing', got 'odd'": lambda: CurveWorld("odd"),
    "dimensions must be at least 1, got 0": lambda: CurveWorld(dimensions=0),
    "max_steps must be at least 1, got 0": lambda: CurveWorld(max_steps=0),
    "noise must be at least 0, got nan": lambda: CurveWorld(noise=np.nan),
    "dataset must be one of 'cifar10', 'cifar100', 'imagenet', got 'mnist'": lambda: nasbench201("mnist"),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_wrong_argument_is_refused_with_its_name_the_rule_and_the_value(words):
    with pytest.raises(ValueError) as error:
        MISTAKES[words]()
    assert words in str(error.value)
