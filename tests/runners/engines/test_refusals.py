"""What cannot work on a cluster is refused before anything runs, with one error that says what to do."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import manyarms as ma
from manyarms.runners.engines import dask, engine_runner, host, ray

SPACE = ma.Space(x=ma.Float(0, 1))


def search(tmp_path, function=lambda pull: pull["x"], **options):
    return ma.tune(function, SPACE, budget=4, seed=0, progress=False, storage=tmp_path / "study.db", **options)


def nothing_is_left(tmp_path):
    return not (tmp_path / "study.db").exists() or not ma.load_study(tmp_path / "study.db", "study").counts.events


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_engine_that_is_not_installed_names_the_extra(tmp_path, monkeypatch, engine):
    for module in (engine, "distributed", f"manyarms.runners.engines.{engine}"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"manyarms.runners.engines.{engine}")
    with pytest.raises(ImportError, match=rf'pip install "manyarms\[{engine}\]"'):
        search(tmp_path, runner=engine)
    assert not (tmp_path / "study.db").exists()


def test_an_unreachable_scheduler_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(dask, "_CONNECT", 0.5)
    with pytest.raises(ma.WorkerError, match=r"the Dask scheduler at tcp://127\.0\.0\.1:1 cannot be reached"):
        search(tmp_path, runner="dask://127.0.0.1:1")
    assert nothing_is_left(tmp_path)


def test_an_unreachable_ray_cluster_is_named(tmp_path, monkeypatch):
    def refuse(**options):
        raise ConnectionError("no cluster there")

    monkeypatch.setattr(ray.ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray.ray, "init", refuse)
    with pytest.raises(ma.WorkerError, match="the Ray cluster at ray://nowhere:10001 cannot be reached: no cluster there"):
        search(tmp_path, runner="ray://nowhere:10001")
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize("runner", ["dask", "ray", ThreadPoolExecutor(1)], ids=["dask", "ray", "executor"])
def test_a_function_that_cannot_be_pickled_leaves_no_study(tmp_path, runner):
    lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot be sent to worker processes"):
        search(tmp_path, lambda pull: lock and 1, runner=runner)
    assert not (tmp_path / "study.db").exists()


def test_an_unknown_engine_is_refused(tmp_path):
    with pytest.raises(ValueError, match="runner must be \"dask\".*got 'spark'"):
        search(tmp_path, runner="spark")


@pytest.mark.parametrize("workers", ["many", 0, 1.5, True])
def test_workers_is_a_number_or_all(tmp_path, workers):
    with pytest.raises((ValueError, TypeError), match="workers must be"):
        search(tmp_path, runner="dask", workers=workers)


def test_an_executor_of_unknown_size_needs_workers():
    class Own(ThreadPoolExecutor):
        def __init__(self):
            super().__init__(1)
            del self._max_workers

    with pytest.raises(ValueError, match="workers must be given, because the number of workers of Own is not known"):
        engine_runner(Own(), None, None, None)


@pytest.mark.parametrize("engine", ["dask client", "ray", "loky"], indirect=True)
def test_workers_that_cannot_read_the_checkpoints_are_refused(tmp_path, engine, monkeypatch):
    study = ma.Study(ma.RandomSearch(SPACE, budget=4, seed=0), checkpoints=str(tmp_path / "models"))
    monkeypatch.setattr(ma.Checkpoints, "create", lambda self: None)  # as if the directory were on this machine alone
    with pytest.raises(ma.WorkerError, match="cannot read the checkpoint directory.*use a directory that all machines share"):
        study.optimize(lambda pull: pull["x"], runner=engine(2), progress=False)
    assert not study.counts.events


@pytest.mark.parametrize("engine", ["dask client", "ray", "loky"], indirect=True)
def test_workers_with_another_version_are_refused(tmp_path, engine, monkeypatch):
    original = host.versions
    monkeypatch.setattr(host, "versions", lambda: {**original(), "python": "3.99.0"})
    with pytest.raises(ma.WorkerError, match=r"has python 3\.1\d+\.\d+, but the study runs with python 3\.99\.0"):
        search(tmp_path, runner=engine(2))


def test_packages_with_other_versions_are_listed():
    theirs = {**host.versions(), "numpy": "0.1"}
    assert host.differences(theirs) == [f"numpy {host.versions()['numpy']} instead of 0.1"]


def test_a_patch_version_of_python_may_differ(tmp_path):
    python = f"{sys.version_info.major}.{sys.version_info.minor}.99"
    assert host.refusal({**host.versions(), "python": python}, tmp_path, None) is None


@pytest.mark.parametrize("engine", ["dask client", "ray", "loky"], indirect=True)
def test_a_function_that_cannot_be_loaded_is_one_error(tmp_path, engine):
    with pytest.raises(ma.WorkerError, match="cannot be loaded in a worker process(.|\n)*no_such_module"):
        search(tmp_path, Unloadable(), runner=engine(2))


class Unloadable:
    """A function whose module does not exist on the workers."""

    def __call__(self, pull):
        return 1

    def __reduce__(self):
        return __import__, ("no_such_module",)


@pytest.mark.parametrize("engine", ["dask client", "ray", "loky"], indirect=True)
def test_a_pull_that_runs_out_of_memory_fails_and_the_search_continues(tmp_path, engine):
    def train(pull):
        if pull.arm.id == 1:
            import os

            os.kill(os.getpid(), 9)  # what the operating system does
        return pull["x"]

    study = search(tmp_path, train, runner=engine(2))
    assert dict(study.counts.reasons) == {"the worker was killed by SIGKILL (often: out of memory)": 1}
    assert study.counts.pulls == 3


def test_a_cluster_without_the_resource_says_how_to_offer_it(dask_client, tmp_path):
    with pytest.raises(ma.WorkerError, match=r"does not offer 2 of the resource GPU: start it with `dask worker --resources"):
        search(tmp_path, runner=dask_client, resources={"gpu": 2})


def test_resources_of_a_cluster_limit_what_runs_at_once(dask_client, tmp_path):
    runner = dask.DaskRunner(dask_client, "all", resources={"gpu": 0.5})
    runner.start(lambda pull: 1)
    try:
        assert runner.workers == 3  # one thread each, although two would fit on a device
    finally:
        runner.close()


def test_a_setup_shows_no_function():
    assert "function" not in repr(host.Setup(b"secret"))
    assert replace(host.Setup(b""), threads=2).threads == 2


@pytest.mark.parametrize("options", [{"workers": 2}, {"runner": "dask", "workers": 2}], ids=["processes", "dask"])
def test_checkpoints_in_memory_are_refused_if_pulls_run_in_other_processes(tmp_path, options):
    with pytest.raises((ma.StorageError, ma.WorkerError), match="memory://"):
        search(tmp_path, checkpoints="memory://models", **options)
