"""Kills the parts of Dask and Ray clusters and restarts the database during searches, and counts attempts and failures.

In each search, workers are killed at random moments, workers are added, the scheduler (Dask) or a node (Ray) is killed, and
PostgreSQL is restarted. A failure is a search that lost a pull or counted one twice, did not spend exactly its budget, cannot
be verified, left files or processes behind, or, if it is deterministic, made other decisions than an undisturbed one.
"""

from __future__ import annotations

import logging
import os
import queue
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from report import parser

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))  # outages of the database, and a function to train
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))  # also for workers

import chained
import pg_outages
from attacks.clusters import DaskCluster, RayCluster, pull_processes, wait_until
from attacks.exact import decisions, problems
from attacks.score import Score, show

import manyarms as ma

KILLS, QUICK_KILLS = 20, 3
WORKERS = 2
PULLS_PER_FAULT = 12
"""Each fault comes a little after this number of pulls, so that all of them come before the end of the search."""


class Fault(NamedTuple):
    """Something that happens to a cluster.

    Args:
        name: What it is.
        cause: Causes it. Returns False if that is not possible at the moment.
        in_main_thread: Whether it must be called in the main thread.
    """

    name: str
    cause: Callable[[], Any]
    in_main_thread: bool = False


def train(pull: Any) -> float:
    """The chain of hashes of the tests, in about a tenth of a second."""
    time.sleep(0.05 + int(chained.digest(pull.config, pull.start)[:4], 16) / 65536 * 0.1)
    return chained.train(pull)


def strategy(budget: int, deterministic: bool) -> Any:
    """A strategy that spends exactly its budget; for a deterministic search one whose arms also inherit states."""
    if deterministic:
        return chained.strategy(budget)
    return ma.InfiniteUCBE(chained.SPACE, budget=budget, max_steps=6, seed=5)


class Faults:
    """Causes one fault after another while a search runs, each after some more pulls. Used as a callback of the search.

    Args:
        faults: The faults.
        rng: For the moment of each fault.
    """

    def __init__(self, faults: list[Fault], rng: random.Random) -> None:
        self._faults, self._rng = faults, rng
        self._pulls = 0
        self._ended = threading.Event()
        self._for_main: queue.SimpleQueue[tuple[Fault, threading.Event]] = queue.SimpleQueue()
        self.done: list[str] = []
        self.errors: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __call__(self, study: ma.Study, outcome: ma.Outcome) -> None:
        self._pulls += 1
        with suppress(queue.Empty):
            fault, caused = self._for_main.get_nowait()
            self._cause(fault)
            caused.set()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        for number, fault in enumerate(self._faults, 1):
            while self._pulls < number * PULLS_PER_FAULT:
                if self._ended.wait(0.02):
                    return
            time.sleep(self._rng.uniform(0, 0.3))
            if not fault.in_main_thread:
                self._cause(fault)
                continue
            self._for_main.put((fault, caused := threading.Event()))
            while not caused.wait(0.05) and not self._ended.is_set():
                pass

    def _cause(self, fault: Fault) -> None:
        try:
            while fault.cause() is False:  # nothing to kill at this moment
                if self._ended.wait(0.05):
                    return
            self.done.append(fault.name)
        except Exception as error:
            self.errors.append(f"{fault.name}: {type(error).__name__}: {error}")


