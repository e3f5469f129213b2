"""The columns of the result file of a race: one row for each time the recommendation of a run was measured."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ..runs import results
from ..runs.results import Layout

LAYOUT = Layout(
    pa.schema(
        [
            ("family", pa.string()),
            ("problem", pa.string()),
            ("half", pa.string()),  # "tuned" or "reported"
            ("method", pa.string()),
            ("peer", pa.bool_()),
            ("version", pa.string()),  # of manyarms, or of the other library
            ("seed", pa.int64()),
            ("budget", pa.int64()),  # of the run, in full trainings
            ("trainings", pa.int64()),  # full trainings spent when the recommendation was measured
            ("regret", pa.float64()),  # in percent; NaN if the run was stopped before
            ("pulls", pa.int64()),
            ("arms", pa.int64()),
            ("deciding", pa.float64()),  # CPU seconds so far
        ]
    ),
    key=("family", "problem", "method", "seed", "budget", "version"),
    former_names={"entrant": "method"},
)


def read(path: Path) -> pa.Table:
    """Read the rows of a race."""
    return results.read(path, LAYOUT)
