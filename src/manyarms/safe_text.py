"""Makes text from untrusted sources safe to print on a terminal, or to store."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that control a terminal instead of being shown: controls (C0 and C1), formats (such as
overrides of the writing direction), lone surrogates, and separators of lines and paragraphs."""


def safe_text(text: object, keep: str = "") -> str:
    r"""The text with all characters that control a terminal written as escapes.

    Names, reasons and configs in a storage may come from somebody else, and could move the cursor or hide what is printed.

    Args:
        text: What to show.
        keep: Characters to leave unchanged, such as "\n" in text of several lines.

    >>> safe_text("\x1b[2Jall is well\x9b1m\u202e")
    '\\x1b[2Jall is well\\x9b1m\\u202e'
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(letter if letter in keep or not _is_hidden(letter) else _escaped(letter) for letter in shown)


def storable_text(text: str) -> str:
    r"""Text that any database and web page can hold: lone surrogates, as in file names, and NUL are written as escapes.

    >>> storable_text("caf\udce9.csv")
    'caf\\udce9.csv'
    """
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
