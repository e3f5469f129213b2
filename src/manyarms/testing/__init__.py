"""Contracts that every space, strategy, journal, runner and layer must pass. One parametrized test checks yours."""

from .journals import JOURNAL_CHECKS, STORAGE_CHECKS
from .layers import check_layer
from .runners import RUNNER_CHECKS
from .simulation import play
from .spaces import SPACE_CHECKS
from .strategies import STRATEGY_CHECKS

__all__ = ["JOURNAL_CHECKS", "RUNNER_CHECKS", "SPACE_CHECKS", "STORAGE_CHECKS", "STRATEGY_CHECKS", "check_layer", "play"]
