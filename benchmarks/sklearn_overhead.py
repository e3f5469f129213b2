"""The overhead of a search: the time of `BanditSearchCV` compared with that of its estimator in `fit` and `score`.

The two methods are timed in the running search, so that all figures come from the same run; the rest is overhead. Fits take
about 100 ms. One search adds trees in slices, so that models are saved and loaded in between; another fits at once. The
overhead is wall-clock time. The column of manyarms shows the CPU time beyond the fits, which does not include waiting for the
disk. Figures are medians over rounds. A first search, which imports libraries, does not count.
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from report import AtMost, Row, parser, show
from scipy.stats import loguniform
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.svm import SVC

from manyarms.sklearn import BanditSearchCV

FOLDS = 3
Search = dict[str, Any]


class Stopwatch:
    """Seconds by the clock and of the processor, of all that is done while it runs."""

    def __init__(self) -> None:
        self.clock = self.busy = 0.0
        self.times = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        clock, busy = time.perf_counter(), time.process_time()
        yield
        self.clock += time.perf_counter() - clock
        self.busy += time.process_time() - busy
        self.times += 1

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.running():
                return method(*arguments, **named)

        return timed


def boosting() -> tuple[Search, Any]:
    data = make_classification(1_000, 20, n_informative=8, random_state=0)
    model = GradientBoostingClassifier(n_estimators=250, random_state=0)
    return {"estimator": model, "space": {"learning_rate": loguniform(0.01, 0.3)}, "max_steps": 10}, data


def support_vectors() -> tuple[Search, Any]:
    space = {"C": loguniform(1, 100), "gamma": loguniform(1e-4, 1e-3)}
    return {"estimator": SVC(), "space": space, "resource": None}, load_digits(return_X_y=True)


def compare(search: Search, data: Any, where: str, budget: int) -> tuple[float, float, float]:
    """Percent beyond the fits, by the clock and of the processor; milliseconds of one fit with its score."""
    kind, inside, whole = type(search["estimator"]), Stopwatch(), Stopwatch()
    originals = {name: getattr(kind, name) for name in ("fit", "score")}
    for name, method in originals.items():
        setattr(kind, name, inside.timed(method))
    try:
        with tempfile.TemporaryDirectory() as directory:
            storage = None if where == "in memory" else f"sqlite:///{directory}/search.db"
            made = BanditSearchCV(**search, budget=budget, cv=FOLDS, random_state=0, refit=False, storage=storage)
            with whole.running():
                made.fit(*data)
    finally:
        for name, method in originals.items():
            setattr(kind, name, method)
    shares = [100 * (all_of_it / fits - 1) for all_of_it, fits in ((whole.clock, inside.clock), (whole.busy, inside.busy))]
    return shares[0], shares[1], 2e3 * inside.clock / inside.times


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, help="how often each is measured (default 5; 1 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    rows = []
    for what, make in {"gradient boosting, 25 trees a slice": boosting, "support vectors, at once": support_vectors}.items():
        search, data = make()
        for where in ("in memory", "SQLite"):
            compare(search, data, where, budget=10)
            measured = [compare(search, data, where, budget=20) for _ in range(rounds)]
            clock, busy, fit = (median(part) for part in zip(*measured, strict=True))
            rows.append(Row(f"{what}, {where}", f"{busy:.1f}% busy", f"{fit:.0f} ms a fit", AtMost(5, clock, "% more")))
    show(f"A search of {FOLDS} folds beside its own fits", "fit and score", rows, rounds)


if __name__ == "__main__":
    main()
