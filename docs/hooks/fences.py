"""MkDocs hook: removes `no-run` from fenced blocks, a word for tests/test_docs.py that Markdown would not understand."""

from __future__ import annotations

import re

NO_RUN = re.compile(r"^(```python) no-run$", re.MULTILINE)


def on_page_markdown(markdown: str, **more: object) -> str:
    """The page as Markdown understands it."""
    return NO_RUN.sub(r"\1", markdown)
