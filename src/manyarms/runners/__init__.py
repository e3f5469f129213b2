"""Runners: run pulls in this process, in worker processes, or in simulated time."""

from .abandoning import Abandoning
from .inline import InlineRunner
from .processes import ProcessRunner
from .protocol import PullsAbandoned, Runner
from .running_pull import RunningPull
from .simulated import SimulatedRunner

__all__ = ["Abandoning", "InlineRunner", "ProcessRunner", "PullsAbandoned", "Runner", "RunningPull", "SimulatedRunner"]
