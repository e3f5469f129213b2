"""The outcome of a pull whose worker was lost."""

from __future__ import annotations

from ...core import Outcome
from ..task import Task


def lost_outcome(task: Task, cause: str, has_started: bool) -> Outcome:
    """The outcome of a task whose worker was lost. It must run again.

    A pull that loses its worker too often fails. That counts only for pulls that have started: one that waited on the worker
    behind another pull, which may end every worker, did nothing wrong.

    Args:
        task: The task.
        cause: Why the worker may have been lost.
        has_started: Whether the worker was running the task.
    """
    reason = f"its worker was lost {task.losses + 1} times ({cause})"
    return Outcome(task.pull, reason=reason, attempts=task.attempt if has_started else task.attempt - 1, lost=True)
