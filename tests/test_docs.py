"""Every example of the README, of CONTRIBUTING.md and of docs/ runs, and prints what the page says it prints.

The ```python blocks of a page run in order in one namespace. A ```python no-run block is skipped, and a block with
title="train.py" is also saved as that file. An ```output block shows what the block before it must print. On the pages for new
users, the commands of ```console blocks run too, so that a page can be pasted from top to bottom into an empty directory. The
page on the command line has its own test.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest
from commands import Answer, quick_directory

import manyarms
from manyarms import cli, strategies

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
"""The pages that are generated from docstrings, whose examples are doctests."""
COMMANDS = ROOT / "docs" / "command-line.md"
STRATEGIES = ROOT / "docs" / "strategies.md"
FIRST = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "first-search", "fit-a-table", "scikit-learn")),
]
"""The pages for new users: their commands run, and no example prints a warning."""
FROM_OPTUNA = ROOT / "docs" / "from-optuna.md"
COMPARE = ROOT / "examples" / "optuna" / "compare.py"
PORTS = sorted(set(COMPARE.parent.glob("*.py")) - {COMPARE})

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")


@pytest.fixture
def workplace(monkeypatch):
    """A temporary working directory that also holds the temporary files of examples."""
    with quick_directory() as directory:
        monkeypatch.chdir(directory)
        monkeypatch.setattr(tempfile, "tempdir", directory)
        monkeypatch.setenv("TMPDIR", directory)
        yield


def blocks(page):
    """The fenced blocks: their kind, first line and text."""
    text = page.read_text()
    for match in re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield match[1].strip(), text.count("\n", 0, match.start()) + 1, match[2]


def run(block, line, page, namespace):
    """What the block printed."""
    code = compile("\n" * line + block, str(page), "exec")  # tracebacks show the line of the page
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("workplace")
def test_the_examples_of_a_page_run_and_print_what_it_says(page):
    namespace, printed = {}, ""
    shown = any(kind == "output" for kind, _, _ in blocks(page))
    if page in FIRST:
        warnings.simplefilter("error", UserWarning)  # pytest restores the filters after the test
    for kind, line, text in blocks(page):
        title = re.search('title="(.+)[.]py"', kind)
        text = text if shown else quicker(text)
        if title is not None:
            Path(f"{title[1]}.py").write_text(text)
        namespace["__name__"] = "__main__" if title is None else title[1]  # a file is imported here, and run by a command
        if kind.startswith("python") and "no-run" not in kind:
            few = 'budget=2, families=["linear", "naive_bayes"]'  # regardless of how fast the machine is
            printed = run(re.sub(r"time_budget=\d+", few, text), line, page, namespace)
        elif kind == "output":
            assert rounded(printed) == rounded(text), f"{page}:{line}"
        elif kind == "console" and page in FIRST:
            run_console(text, f"{page}:{line}")


def quicker(text):
    """The same example with a fifth of the rows or trees, for pages that do not show what it prints."""
    text = re.sub(r"\*(datasets\.load_digits\(return_X_y=True\))", r"*(part[::5] for part in \1)", text)
    return text.replace("n_estimators=50", "n_estimators=10")


def run_console(text, place):
    """Run the commands of a block. Compare what they print with the page, unless it depends on time."""
    for command, expected in steps(text):
        program, *arguments = shlex.split(re.sub(r"--time \S+", "--budget 2 --families linear naive_bayes", command))
        if program in ("pip", "make"):
            continue
        answer = run_manyarms(arguments) if program == "manyarms" else run_python(arguments)
        assert answer.code == 0, f"{place}: {command}: {answer.err}"
        assert "Warning" not in answer.err, f"{place}: {command}"
        if expected and "--time" not in command:
            assert settled(answer.out + answer.err) == settled(expected), f"{place}: {command}"


def run_python(arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    return Answer(done.returncode, done.stdout, done.stderr)


def run_manyarms(arguments):
    """What a command answers, here rather than in a process of its own, which would import everything again."""
    with pytest.MonkeyPatch.context() as changes, warnings.catch_warnings():
        changes.setattr(sys, "path", list(sys.path))
        changes.setitem(sys.modules, "train", None)  # restored afterwards: the command loads the script itself
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            cli.main(arguments)
    return Answer(end.value.code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("page", FIRST[:2], ids=lambda page: page.name)
def test_the_first_example_is_short_and_trains_a_real_model_in_slices(page):
    example = next(text for kind, _, text in blocks(page) if kind.startswith("python"))
    assert len([line for line in example.splitlines() if line]) <= 15
    for name in ("sklearn", "pull.load()", "pull.save(", "best_model()"):
        assert name in example


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_installs_the_package_from_an_index_where_it_is_not_yet(page):
    for _, line, text in blocks(page):
        for command in re.findall("pip install .*manyarms.*", text):
            assert "manyarms-*.whl" in command, f"{page}:{line}: {command}"


def rounded(text):
    """The text with numbers rounded to six digits, because the last digits differ between machines."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text.rstrip())


