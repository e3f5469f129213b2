"""Test problems: synthetic reservoirs and learning curves, and loaders of tabulated real curves."""

from .curves import CurveWorld
from .protocol import Problem, evaluate, regret
from .reservoirs import Reservoir
from .tables import TableProblem, TableSpace, lcbench, lcdb, nasbench201, taskset

__all__ = [
    "CurveWorld",
    "Problem",
    "Reservoir",
    "TableProblem",
    "TableSpace",
    "evaluate",
    "lcbench",
    "lcdb",
    "nasbench201",
    "regret",
    "taskset",
]
