"""Where pulls run."""

from .inline import InlineRunner
from .processes import ProcessRunner
from .protocol import Runner
from .running import RunningPull
from .simulated import SimulatedRunner

__all__ = ["InlineRunner", "ProcessRunner", "Runner", "RunningPull", "SimulatedRunner"]
