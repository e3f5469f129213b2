"""Hyperparameter tuning, model selection and neural architecture search that pauses models instead of discarding them.

>>> import manyarms as ma
>>> space = ma.Space(x=ma.Float(0, 1))
>>> study = ma.tune(lambda pull: 1 - abs(pull["x"] - 0.3), space, budget=200, seed=0, progress=False)
>>> round(study.best_config["x"], 1)
0.3
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
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
    from .study.tuning import tune
    from .study.view import StudyView, load_study

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

_PARTS = ("errors", "core", "budget", "checkpoints", "journal", "spaces", "strategies", "runners", "study")
"""Where the names above are defined. Parts that import fast come first."""

_MODULES = {**{part: part for part in _PARTS}, "pickers": "strategies.pickers"}

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        """Import a name when it is first used. The command line needs few of them, and importing NumPy takes a while."""
        if name in _MODULES:
            return import_module(f"{__name__}.{_MODULES[name]}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = next(value for part in _PARTS if (value := getattr(__getattr__(part), name, None)) is not None)
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_MODULES})
