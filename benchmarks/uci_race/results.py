"""The runs of the UCI benchmark and the columns of its result file: one row for each run."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from manyarms.bench.runs.results import Key, Layout

LAYOUT = Layout(
    pa.schema(
        [
            ("dataset", pa.string()),
            ("split", pa.int64()),
            ("method", pa.string()),
            ("limit", pa.float64()),  # seconds that the method may use
            ("cores", pa.int64()),  # that the method may use
            ("status", pa.string()),  # "ok" or "failed"
            ("accuracy", pa.float64()),  # on the test rows; of a failed run, that of the most frequent class
            ("seconds", pa.float64()),  # until the method could predict
            ("processor", pa.float64()),  # CPU seconds until then
            ("version", pa.string()),  # of the library of the method
            ("note", pa.string()),  # the model, or the reason of the failure
        ]
    ),
    key=("dataset", "split", "method"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one split of one dataset."""

    dataset: str
    split: int
    method: str

    @property
    def key(self) -> Key:
        """What identifies its row in the result file."""
        return (self.dataset, self.split, self.method)
