"""Spaces, which make, mutate, cross and encode configs."""

from .choice import Choice
from .convert import from_configspace, from_optuna, from_scipy
from .description import differences, restorable, restore
from .joint import Joint
from .parameters import Constant, Float, Int
from .protocol import SpaceLike, from_json, to_json
from .shorthand import as_space, choice_of
from .space import Space

__all__ = [
    "Choice",
    "Constant",
    "Float",
    "Int",
    "Joint",
    "Space",
    "SpaceLike",
    "as_space",
    "choice_of",
    "differences",
    "from_configspace",
    "from_json",
    "from_optuna",
    "from_scipy",
    "restorable",
    "restore",
    "to_json",
]
