"""`arms`: the arms of a stored study, best first."""

from __future__ import annotations

from commands import make_study, refused


def test_arms_are_listed_best_first_in_both_directions(manyarms):
    make_study("up", lambda config: config["x"] if config["x"] < 0.8 else None, budget=30)
    make_study("down", lambda config: config["x"] if config["x"] < 0.8 else None, budget=30, direction="minimize")
    for name, sign in [("up", -1), ("down", 1)]:
        rows = manyarms("arms", "manyarms.db", name, "--top", 0, "--json").data
        assert len(rows) == 30
        rewards = [row["reward"] for row in rows if row["reward"] is not None]
        assert rewards == sorted(rewards, key=lambda reward: sign * reward)
        assert [row["status"] for row in rows] == ["done"] * len(rewards) + ["failed"] * (30 - len(rewards))
        assert rows[0]["config"] == manyarms("best", "manyarms.db", name, "--json").data["config"]


def test_arms_shows_the_given_number_and_says_how_many_more_there_are(manyarms):
    make_study("many", budget=30)
    for top, shown in [(20, 20), (3, 3), (0, 30), (99, 30)]:
        answer = manyarms("arms", "--top", top)
        assert len(answer.out.splitlines()) == 1 + shown
        assert answer.err == ("" if shown == 30 else f"{30 - shown} more arms. Use --top 0 to show all.\n")
        assert len(manyarms("arms", "--top", top, "--json").data) == shown
    assert refused(manyarms("arms", "--top", "-1"), 2, "--top must be at least 0, got -1")
