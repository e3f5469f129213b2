"""Takes the screenshots of the dashboard that the documentation shows. Needs Chromium and the package playwright.

python docs/screenshots.py
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import manyarms as ma
from manyarms.dashboard.charts import DRAWING
from manyarms.dashboard.strategy_charts import REBUILDING

PLOTS = Path(__file__).parent / "plots"
PORT = 8901
_COLORS = 128
_DRAWN = """waiting => ![...document.querySelectorAll("main *")].some(element => {
    const place = element.getBoundingClientRect();
    return waiting.includes(element.textContent) && place.height > 0 && place.top < innerHeight;
})"""
VIEWS = {  # the page, what it shows when it is ready, the size of the window, and the color scheme
    "dashboard-studies": ("#/", "main a[href*=study]", (1000, 420), "light"),
    "dashboard-charts": ("#/study/1/charts", ".plot .main-svg", (1000, 1100), "light"),
    "dashboard-arms": ("#/study/1/arms", "table tbody tr", (1000, 700), "light"),
    "dashboard-arm": ("#/study/1/arms/{best}", "#panel .plot", (1000, 900), "light"),
    "dashboard-strategy": ("#/study/1/strategy", ".plot .main-svg", (1000, 1000), "light"),
    "dashboard-failures": ("#/study/1/failures", ".tab details", (1000, 560), "light"),
    "dashboard-phone": ("#/study/1/charts", ".plot .main-svg", (400, 800), "dark"),
}


def train(pull: ma.RunningPull) -> float:
    """Train a linear model of handwritten digits."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import train_test_split

    if pull["penalty"] == "elasticnet" and pull["alpha"] > 1e-2:
        raise ValueError("the penalty is too strong")
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x / 16, y, test_size=0.4, random_state=0)
    model = pull.load()
    if model is None:
        model = SGDClassifier(
            loss=pull["loss"], alpha=pull["alpha"], penalty=pull["penalty"], eta0=pull["rate"], learning_rate="constant"
        )
    for _ in range(pull.start, pull.stop):
        model.partial_fit(x_train, y_train, classes=range(10))
    pull.save(model)
    return float(model.score(x_test, y_test))


def main() -> None:
    """Run two searches, and take a screenshot of each view."""
    space = ma.Space(
        alpha=ma.Float(1e-6, 1e-1, log=True),
        rate=ma.Float(1e-4, 1, log=True),
        loss=ma.Choice("hinge", "log_loss", "modified_huber"),
        penalty=ma.Choice("l2", "l1", "elasticnet"),
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        storage = f"{folder}/searches.db"
        study = ma.tune(
            train, space, budget=400, max_steps=10, storage=storage, name="digits", seed=0, workers=2, progress=False
        )
        ma.tune(train, space, budget=60, max_steps=10, strategy="hyperband", storage=storage, name="hyperband", seed=0)
        command = [sys.executable, "-m", "manyarms", "dashboard", "searches.db", "--port", str(PORT), "--no-browser"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
        try:
            assert server.stderr is not None
            server.stderr.readline()  # it listens now
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, (path, ready, (width, height), scheme) in VIEWS.items():
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                page.goto(f"http://127.0.0.1:{PORT}/{path.format(best=study.best().id)}")
                page.locator(ready).first.wait_for()
                save(page, PLOTS / f"{name}.png")
                context.close()
            browser.close()
        finally:
            server.terminate()


def save(page: Page, path: Path) -> None:
    """Save what the window shows, in few colors, when all its charts are drawn."""
    time.sleep(2.0)  # charts that are ready appear, and the others say what they wait for
    page.wait_for_function(_DRAWN, arg=[DRAWING, REBUILDING], timeout=120_000)
    time.sleep(2.0)
    image = Image.open(io.BytesIO(page.screenshot()))
    image.convert("RGB").quantize(_COLORS).save(path, optimize=True)
    print(path.name, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
