"""A table that does not fit into memory is refused in one line, before it is read if that can be told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from manyarms.tables import TableTooLarge, read_table
from manyarms.tables.reading import memory


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i / 7}\n" for i in range(20_000)))
    return path


def test_what_takes_more_than_there_is_is_not_read(table, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 400_000)
    with pytest.raises(TableTooLarge) as refused:
        read_table(table)
    message = str(refused.value)
    assert "t.csv needs about 968.0 kB of memory, and 400.0 kB is free" in message
    assert "rows=4000" in message and refused.value.rows == 4000
    assert len(read_table(table, rows=4_000, notify=lambda note: None)) == 4_000
    with pytest.raises(TableTooLarge):
        read_table(table, rows=19_000)


def test_running_out_of_memory_while_reading_gives_the_same_message(table, monkeypatch):
    import pandas as pd

    def fail(*arguments, nrows=None, **options):
        if nrows is None:
            raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")
        return whole(*arguments, nrows=nrows, **options)

    whole = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", fail)
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)  # enough, but not so much that nothing is measured
    with pytest.raises(TableTooLarge, match="needs about 968.0 kB of memory, and .* is free. Use a random sample"):
        read_table(table)


@pytest.mark.parametrize("packed", [False, True])
def test_the_limit_of_the_process_counts(tmp_path, packed):
    code = f"""
import gzip, resource
import pandas
from manyarms.tables import TableTooLarge, read_table
from manyarms.tables.reading import memory
with {"gzip.open" if packed else "open"}("large.csv", "wt") as file:
    file.write("a,b,c\\n")
    for part in range(400):
        file.write("".join(f"{{part + i}},{{i / 7:.3f}},word{{i % 9}}\\n" for i in range(1000)))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 20_000_000,) * 2)
assert memory.available() <= 20_000_000
try:
    read_table("large.csv")
except TableTooLarge as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("large.csv needs about ")
    assert "rows=" in answer.stdout and answer.stdout.count("\n") == 1


def test_amounts_are_easy_to_read():
    assert [memory.in_bytes(n) for n in (999, 1500, 2.5e6, 3.14e9)] == ["999 bytes", "1.5 kB", "2.5 MB", "3.1 GB"]
    assert memory.available() > 0
