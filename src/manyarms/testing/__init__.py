"""Contracts that any space, strategy, journal or runner must pass: test yours with one parametrised line."""

from .spaces import SPACE_CHECKS

__all__ = ["SPACE_CHECKS"]
