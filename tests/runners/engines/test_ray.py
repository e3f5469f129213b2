import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

import manyarms as ma
from tests.support.waiting import wait_until

engine = pytest.importorskip("manyarms.runners.engines.ray", reason="Ray is not installed")


def search(runner, budget, stop=None):
    def train(pull):  # not at the top level, where a worker would import this module, and with it Ray
        time.sleep(0.02)
        return pull["x"]

    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=budget))
    callbacks = [] if stop is None else [lambda study, outcome: study.stop() if stop.is_set() else None]
    study.optimize(train, runner=runner, callbacks=callbacks, progress=False)
    return study.counts.steps


@pytest.mark.usefixtures("ray_cluster")
def test_searches_that_use_the_whole_cluster_take_turns(monkeypatch):
    monkeypatch.setattr(engine, "_TURN", 2.0)
    over, first = threading.Event(), engine.RayRunner()
    endless = threading.Thread(target=search, args=(first, 10**6, over))
    endless.start()
    try:
        assert wait_until(lambda: len(first._members) == 3)  # no worker is left for another search
        assert search(engine.RayRunner(), 10) == 10
    finally:
        over.set()
        endless.join()


@pytest.mark.usefixtures("ray_cluster")
def test_a_worker_that_is_given_back_loses_no_pull(monkeypatch):
    monkeypatch.setattr(engine, "_TURN", 1.0)
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    runner = engine.RayRunner()
    assert search(runner, 200) == 200
    assert int(next(runner._names)) > 3  # workers were replaced


@pytest.mark.usefixtures("ray_cluster")
def test_the_size_of_the_cluster_is_known_before_its_workers_are_ready():
    runner = engine.RayRunner()
    runner.start(len)
    try:
        assert not runner._members
        assert runner.workers == 3  # a deterministic search uses this number until it ends
    finally:
        runner.close()


@pytest.mark.usefixtures("ray_cluster")
def test_no_process_is_left_when_a_search_ends(tmp_path):
    def noted(pull):
        Path(tmp_path, str(os.getpid())).touch()
        Path(tmp_path, str(os.getppid())).touch()
        return 0.0

    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=10))
    study.optimize(noted, runner="ray", workers=2, progress=False)
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert pids
    assert wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


TWO_SEARCHES = """
import sys
from pathlib import Path
import manyarms as ma
from tests.support.waiting import wait_until

own = Path(sys.argv[1])

def train(pull):
    Path(f"{own}-began").touch()
    assert wait_until(Path(f"{own}-go").exists)
    return pull["x"]

ma.tune(train, ma.Space(x=ma.Float(0, 1)), budget=4, workers=1, runner="ray", seed=0, progress=False)
"""


@pytest.mark.timeout(300)
def test_a_search_outlives_another_one_on_this_machine_that_started_a_cluster_for_itself(tmp_path):
    searches = []
    try:
        for name in ("first", "second"):
            searches.append(subprocess.Popen([sys.executable, "-c", TWO_SEARCHES, str(tmp_path / name)]))
            assert wait_until(Path(f"{tmp_path}/{name}-began").exists)
        for name, running in zip(("first", "second"), searches, strict=True):
            Path(f"{tmp_path}/{name}-go").touch()
            assert running.wait(100) == 0
    finally:
        for running in searches:
            running.kill()
            running.wait()


@pytest.mark.usefixtures("ray_cluster")
def test_a_search_that_waits_for_a_worker_says_so(monkeypatch, caplog):
    monkeypatch.setattr(engine, "_PATIENCE", 0.5)
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    over, first = threading.Event(), engine.RayRunner(workers=3)
    endless = threading.Thread(target=search, args=(first, 10**6, over))
    endless.start()
    try:
        assert wait_until(lambda: len(first._members) == 3)
        waiting = engine.RayRunner(workers=1)
        second = threading.Thread(target=search, args=(waiting, 3))
        second.start()
        assert wait_until(lambda: "waiting for Ray" in caplog.text)
    finally:
        over.set()
        endless.join()
    second.join()  # the first search has given its workers back


@pytest.mark.usefixtures("ray_cluster")
def test_a_search_that_gets_no_worker_ends_with_its_timeout(monkeypatch):
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    times = iter([0.0] * 20)
    runner = engine.RayRunner(workers=1, resources={"cpu": 100}, clock=lambda: next(times, 3600.0))
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=3))
    study.optimize(lambda pull: pull["x"], runner=runner, timeout=60, progress=False)
    assert study.counts.pulls == 0


@pytest.mark.usefixtures("ray_cluster")
def test_a_worker_that_never_starts_is_an_error(monkeypatch):
    class Broken:
        def __init__(self, setup):
            raise OSError("no such device")

        def is_ready(self):
            return True

    monkeypatch.setattr(engine, "_Worker", Broken)
    monkeypatch.setattr(engine, "_LOOK", 0.1)
    with pytest.raises(ma.WorkerError, match="(?s)Ray workers cannot be started.*no such device"):
        search(engine.RayRunner(workers=1), 3)


@pytest.mark.slow
def test_a_remote_cluster_is_used_through_ray_client(tmp_path):
    pytest.importorskip("grpc", reason="Ray Client is not installed")
    port, client_port = free_port(), free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}  # set by other tests
    environment = inherited | {"RAY_AUTH_MODE": "disabled"}
    # A temporary directory of its own, or else other tests would find this cluster. Its path must be short.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as home:
        options = (
            f"--port {port} --ray-client-server-port {client_port} --num-cpus 2 --include-dashboard false --temp-dir {home}"
        )
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", *options.split()]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True) as head:
            try:
                assert wait_until(lambda: answers(client_port))
                script = tmp_path / "search.py"
                script.write_text(REMOTE.format(port=client_port))
                ended = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
                assert "pulls=40, failures=0" in ended.stdout, ended.stderr
            finally:
                for process in [*psutil.Process(head.pid).children(recursive=True), head]:
                    process.kill()


REMOTE = """
import manyarms as ma
study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=40, seed=0))
study.optimize(lambda pull: pull["x"], runner="ray://127.0.0.1:{port}", progress=False)
print(study.counts)
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
