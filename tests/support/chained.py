"""A function whose every reward depends on everything that was ever saved: a lost or stale state cannot go unnoticed."""

from __future__ import annotations

import hashlib
import json
import time

import manyarms as ma

SPACE = ma.Space(
    rate=ma.Float(1e-4, 1e-1, log=True),
    model=ma.Choice("linear", ma.Space(kind="deep", width=ma.Int(2, 64, log=True))),
)


def digest(*parts) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def train(pull):
    """A chain of hashes over config, seeds and steps; a mutant's begins with its parent's."""
    state = pull.load()
    if state is None:
        assert pull.start == 0, f"nothing to load at step {pull.start}"
        state = {"steps": 0, "chain": digest(pull.parent.load()["chain"] if pull.parent is not None else None)}
    assert state["steps"] == pull.start
    for step in range(pull.start, pull.stop):
        state = {"steps": step + 1, "chain": digest(state["chain"], pull.config, pull.seed, step)}
        pull.report(reward(state))
    pull.save(state)
    return reward(state)


def slowly(pull):
    """The same, in a few milliseconds, more or less at random."""
    time.sleep(int(digest(pull.config, pull.start)[:4], 16) / 65536 * 0.008)
    return train(pull)


def reward(state) -> float:
    """Mostly better with more steps, and different for every chain."""
    return 0.5 * (1 - 0.5 ** state["steps"]) + 0.5 * int(state["chain"][:8], 16) / 16**8


def strategy(budget: int = 300, **changed) -> ma.MutantUCB:
    return ma.MutantUCB(SPACE, **{"budget": budget, "max_steps": 6, "initial": 12, "exploration": 0.05, "seed": 5, **changed})


def decisions(storage: str, name: str = "study") -> list:
    """What a stored study decided and learned, event by event."""
    with ma.load_study(storage, name) as study:
        return [event.decision for event in study.journal.events()]
