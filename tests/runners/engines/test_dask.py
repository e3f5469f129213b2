"""Searches on Dask clusters that set variables of their own, or that lose all workers."""

import os

import pytest

import manyarms as ma

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


def search(cluster, function, budget=1, **options):
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=budget, seed=0))
    with distributed.Client(cluster, set_as_default=False) as client:
        study.optimize(function, runner=client, progress=False, **options)
    return study


def test_a_pull_gets_the_threads_that_it_needs_although_dask_sets_them_to_one(cluster):
    study = search(cluster, lambda pull: float(os.environ["OMP_NUM_THREADS"]), resources={"cpu": 2})
    assert study.best_reward == 2.0
