"""`gc`: delete checkpoints that are not needed."""

from __future__ import annotations

from pathlib import Path

from commands import refused


def saved():
    return {path.name for path in Path("manyarms.db-checkpoints").glob("*/arm-*")}


def test_gc_deletes_only_leftovers_by_default(trained):
    before = saved()
    (next(Path("manyarms.db-checkpoints").iterdir()) / "arm-0-step-9-ffffffff.part").mkdir()
    assert trained("gc", "--dry-run").out.startswith("1 checkpoint would be deleted, freeing 0 of ")
    assert len(saved()) == len(before) + 1
    assert trained("gc").out.startswith("1 checkpoint deleted, freeing 0 of ")
    assert saved() == before


def test_gc_keeps_the_best_and_the_search_can_continue(trained):
    best, before = Path(trained("best", "--json").data["checkpoint"]), saved()
    trained("gc", "--max-bytes", "1KB")
    assert best.name in saved() < before
    assert sum(path.stat().st_size for path in best.parent.rglob("*") if path.is_file()) <= 1000
    trained("gc", "--best-only")
    assert saved() == {best.name}
    assert refused(trained("gc", "--max-bytes", "much"), 2, "max_bytes must be a number of bytes or a string such as")
    assert trained("resume", "--budget", 60).code == 0
    assert trained("verify").code == 0
