"""The lines about a search that runs: they fit any width, and say the most important things first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from manyarms.study.progress_report import (
    BestFound,
    InFlight,
    Report,
    cropped,
    duration,
    head,
    lines,
    one_line,
    rate,
    seconds_left,
)

PULLS = [InFlight(14, 0, 5), InFlight(7, 5, 10), *(InFlight(number, 0, 1) for number in range(20, 30))]
REPORT = Report(
    name="digits",
    steps=120,
    limits={"steps": (120, 500)},
    arms=14,
    best=BestFound("best", 0.971249, 3, 5, 80, 12.3),
    training=PULLS,
    in_flight=len(PULLS),
    failures=3,
    reason="ZeroDivisionError: division by zero",
    pulls_per_second=3.24,
    seconds_left=80.0,
)
ODD = replace(
    REPORT,
    name="🦾é[bold]" * 30,
    reason="\x1b[2J[red]" * 100,
    limits={"steps": (10**12, 10**13), "seconds": (1e9, 1e10), "cost": (1e300, 1e301)},
    best=BestFound("highest reward", -1e-300, 10**12, 10**9, 10**12, 1e9),
)


def text(report, width):
    name, bar, first = head(report, width)
    return [" ".join([name, *(["━" * bar] if bar else []), first]), *lines(report, width)]


@pytest.mark.parametrize("report", [REPORT, ODD, replace(REPORT, best=None, failures=0, in_flight=0, training=[])])
@pytest.mark.parametrize("width", [1, 2, 10, 20, 39, 40, 41, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_there_are_at_most_four(report, width):
    drawn = text(report, width)
    assert len(drawn) <= 4
    if width >= 10:
        assert all(cell_len(line) <= width for line in drawn), drawn
    assert all(line.isprintable() for line in drawn)


def test_a_wide_terminal_shows_everything():
    assert text(REPORT, 100) == [
        f"digits {'━' * 30} 120/500 steps · 1m 20s left",
        "best 0.97125 · 12s ago · after 80 steps · arm 3, step 5",
        "14 arms · 3.2 pulls/s · training arm 14 (0–5), arm 7 (5–10), arm 20, arm 21, arm 22, arm 23, 6 more",
        "3 failed, most often: ZeroDivisionError: division by zero",
    ]


def test_a_narrow_terminal_shows_the_most_important():
    assert text(REPORT, 40) == [
        "digits 120/500 steps · 1m 20s left",
        "best 0.97125 · 12s ago · after 80 steps",
        "14 arms · 3.2 pulls/s · 12 training",
        "3 failed, most often: ZeroDivisionError…",
    ]


def test_what_is_unknown_is_omitted():
    unknown = replace(
        REPORT, limits={}, best=None, in_flight=0, training=[], failures=0, pulls_per_second=None, seconds_left=None
    )
    assert text(unknown, 100) == ["digits 120 steps", "no reward yet", "14 arms"]
    assert one_line(unknown) == "digits: 120 steps · no reward yet · 14 arms"


def test_the_best_of_an_earlier_run_says_so():
    earlier = replace(REPORT, best=BestFound("best", 0.5, 3, 5, None, None))
    assert lines(earlier, 100)[0] == "best 0.5 · from an earlier run · arm 3, step 5"


def test_limits_of_time_and_cost_are_shown_and_the_nearest_fills_the_bar():
    report = replace(REPORT, limits={"seconds": (90.0, 300.0), "cost": (1.5, 2)})
    assert report.fraction == 0.75
    assert head(report, 200).text == "120 steps · 1m 30s/5m 00s of training · cost 1.5/2 · 1m 20s left"


def test_a_search_that_ended_says_how_long_it_took():
    ended = replace(REPORT, took=3725.0)
    assert head(ended, 100).text == "120/500 steps · took 1h 02m"
    assert one_line(ended) == "digits: 120/500 steps · took 1h 02m · best 0.97125 · 14 arms · 3.2 pulls/s · 3 failed"


def test_a_few_pulls_in_flight_are_all_named():
    assert lines(replace(REPORT, training=PULLS[:2], in_flight=2), 100)[1].endswith("training arm 14 (0–5), arm 7 (5–10)")
    assert lines(replace(REPORT, training=PULLS[:1], in_flight=2), 100)[1].endswith("training arm 14 (0–5), 1 more")


def test_the_time_left_is_that_of_the_limit_reached_first():
    assert seconds_left(10.0, {"steps": 5, "seconds": 10.0}, {"steps": 60, "seconds": 30.0}) == 30.0
    assert seconds_left(10.0, {"steps": 0}, {"steps": 60}) is None
    assert seconds_left(10.0, {}, {}) is None
    assert seconds_left(100.0, {"steps": 0}, {"steps": 60}, timeout=90.0) == 0.0


def test_durations_and_rates_have_fitting_units():
    assert [duration(seconds) for seconds in (0, 59.4, 59.6, 3600, 86400 * 400)] == ["0s", "59s", "1m 00s", "1h 00m", "400d 0h"]
    assert [rate(pulls) for pulls in (1e6, 1.0, 0.99, 1 / 3600)] == [
        "1000000 pulls/s",
        "1.0 pulls/s",
        "59.4 pulls/min",
        "1.0 pulls/h",
    ]


def test_text_is_cropped_by_columns_not_by_characters():
    assert cropped("🦾🦾🦾", 5) == "🦾🦾…" and cropped("🦾🦾", 4) == "🦾🦾" and cropped("abc", 0) == ""
