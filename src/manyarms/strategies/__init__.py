"""Decide which pull comes next."""

from .mutant_ucb import MutantUCB
from .protocol import Complete, Phase, Strategy, complete, restart
from .random_search import RandomSearch

__all__ = ["Complete", "MutantUCB", "Phase", "RandomSearch", "Strategy", "complete", "restart"]
