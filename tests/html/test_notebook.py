"""HTML for notebooks: any value is shown as short, harmless text."""

from __future__ import annotations

import re

import pytest

from manyarms.html.notebook import (
    LONGEST,
    bar_html,
    config_facts,
    facts_html,
    folded_html,
    heading_html,
    html_or_nothing,
    rows_html,
    shown,
    text_html,
)

EVIL = "<script>alert('x')</script>&\x1b[2J\x00\u202e\ud800\""


class Broken:
    def __repr__(self):
        raise RuntimeError("no")


class Endless(dict):
    def items(self):
        return ((number, "x" * 10_000) for number in iter(int, 1))

    def __len__(self):
        return 1_000_000


VALUES = [
    None,
    EVIL,
    EVIL * 1000,
    {EVIL: EVIL},
    [EVIL] * 1000,
    float("nan"),
    10**5000,
    Broken(),
    {"a": Broken()},
    Endless(a=1),
    b"\xff",
    {},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "make",
    [
        lambda value: text_html(value),
        lambda value: facts_html([("name", value), (shown(value), 1)], shown(value)),
        lambda value: facts_html(config_facts(value)),
        lambda value: rows_html(["a", "b"], [[value, 1]]),
        lambda value: heading_html(shown(value), value),
        lambda value: folded_html(shown(value), ""),
    ],
)
def test_any_value_is_short_text_without_tags_or_control_characters(value, make):
    html = make(value)
    assert html.isprintable() and len(html) < 60 * LONGEST
    tags = {tag.strip("/").split()[0] for tag in re.findall("<([^>]*)>", html)}
    assert tags <= {"b", "details", "div", "summary", "table", "tbody", "td", "th", "tr"}
    html.encode()


def test_a_long_text_says_that_it_was_cut():
    assert text_html("a" * 1000) == "a" * (LONGEST - 1) + "…"
    assert text_html("a" * LONGEST) == "a" * LONGEST


def test_of_a_large_config_the_first_values_are_shown():
    facts = config_facts({f"p{number}": number for number in range(50)})
    assert facts[0] == ("p0", 0) and facts[-1] == ("…", "30 more") and len(facts) == 21


def test_nothing_is_loaded_or_run_and_the_colors_are_those_of_the_notebook():
    html = (
        facts_html([("a", 1)], "title")
        + rows_html(["a"], [[1]])
        + heading_html("a", "b")
        + folded_html("a", "b")
        + bar_html(0.5)
    )
    assert not re.search(r"<script|<link|<img|https?:|url\(|\bon\w+=|#[0-9a-f]{3}", html)


def test_numbers_and_their_headings_are_aligned_to_the_right():
    assert rows_html(["n", "name"], [[1, "a"], [2, "b"]]).count("text-align:right") == 3


@pytest.mark.parametrize(("fraction", "width"), [(0.25, "25.0%"), (-1, "0.0%"), (7, "100.0%"), (float("nan"), "0.0%")])
def test_a_bar_is_between_empty_and_full(fraction, width):
    assert f"width:{width};" in bar_html(fraction)


def test_html_that_cannot_be_made_is_omitted():
    assert html_or_nothing(lambda value: f"<b>{value}</b>", 1) == "<b>1</b>"
    assert html_or_nothing(lambda value: 1 / value, 0) == ""
