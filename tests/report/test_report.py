"""The report shows everything that the dashboard shows, for any study, and runs nothing that the study contains."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import manyarms as ma
from manyarms.report.content import read_content
from manyarms.report.page import study_page

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\x1b[2J\u202e"
SPACE = ma.Space(rate=ma.Float(1e-3, 1, log=True), depth=ma.Int(1, 5), act=ma.Choice("relu", "tanh"))
CHARTS = {
    *("best-by-steps", "best-by-time", "curves", "decisions", "importance", "contour", "slices", "parallel"),
    *("rungs", "scores", "predictions", "latest_pulls", "family", "timeline"),
}


class Page(HTMLParser):
    """The elements of a page, and its text without scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.html, self.tags, self.words, self._skipped = html, [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._skipped = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._skipped = False

    def handle_data(self, data):
        if not self._skipped:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)

    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


def train(pull):
    if pull["depth"] == 5:
        raise RuntimeError("too deep")
    pull.report(pull["rate"] / 2)
    return {"reward": (1 - abs(pull["rate"] - 0.1)) * (1 - 0.5**pull.stop), "loss": 0.5**pull.stop}


def tuned(storage, function=train, space=SPACE, budget=120, **options):
    options = {"max_steps": 4, "seed": 0, "name": "study", **options}
    ma.tune(function, space, budget=budget, storage=storage, progress=False, **options)


@pytest.fixture
def storage(tmp_path):
    return str(tmp_path / "study.db")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report on a usual study."""
    storage = str(tmp_path_factory.mktemp("report") / "study.db")
    tuned(storage, seed=1)  # the recommended arm has a parent
    return report(storage)


def report(storage, name="study"):
    return Page(study_page(read_content(storage, name)))


def asked(storage, rewards, space=None):
    """A study with these rewards; None is a failure, and "in flight" a pull that has not ended."""
    strategy = ma.RandomSearch(space or ma.Space(x=ma.Float(0, 1)), budget=len(rewards) + 10, max_steps=1, seed=0)
    with ma.Study(strategy, storage=storage) as study:
        for reward in rewards:
            pull = study.ask()
            if reward != "in flight":
                study.tell(pull, reward)


def test_it_has_the_views_of_the_dashboard(page):
    assert {id.removeprefix("chart-") for id in page.ids() if id.startswith("chart-")} == CHARTS
    assert len(page.ids()) == len(set(page.ids()))
    for words in (
        *("finished", "120 of 120 steps", "AdaptiveMutantUCB", "maximize", "Best reward", "Training time", "Failures"),
        *("Config, compared with arm", "Lineage", "Children", "RuntimeError: too deep", "Traceback (most recent call last)"),
        *("rate", "depth", "act", "loss", "Strategy settings"),
    ):
        assert words in page.text
    assert page.count("svg") > 12


def test_it_asks_nobody_for_anything_and_runs_only_our_script(page):
    links = [value for _, found in page.tags for name, value in found.items() if name in ("src", "href", "srcset", "action")]
    assert links and all(link.startswith("#") for link in links)
    assert "http://" not in page.html and "https://" not in page.html and "url(" not in page.html and "@import" not in page.html
    assert not [name for _, found in page.tags for name in found if name.startswith("on") or name == "style"]
    policy = next(found["content"] for _, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
    assert page.count("script") == page.count("style") == 1


def test_it_can_be_used_without_seeing_it(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in pairwise(levels))
    images = [found for tag, found in page.tags if tag == "svg"]
    assert all(found.get("aria-label") or found.get("aria-hidden") for found in images)
    assert all(found.get("scope") for tag, found in page.tags if tag == "th")


def test_harmful_text_is_shown_as_text(storage):
    def hostile(pull):
        if pull["x"] > 0.5:
            raise RuntimeError(HOSTILE)
        return {"reward": pull["x"], HOSTILE[:20]: 1.0}

    space = ma.Space(x=ma.Float(0, 1), word=ma.Choice(HOSTILE, "</style><b>"))
    tuned(storage, hostile, space, budget=30, max_steps=1, name=HOSTILE[:28], strategy="random")
    page = report(storage, HOSTILE[:28])
    assert page.count("img") == page.count("b") == 0 and page.count("script") == page.count("style") == 1
    assert "\x1b" not in page.html and "\u202e" not in page.html
    assert "\\x1b[2J\\u202e" in page.text and HOSTILE[:28] in page.text


def test_a_study_without_events(storage):
    asked(storage, [])
    page = report(storage)
    for words in ("waiting", "Nothing has been recorded yet.", "No arms yet", "No recommended arm yet", "No failures"):
        assert words in page.text
    assert not any(tag == "svg" for tag, _ in page.tags)


def test_a_study_with_one_arm(storage):
    asked(storage, [0.25])
    page = report(storage)
    assert "0.25" in page.text and "none (not a mutant)" in page.text and "Arms (1)" in page.text


def test_a_study_in_which_all_pulls_failed(storage):
    asked(storage, [None] * 12)
    page = report(storage)
    assert "Failures (12)" in page.text and "12 100%" in page.text and "No recommended arm yet" in page.text


def test_a_study_that_is_being_written(storage):
    asked(storage, [0.5, "in flight", "in flight"])
    page = report(storage)
    assert "running" in page.text and "run `manyarms report` again" in page.text


def test_metrics_that_are_not_numbers_and_rewards_that_are_huge(storage):
    huge = {"loss": math.nan, "other": math.inf}
    asked(storage, [{"reward": sign * 1e308, **huge} for sign in (1, -1) * 10], SPACE)
    page = report(storage)
    assert "loss" in page.text and not re.search(r"\b(nan|inf)\b", page.html)


def test_long_configs_are_cut_off_in_the_table_and_whole_below_it(storage):
    word = "w" * 10_000
    asked(storage, [0.1, 0.2, None], ma.Space(x=ma.Float(0, 1), text=ma.Choice(word, "v" * 10_000)))
    page = report(storage)
    assert len(page.html) < 200_000 and ("w" * 10_000 in page.text or "v" * 10_000 in page.text)


class Lists:
    """A space whose configs are lists."""

    def sample(self, rng):
        return [int(value) for value in rng.integers(0, 9, 3)]

    def mutate(self, config, rng):
        return [*config[1:], int(rng.integers(0, 9))]


def test_configs_that_are_not_dicts(storage):
    tuned(storage, lambda pull: sum(pull.config) * pull.stop, Lists(), budget=40)
    page = report(storage)
    assert re.search(r"\[\d, \d, \d\]", page.text)


def test_the_best_thousand_arms_are_in_the_table_and_the_others_are_counted(storage):
    asked(storage, [number / 1100 for number in range(1100)])
    page = report(storage)
    assert "Shows the best 1,000 of 1,100 arms; 100 are left out." in page.text
    rows = [id for id in page.ids() if id.startswith("arm-")]
    assert len(rows) == 1_000 and rows[0] == "arm-1099" and len(page.html) < 2_000_000


def test_minimized_rewards_are_sorted_from_the_smallest(storage):
    tuned(storage, lambda pull: pull["rate"], budget=40, direction="minimize", max_steps=1)
    page = report(storage)
    assert 'aria-sort="ascending"' in page.html
    rewards = [float(value) for value in re.findall(r'<td>.*?badge.*?</td><td class="number" data-value="(.*?)"', page.html)]
    assert len(rewards) > 10 and rewards == sorted(rewards)
