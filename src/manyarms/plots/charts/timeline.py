"""What each worker did, and when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..chart import BLUE, ORANGE, RED, Axis, Bars, Chart, Panel, empty_chart
from ..history import Floats, History

TITLE = "Worker timeline"
MOST_PULLS = 3_000
_TALL = 900  # pixels
_TOLERANCE = 2e-3  # seconds: when a pull ended is rounded to milliseconds


def timeline(history: History, most: int = MOST_PULLS) -> Chart:
    """Each pull as a bar from its start to its end, in the row of its worker.

    Args:
        history: The study.
        most: Maximum number of pulls. If there are more, the newest ones are shown.
    """
    ended = history.column("ended")
    if not len(ended):
        return empty_chart(TITLE, "No pull has ended yet.")
    if np.isnan(ended).any():
        return empty_chart(
            TITLE, "This study was recorded by an older version of manyarms, which did not store when pulls ended."
        )
    seconds = np.nan_to_num(history.column("seconds"))
    order = np.argsort(ended, kind="stable")[-most:]
    begins, lengths = (ended - seconds)[order], seconds[order]
    origin = begins.min()
    rows, names = _rows(history, order, begins, ended[order])
    arms = history.column("arm")[order].astype(int)
    reward, start = history.column("reward")[order], history.column("start")[order]
    kinds = np.where(np.isnan(reward), 2, np.where(start > 0, 1, 0))
    bars = []
    for kind, (name, color) in enumerate(
        (("first pull of an arm", ORANGE), ("pull that continues an arm", BLUE), ("failed", RED))
    ):
        there = np.flatnonzero(kinds == kind)
        if len(there):
            texts = [_text(history, arms[i], start[i], lengths[i], reward[i]) for i in there]
            bars.append(Bars(rows[there], lengths[there], (begins - origin)[there], colors=color, texts=texts, name=name))
    span = (ended[order].max() - origin) or 1.0
    notes = [f"Workers were busy {100 * lengths.sum() / (span * len(names)):.0f}% of the time."]
    notes += [] if len(order) == len(ended) else [f"Shows the newest {len(order):,} of {len(ended):,} pulls."]
    panel = Panel(Axis("seconds"), Axis(categories=names, reverse=True), tuple(bars))
    return Chart(TITLE, (panel,), note=" ".join(notes), height=min(_TALL, 190 + 26 * len(names)))


def _text(history: History, arm: int, start: float, seconds: float, reward: float) -> str:
    result = "failed" if np.isnan(reward) else f"reward {reward:.6g}"
    return f"arm {history.id_of(arm)} from step {start:.0f}: {result}, {seconds:.3g} s"


def _rows(history: History, order: NDArray[np.int64], begins: Floats, ends: Floats) -> tuple[Floats, tuple[str, ...]]:
    """The row of each pull, and the names of the rows.

    Each worker has a row. A worker that starts after another one of the same machine has ended continues its row. Pulls in the
    process of the study have no worker, so each counts as one of its own.
    """
    who = history.column("worker")[order]
    unknown = np.isnan(who)
    who[unknown] = -1.0 - np.arange(unknown.sum())
    begins = np.minimum(begins + _TOLERANCE, ends)  # or rounding would put a pull before one that ended earlier
    workers, place = np.unique(who, return_inverse=True)
    first, last = np.full(len(workers), np.inf), np.full(len(workers), -np.inf)
    np.minimum.at(first, place, begins)
    np.maximum.at(last, place, ends)
    names: list[str] = []
    rows = np.zeros(len(workers))
    free: dict[str, list[tuple[float, int]]] = {}  # by machine: until when each of its rows is taken
    for number in np.argsort(first, kind="stable"):
        machine = "" if workers[number] < 0 else history.workers[int(workers[number])].rpartition(":")[0]
        taken = free.setdefault(machine, [])
        until, row = min(taken, default=(np.inf, -1))
        if until <= first[number]:
            taken.remove((until, row))
        else:
            row = len(names)
            names.append(f"{machine or 'this process'} {len(taken) + 1}")
        taken.append((last[number], row))
        rows[number] = row
    return rows[place], tuple(names)
