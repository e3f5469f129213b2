"""The charts of a study, drawn by `manyarms.plots` and kept until an event changes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..journal.protocol import Event


class Charts:
    """The charts of a study.

    Args:
        header: Header of the study.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._header = header

    @property
    def titles(self) -> dict[str, str]:
        """The titles of the charts, by name."""
        return {}

    def add(self, event: Event) -> None:
        """Add the next event."""

    def figure(self, name: str) -> dict[str, Any] | None:
        """A chart as a plotly figure in JSON; None if there is no chart with this name."""
        return None
