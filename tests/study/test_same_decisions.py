"""The same seed decides the same: in one loop, by ask and tell, and in worker processes."""

from __future__ import annotations

import random
import time

import chained
import pytest

import manyarms as ma

from .searches import SPACE, height, outline, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def test_same_seed_same_search_and_another_seed_another():
    one, two, other = (ma.tune(height, SPACE, budget=60, seed=seed, progress=False) for seed in (1, 1, 2))
    assert outline(one) == outline(two) != outline(other)


def test_ask_and_tell_without_a_loop_record_the_same_as_optimize():
    ran, driven = ma.Study(search()), ma.Study(search())
    ran.optimize(height, progress=False)
    while (pull := driven.ask()) is not None:
        driven.tell(pull, height(pull.config))
    assert outline(ran) == outline(driven)


def test_a_pull_told_twice_or_late_changes_nothing():
    study = ma.Study(search())
    pull = study.ask()
    study.tell(pull, 0.5)
    before = study.counts.state()
    study.tell(pull, 0.9)
    assert study.counts.state() == before
    assert len(study.journal) == 2


def pausing(pull):
    """Takes a time that differs from run to run."""
    time.sleep(random.SystemRandom().uniform(0, 0.01))
    return chained.train(pull)


def test_deterministic_workers_give_the_same_study_whatever_their_timing():
    studies = []
    for _ in range(2):
        study = ma.Study(chained.strategy(120))
        study.optimize(pausing, workers=3, deterministic=True, progress=False)
        studies.append(outline(study))
    assert studies[0] == studies[1]


def test_one_worker_process_decides_what_no_process_does():
    inline, process = ma.Study(chained.strategy(100)), ma.Study(chained.strategy(100))
    inline.optimize(chained.train, progress=False)
    process.optimize(chained.train, pull_timeout=60, progress=False)
    assert outline(inline) == outline(process)
