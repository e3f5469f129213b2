"""The notebook of the examples, run as its reader runs it: cells again, with a larger budget, interrupted, continued."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from commands import quick_directory
from waiting import wait_until

import manyarms as ma

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient")
pytest.importorskip("ipykernel", reason="notebooks are run by ipykernel")
pytest.importorskip("sklearn", reason="the notebook trains a model of scikit-learn")
pytest.importorskip("pandas", reason="the notebook shows tables of pandas")

NOTEBOOK = Path(__file__).parent.parent / "examples" / "first_notebook.ipynb"
MAX_STEPS = 5  # of the searches in the notebook
FREE_ARMS = 3
HELD = """
import time
from pathlib import Path

free = globals().get("free", train)


def train(pull):
    while pull.arm.id >= {arms} and not Path("{gate}").exists():
        time.sleep(0.01)
    return free(pull)
"""
"""Run by the kernel before a search that is interrupted: later arms wait for a file, so that it cannot end too early."""

pytestmark = pytest.mark.timeout(1800)  # kernels take long to start on a busy machine


class Session:
    """The notebook, open in a browser as it were: cells are run by their ids, in any order, any number of times."""

    def __init__(self, client, directory):
        self.client, self.directory = client, directory
        self.cells = {cell.id: (number, cell) for number, cell in enumerate(client.nb.cells)}

    async def run(self, id, **changes):
        """What the cell shows; `changes` are other values of its arguments, which stay as if they were typed in."""
        number, cell = self.cells[id]
        for name, value in changes.items():
            cell.source, changed = re.subn(rf"\b{name}=\d+", f"{name}={value}", cell.source)
            assert changed == 1
        await self.client.async_execute_cell(cell, number)
        return Shown(cell)

    async def run_code(self, source):
        cell = nbformat.v4.new_code_cell(source)
        self.client.nb.cells.append(cell)
        await self.client.async_execute_cell(cell, len(self.client.nb.cells) - 1)

    async def run_interrupted(self, id, study):
        """What the cell shows if its kernel is interrupted when the study has recorded a few pulls."""
        gate = self.directory / f"go-{id}"
        await self.run_code(HELD.format(arms=FREE_ARMS, gate=gate.name))
        running = asyncio.create_task(self.run(id))
        await self._holds(running, lambda: self.pulls_of(study) >= FREE_ARMS)
        await self.client.km.interrupt_kernel()
        await self._holds(running, lambda: "Stopping" in Shown(self.cells[id][1]).stream)
        gate.touch()
        return await running

    async def _holds(self, running, condition):
        """Wait for the condition, or for the end of the cell, which says what went wrong."""
        assert await asyncio.to_thread(wait_until, lambda: running.done() or condition())
        if running.done():
            pytest.fail(f"the cell ended before it was interrupted: {await running}")

    def pulls_of(self, study):
        try:
            with ma.load_study(self.directory / "notebook.db", study) as view:
                return view.counts.pulls
        except ma.StudyNotFound:
            return 0


class Shown:
    """What is below a cell."""

    def __init__(self, cell):
        self.stream = "".join(output.text for output in cell.outputs if output.output_type == "stream")
        self.displays = [output.data for output in cell.outputs if output.output_type == "display_data"]
        results = [output.data for output in cell.outputs if output.output_type == "execute_result"]
        self.result, self.html = (results[0].get(f"text/{kind}", "") for kind in ("plain", "html")) if results else ("", "")

    def __repr__(self):
        return f"Shown({self.stream!r}, {self.displays!r}, {self.result!r})"


@asynccontextmanager
async def opened(directory):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(directory)}}
    client = nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, resources=resources)
    async with client.async_setup_kernel():
        yield Session(client, directory)


async def played(directory):
    """What the cells show, by what was done."""
    async with opened(directory) as session:
        await session.run("function")
        return {
            "search": await session.run("search"),
            "search again": await session.run("search"),
            "more budget": await session.run("search", budget=40),
            "interrupted": await session.run_interrupted("long", "long"),
            "continued": await session.run("long"),
            "workers interrupted": await session.run_interrupted("parallel", "parallel"),
            "workers continued": await session.run("parallel"),
            "model": await session.run("model"),
            "arms": await session.run("arms"),
            "pulls": await session.run("pulls"),
            "reading": await session.run("reading"),
        }


@pytest.fixture(scope="module")
def shown():
    """Played once, in a kernel that neither reads nor writes what the user has set up for notebooks."""
    with quick_directory() as directory, pytest.MonkeyPatch.context() as environment:
        for name in ("IPYTHONDIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            environment.setenv(name, str(Path(directory, name.lower())))
        return asyncio.run(played(Path(directory)))


def steps(shown):
    """Those that the study of a cell has spent, and its budget."""
    return tuple(map(int, re.search(r"(\d+) of (\d+) steps", shown.result).groups()))


def is_finished(shown, budget):
    """Whether less than one full training is left of this budget."""
    return steps(shown)[1] == budget and budget - MAX_STEPS < steps(shown)[0] <= budget


def test_a_cell_shows_its_study_in_one_line_or_as_a_table(shown):
    line = r"Study\('digits', AdaptiveMutantUCB, \d+ of 20 steps, \d+ arms, best [\d.]+ \(arm \d+\)\)"
    assert re.fullmatch(line, shown["search"].result) and is_finished(shown["search"], 20)
    assert "<b>Study</b> · digits · AdaptiveMutantUCB" in shown["search"].html


def test_the_progress_of_a_search_is_one_display_that_is_replaced(shown):
    for name in ("search", "more budget", "interrupted", "workers continued"):
        assert len(shown[name].displays) == 1, shown[name]
    plain, html = (shown["search"].displays[0][f"text/{kind}"] for kind in ("plain", "html"))
    assert re.fullmatch(r"digits: \d+/20 steps · took \w+ · best [\d.]+ · \d+ arms · [\d.]+ pulls/(s|min)", plain)
    assert html.startswith("<div") and re.search(r"<b>digits</b> .*\d+/20 steps · took .*best [\d.]+ · \w+ ago", html)
    assert shown["search"].stream == ""


def test_the_same_cell_again_trains_nothing(shown):
    assert shown["search again"].result == shown["search"].result


def test_the_same_cell_with_a_larger_budget_continues(shown):
    assert is_finished(shown["more budget"], 40)


@pytest.mark.parametrize(
    ("interrupted", "continued"), [("interrupted", "continued"), ("workers interrupted", "workers continued")]
)
def test_an_interrupted_cell_says_what_remains_and_the_same_cell_again_continues(shown, interrupted, continued):
    before, after = shown[interrupted], shown[continued]
    assert "Stopping after the pulls in flight." in before.stream
    assert "interrupted: True" in before.stream and before.result.endswith("interrupted)")
    spent, budget = steps(before)
    assert FREE_ARMS < spent < budget
    assert f"remaining: {{'steps': {budget - spent}}}" in before.stream
    assert "interrupted: False" in after.stream and "interrupted" not in after.result
    assert is_finished(after, budget)


def test_the_best_model_is_the_trained_one(shown):
    assert shown["model"].stream == "SGDClassifier True\n"


def test_arms_and_pulls_are_shown_as_tables(shown):
    for name, columns in (
        ("arms", ["best_reward", "config_alpha", "config_eta0"]),
        ("pulls", ["start", "stop", "reward", "told"]),
    ):
        assert all(column in shown[name].html for column in columns), shown[name]
        assert shown[name].html.count("<tr") == 6  # the names of the columns and five rows


def test_a_study_is_read_from_its_file(shown):
    assert shown["reading"].result.startswith("StudyView('digits', AdaptiveMutantUCB, ")
    assert steps(shown["reading"]) == steps(shown["more budget"])


def test_the_notebook_is_stored_without_outputs_and_paths():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert not re.search(r"/home|/Users|/tmp|/work|[A-Z]:\\\\", NOTEBOOK.read_text(encoding="utf-8"))
