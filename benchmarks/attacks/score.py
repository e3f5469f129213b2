"""What an attack came to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Score:
    """How often a study was attacked in one way, and what went wrong.

    Attributes:
        attack: The kind of attack.
        attempts: How often it was tried.
        failures: What went wrong, in words; empty if everything held.
        peer: The same of the peer, if it was tried.
    """

    attack: str
    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    peer: str = ""
