"""The frame of a page that needs no server: one file that holds its style and its script, and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..version import __version__
from .parts import section, text

_GENERATOR = '<meta name="generator" content="manyarms '
_HEAD = 2_000  # characters in which the name of the generator is searched


@cache
def stylesheet() -> str:
    """The style of all pages: of reports, and of the dashboard."""
    return files(__package__).joinpath("style.css").read_text(encoding="utf-8")


@cache
def table_script() -> str:
    """The script that sorts and filters tables."""
    return files(__package__).joinpath("table.js").read_text(encoding="utf-8")


def page_html(title: str, source: str, header: str, sections: Iterable[tuple[str, str, str]]) -> str:
    """A whole page.

    The browser runs only our own script, which is named by its hash, and may not load anything.

    Args:
        title: Title of the window.
        source: Where the content is from, shown at the top.
        header: HTML above the sections.
        sections: The id, the title and the HTML of each section.
    """
    style, script, sections = stylesheet(), table_script(), list(sections)
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    links = "".join(f'<a href="#{text(id)}">{text(name)}</a>' for id, name, _ in sections)
    body = "\n".join(section(*part) for part in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
{_GENERATOR}{text(__version__)}">
<title>{text(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="top"><span class="brand">manyarms</span><span class="storage">{text(source)}</span></div>
<main id="main" class="report" tabindex="-1">
<header>
{header}
</header>
<nav class="tabs" aria-label="Sections">{links}</nav>
{body}
</main>
<footer>Written by manyarms {text(__version__)}.</footer>
<script>{script}</script>
</body>
</html>
"""


def is_own_page(path: Path) -> bool:
    """Whether a file is a page that this library wrote."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return _GENERATOR in file.read(_HEAD)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
