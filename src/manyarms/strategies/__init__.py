"""Decide which pull comes next."""

from .adaptive import AdaptiveMutantUCB
from .asha import ASHA
from .cascade import Cascade
from .contextual_partition_ucb import ContextualPartitionUCB
from .contextual_tree_ucb import ContextualTreeUCB
from .d_ttts import DTTTS
from .er_ucb import ERUCB
from .extreme_ucb import ExtremeUCB
from .harmonica import Harmonica
from .hyperband import Hyperband
from .infinite_ucb_e import InfiniteUCBE
from .mutant_ucb import MutantUCB
from .names import strategy_class, strategy_factory
from .partition import Region
from .partition_ucb import PartitionUCB
from .pickers import UCB1, EpsilonGreedy, Picker, Softmax, Uniform
from .protocol import Complete, Phase, Strategy, complete, is_built_in, kind_of, restart, takes_mean
from .random_search import RandomSearch
from .representation import strategy_repr
from .steady_state_ea import SteadyStateEA
from .successive_halving import SuccessiveHalving
from .tree_ucb import TreeUCB

__all__ = [
    "ASHA",
    "DTTTS",
    "ERUCB",
    "UCB1",
    "AdaptiveMutantUCB",
    "Cascade",
    "Complete",
    "ContextualPartitionUCB",
    "ContextualTreeUCB",
    "EpsilonGreedy",
    "ExtremeUCB",
    "Harmonica",
    "Hyperband",
    "InfiniteUCBE",
    "MutantUCB",
    "PartitionUCB",
    "Phase",
    "Picker",
    "RandomSearch",
    "Region",
    "Softmax",
    "SteadyStateEA",
    "Strategy",
    "SuccessiveHalving",
    "TreeUCB",
    "Uniform",
    "complete",
    "is_built_in",
    "kind_of",
    "restart",
    "strategy_class",
    "strategy_factory",
    "strategy_repr",
    "takes_mean",
]
