"""Makes text from untrusted sources safe to print in a terminal, or to store."""

from __future__ import annotations

import reprlib
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that control a terminal instead of being shown: controls (C0 and C1), formats (such as
overrides of the writing direction), lone surrogates, and separators of lines and paragraphs."""


def safe_text(text: object, keep: str = "") -> str:
    r"""The text with all characters that control a terminal written as escapes.

    Names, reasons and configs in a storage may come from someone else, and could move the cursor or hide what is printed.

    Args:
        text: What to show.
        keep: Characters to leave unchanged, such as "\n" in text of several lines.

    >>> safe_text("\x1b[2Jno problems\x9b1m\u202e")
    '\\x1b[2Jno problems\\x9b1m\\u202e'
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


def short_repr(value: object) -> str:
    """The value as Python would write it, shortened. Also works for values whose own text is too long, too deep, or an error.

    >>> short_repr([10**5000, object])
    "[<int of 16610 bits>, <class 'object'>]"
    """
    return _SHORT.repr(value)


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = _LONGEST

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < _LONGEST else f"<int of {x.bit_length()} bits>"


_LONGEST = 80
_SHORT = _Short()


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _HIDDEN


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
