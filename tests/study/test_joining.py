"""Several processes run the same script and share a study."""

import os
import signal
import socket
import ssl
import subprocess
import sys

import pytest
from waiting import wait_until

import manyarms as ma
from manyarms.journal.sql import SqlJournal
from manyarms.study.verify import audit

pytest.importorskip("distributed")

BUDGET = 60
SPACE = ma.Space(x=ma.Float(0, 1))

SCRIPT = """
import sys, time, warnings
import chained
import manyarms as ma

storage, name, budget, pause, blind = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5] == "True"
seed = int(sys.argv[6])

if blind:  # a machine on which the directory of checkpoints is empty
    import manyarms.study.joining
    manyarms.study.joining.says = lambda directory, record: False

def train(pull):
    time.sleep(pause)
    return chained.train(pull)

def show(study, outcome):
    print("leads", flush=True)

study = ma.tune(
    train, chained.SPACE, budget=budget, max_steps=6, strategy=ma.InfiniteUCBE, seed=seed, storage=storage, name=name,
    join=True, progress=False, callbacks=[show],
)
print("steps", study.counts.steps, flush=True)
study.close()
"""


@pytest.fixture
def run(tmp_path):
    """Starts processes that run the script, and ends those that are left."""
    processes = []

    def run(storage, name="study", budget=BUDGET, pause=0.05, blind=False, seed=5):
        said = tmp_path / f"said-{len(processes)}"
        with open(said, "w") as output:
            words = [sys.executable, "-c", SCRIPT, storage, name, str(budget), str(pause), str(blind), str(seed)]
            processes.append(subprocess.Popen(words, stdout=output, stderr=output))
        processes[-1].said = said.read_text
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()


def check_exact(storage, name="study", budget=BUDGET):
    with ma.load_study(storage, name) as study:
        assert study.counts.steps == budget
        ended = [(event.arm, event.start) for event in study.journal.events() if event.kind in ("told", "failed")]
        assert len(ended) == len(set(ended))
        assert not list(audit(study.journal))


@pytest.mark.timeout(300)
def test_when_the_leader_is_killed_the_others_finish_the_study(run, tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    leader = run(storage)
    assert wait_until(lambda: "leads" in leader.said()), leader.said()
    others = [run(storage), run(storage)]
    assert wait_until(lambda: leader.said().count("leads") > 5)
    os.kill(leader.pid, signal.SIGKILL)
    for other in others:
        assert other.wait(250) == 0, other.said()
        assert f"steps {BUDGET}" in other.said()
    assert sum("leads" in other.said() for other in others) == 1
    check_exact(storage)


@pytest.mark.timeout(300)
def test_a_second_call_after_the_end_returns_the_finished_study(run, tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    assert run(storage, budget=6, pause=0).wait(250) == 0
    again = run(storage, budget=6, pause=0)
    assert again.wait(250) == 0
    assert again.said() == "steps 6\n"


def test_a_machine_that_cannot_read_the_checkpoints_gets_one_clear_error(run, tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    leader = run(storage, budget=6000)
    assert wait_until(lambda: "leads" in leader.said()), leader.said()
    other = run(storage, budget=6000, blind=True)
    assert other.wait(100) == 1
    assert "cannot read the checkpoints of study 'study'" in other.said().splitlines()[-1]
    assert "use a directory that all machines share" in other.said().splitlines()[-1]


def test_a_script_with_other_arguments_is_refused_before_it_works_for_the_leader(run, tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    leader = run(storage, budget=6000)
    assert wait_until(lambda: "leads" in leader.said()), leader.said()
    other = run(storage, budget=6000, seed=6)
    assert other.wait(100) == 1
    assert "created with seed=5, but now has seed=6" in other.said().splitlines()[-1]
    assert leader.poll() is None


def test_a_process_without_the_key_cannot_connect(run, tmp_path):
    from distributed.security import Security

    from manyarms.runners.engines.joined import Leader

    storage = f"sqlite:///{tmp_path}/study.db"
    leader = run(storage, budget=6000)

    def published():
        try:
            with ma.load_study(storage, "study") as study:
                return study.journal.leader()
        except ma.ManyarmsError:
            return None

    assert wait_until(published), leader.said()
    known = Leader.from_text(published())
    assert known.address.startswith("tls://")

    def greeting(security):
        """What the scheduler sends first to a process with these settings; nothing if it refuses the process."""
        context = security.get_connection_args("client")["ssl_context"]
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # so that only the scheduler can refuse
        host, port = known.address.removeprefix("tls://").split(":")
        try:
            with socket.create_connection((host, int(port)), timeout=60) as plain, context.wrap_socket(plain) as connection:
                return connection.recv(1)
        except OSError:
            return b""

    assert greeting(known.security)
    assert not greeting(Security.temporary())


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"storage": None}, "storage"),
        ({"deterministic": True}, "deterministic"),
        ({"runner": "dask"}, "runner"),
        ({"workers": "all"}, "workers"),
    ],
)
def test_an_argument_that_cannot_be_combined_with_join_is_named(wrong, named, tmp_path):
    arguments = {"storage": f"sqlite:///{tmp_path}/study.db", "join": True, "budget": 3, "progress": False, **wrong}
    with pytest.raises(ValueError, match=named):
        ma.tune(lambda pull: pull["x"], SPACE, **arguments)
    assert not (tmp_path / "study.db").exists()


def test_join_must_be_a_flag_or_an_address(tmp_path):
    with pytest.raises(TypeError, match="join must be True, False or the address"):
        ma.tune(lambda pull: pull["x"], SPACE, storage=f"sqlite:///{tmp_path}/study.db", join=3, budget=3)


def test_the_key_is_removed_when_the_study_ends(run, tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    assert run(storage, budget=6, pause=0).wait(100) == 0
    journal = SqlJournal(storage, "study", write=False)
    assert journal.leader() is None
    journal.close()
