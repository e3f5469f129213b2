"""Which rule of the strategy chose the latest pulls."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..chart import BLUE, GREEN, ORANGE, PURPLE, Axis, Chart, Panel, Points, empty_chart
from ..history import History

TITLE = "Latest pulls"
MOST_PULLS = 100


def latest_pulls(history: History, to_completion: Collection[int] = ()) -> Chart:
    """The rewards of the latest pulls, with the rule that chose each of them as color.

    Args:
        history: The study; only the latest pulls are used.
        to_completion: The ids of arms that the strategy trains to completion regardless of their early rewards.
    """
    arms, start, reward = (history.column(name)[-MOST_PULLS:] for name in ("arm", "start", "reward"))
    if not len(arms):
        return empty_chart(TITLE, "No pull has ended yet.")
    ids = np.array([history.id_of(arm) for arm in arms.astype(int)])
    straight = np.isin(ids, list(to_completion))
    is_mutant = np.array([bool(history.parents[arm]) for arm in arms.astype(int)])
    kinds = {
        "continues an arm": (~straight & (start > 0), BLUE),
        "starts a mutant": (~straight & (start == 0) & is_mutant, ORANGE),
        "starts a new arm": (~straight & (start == 0) & ~is_mutant, GREEN),
        "trains to completion": (straight, PURPLE),
    }
    number = np.arange(1.0 - len(arms), 1.0)
    told = ~np.isnan(reward)
    layers = []
    for name, (chosen, color) in kinds.items():
        some = chosen & told
        texts = [f"arm {id} from step {s:.0f}: {r:.6g}" for id, s, r in zip(ids[some], start[some], reward[some], strict=True)]
        if texts:
            layers.append(Points(number[some], reward[some], f"{name}: {len(texts)}", color, texts=texts, size=8))
    failed = int(np.sum(~told))
    note = f"Shows the latest {len(arms)} pulls. The legend shows how many there are of each kind."
    note += f" {failed} failed {'pull is' if failed == 1 else 'pulls are'} not shown." if failed else ""
    return Chart(TITLE, (Panel(Axis("pull (0 = latest)"), Axis("reward"), tuple(layers)),), note=note)
