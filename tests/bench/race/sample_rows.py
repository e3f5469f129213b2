"""Rows of races, as samples."""

from __future__ import annotations

import pandas as pd

OURS = "AdaptiveMutantUCB"


def sample_rows(*runs):
    """Rows of runs: each is (method, problem, seed, {mark: regret}), followed by columns with other values than usual."""
    rows = []
    for method, problem, seed, regrets, *changed in runs:
        shared = {"family": problem[0], "problem": problem, "half": "tuned", "method": method, "version": "1", "seed": seed}
        shared |= {"peer": method.startswith("Peer"), "budget": max(regrets)} | (changed[0] if changed else {})
        for mark, regret in regrets.items():
            measured = {"trainings": mark, "regret": regret, "pulls": 10 * mark, "arms": mark, "deciding": 0.001 * mark}
            rows.append(shared | measured | {key: value for key, value in shared.items() if key in measured})
    return pd.DataFrame(rows)
