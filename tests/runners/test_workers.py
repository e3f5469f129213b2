"""What a worker process gets: the function, once; its environment; a device. And what is said if it cannot."""

import multiprocessing
import multiprocessing.connection
import os
import subprocess
import sys
import tempfile
import threading
import types

import cloudpickle
import numpy as np
import pytest

import manyarms as ma
from manyarms.runners import processes

from .pool import started

_SCRIPT = """
import os
import manyarms as ma

class Net:
    def __init__(self):
        self.trainers = []

def train(pull):
    net = pull.load() or Net()
    net.trainers.append(os.getpid())
    pull.save(net)
    return {"reward": pull.config["x"], "trainers": len(set(net.trainers)), "same": type(net) is Net}

def pause(study, outcome):
    if study.counts.pulls == 30:
        study.stop()

study = ma.Study(ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=60, max_steps=5, seed=0))
for callbacks in ([pause], []):  # the second time with other processes
    study.optimize(train, workers=2, deterministic=True, progress=False, callbacks=callbacks)
pulls = study.pulls_dataframe()
print(set(pulls.status), pulls.metric_trainers.max() > 1, pulls.metric_same.min(), type(study.best_model()) is Net)
"""


def test_a_script_needs_no_main_guard_and_workers_load_what_others_saved_of_its_classes(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(_SCRIPT)
    answer = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert answer.stdout == "{'told'} True 1.0 True\n", answer.stderr


@pytest.mark.parametrize("sent", ["nothing", "a function", "a broken function"])
def test_a_worker_whose_study_ends_while_it_starts_says_nothing(sent):
    """The end of the pipe is seen before that of the lifeline, which stays open here."""
    ours, theirs = multiprocessing.Pipe()
    lifeline, held = os.pipe()
    arguments = [str(theirs.fileno()), str(lifeline), *sys.path]
    if sent != "nothing":
        ours.send_bytes(cloudpickle.dumps(len) if sent == "a function" else b"no pickle")
    ours.close()
    command = [sys.executable, "-c", processes._BOOT, *arguments]
    options = {"pass_fds": (theirs.fileno(), lifeline), "start_new_session": True}
    answer = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    theirs.close()
    for end in (lifeline, held):
        os.close(end)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_big_closure_is_sent_once_to_each_worker(tmp_path, monkeypatch):
    data, sent = np.zeros(50_000_000, dtype=np.uint8), []
    send = multiprocessing.connection.Connection.send_bytes

    def counted(connection, message):
        sent.append(len(message))
        send(connection, message)

    monkeypatch.setattr(multiprocessing.connection.Connection, "send_bytes", counted)
    with started(tmp_path, workers=2, function=lambda config: len(data)) as pool:
        for _ in range(5):
            assert [outcome.reward for outcome in pool.run(1, 2)] == [50_000_000] * 2
    assert len([size for size in sent if size > 1_000_000]) == 2
    assert sum(sent) < 100_100_000


@pytest.mark.parametrize("hold", [threading.Lock, tempfile.TemporaryFile], ids=["lock", "file"])
def test_a_function_that_cannot_be_pickled_is_refused_with_advice(hold):
    held = hold()
    study = ma.Study(ma.RandomSearch(ma.Space(x=ma.Float(0, 1)), budget=4, seed=0))
    with pytest.raises(TypeError, match="inside the function, or use workers=1"):
        study.optimize(lambda config: held and config["x"], workers=2, progress=False)
    study.optimize(lambda config: bool(held) and config["x"], progress=False)
    assert study.counts.pulls == 4
    getattr(held, "close", bool)()


def test_a_function_from_a_module_that_workers_cannot_import_is_an_error_with_the_traceback(tmp_path, monkeypatch):
    module = types.ModuleType("only_here")
    exec("def train(config): return 1.0", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with (
        started(tmp_path, function=module.train) as pool,
        pytest.raises(ma.WorkerError, match="(?s)Traceback.*No module named 'only_here'"),
    ):
        pool.run(None)


class DyingOnLoad:
    """A function that ends any process it is loaded in while a file is there."""

    def __init__(self, file):
        self.file = file

    def __setstate__(self, state):
        self.__dict__ |= state
        if os.path.exists(self.file):
            os._exit(7)

    def __call__(self, pull):
        if pull.config == "die":
            os._exit(3)
        return 1.0


def test_a_worker_that_cannot_start_is_an_error_unless_others_could(tmp_path):
    file = tmp_path / "die"
    file.touch()
    with started(tmp_path, function=DyingOnLoad(str(file))) as pool, pytest.raises(ma.WorkerError, match="exited with code 7"):
        pool.run(None)
    file.unlink()
    with started(tmp_path, function=DyingOnLoad(str(file))) as pool:
        assert pool.run("die")[0].reason == "the worker exited with code 3"
        file.touch()
        assert pool.run(None)[0].reason == "the worker exited with code 7"
        file.unlink()
        assert pool.run(None)[0].reward == 1.0


def test_an_interpreter_that_cannot_be_started_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with started(tmp_path) as pool, pytest.raises(ma.WorkerError, match="/no/such/python"):
        pool.run(None)


def test_what_is_no_text_in_the_search_path_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])
    with started(tmp_path) as pool:
        assert pool.run(lambda pull: 1.0)[0].reward == 1.0


def test_a_tensor_is_a_reward(tmp_path):
    pytest.importorskip("torch")

    def train(pull):
        import torch

        return {"reward": torch.tensor(0.5, requires_grad=True), "loss": torch.tensor([2.0])}

    with started(tmp_path) as pool:
        outcome = pool.run(train)[0]
    assert outcome.reward == 0.5 and outcome.metrics == {"loss": 2.0}


@pytest.mark.parametrize(
    ("given", "rest"), [({}, 3), ({"MKL_NUM_THREADS": 7}, 3), ({"OMP_NUM_THREADS": 2, "MKL_NUM_THREADS": 7}, 2)]
)
def test_numeric_libraries_share_the_processors_unless_the_user_set_their_threads(tmp_path, monkeypatch, given, rest):
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    for name in processes._THREADS:
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))

    def threads(pull):
        return {"reward": 0, **{name: int(value) for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}}

    with started(tmp_path, workers=4) as pool:
        seen = pool.run(threads)[0].metrics
    assert {name: seen[name] for name in processes._THREADS} == dict.fromkeys(processes._THREADS, rest) | given


def test_each_worker_sees_its_own_device_and_so_does_the_one_that_replaces_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")

    def device(pull):
        return float(os.environ["CUDA_VISIBLE_DEVICES"])

    with started(tmp_path, workers=2, resources={"gpu": 1}) as pool:
        assert [outcome.reward for outcome in pool.run(device, device)] == [4, 6]
        pool.run(lambda pull: os._exit(1), device)
        assert [outcome.reward for outcome in pool.run(device, device)] == [4, 6]
