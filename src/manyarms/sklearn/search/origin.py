"""The data and settings of a stored search besides its space and strategy. It is only resumed if they are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import StudyMismatch
from ...study.fingerprint import fingerprint, without_addresses
from ...study.view import StudyView
from ..training.training import Training

_LONG = 2_000  # characters, beyond which a fingerprint is stored instead


def origin_of(training: Training, scoring: Any) -> dict[str, Any]:
    """The data and settings of a search, to be stored in the header of its study.

    Args:
        training: Holds the data, the folds and the estimators.
        scoring: The argument of the search.
    """
    candidates = training.candidates if isinstance(training.candidates, Mapping) else {"": training.candidates}
    models = {name: [_text(candidate.estimator), candidate.resource] for name, candidate in candidates.items()}
    own = {name: candidate.fit_params for name, candidate in candidates.items()}
    return {
        "search": "BanditSearchCV",
        "data": fingerprint(training.X, training.y, training.metadata.fit, training.metadata.score, own),
        "folds": fingerprint(training.folds),
        "scoring": _text(scoring),
        "metric": training.metric,
        "estimator": models if len(repr(models)) < _LONG else fingerprint(models),
    }


def check_same_origin(study: StudyView, origin: Mapping[str, Any] | None) -> None:
    """Raise an error if the stored study has different data or settings."""
    before = study.header.get("origin") or {}
    for what, value in (origin or {}).items():
        if before.get(what) != value:
            raise StudyMismatch(
                f"Study {study.name!r} was created with different settings ({what}). Use the same settings to resume it, or "
                "another name to start a new study.",
                setting=what,
            )


def _text(part: Any) -> str:
    """The full `repr`, without memory addresses."""
    return without_addresses(part.__repr__(N_CHAR_MAX=10**6) if hasattr(part, "get_params") else repr(part))
