"""What a stored search was made with, beside its space and strategy: it is gone on with under the same only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import StudyMismatch
from ...study.fingerprint import fingerprint
from ...study.view import StudyView
from ..training.training import Training

_LONG = 2_000  # letters; beyond, a fingerprint tells as much


def origin_of(training: Training, scoring: Any) -> dict[str, Any]:
    """What the study of a search is to be known by.

    Args:
        training: with the data, the folds and the estimators.
        scoring: as it was given.
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
    """Refuse to go on with a study that was made with something else."""
    before = study.header.get("origin") or {}
    for what, value in (origin or {}).items():
        if before.get(what) != value:
            raise StudyMismatch(
                f"study {study.name!r} was made with other {what}: give what it was made with to go on with it, "
                "or another name to start a new study"
            )


def _text(part: Any) -> str:
    """How something is written, in full; without addresses, which differ from run to run."""
    text = part.__repr__(N_CHAR_MAX=10**6) if hasattr(part, "get_params") else repr(part)
    return re.sub(r" at 0x[0-9a-f]+", "", text)
