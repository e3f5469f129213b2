"""MkDocs hook: pages may link to any file of the repository, with the same relative links that work on GitHub.

A file outside `docs/` that a page links to becomes part of the site, below `repository/`. Markdown becomes a page, source code
a page that shows it, and an image is copied. Links to it, and from it back to `docs/`, are rewritten, and MkDocs checks them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

FOLDER = "repository"
IMAGES = (".png", ".svg")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that pages link to, and those that these link to in turn."""
    waiting = [_original(file.src_uri, config) for file in files.documentation_pages()]
    while waiting:
        for path in _outside(waiting.pop(), config):
            uri = _uri(path, config)
            if uri not in files.src_uris:
                files.append(_file(path, uri, config))
                waiting.append(path)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to where their files are in the site."""
    here, original = posixpath.dirname(page.file.src_uri), _original(page.file.src_uri, config)

    def moved(link: re.Match[str]) -> str:
        path = (original.parent / link[1]).resolve()
        return posixpath.relpath(_uri(path, config), here) if path.is_file() else link[1]

    return LINK.sub(moved, markdown)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent.resolve()


def _original(uri: str, config: MkDocsConfig) -> Path:
    """The file that a page of the site was made from."""
    root, (first, _, rest) = _root(config), uri.partition("/")
    return root / rest if first == FOLDER else Path(config.docs_dir, uri).resolve()


def _uri(path: Path, config: MkDocsConfig) -> str:
    """Where a file of the repository is in the site."""
    docs = Path(config.docs_dir).resolve()
    if path.is_relative_to(docs):
        return path.relative_to(docs).as_posix()
    return f"{FOLDER}/{path.relative_to(_root(config)).as_posix()}" + ("" if path.suffix in (".md", *IMAGES) else ".md")


def _outside(path: Path, config: MkDocsConfig) -> Iterator[Path]:
    """The file itself and what it links to, as far as these are in the repository but not in `docs/`."""
    linked = LINK.findall(path.read_text(encoding="utf-8")) if path.suffix == ".md" else []
    for found in (path, *((path.parent / link).resolve() for link in linked)):
        inside = found.is_relative_to(_root(config)) and not found.is_relative_to(Path(config.docs_dir).resolve())
        if inside and found.is_file():
            yield found


def _file(path: Path, uri: str, config: MkDocsConfig) -> File:
    """A file of the site: the file itself, or a page that shows its code."""
    if path.suffix in (".md", *IMAGES):
        return File.generated(config, uri, abs_src_path=str(path))
    name, language = path.relative_to(_root(config)).as_posix(), {".py": "python"}.get(path.suffix, "text")
    code = path.read_text(encoding="utf-8")
    content = f"---\nsearch:\n  exclude: true\n---\n# {name}\n\n````{language}\n{code}\n````\n"
    return File.generated(config, uri, content=content)
