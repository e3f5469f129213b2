"""Searches on Dask clusters that set variables of their own, or that lose all workers."""

import asyncio
import itertools
import os
import time

import pytest

import manyarms as ma
from manyarms.runners.engines.dask import DaskRunner

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def study():
    return ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=100, seed=0))


def test_a_pull_gets_the_threads_that_it_needs_although_dask_sets_them_to_one(client, study):
    study.optimize(lambda pull: float(os.environ["OMP_NUM_THREADS"]), runner=client, resources={"cpu": 2}, progress=False)
    assert study.best_reward == 2.0


def test_an_asynchronous_client_is_refused(cluster, study):
    async def optimize():
        async with distributed.Client(cluster.scheduler_address, asynchronous=True, set_as_default=False) as client:
            study.optimize(lambda pull: 1.0, runner=client, progress=False)

    with pytest.raises(ValueError, match="runner must be a Dask client without asynchronous=True"):
        asyncio.run(optimize())


def test_a_search_that_has_lost_all_workers_ends_with_its_timeout(cluster, client, study, caplog):
    passed = [0.0]

    def leave(study, outcome):
        cluster.scale(0)
        passed[0] = 3600.0

    def train(pull):
        time.sleep(0 if pull.arm.id == 0 else 600)
        return 1.0

    ticks = itertools.count()
    runner = DaskRunner(client, clock=lambda: 0.01 * next(ticks) + passed[0])
    study.optimize(train, runner=runner, timeout=3000, callbacks=[leave], progress=False)
    assert study.counts.pulls == 1
    assert "waiting for a worker" in caplog.text
