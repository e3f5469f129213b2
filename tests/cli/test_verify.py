"""`verify`: the check of a stored study."""

from __future__ import annotations

import json
from contextlib import closing

from rich.text import Text

from manyarms.journal.sql import SqlJournal


def test_verify_finds_no_problems_in_a_sound_study(trained):
    answer = trained("verify")
    assert answer.code == 0
    assert answer.out.startswith("train: ")
    assert answer.out.endswith(" events, no problems\n")


def test_verify_finds_a_recommendation_that_the_strategy_does_not_make(trained):
    with closing(SqlJournal("manyarms.db", "train")) as journal:
        covered, text = journal.recommendation()
        best = json.loads(text)
        journal.save_recommendation(covered, json.dumps({**best, "arm": best["arm"] + 1}))
    answer = trained("verify")
    assert answer.code == 1
    found = [f"arm {arm} at step {best['step']}" for arm in (best["arm"] + 1, best["arm"])]
    assert f"{found[0]} with reward" in answer.err and f"but the strategy recommends {found[1]}" in answer.err
    assert trained("verify", "--quick").code == 0


def test_verify_shows_its_progress_on_a_terminal(trained, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = Text.from_ansi(trained("verify").err).plain
    for stage in ("reading events", "replaying decisions", "reading checkpoints"):
        assert stage in shown
