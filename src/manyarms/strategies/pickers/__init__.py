"""Bandits over a few arms that are known beforehand: which of them gets the next pull."""

from .er_ucb import ERUCB
from .extreme_ucb import ExtremeUCB
from .picker import UCB1, EpsilonGreedy, Picker, Softmax, Uniform

__all__ = ["ERUCB", "UCB1", "EpsilonGreedy", "ExtremeUCB", "Picker", "Softmax", "Uniform"]