def under_faults(
    kind: str, where: Any, faults: list[Fault], url: str, directory: Path, deterministic: bool, rng: random.Random
) -> Score:
    """One search under these faults, and everything that is wrong with it afterwards."""
    budget = PULLS_PER_FAULT * (len(faults) + 2)
    name = f"{kind}-{'deterministic' if deterministic else 'free'}"
    score = Score(f"{kind}, {'deterministic' if deterministic else 'all workers'}")
    checkpoints = directory / name
    checkpoints.mkdir()
    causing = Faults(faults, rng)
    began = time.monotonic()
    try:
        with ma.Study(strategy(budget, deterministic), storage=url, name=name, checkpoints=str(checkpoints)) as study:
            study.optimize(
                train,
                runner=where,
                workers=WORKERS if deterministic else "all",
                deterministic=deterministic,
                progress=False,
                callbacks=[causing],
            )
            if "chain" not in study.best_model():
                score.failures.append("the best model is not the one that was saved")
    except Exception as error:
        traceback.print_exc()
        score.failures.append(f"{type(error).__name__}: {error}")
    causing.end()
    score.attempts = len(causing.done)
    score.failures += causing.errors
    print(f"  {name}: {', '.join(causing.done)}; {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if len(causing.done) < len(faults):
        score.failures.append(f"only {len(causing.done)} of {len(faults)} faults came before the end of the search")
    if not deterministic:
        score.failures += problems(url, name, budget, checkpoints)
    else:
        reference = f"{name}-undisturbed"
        with ma.Study(strategy(budget, True), storage=url, name=reference, checkpoints=str(directory / reference)) as study:
            study.optimize(chained.train, workers=WORKERS, deterministic=True, progress=False)
            steps = study.counts.steps
        score.failures += problems(url, name, steps, checkpoints)
        if decisions(url, name) != decisions(url, reference):
            score.failures.append("the decisions differ from those of an undisturbed search")
    return score


def mixed(kills: list[Fault], others: list[Fault], rng: random.Random) -> list[Fault]:
    """The kills, and the other faults, in their order, at random places between them."""
    places = sorted(rng.randrange(len(kills) + 1) for _ in others)
    faults = list(kills)
    for place, other in reversed(list(zip(places, others, strict=True))):
        faults.insert(place, other)
    return faults


def restart(server: pg_outages.Server) -> None:
    server.stop("immediate")
    time.sleep(1)
    server.start()


def searches(engines: list[str], n: int, directory: Path, rng: random.Random) -> Iterator[Score]:
    with pg_outages.running_server() as handle:
        server = pg_outages.Server(handle)
        url = server.url("faults")
        for deterministic in (True, False):
            if "dask" in engines:
                with closing(DaskCluster(directory, WORKERS)) as dask:
                    kills = [Fault("worker killed", lambda: dask.kill_worker(rng))] * n
                    others = [
                        Fault("worker added", dask.add),
                        Fault("scheduler killed", dask.kill_scheduler),
                        Fault("worker added", dask.add),
                        Fault("PostgreSQL restarted", lambda: restart(server)),
                    ]
                    faults = mixed(kills, others, rng)
                    yield left_over(under_faults("Dask", dask.address, faults, url, directory, deterministic, rng))
            if "ray" in engines:
                with closing(RayCluster(WORKERS)) as ray:
                    kills = [Fault("worker killed", lambda: ray.kill_worker(rng))] * n
                    others = [
                        Fault("node added", ray.add, in_main_thread=True),
                        Fault("node added", ray.add, in_main_thread=True),
                        Fault("node killed", ray.kill_node, in_main_thread=True),
                        Fault("PostgreSQL restarted", lambda: restart(server)),
                    ]
                    faults = mixed(kills, others, rng)
                    yield left_over(under_faults("Ray", "ray", faults, url, directory, deterministic, rng))


def left_over(score: Score) -> Score:
    """Note processes that run pulls though no search runs."""
    if not wait_until(lambda: not pull_processes(), 30):
        score.failures.append(f"{len(pull_processes())} processes are left over")
    return score


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--kills", type=int, help=f"workers killed in each search (default: {KILLS}, or {QUICK_KILLS})")
    arguments.add_argument("--engine", choices=("dask", "ray"), action="append", help="only this engine (default: both)")
    arguments.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    options = arguments.parse_args()
    kills = options.kills if options.kills is not None else QUICK_KILLS if options.quick else KILLS
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # so that what was started is ended
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="manyarms-faults-") as directory:
        sys.exit(show(searches(options.engine or ["dask", "ray"], kills, Path(directory), random.Random(options.seed))))


if __name__ == "__main__":
    main()
