"""Measures `manyarms dashboard` with a large study in a real browser, next to optuna-dashboard with a smaller one.

    python benchmarks/dashboard.py
    python benchmarks/dashboard.py --pulls 20000 --trials 2000 --rounds 1

Prints the time to the first paint, to the complete page and for an update, the memory of the server, and how much a search
slows down while a browser watches it. Needs Chromium, and the packages playwright, psutil and optuna-dashboard.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from threadpoolctl import threadpool_limits

import manyarms as ma

SPACE = ma.Space(
    rate=ma.Float(1e-4, 1.0, log=True), depth=ma.Int(1, 12), kind=ma.Choice("tree", "linear", ma.Space(units=ma.Int(8, 512)))
)
_PAINT = "performance.getEntriesByType('paint').find(entry => entry.name == 'first-contentful-paint')?.startTime"
_UPDATES = 10
_PARTS = ("large", "search", "optuna")
_REFRESH = """async text => {
    const began = performance.now();
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    while (!document.querySelector(".facts").textContent.includes(text)) await new Promise(requestAnimationFrame);
    return performance.now() - began;
}"""  # what the page does when it learns of a change


def train(pull: Any) -> float:
    """A reward that grows with the steps, at once."""
    best = float(1 - abs(np.log10(pull["rate"]) + 2) / 4)
    return best * (1 - 0.7 ** float(pull.stop)) + pull["depth"] / 1000


def train_for_a_while(pull: Any) -> float:
    """The same, after some work."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        np.linalg.svd(rng.normal(size=(60, 60)))
    return train(pull)


def large_study(storage: str, pulls: int) -> ma.Study:
    """A study of Mutant-UCB whose budget is not spent after so many pulls."""
    return ma.Study(ma.MutantUCB(SPACE, budget=2 * pulls, max_steps=10, seed=0), storage=storage, name="large")


def make_study(storage: str, pulls: int) -> None:
    """Run so many pulls of the large study."""

    def stop(study: ma.Study, _: Any) -> None:
        if study.counts.pulls >= pulls:
            study.stop()

    with large_study(storage, pulls) as study:
        study.optimize(train, progress=False, callbacks=[stop])


def make_optuna_study(storage: str, trials: int) -> None:
    """A study of Optuna with the same parameters."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=storage, study_name="large", direction="maximize")
    rng = np.random.default_rng(0)
    spaces = {
        "rate": optuna.distributions.FloatDistribution(1e-4, 1.0, log=True),
        "depth": optuna.distributions.IntDistribution(1, 12),
        "kind": optuna.distributions.CategoricalDistribution(["tree", "linear"]),
    }
    for _ in range(trials):
        values = {
            "rate": float(10 ** rng.uniform(-4, 0)),
            "depth": int(rng.integers(1, 13)),
            "kind": str(rng.choice(["tree", "linear"])),
        }
        reward = float(1 - abs(np.log10(values["rate"]) + 2) / 4)
        study.add_trial(optuna.trial.create_trial(params=values, distributions=spaces, value=reward))


@contextmanager
def served(command: Sequence[str], port: int) -> Iterator[psutil.Process]:
    """A server in a process of its own."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while True:
                if process.poll() is not None:
                    raise RuntimeError(f"{command[0]} has ended")
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def memory(server: psutil.Process) -> str:
    """The memory of a server, and of the processes that it started for slow charts."""
    parts = [sum(one.memory_info().rss for one in some) / 1e6 for some in ([server], server.children(recursive=True))]
    return f"{parts[0]:.0f} MB" + (f", and {parts[1]:.0f} MB of its processes" if parts[1] else "")


