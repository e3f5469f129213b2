"""Model selection as a bandit with infinitely many arms: train many a little, and the promising ones on.

>>> import manyarms as ma
>>> space = ma.Space(x=ma.Float(0, 1))
>>> study = ma.tune(lambda config: 1 - abs(config["x"] - 0.3), space, budget=200, seed=0, progress=False)
>>> round(study.best_config["x"], 1)
0.3
"""

from .budget import Budget
from .checkpoints import Checkpoints
from .core import Arm, Outcome, Pull
from .errors import (
    CheckpointLost,
    ManyarmsError,
    ManyarmsWarning,
    NoResult,
    SchemaError,
    StorageError,
    StudyLocked,
    StudyMismatch,
    StudyNotFound,
    WorkerError,
)
from .runners import InlineRunner, ProcessRunner, SimulatedRunner
from .spaces import Choice, Float, Int, Space
from .strategies import (
    ASHA,
    DTTTS,
    AdaptiveMutantUCB,
    Hyperband,
    InfiniteUCBE,
    MutantUCB,
    RandomSearch,
    SteadyStateEA,
    SuccessiveHalving,
)
from .study import Study
from .tuning import tune
from .version import __version__
from .view import StudyView, load_study

__all__ = [
    "ASHA",
    "DTTTS",
    "AdaptiveMutantUCB",
    "Arm",
    "Budget",
    "CheckpointLost",
    "Checkpoints",
    "Choice",
    "Float",
    "Hyperband",
    "InfiniteUCBE",
    "InlineRunner",
    "Int",
    "ManyarmsError",
    "ManyarmsWarning",
    "MutantUCB",
    "NoResult",
    "Outcome",
    "ProcessRunner",
    "Pull",
    "RandomSearch",
    "SchemaError",
    "SimulatedRunner",
    "Space",
    "SteadyStateEA",
    "StorageError",
    "Study",
    "StudyLocked",
    "StudyMismatch",
    "StudyNotFound",
    "StudyView",
    "SuccessiveHalving",
    "WorkerError",
    "__version__",
    "load_study",
    "tune",
]
