"""Strategies: they decide which pull comes next."""

from .adaptive_mutant_ucb import AdaptiveMutantUCB
from .asha import ASHA
from .cascade import Cascade
from .contextual_partition_ucb import ContextualPartitionUCB
from .contextual_tree_ucb import ContextualTreeUCB
from .cube.partition import Region
from .d_ttts import DTTTS
from .harmonica.harmonica import Harmonica
from .hyperband import Hyperband
from .infinite_ucb_e import InfiniteUCBE
from .kit.phase import Phase
from .kit.representation import strategy_repr
from .mutant_ucb import MutantUCB
from .names import DEFAULT_STRATEGY, strategy_class, strategy_classes, strategy_factory
from .partition_ucb import PartitionUCB
from .pickers import ERUCB, UCB1, EpsilonGreedy, ExtremeUCB, Picker, Softmax, Uniform
from .protocol import ExtendedStrategy, Strategy, extended, fresh_copy, is_built_in, kind_of, uses_mean
from .random_search import RandomSearch
from .steady_state_ea import SteadyStateEA
from .successive_halving import SuccessiveHalving
from .tree_ucb import TreeUCB

__all__ = [
    "ASHA",
    "DEFAULT_STRATEGY",
    "DTTTS",
    "ERUCB",
    "UCB1",
    "AdaptiveMutantUCB",
    "Cascade",
    "ContextualPartitionUCB",
    "ContextualTreeUCB",
    "EpsilonGreedy",
    "ExtendedStrategy",
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
    "extended",
    "fresh_copy",
    "is_built_in",
    "kind_of",
    "strategy_class",
    "strategy_classes",
    "strategy_factory",
    "strategy_repr",
    "uses_mean",
]
