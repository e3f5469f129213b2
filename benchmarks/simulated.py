"""How long a large parallel search takes to simulate: MutantUCB on 512 simulated workers until it has 10,000 arms.

A pull takes 15 to 70 simulated minutes, more for wide networks, so that workers fall out of step as real ones do. Optuna has
no simulated clock, so there is no peer. Seconds are of the clock, with those of the processor in brackets; both are medians
over the rounds.
"""

from __future__ import annotations

import time
from statistics import median

from problem import mutant_ucb, train
from report import AtMost, Row, parser, show

import manyarms as ma

SECONDS = 10.0  # the project's target, for 512 workers and 10,000 arms


def pull_seconds(pull: ma.Pull) -> float:
    """The simulated time of a pull."""
    spread = (pull.config["lr"] * 1e6) % 1.0
    return 60.0 * (10 * (1 + spread) + pull.config["width"] * pull.steps)


def simulate(workers: int, arms: int) -> tuple[float, float, float, int]:
    """Seconds of the clock and of the processor, simulated hours and pulls of one search."""

    def stop_at_last_arm(study: ma.Study, outcome: ma.Outcome) -> None:
        if len(study.counts.arms) >= arms:
            study.stop()

    runner = ma.SimulatedRunner(workers, seconds=pull_seconds)
    began, processor = time.perf_counter(), time.process_time()
    study = ma.Study(mutant_ucb())
    study.optimize(train, runner=runner, callbacks=[stop_at_last_arm], progress=False)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    study.close()
    return seconds, processor, runner.now() / 3600, study.counts.pulls


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--workers", type=int, default=512, help="simulated workers (default 512)")
    arguments.add_argument("--arms", type=int, default=10_000, help="arms to stop at (default 10,000)")
    arguments.add_argument("--rounds", type=int, help="how often it is measured (default 5; 1 with --quick)")
    options = arguments.parse_args()
    rounds = options.rounds or (1 if options.quick else 5)
    measured = [simulate(options.workers, options.arms) for _ in range(rounds)]
    seconds, processor, hours, pulls = (median(values) for values in zip(*measured, strict=True))
    show(
        f"MutantUCB on {options.workers} simulated workers until {options.arms:,} arms",
        "no peer",
        [
            Row("time to simulate", f"{seconds:.1f} s ({processor:.1f} s)", target=AtMost(SECONDS, seconds, "s")),
            Row("simulated time", f"{hours:.1f} h"),
            Row("pulls", f"{pulls:,.0f}"),
        ],
        rounds,
    )


if __name__ == "__main__":
    main()
