"""Griffe extension: rewrites docstrings so that Markdown and the parser of Google style understand them.

A doctest becomes a fenced block, because Markdown takes `>>>` for a quotation. An entry for several arguments, such as
`low, high: ...`, becomes one entry for each.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^( *)>>> .*\n?(?:^\1\S.*\n?)*", re.MULTILINE)
ARGUMENTS = re.compile(r"^Args:\n(?:^ +.*\n?)+", re.MULTILINE)
SEVERAL_NAMES = re.compile(r"^( +)(\w+(?:, \w+)+)(:.*\n?(?:^\1 +.*\n?)*)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites each docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **more: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(docstring: str) -> str:
    """The docstring with fenced doctests and one argument per entry."""
    docstring = ARGUMENTS.sub(lambda section: SEVERAL_NAMES.sub(_one_each, section[0]), docstring)
    return DOCTEST.sub(_fenced, docstring)


def _one_each(entry: re.Match[str]) -> str:
    description = entry[3].rstrip("\n")
    return "".join(f"{entry[1]}{name}{description}\n" for name in entry[2].split(", "))


def _fenced(doctest: re.Match[str]) -> str:
    return f"{doctest[1]}```pycon\n{doctest[0].rstrip()}\n{doctest[1]}```\n"