def prose(page):
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def headings(page):
    return re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)


def anchors(page):
    """The anchors of a page: its headings as GitHub writes them."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings(page)}


def test_every_page_has_an_example_and_its_links_lead_somewhere():
    for page in set(PAGES[1:]) - set(REFERENCE):
        assert any(kind.startswith("python") for kind, _, _ in blocks(page)), page
    for page in PAGES:
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(page)):
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{page} links to {target}"
            assert not anchor or anchor in anchors(there), f"{page} links to {target}#{anchor}"


@pytest.mark.parametrize("module", ["sklearn", "networks", "pickers", "strategies.kit", "testing", "bench.problems"])
def test_the_api_reference_has_a_page_for_every_public_module(module):
    assert f"manyarms.{module}" in documented()


def test_every_public_name_is_in_the_api_reference():
    names = {name for name in manyarms.__all__ if name != "__version__"} - set(manyarms.pickers.__all__)
    missing = {f"manyarms.{name}" for name in names} - documented()
    assert not missing, f"add to a page of docs/reference: {sorted(missing)}"


def documented():
    """The modules and names that the API reference shows. Of a module it shows all that its `__all__` lists."""
    return {name for page in REFERENCE for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)}


MADE = [name for name in strategies.__all__ if hasattr(getattr(strategies, name), "plan") and name != "ExtendedStrategy"]
COVERS = {  # by page: the strategies that its headings name
    page: [name for name in MADE if any(name in re.findall(r"\w+", heading) for heading in headings(page))]
    for page in sorted(STRATEGIES.with_suffix("").glob("*.md"))
}


@pytest.mark.parametrize("name", MADE)
def test_every_strategy_has_a_page_with_a_plot_an_example_and_all_its_options(name):
    pages = [page for page, covered in COVERS.items() if name in covered]
    assert len(pages) == 1, f"{name} must be in the headings of one page in docs/strategies/, is in those of {pages}"
    text, kinds = pages[0].read_text(), [kind for kind, _, _ in blocks(pages[0])]
    assert re.search(r"!\[[^]]+\]\(plots/[^)]+\.png\)", text)
    assert "python" in kinds and "output" in kinds
    for option in inspect.signature(getattr(strategies, name)).parameters:
        assert option == "space" or f"`{option}`" in text, f"{option} of {name}"
    assert f"`{name}`](strategies/{pages[0].name})" in STRATEGIES.read_text()
    assert f"`{name}`" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", COVERS, ids=lambda page: page.name)
def test_the_page_of_a_strategy_is_named_after_it(page):
    assert page.stem.replace("-", "") in [name.lower() for name in COVERS[page]]


def test_the_citation_names_the_papers_that_strategies_come_from():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["title"] == "manyarms" and citation["message"]
    assert citation["authors"] == [{"name": "The manyarms developers"}]
    assert len(citation["references"]) == 5
    for paper in citation["references"]:
        assert paper["type"] == "article" and paper["title"] and all("family-names" in author for author in paper["authors"])
        named = [name for name in re.findall(r"\w+", paper["notes"]) if hasattr(strategies, name)]
        assert named, f"the notes of {paper['title']!r} must name the strategies that come from it"


@pytest.mark.usefixtures("workplace")
def test_the_commands_of_the_page_on_the_command_line_print_what_it_says(monkeypatch, capsys):
    monkeypatch.delenv("MANYARMS_STORAGE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    parts = list(blocks(COMMANDS))
    Path("train.py").write_text(next(text for kind, _, text in parts if 'title="train.py"' in kind))
    for command, expected in [step for kind, _, text in parts if kind == "console" for step in steps(text)]:
        with pytest.raises(SystemExit) as end:
            cli.main(shlex.split(command)[1:])
        printed = capsys.readouterr()
        assert end.value.code == 0, printed.err
        assert settled(printed.out + printed.err) == settled(expected), command


@pytest.fixture
def compare():
    specification = importlib.util.spec_from_file_location("compare", COMPARE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("script", PORTS, ids=lambda script: script.stem)
@pytest.mark.usefixtures("workplace")
def test_a_script_for_optuna_and_its_counterpart_run_and_print_what_they_found(script, compare):
    if script.stem.endswith("_optuna"):
        pytest.importorskip("optuna", reason="the scripts to compare with need Optuna")
    source = script.read_text()
    best, trained = compare.result(run(source, 0, script, {"__name__": "__main__"}))
    assert best >= 0 and trained >= 20
    assert compare.with_seed(source, 7) != source


def test_the_page_for_users_of_optuna_shows_the_scripts_as_they_are(compare):
    shown = [text for kind, _, text in blocks(FROM_OPTUNA) if kind.startswith("python")]
    pairs = [compare.script(name, library) for name in compare.PAIRS for library in ("optuna", "manyarms")]
    assert sorted(pairs) == PORTS
    assert shown == [script.read_text() for script in pairs]


def test_the_page_for_users_of_optuna_counts_lines_as_they_are(compare):
    for name in compare.PAIRS:
        lines = [compare.count_lines(compare.script(name, library).read_text()) for library in ("optuna", "manyarms")]
        assert "| {} | {} | {} |".format(name, *lines) in prose(FROM_OPTUNA)


def test_scripts_are_compared_by_what_they_print(compare):
    pytest.importorskip("optuna", reason="there is nothing to compare with")
    name, lines, best, trained, seconds = compare.row("first_steps", seeds=1)
    assert (name, lines, trained) == ("first_steps", "10 | 8", "100 | 100")
    assert all(len(cell.split(" | ")) == 2 for cell in (best, seconds))


def test_without_optuna_the_comparison_says_what_to_install():
    code = "import runpy, sys; sys.modules['optuna'] = None; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
    answer = subprocess.run([sys.executable, "-c", code, str(COMPARE)], capture_output=True, text=True, check=True)
    assert answer.stdout == 'Nothing to compare: Optuna is not installed. To install it: pip install "optuna>=4"\n'


def steps(console):
    """The commands of a block, each with the output that the page shows."""
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        yield command, expected


def settled(printed):
    """The lines without what differs between runs: durations, names and paths of checkpoints, and spaces."""
    printed = re.sub(r"\S*/(manyarms\.db-checkpoints/)", r"\1", printed)
    printed = re.sub(r"(checkpoints/train-)[0-9a-f]{16}(/arm-\d+-step-\d+-)[0-9a-f]{8}", r"\1\2", printed)
    printed = re.sub(r'"seconds": \S+|[\d.,]+ ms|[\d.,]+×|in \S+ seconds$', "", printed, flags=re.MULTILINE)
    return [re.sub(r" \d+(\.\d)?$", "", " ".join(line.split())) for line in rounded(printed).splitlines()]
