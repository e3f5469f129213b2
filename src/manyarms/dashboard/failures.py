"""The failures of a study, grouped by reason."""

from __future__ import annotations

from typing import Any

from . import json_values
from .feed import StudyFeed

_MOST_GROUPS = 50


def failure_groups(feed: StudyFeed) -> dict[str, Any]:
    """The most frequent reasons, each with its newest failure. The caller holds the lock of the feed."""
    reasons = sorted(feed.columns.reasons.items(), key=lambda item: (-item[1].count, item[1].first))
    shown = reasons[:_MOST_GROUPS]
    events = feed.stored([reason.last for _, reason in shown])
    groups = []
    for text, reason in shown:
        event = events.get(reason.last)
        details = "" if event is None else json_values.text(event.data.get("details", ""))
        pull = {} if event is None else {"arm": event.arm, "start": event.start, "stop": event.stop}
        groups.append({"reason": text, "count": reason.count, "details": details, **pull})
    return {"total": sum(reason.count for _, reason in reasons), "reasons": len(reasons), "groups": groups}