def opened(browser: Browser, address: str, ready: str) -> tuple[Page, float, float]:
    """A new page, with the seconds to its first paint and until an element is there."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(300_000)
    began = time.monotonic()
    page.goto(address, wait_until="commit")
    page.locator(ready).first.wait_for()
    seconds = time.monotonic() - began
    return page, page.evaluate(_PAINT) / 1000, seconds


def dashboard_command(storage: str, port: int) -> list[str]:
    """The command that starts the dashboard."""
    return [sys.executable, "-m", "manyarms", "dashboard", storage, "--port", str(port), "--no-browser"]


def measure(browser: Browser, storage: str, pulls: int) -> None:
    """Open the pages of a large study, update them, and read the memory."""
    port = free_port()
    with served(dashboard_command(storage, port), port) as server:
        address = f"http://127.0.0.1:{port}/#/study/1"
        page, paint, seconds = opened(browser, address, ".plot .main-svg")
        print(f"manyarms, {pulls:,} pulls: first paint {paint:.2f} s, first chart {seconds:.2f} s", flush=True)
        _, paint, seconds = opened(browser, f"{address}/arms", "table tbody tr")
        print(f"    table of arms: first paint {paint:.2f} s, rows {seconds:.2f} s", flush=True)
        page.locator("footer, body").first.wait_for()
        for _ in range(12):  # scroll through all charts
            page.mouse.wheel(0, 800)
            page.wait_for_timeout(250)
        print(f"    memory of the server: {memory(server)}", flush=True)
        print(f"    update: {median(updates(page, storage, pulls)):.0f} ms (median)", flush=True)
        print(f"    memory after updates: {memory(server)}", flush=True)


def updates(page: Page, storage: str, pulls: int) -> list[float]:
    """Milliseconds from the moment at which the page learns of a new pull until it shows it.

    How long it takes to learn of it is left out: the server looks for new events every 0.75 seconds.
    """
    page.goto(page.url.split("#")[0] + "#/study/1/arms")
    page.locator("table tbody tr").first.wait_for()
    times = []
    with large_study(storage, pulls) as study:
        for _ in range(_UPDATES):
            study.tell(study.ask(), 0.5)
            times.append(page.evaluate(_REFRESH, f"{study.counts.pulls:,}"))
    return times


@dataclass(frozen=True)
class Searched:
    """How long a search took, and the processor time that others used meanwhile: the server with its processes, the browser."""

    seconds: float
    server: float = 0.0
    browser: float = 0.0


def cpu_seconds(process: psutil.Process) -> float:
    """The processor time of a process, of the processes it started, and of those that have ended."""
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def searched(storage: str, pulls: int) -> float:
    """Seconds of a search that uses one processor."""
    began = time.monotonic()
    with threadpool_limits(1):
        ma.tune(train_for_a_while, SPACE, budget=pulls, max_steps=10, storage=storage, name="search", seed=0, progress=False)
    return time.monotonic() - began


def new_storage(folder: Path) -> str:
    """A storage with a study, so that a dashboard can open it before the search begins."""
    storage = str(folder / f"search-{time.monotonic_ns()}.db")
    ma.Study(ma.RandomSearch(SPACE, budget=1, seed=0), storage=storage, name="first").close()
    return storage


def search_alone(folder: Path, pulls: int) -> Searched:
    """A search that nobody watches."""
    return Searched(searched(new_storage(folder), pulls))


def search_with_listener(folder: Path, pulls: int) -> Searched:
    """A search, and a client that listens to changes and draws nothing."""
    storage, port = new_storage(folder), free_port()
    with served(dashboard_command(storage, port), port) as server, socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET /api/study/2/changes HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        threading.Thread(target=drain, args=(client,), daemon=True).start()
        before = cpu_seconds(server)
        seconds = searched(storage, pulls)
        return Searched(seconds, cpu_seconds(server) - before)


def drain(client: socket.socket) -> None:
    """Read until the connection ends."""
    with suppress(OSError):
        while client.recv(65_536):
            pass


def search_in_browser(folder: Path, pulls: int, browser: Browser) -> Searched:
    """A search, and a browser that shows its charts. The page is open before the search begins."""
    storage, port = new_storage(folder), free_port()
    with served(dashboard_command(storage, port), port) as server:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(f"http://127.0.0.1:{port}/#/study/1")
        page.locator(".chart").first.wait_for()
        page.evaluate("location.hash = '#/study/2'")
        before = cpu_seconds(server), cpu_seconds(browser_process())
        seconds = searched(storage, pulls)
        found = Searched(seconds, cpu_seconds(server) - before[0], cpu_seconds(browser_process()) - before[1])
        page.context.close()
        return found


def browser_process() -> psutil.Process:
    """The process that started the browser."""
    return next(one for one in psutil.Process().children() if "python" not in one.name())


def measure_slowdown(browser: Browser, folder: Path, pulls: int, rounds: int) -> None:
    """Run the same search alone, with a client that only listens, and with a browser that shows it, in turns."""
    search_alone(folder, 50)  # imports
    print(f"search of {pulls:,} pulls:", flush=True)
    ways = {
        "alone": lambda: search_alone(folder, pulls),
        "with a client that listens": lambda: search_with_listener(folder, pulls),
        "in a browser": lambda: search_in_browser(folder, pulls, browser),
    }
    found: dict[str, list[Searched]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            found[way].append(run())
    for way, runs in found.items():
        slower = median(one.seconds / alone.seconds for one, alone in zip(runs, found["alone"], strict=True)) - 1
        shown = ", ".join(f"{one.seconds:.1f} s" for one in runs)
        used = f"server {median(one.server for one in runs):.1f} s, browser {median(one.browser for one in runs):.1f} s"
        print(f"    {way}: {shown}; {100 * slower:+.1f}% (median); processor time: {used}", flush=True)


def measure_optuna(browser: Browser, folder: Path, trials: int) -> None:
    """The same for optuna-dashboard."""
    command = shutil.which("optuna-dashboard", path=str(Path(sys.executable).parent))
    if command is None:
        print("optuna-dashboard is not installed")
        return
    storage, port = f"sqlite:///{folder}/optuna.db", free_port()
    make_optuna_study(storage, trials)
    with served([command, storage, "--port", str(port), "--host", "127.0.0.1"], port) as server:
        page, paint, seconds = opened(browser, f"http://127.0.0.1:{port}/dashboard/studies/1", ".plotly .main-svg")
        print(f"optuna-dashboard, {trials:,} trials: first paint {paint:.2f} s, first chart {seconds:.2f} s", flush=True)
        print(f"    memory of the server: {memory(server)}", flush=True)
        page.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pulls", type=int, default=100_000, help="pulls of the large study (default: %(default)s)")
    parser.add_argument("--trials", type=int, default=10_000, help="trials of Optuna's study (default: %(default)s)")
    parser.add_argument("--search", type=int, default=1_000, help="pulls of the search that is watched (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of that search (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="what to measure (default: everything)")
    parser.add_argument("--storage", help="a storage to measure whose first study is large, instead of a new one")
    options = parser.parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a study of 100,000 pulls is made faster there
    with tempfile.TemporaryDirectory(dir=memory) as name, sync_playwright() as playwright:
        folder = Path(name)
        storage = options.storage or str(folder / "large.db")
        if options.storage is None and "large" in options.only:
            make_study(storage, options.pulls)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"])
        if "large" in options.only:
            measure(browser, storage, options.pulls)
        if "search" in options.only:
            measure_slowdown(browser, folder, options.search, options.rounds)
        if "optuna" in options.only:
            measure_optuna(browser, folder, options.trials)
        browser.close()


if __name__ == "__main__":
    main()
