"""Workers of engines that are lost, join or misbehave: nothing is lost and nothing is counted twice."""

import os
import signal
import threading
from pathlib import Path

import chained
import psutil
import pytest
from waiting import wait_until

import manyarms as ma
from manyarms.errors import WorkerError
from manyarms.runners.loop import MOST_LOSSES
from manyarms.study.verify import audit

ENGINES = ["dask client", "ray"]


def strategy(budget):
    """A strategy whose pulls continue from checkpoints, and that spends exactly its budget."""
    return ma.InfiniteUCBE(chained.SPACE, budget=budget, max_steps=6, seed=5)


def search(tmp_path, function, runner, name="study", budget=40, **options):
    """The storage of a finished study, after all checks that hold for every study."""
    storage = f"sqlite:///{tmp_path}/{name}.db"
    study = ma.Study(strategy(budget), storage=storage, name=name, checkpoints=f"{tmp_path}/{name}-checkpoints")
    study.optimize(function, runner=runner, progress=False, **options)
    study.close()
    check_exact(storage, name, budget)
    check_tidy(storage, name, tmp_path / f"{name}-checkpoints")
    return storage


def check_exact(storage, name, budget):
    with ma.load_study(storage, name) as study:
        assert study.counts.steps == budget
        assert not study.counts.in_flight
        ended = [(e.arm, e.start) for e in study.journal.events() if e.kind in ("told", "failed")]
        assert len(ended) == len(set(ended))
        assert not list(audit(study.journal))


def check_tidy(storage, name, checkpoints):
    """No files of pulls that were lost are left."""
    with ma.load_study(storage, name) as study:
        (directory,) = checkpoints.iterdir()
        assert {path.name for path in directory.iterdir()} <= {"owner.json", *study.counts.needed()}


def failures(storage, name="study"):
    with ma.load_study(storage, name) as study:
        return [event.data["reason"] for event in study.journal.events() if event.kind == "failed"]


def kill_worker_once(flag):
    """A training function whose engine worker is killed in the middle of one pull, the first time."""

    def train(pull):
        if pull.arm.id == 5 and not os.path.exists(flag):
            Path(flag).touch()
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()  # until this process ends with its worker
        return chained.train(pull)

    return train


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_pull_whose_worker_is_killed_runs_again_and_counts_once(engine, tmp_path):
    storage = search(tmp_path, kill_worker_once(str(tmp_path / "killed")), engine(2), deterministic=True)
    assert (tmp_path / "killed").exists()
    assert not failures(storage)
    undisturbed = search(tmp_path, chained.train, ma.ProcessRunner(2), "undisturbed", deterministic=True)
    assert chained.decisions(storage) == chained.decisions(undisturbed, "undisturbed")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("engine", [*ENGINES, "loky"], indirect=True)
def test_a_deterministic_search_gives_the_same_journal_everywhere(engine, workers, tmp_path):
    storage = search(tmp_path, chained.train, engine(workers), deterministic=True)
    here = ma.InlineRunner() if workers == 1 else ma.ProcessRunner(workers)
    reference = search(tmp_path, chained.train, here, "reference", deterministic=True)
    assert chained.decisions(storage) == chained.decisions(reference, "reference")


