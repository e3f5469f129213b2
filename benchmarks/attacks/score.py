"""The result of an attack."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Score:
    """How often a study was attacked in one way, and what went wrong.

    Attributes:
        attack: The kind of attack.
        attempts: Number of attempts.
        failures: Descriptions of what went wrong.
        peer: The result of Optuna, if it was attacked too.
    """

    attack: str
    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    peer: str = ""
