"""Every example of the README and of docs/ runs, and prints what the page says it prints.

A page's ```python blocks run in order in one namespace; ```python no-run is left alone. An ```output block after one is what it
must print. The ```console blocks of the page on the command line run too.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from commands import quick_directory

from manyarms import cli, strategies

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
COMMANDS = ROOT / "docs" / "command-line.md"

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")


@pytest.fixture
def workplace(monkeypatch):
    """A temporary working directory, also for the temporary files of examples."""
    with quick_directory() as directory:
        monkeypatch.chdir(directory)
        monkeypatch.setattr(tempfile, "tempdir", directory)
        monkeypatch.setenv("TMPDIR", directory)
        yield


def blocks(page):
    """The fenced blocks: kind, first line, text."""
    text = page.read_text()
    for match in re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match[1].strip(), text.count("\n", 0, match.start()) + 1, match[2]


def run(block, line, page, namespace):
    """What the block printed."""
    code = compile("\n" * line + block, str(page), "exec")  # so that tracebacks point into the page
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("workplace")
def test_the_examples_of_a_page_run_and_print_what_it_says(page):
    namespace, printed = {"__name__": "__main__"}, ""
    for kind, line, text in blocks(page):
        if kind == "python":
            printed = run(text, line, page, namespace)
        elif kind == "output":
            assert rounded(printed) == rounded(text), f"{page}:{line}"


def rounded(text):
    """With six digits of each number: the last ones differ from machine to machine."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text.rstrip())


def test_every_page_has_an_example_and_its_links_lead_somewhere():
    for page in PAGES[1:]:
        assert any(kind == "python" for kind, _, _ in blocks(page)), page
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_strategy_has_its_place_on_the_page_of_strategies_and_in_the_readme():
    page, readme = (ROOT / "docs" / "strategies.md").read_text(), (ROOT / "README.md").read_text()
    made = [name for name in strategies.__all__ if hasattr(getattr(strategies, name), "plan") and name != "Complete"]
    assert "AdaptiveMutantUCB" in made
    for name in made:
        assert f"\n## {name}\n" in page, name
        assert f"`{name}`" in readme, name
        for option in inspect.signature(getattr(strategies, name)).parameters:
            assert option == "space" or f"`{option}`" in page, f"{option} of {name}"


@pytest.mark.usefixtures("workplace")
def test_the_commands_of_the_page_on_the_command_line_print_what_it_says(monkeypatch, capsys):
    monkeypatch.delenv("MANYARMS_STORAGE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    parts = list(blocks(COMMANDS))
    Path("train.py").write_text(next(text for kind, _, text in parts if kind == "python"))
    for command, expected in [step for kind, _, text in parts if kind == "console" for step in steps(text)]:
        with pytest.raises(SystemExit) as end:
            cli.main(shlex.split(command)[1:])
        printed = capsys.readouterr()
        assert end.value.code == 0, printed.err
        assert settled(printed.out + printed.err) == settled(expected), command


def steps(console):
    """The commands of a block, each with what it printed."""
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        yield command, expected


def settled(printed):
    """Without what differs from time to time: seconds at the end of a row, names of checkpoints and where they are, spaces."""
    printed = re.sub(r"\S*/(manyarms\.db-checkpoints/)", r"\1", printed)
    printed = re.sub(r"(arm-\d+-step-\d+-)[0-9a-f]{8}", r"\1", printed)
    printed = re.sub(r'"seconds": \S+', "", printed)
    return [re.sub(r" \d+(\.\d)?$", "", " ".join(line.split())) for line in rounded(printed).splitlines()]