@pytest.mark.parametrize("engine", [*ENGINES, "loky"], indirect=True)
def test_a_pull_that_kills_its_own_process_fails_and_the_worker_survives(engine, tmp_path):
    def train(pull):
        Path(tmp_path, f"host-{os.getppid()}").touch()
        if pull.arm.id % 3 == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return chained.train(pull)

    storage = search(tmp_path, train, engine(2))
    reasons = failures(storage)
    assert reasons
    assert all("SIGKILL" in reason for reason in reasons)
    assert len(list(tmp_path.glob("host-*"))) <= 3  # the size of the cluster: no worker was replaced


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_pull_that_kills_its_worker_every_time_fails_and_the_search_continues(engine, tmp_path):
    def train(pull):
        if pull.arm.id == 2:
            with open(tmp_path / "attempts", "a") as file:
                file.write("x")
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        return chained.train(pull)

    storage = search(tmp_path, train, engine(2), budget=20)
    attempts = len((tmp_path / "attempts").read_text())
    assert (
        MOST_LOSSES < attempts <= 2 * MOST_LOSSES
    )  # one may not count: it looks as if it still waited for a pull whose answer was lost
    (reason,) = failures(storage)
    assert f"its worker was lost {MOST_LOSSES + 1} times" in reason


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_pull_that_waits_behind_one_that_kills_every_worker_does_not_fail(engine, tmp_path):
    """One worker, so that others always wait behind the pull that kills it."""

    def train(pull):
        if pull.arm.id == 2 and pull.start == 0:
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        return chained.train(pull)

    (reason,) = failures(search(tmp_path, train, engine(1), budget=20))
    assert f"its worker was lost {MOST_LOSSES + 1} times" in reason


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_pull_that_takes_too_long_fails_and_the_worker_survives(engine, tmp_path):
    def train(pull):
        if pull.arm.id == 3:
            signal.pause()
        return chained.train(pull)

    storage = search(tmp_path, train, engine(2, pull_timeout=60), budget=20)
    assert ["60 s" in reason for reason in failures(storage)] == [True]


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_closing_ends_the_processes_of_running_pulls(engine, tmp_path):
    def train(pull):
        Path(tmp_path, f"pid-{os.getpid()}").touch()
        if pull.arm.id < 2:
            return 0.0
        signal.pause()

    runner = engine(2)
    study = ma.Study(strategy(20), storage=f"sqlite:///{tmp_path}/study.db")

    def stop(study, outcome):
        if study.counts.pulls == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.optimize(train, runner=runner, progress=False, callbacks=[stop])
    study.close()
    pids = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
    assert pids
    assert wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids))
    assert study.counts.pulls == 2


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_two_studies_share_one_cluster_at_the_same_time(engine, tmp_path):
    problems = []

    def run(name):
        try:
            search(tmp_path, chained.slowly, engine(2), name)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not problems
    assert not any(thread.is_alive() for thread in threads)


def test_a_worker_that_joins_is_used(tmp_path):
    from distributed import Client, LocalCluster

    flag = tmp_path / "joined"

    def train(pull):
        Path(tmp_path, f"host-{os.getppid()}").touch()
        assert wait_until(lambda: pull.arm.id < 2 or len(list(tmp_path.glob("host-*"))) > 1)
        return chained.train(pull)

    def grow(study, outcome):
        if not flag.exists():
            flag.touch()
            cluster.scale(2)

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        search(tmp_path, train, client, budget=30, callbacks=[grow], workers="all")
    assert len(list(tmp_path.glob("host-*"))) == 2


def test_a_search_waits_when_the_last_worker_leaves(tmp_path):
    from distributed import Client, LocalCluster

    left = []

    def leave(study, outcome):
        if not left:
            left.append(True)
            cluster.scale(0)
            threading.Timer(2, cluster.scale, [1]).start()

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        search(tmp_path, chained.slowly, client, callbacks=[leave], workers="all")
    assert left


def test_a_lost_scheduler_ends_the_search_with_one_error_and_it_resumes(tmp_path):
    from distributed import Client, LocalCluster

    from manyarms.runners.engines.dask import DaskRunner

    storage = f"sqlite:///{tmp_path}/study.db"
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0")

    def end(study, outcome):
        cluster.close()

    address = cluster.scheduler_address.removeprefix("tcp://")
    runner = DaskRunner(f"dask://{address}", patience=2)
    with ma.Study(strategy(40), storage=storage) as study, pytest.raises(WorkerError, match="was lost .*: run the search"):
        study.optimize(chained.train, runner=runner, callbacks=[end], progress=False)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as another,
        Client(another, set_as_default=False) as client,
        ma.Study(strategy(40), storage=storage) as study,
    ):
        study.optimize(chained.train, runner=client, progress=False)
    check_exact(storage, "study", 40)


@pytest.mark.timeout(300)
def test_a_client_that_dask_gave_up_is_replaced_when_the_scheduler_comes_back(tmp_path):
    from distributed import Client, LocalCluster

    def lose(study, outcome):
        if study.counts.pulls == 5:
            client.close()  # as Dask does after half a minute without the scheduler

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        client = Client(cluster.scheduler_address, set_as_default=False)
        search(tmp_path, chained.train, client, callbacks=[lose])
