"""Networks that worker processes train: the same as in this process, whichever worker is late."""

from __future__ import annotations

import time

import numpy as np
import pytest
from pictures import bright_quarters

import manyarms as ma
from manyarms import networks

from ..images import SPACE

torch = pytest.importorskip("torch")


def noisy(seed):
    """Images of which a third have labels at random, so that no network learns them all."""
    x, y = bright_quarters(seed=seed)
    return x, np.where(np.arange(len(y)) % 3 == 0, np.random.default_rng(seed).permutation(y), y)


def pulls_of_a_search(late=None, **options):
    """All arms and pulls, but not how long these took: longer for arms of even numbers if `late` is 0, of odd ones if 1."""
    classifier = networks.image_classifier(*noisy(0), *noisy(1), space=SPACE, epochs=1)

    def train(pull):
        time.sleep(0.3 * (pull.arm.id % 2 == late))
        return classifier(pull)

    with ma.Study(ma.MutantUCB(SPACE, budget=16, max_steps=3, initial=4, seed=1), bounds=(0, 1)) as study:
        study.optimize(train, progress=False, **options)
        arms = {id: (record.arm.config, record.arm.parents) for id, record in study.counts.arms.items()}
        pulls = study.pulls_dataframe().drop(columns="seconds")
    assert pulls["reward"].nunique() > 5 and set(pulls["status"]) == {"told"}
    assert pulls["start"].max() > 0 and any(parents for _, parents in arms.values())
    return arms, pulls.to_dict("records")


@pytest.mark.slow
def test_worker_processes_find_the_same_networks_again_whichever_is_late():
    one, other = (pulls_of_a_search(late, workers=2, deterministic=True) for late in (0, 1))
    assert one == other


@pytest.mark.slow
def test_a_pull_comes_out_the_same_in_a_worker_process(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", str(torch.get_num_threads()))  # on which the last bits depend
    assert pulls_of_a_search() == pulls_of_a_search(pull_timeout=600)  # which takes a process of its own
