"""Hyperparameter tuning, model selection and neural architecture search that pauses models instead of discarding them.

>>> import manyarms as ma
>>> space = ma.Space(x=ma.Float(0, 1))
>>> study = ma.tune(lambda pull: 1 - abs(pull["x"] - 0.3), space, budget=200, seed=0, progress=False)
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
    StudyClosed,
    StudyLocked,
    StudyMismatch,
    StudyNotFound,
    WorkerError,
)
from .journal import Journal
from .runners import InlineRunner, ProcessRunner, Runner, RunningPull, SimulatedRunner
from .spaces import Choice, Constant, Float, Int, Joint, Space
from .strategies import (
    ASHA,
    DTTTS,
    ERUCB,
    UCB1,
    AdaptiveMutantUCB,
    Cascade,
    ContextualPartitionUCB,
    ContextualTreeUCB,
    EpsilonGreedy,
    ExtremeUCB,
    Harmonica,
    Hyperband,
    InfiniteUCBE,
    MutantUCB,
    PartitionUCB,
    RandomSearch,
    Softmax,
    SteadyStateEA,
    Strategy,
    SuccessiveHalving,
    TreeUCB,
    Uniform,
    pickers,
)
from .study.study import Study
from .study.tune import tune
from .study.view import StudyView, load_study
from .version import __version__

__all__ = [
    "ASHA",
    "DTTTS",
    "ERUCB",
    "UCB1",
    "AdaptiveMutantUCB",
    "Arm",
    "Budget",
    "Cascade",
    "CheckpointLost",
    "Checkpoints",
    "Choice",
    "Constant",
    "ContextualPartitionUCB",
    "ContextualTreeUCB",
    "EpsilonGreedy",
    "ExtremeUCB",
    "Float",
    "Harmonica",
    "Hyperband",
    "InfiniteUCBE",
    "InlineRunner",
    "Int",
    "Joint",
    "Journal",
    "ManyarmsError",
    "ManyarmsWarning",
    "MutantUCB",
    "NoResult",
    "Outcome",
    "PartitionUCB",
    "ProcessRunner",
    "Pull",
    "RandomSearch",
    "Runner",
    "RunningPull",
    "SchemaError",
    "SimulatedRunner",
    "Softmax",
    "Space",
    "SteadyStateEA",
    "StorageError",
    "Strategy",
    "Study",
    "StudyClosed",
    "StudyLocked",
    "StudyMismatch",
    "StudyNotFound",
    "StudyView",
    "SuccessiveHalving",
    "TreeUCB",
    "Uniform",
    "WorkerError",
    "__version__",
    "load_study",
    "pickers",
    "tune",
]
