"""The engines that the tests of this directory share: each is started once per test process, when it is first needed."""

import logging
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Allow engines to leave sockets to the garbage collector, as they do when they end."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def dask_cluster():
    """A Dask cluster with three worker processes."""
    import dask
    from distributed import LocalCluster

    dask.config.set({f"distributed.comm.timeouts.{name}": "120s" for name in ("connect", "tcp")})  # the machine may be busy
    with LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        resources={"GPU": 1},
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def dask_client(dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def ray_cluster():
    """A connection to a Ray cluster with three workers."""
    import ray

    ray.init(address="local", num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def loky_executor():
    from loky import ProcessPoolExecutor

    with ProcessPoolExecutor(3) as executor:
        yield executor


@pytest.fixture
def engine(request):
    """A function that makes a runner for the engine named by the parameter of the test."""
    kind = request.param
    if kind.startswith("dask"):
        from manyarms.runners.engines.dask import DaskRunner

        client = request.getfixturevalue("dask_client")
        where = client if kind == "dask client" else f"dask://{client.scheduler.address.removeprefix('tcp://')}"
        return lambda workers, **more: DaskRunner(where, workers, **more)
    if kind == "ray":
        from manyarms.runners.engines.ray import RayRunner

        request.getfixturevalue("ray_cluster")
        return lambda workers, **more: RayRunner("ray", workers, **more)
    from manyarms.runners.engines.executor import ExecutorRunner

    executor = request.getfixturevalue("loky_executor")
    return lambda workers, **more: ExecutorRunner(executor, workers, **more)
