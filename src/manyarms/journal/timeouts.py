"""Time limits for a database server, which its URL can set."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.engine import URL

from .. import checks


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Two time limits, in seconds, that a PostgreSQL URL can set: `?reply_timeout=30s&reconnect_timeout=10m`.

    Args:
        reply: Maximum time to wait for a reply; then the connection counts as lost.
        reconnect: Maximum time to try to reconnect to a server; 0 means that it never reconnects.
    """

    reply: float = 30.0
    reconnect: float = 600.0

    @classmethod
    def of(cls, url: URL) -> Timeouts:
        """The limits in a URL, or the defaults. A database without a server is never reconnected to."""
        if url.get_backend_name() != "postgresql":
            return cls(reconnect=0.0)
        return cls(**{name: _seconds(name, url) for name in ("reply", "reconnect") if f"{name}_timeout" in url.query})


def without_timeouts(url: URL) -> URL:
    """The URL without these limits, which the driver does not know."""
    return url.difference_update_query(["reply_timeout", "reconnect_timeout"])


def _seconds(name: str, url: URL) -> float:
    text = url.query[f"{name}_timeout"]
    if name == "reconnect" and text == "0":
        return 0.0
    value: float | str = text if isinstance(text, str) else " and ".join(text)  # given more than once
    with suppress(ValueError):  # text with a unit
        value = float(value)
    return checks.seconds(f"{name}_timeout in the storage URL", value)
