"""Run as a program: starts a study again and again, kills it -9 at random moments, then lets it finish.

Forking from a process that has imported everything makes a life cost milliseconds, so that many fit in a test.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import chained

import manyarms as ma

AHEAD = 3  # pulls that a life may record beyond those it was watched for; else a late kill might find the study done


def live(storage: str, workers: int, budget: int, told: int, most: int | None) -> None:
    """One life of the study's process; writes a byte to `told` for every pull it records, and halts after `most`."""
    recorded = 0

    def tell(study: ma.Study, outcome: ma.Outcome) -> None:
        nonlocal recorded
        recorded += 1
        os.write(told, b".")
        if recorded == most:
            signal.pause()

    study = ma.Study(chained.strategy(budget), storage=storage)
    study.optimize(chained.slowly, workers=workers, deterministic=workers > 1, progress=False, callbacks=[tell])
    study.close()


def main(storage: str, workers: int, kills: int, budget: int, seed: int) -> None:
    """Each life but the last is ended a few pulls and milliseconds after it began; prints how many were."""
    moments, killed = random.Random(seed), 0
    for life in range(kills + 1):
        read, write = os.pipe()
        pulls = moments.randrange(12)
        child = os.fork()
        if child == 0:
            live(storage, workers, budget, write, pulls + AHEAD if life < kills else None)
            os._exit(0)
        os.close(write)
        if life < kills:
            for _ in range(pulls):
                os.read(read, 1)
            time.sleep(moments.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        os.close(read)
        killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    print(killed)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
