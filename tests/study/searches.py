"""A space, a function and a search on it, and what a study decided, which the tests of studies share."""

from __future__ import annotations

import manyarms as ma

SPACE = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))


def height(config):
    return 1 - abs(config["x"] - 0.3) - abs(config["y"] - 0.6)


def search(budget=100, **changed):
    return ma.MutantUCB(SPACE, **{"budget": budget, "max_steps": 1, "seed": 0, **changed})


def outline(study):
    return [event.decision for event in study.journal.events()]
