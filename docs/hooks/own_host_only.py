"""MkDocs hook: warns if a page would load anything from another host. Links that a reader clicks are allowed."""

from __future__ import annotations

import re

from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.pages import Page

REQUEST = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^"'\s>]*|<link\b[^>]*\bhref=["']?(?:https?:)?//[^"'\s>]*"""
)
log = get_plugin_logger("own_host_only")


def on_post_page(output: str, page: Page, **more: object) -> str:
    """Warn about each request to another host; `--strict` makes it an error."""
    for request in REQUEST.findall(output):
        log.warning(f"{page.file.src_uri} would load from another host: {request}")
    return output
