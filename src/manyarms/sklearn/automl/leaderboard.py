"""The tables of a finished search: a row for each model, and a row for each pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .auto_study import AutoStudy


def leaderboard(search: AutoStudy, weights: Mapping[int, float]) -> pd.DataFrame:
    """A row for each trained model, the best first. If there is none, a row for the fallback model.

    Args:
        search: A finished search.
        weights: The weights of the models in the ensemble, by arm.
    """
    if not search.ranked():
        member, score = search.fallback()
        return pd.DataFrame([_row(1, member.family, [score], 1, 1, 0.0, member.arm, 1.0, {})])
    rows = []
    for rank, arm in enumerate(search.ranked(), 1):
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
