"""A time limit for searches that have none: each runs in its own process and reports its candidates."""

from __future__ import annotations

import math
import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.metrics import accuracy_score

from .candidates import Candidates
from .cpu_time import kill_tree
from .datasets import Task

_LEAST_RESERVE = 0.05  # seconds reserved for a refit, at least


class Found(NamedTuple):
    """A candidate that was evaluated.

    Attributes:
        score: Mean score over the folds.
        family: Model family.
        config: Parameters.
        refit_seconds: Estimated time of a refit on all rows.
        tried: Number of candidates that were evaluated for this one.
    """

    score: float
    family: str
    config: dict[str, Any]
    refit_seconds: float
    tried: int = 1


Search = Callable[[Task, Candidates], Iterator[Found]]


def best_in_time(
    search: Search, task: Task, candidates: Candidates, clock: Callable[[], float] = time.perf_counter
) -> tuple[Found, int]:
    """The best candidate that leaves time for its refit, and the number of candidates.

    Candidates that are not finished in time are discarded. The search exceeds its time only if it has no candidate yet.
    """
    context = multiprocessing.get_context("fork")  # so that nothing has to be imported again
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_candidates, args=(search, task, candidates, sender))
    process.start()
    sender.close()
    best, tried = None, 0
    try:
        while best is None or receiver.poll(max(0.0, task.deadline - best.refit_seconds - clock())):
            found = receiver.recv()
            if isinstance(found, str):
                raise RuntimeError(f"the search failed: {found}")
            tried += found.tried
            if math.isfinite(found.score) and (best is None or found.score > best.score):
                best = found
    except EOFError:  # the search is done
        pass
    finally:
        kill_tree(process.pid)
        process.join()
    if best is None:
        raise RuntimeError(f"none of {tried} candidates could be scored")
    return best, tried


def _send_candidates(search: Search, task: Task, candidates: Candidates, sender: Connection) -> None:
    try:
        for found in search(task, candidates):
            sender.send(found)
    except Exception as error:
        traceback.print_exc()
        sender.send(repr(error))
    finally:
        sender.close()


def scored(candidates: Candidates, configs: Sequence[tuple[str, dict[str, Any]]], cores: int) -> list[Found]:
    """Score configs on all folds, one fold on each core."""
    jobs = [(candidates.estimator(*config), *rows) for config in configs for rows in candidates.folds]
    results = Parallel(n_jobs=cores)(delayed(_fold)(candidates.X, candidates.y, *job) for job in jobs)
    found, n = [], len(candidates.folds)
    for number, (family, config) in enumerate(configs):
        scores, seconds = zip(*results[number * n : (number + 1) * n], strict=True)
        found.append(Found(sum(scores) / n, family, config, refit_seconds(sum(seconds) / n, n)))
    return found


def refit_seconds(fold_seconds: float, folds: int) -> float:
    """Estimated time of a fit on all rows, from that of a fit on a fold or a holdout."""
    trained_on = (folds - 1) / folds if folds > 1 else 0.8
    return max(_LEAST_RESERVE, 1.2 * fold_seconds / trained_on)


def _fold(X: Any, y: Any, estimator: Any, train: Any, test: Any) -> tuple[float, float]:
    """Accuracy on a fold and seconds of the fit. A fit that fails scores NaN, as in the searches of scikit-learn."""
    began = time.perf_counter()
    try:
        model = estimator.fit(X.iloc[train], y[train])
        fitted = time.perf_counter()
        return float(accuracy_score(y[test], model.predict(X.iloc[test]))), fitted - began
    except Exception:
        return math.nan, time.perf_counter() - began
