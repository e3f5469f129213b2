"""A search in which every reward depends on all saved states, so that a lost or stale state changes all later rewards."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import manyarms as ma
from manyarms.study.verify import audit

BUDGET = 400
SPACE = ma.Space(rate=ma.Float(1e-4, 1e-1, log=True), model=ma.Choice("linear", ma.Space(kind="deep", width=ma.Int(2, 64))))


def train(pull: Any) -> float:
    """A chain of hashes over config, seed and steps. The chain of a mutant continues that of its parent."""
    state = pull.load()
    if state is None:
        state = _digest(pull.parent.load() if pull.parent is not None else None)
    time.sleep(int(_digest(pull.config, pull.start)[:4], 16) / 65536 * 0.004)
    for step in range(pull.start, pull.stop):
        state = _digest(state, pull.config, pull.seed, step)
    pull.save(state)
    return 0.5 * (1 - 0.5**pull.stop) + 0.5 * int(state[:8], 16) / 16**8


def study(storage: str, budget: int = BUDGET, checkpoints: str | None = None) -> ma.Study:
    """The study, new or resumed."""
    strategy = ma.MutantUCB(SPACE, budget=budget, max_steps=6, initial=12, exploration=0.05, seed=5)
    return ma.Study(strategy, storage=storage, checkpoints=checkpoints)


def search(storage: str, workers: int = 1, budget: int = BUDGET, callbacks: Any = (), checkpoints: str | None = None) -> None:
    """Run the study until its budget is spent."""
    with study(storage, budget, checkpoints) as search:
        search.optimize(train, workers=workers, deterministic=workers > 1, progress=False, callbacks=callbacks)


def decisions(storage: str) -> list[Any]:
    """The decisions and rewards of the study, event by event."""
    with ma.load_study(storage) as view:
        return [event.decision for event in view.journal.events()]


def difference(storage: str, reference: str, budget: int = BUDGET, checkpoints: str | None = None) -> str | None:
    """A difference between a study that was attacked and one that was not; None if there is none."""
    with ma.load_study(storage) as view:
        wrong = next(audit(view.journal), None)
    if wrong is not None:
        return f"verify: {wrong}"
    found, expected = decisions(storage), decisions(reference)
    if found != expected:
        return f"the journals differ: {len(found)} events, {len(expected)} expected"
    with study(storage, budget, checkpoints) as one, study(reference, budget) as other:
        return None if one.best_model() == other.best_model() else "the best models differ"


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
