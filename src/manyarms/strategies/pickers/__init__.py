"""Pickers: bandits over a few arms that are known in advance. A `Cascade` uses one to choose among its children."""

from .epsilon_greedy import EpsilonGreedy
from .er_ucb import ERUCB
from .extreme_ucb import ExtremeUCB
from .picker import Picker
from .softmax import Softmax
from .ucb1 import UCB1
from .uniform import Uniform

__all__ = ["ERUCB", "UCB1", "EpsilonGreedy", "ExtremeUCB", "Picker", "Softmax", "Uniform"]
