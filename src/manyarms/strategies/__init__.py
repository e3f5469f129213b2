"""Decide which pull comes next."""

from .adaptive import AdaptiveMutantUCB
from .asha import ASHA
from .d_ttts import DTTTS
from .hyperband import Hyperband
from .infinite_ucb_e import InfiniteUCBE
from .mutant_ucb import MutantUCB
from .protocol import Complete, Phase, Strategy, complete, restart
from .random_search import RandomSearch
from .steady_state_ea import SteadyStateEA
from .successive_halving import SuccessiveHalving

__all__ = [
    "ASHA",
    "DTTTS",
    "AdaptiveMutantUCB",
    "Complete",
    "Hyperband",
    "InfiniteUCBE",
    "MutantUCB",
    "Phase",
    "RandomSearch",
    "SteadyStateEA",
    "Strategy",
    "SuccessiveHalving",
    "complete",
    "restart",
]
