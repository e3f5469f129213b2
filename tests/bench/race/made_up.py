"""Rows of races that nobody ran."""

from __future__ import annotations

import pandas as pd

OURS = "AdaptiveMutantUCB"


def made_up(*heats):
    """Rows of heats, each (entrant, problem, seed, {mark: regret}) and what differs from the ordinary."""
    rows = []
    for entrant, problem, seed, regrets, *changed in heats:
        shared = {"family": problem[0], "problem": problem, "half": "tuned", "entrant": entrant, "version": "1", "seed": seed}
        shared |= {"peer": entrant.startswith("Peer"), "budget": max(regrets)} | (changed[0] if changed else {})
        for mark, regret in regrets.items():
            measured = {"trainings": mark, "regret": regret, "pulls": 10 * mark, "arms": mark, "deciding": 0.001 * mark}
            rows.append(shared | measured | {key: value for key, value in shared.items() if key in measured})
    return pd.DataFrame(rows)
