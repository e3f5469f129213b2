"""Text that a terminal shows and does not obey."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyarms.safe_text import safe_text


@pytest.mark.parametrize("text", ["", "plain", "é 日本 🦾", "back\\slash", "no\u00a0break", "a\u3000b", "e\u0301", "[red]"])
def test_text_that_only_shows_is_left_as_it_is(text):
    assert safe_text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31mred", r"\x9b31mred"),  # the same in one character
        ("one\ntwo\r\tthree", r"one\ntwo\r\tthree"),
        ("\x00\x08\x7f", r"\x00\x08\x7f"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\u2066\u200f\u200b\ufeff", r"\u2066\u200f\u200b\ufeff"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0041", r"\U000e0041"),  # a tag, which is not drawn at all
        ("\ud800", r"\ud800"),  # which cannot be printed
    ],
)
def test_what_a_terminal_would_obey_is_written_as_an_escape(text, shown):
    assert safe_text(text) == shown


def test_what_may_stay_stays():
    assert safe_text("one\n\ttwo\x1b", keep="\n\t") == "one\n\ttwo\\x1b"


def test_anything_can_be_shown():
    assert safe_text(7) == "7" and safe_text(ValueError("\x1b")) == r"\x1b"


def test_no_character_of_unicode_gets_through_that_has_no_shape_of_its_own():
    everything = safe_text("".join(map(chr, range(sys.maxunicode + 1))))
    assert {"Cc", "Cf", "Cs", "Zl", "Zp"}.isdisjoint(map(unicodedata.category, set(everything)))


@given(st.text(st.characters(codec=None)))
def test_any_text_is_one_line_that_can_be_printed(text):
    shown = safe_text(text)
    assert len(shown.splitlines()) <= 1
    assert not re.search("[\x00-\x1f\x7f-\x9f]", shown)
    assert shown.encode().decode() == shown
