"""Building blocks of strategies, for authors of new ones.

To count:

- `Ledger`: The arms, the pulls in flight, the steps spent, and the random generator. Every strategy has one.
- `Settled`: What `Ledger.settle` returns: a new reward, a failure, or a repeated result.
- `Column`: One number for each arm, as a NumPy array that grows.
- `State`: The type of what `state()` returns: JSON values and NumPy arrays by name.

To decide:

- `Ranking`: The arm with the largest index, without scanning all arms.
- `UpperBounds`, `upper_bound`: Arms ranked by the upper bounds of Mutant-UCB.
- `BracketStrategy`, `Ladder`, `halvings`, `spares`: Brackets of successive halving.
- `Rung`: A rung of ASHA.
- `ScaledRewards`, `Bounded`: Rewards mapped to the range from 0 to 1.
- `dimension_of`: The dimension of a space that encodes its configs.

To recommend and to show:

- `Standings`: The best reward of each arm, and the arm to recommend.
- `Phase`: A part of what `plan()` returns.
- `Scores`: What `scores()` returns: a value and a bonus for each arm.
- `Predictions`, `Posteriors`, `Boxes`: What `predictions()`, `posteriors()` and `boxes()` return.
- `remember_settings`: Decorator of `__init__` that stores the keyword arguments as `settings`.
- `strategy_repr`: A `__repr__` of one line.
- `check_one_training`: Reject a budget that does not cover one full training.
"""

from .arrays import Column
from .asha_rung import Rung
from .beliefs import Boxes, Posteriors, Predictions
from .bracket import Ladder, halvings
from .brackets import BracketStrategy, spares
from .encoding import dimension_of
from .ledger import MAX_DRAWS, Ledger, Settled, State, check_one_training
from .phase import Phase
from .ranking import Ranking
from .recommendation import Standings
from .representation import strategy_repr
from .scaling import Bounded, ScaledRewards
from .scores import Scores
from .settings import remember_settings
from .upper_bounds import UpperBounds, upper_bound

__all__ = [
    "MAX_DRAWS",
    "Bounded",
    "Boxes",
    "BracketStrategy",
    "Column",
    "Ladder",
    "Ledger",
    "Phase",
    "Posteriors",
    "Predictions",
    "Ranking",
    "Rung",
    "ScaledRewards",
    "Scores",
    "Settled",
    "Standings",
    "State",
    "UpperBounds",
    "check_one_training",
    "dimension_of",
    "halvings",
    "remember_settings",
    "spares",
    "strategy_repr",
    "upper_bound",
]
