"""Building blocks of strategies, for authors of new ones: arms, budgets, rankings and recommendations."""

from .ledger import Ledger, State

__all__ = ["Ledger", "State"]
