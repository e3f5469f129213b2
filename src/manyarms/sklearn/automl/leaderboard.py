"""The tables of a finished search: a row for each model, and a row for each pull."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .auto_study import AutoStudy
from .constant import CONSTANT, NO_ARM
from .final_model import FinalModel


def leaderboard(search: AutoStudy, final: FinalModel) -> pd.DataFrame:
    """A row for each trained model, the best first. If none of them is used, the first row is the model that replaces them.

    Args:
        search: A finished search.
        final: Its final model.
    """
    weights, rows = {member.arm: member.weight for member in final.members}, []
    if NO_ARM in weights:
        family = final.members[0].family
        scores = search.baseline.fold_scores if family == CONSTANT else [final.score]
        rows.append(_row(1, family, scores, 1, 1, 0.0, NO_ARM, 1.0, {}))
    for rank, arm in enumerate(search.ranked(), 1 + len(rows)):
        family, result = search.config(arm)["algorithm"], search.results[arm]
        scores = [score for name, score in result.metrics.items() if name.endswith("_test_score")]
        max_steps = search.candidates[family][1].max_steps
        weight, config = weights.get(arm, 0.0), search.config(arm)["config"]
        rows.append(_row(rank, family, scores, result.steps, max_steps, result.seconds, arm, weight, config))
    return pd.DataFrame(rows)


def _row(
    rank: int,
    family: str,
    scores: Sequence[float],
    steps: int,
    max_steps: int,
    seconds: float,
    arm: int,
    weight: float,
    config: Any,
) -> dict[str, Any]:
    return {
        "rank": rank,
        "family": family,
        "score": float(np.mean(scores)),
        "std": float(np.std(scores)),
        "steps": steps,
        "max_steps": max_steps,
        "seconds": seconds,
        "arm": arm,
        "weight": weight,
        "config": config,
    }


def pulls_frame(search: AutoStudy) -> pd.DataFrame:
    """A row for each pull, in the order asked, with the family of its model."""
    families = {id: record.arm.config["algorithm"] for id, record in search.study.counts.arms.items()}
    pulls = search.study.pulls_dataframe()
    numbers = {name: pulls[name].astype(float) for name in ("reward", "seconds")}
    return pulls.assign(family=pulls["arm"].map(families), **numbers)
