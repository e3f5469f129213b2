"""What can be made, mutated, crossed and encoded."""

from .choice import Choice
from .convert import from_configspace, from_scipy
from .joint import Joint
from .parameters import Constant, Float, Int
from .protocol import SpaceLike, from_json, to_json
from .space import Space, restorable, restore

__all__ = [
    "Choice",
    "Constant",
    "Float",
    "Int",
    "Joint",
    "Space",
    "SpaceLike",
    "from_configspace",
    "from_json",
    "from_scipy",
    "restorable",
    "restore",
    "to_json",
]
