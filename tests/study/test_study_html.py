"""Studies and plans in notebooks."""

from __future__ import annotations

import re

import pytest

import manyarms as ma
from manyarms.journal import MemoryJournal
from manyarms.study.counts import Counts
from manyarms.study.replay import StudyState

SPACE = ma.Space(x=ma.Float(0, 1), act=ma.Choice("relu", "tanh"))


def play(study, *values):
    for value in values:
        study.tell(study.ask(), value, seconds=1.5)
    return study


def new(storage=None, space=SPACE, budget=20, **options):
    return ma.Study(ma.RandomSearch(space, budget=budget, max_steps=2, seed=0), storage=storage, **options)


def text(html):
    """The text of the HTML, with a space between any two parts."""
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def written(study):
    return text(study._repr_html_())


def test_a_new_study_has_no_reward_yet():
    assert written(new(name="digits")) == (
        "Study · digits · RandomSearch 0 of 20 steps · 0 arms · 0 pulls · 0 s of training best no reward yet"
    )


def test_a_study_shows_its_progress_the_best_arm_its_config_and_the_best_arms():
    study = play(new(), 0.25, 0.75, 0.5)
    study.ask()
    shown, config = written(study), study.best_config
    assert "Study · study · RandomSearch · 1 in flight 6 of 20 steps · 4 arms · 3 pulls · 4.5 s of training" in shown
    assert f"best 0.75 (arm 1, step 2) Config of arm 1 x {config['x']:.6g} act {config['act']} All arms" in shown
    assert "width:30.0%" in study._repr_html_()


@pytest.mark.parametrize(
    ("direction", "order"), [("maximize", "1 0.75 .* 2 0.5 .* 0 0.25"), ("minimize", "0 0.25 .* 2 0.5 .* 1 0.75")]
)
def test_the_best_arms_come_first_in_either_direction(direction, order):
    assert re.search(order, written(play(new(direction=direction), 0.25, 0.75, 0.5)).partition("All arms")[2])


def test_a_study_of_failures_says_why():
    def fail(pull):
        raise OSError("<b>disk</b> full\x1b[2J")

    study = new(budget=6)
    with pytest.raises(ma.NoResult):
        study.optimize(fail, progress=False)
    html = study._repr_html_()
    assert "3 pulls, most often: OSError: &lt;b&gt;disk&lt;/b&gt; full" in html
    assert "no reward" in html and "Config of" not in html and html.isprintable()


def test_limits_of_time_and_cost_fill_the_bar_too():
    study = play(ma.Study(ma.RandomSearch(SPACE, seed=0), budget=ma.Budget(seconds=6, cost=100)), 1.0)
    assert "1.5 of 6 s · cost 0 of 100" in written(study) and "width:25.0%" in study._repr_html_()


def test_without_a_limit_there_is_no_bar():
    assert "%" not in play(new(budget=None), 1.0)._repr_html_()


def test_metrics_that_are_not_numbers_are_shown_as_such():
    study = play(new(), {"reward": 0.5, "loss": 0.1, "<i>": 2.0, "size": 1.0})
    study.counts.arms[0].metric_values = (float("nan"), 2.0, "text")  # as in a journal of someone else
    assert "last metrics loss nan, &lt;i&gt; 2, size text" in text(study._repr_html_())


def test_of_a_closed_study_everything_known_is_shown():
    study = play(new(), 0.5)
    study.close()
    assert "RandomSearch · closed" in written(study) and "best 0.5" in written(study)


class Odd:
    """A space whose configs are anything but small dicts."""

    def __init__(self, config):
        self.config = config

    def sample(self, rng):
        return self.config

    mutate = sample


class Silent:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "config", [[1, "<b>"], "<b>" * 10_000, {"x": "<b>" * 10_000}, 3.5, {f"p{i}": i for i in range(10_000)}, {}]
)
def test_any_config_is_shown_short_and_escaped(config):
    html = play(new(space=Odd(config)), 0.5, 0.6)._repr_html_()
    assert len(html) < 20_000 and "<b><" not in html.replace("<b>Study</b>", "") and "Config of arm 1" in html


def test_a_config_that_cannot_be_shown_is_named_by_its_type():
    study = play(new(), 0.5)
    object.__setattr__(study.counts.arms[0].arm, "config", Silent())
    object.__setattr__(study.best(), "config", Silent())
    assert "&lt;Silent instance" in study._repr_html_()


def test_a_view_is_shown_without_replaying_the_journal_and_without_writing(tmp_path, monkeypatch):
    storage = tmp_path / "study.db"
    with play(new(storage, direction="minimize"), 0.5, 0.25), ma.load_study(storage) as early:
        pass
    monkeypatch.setattr(StudyState, "replay", None)
    before = storage.read_bytes()
    with ma.load_study(storage) as view:
        assert "StudyView · study · RandomSearch" in written(view) and "best 0.25 (arm 1, step 2)" in written(view)
    assert "lowest reward 0.25 (arm 1, step 2)" in written(early)  # closed, and the recommendation was not stored yet
    assert storage.read_bytes() == before


def test_a_strategy_whose_best_fails_does_not_keep_its_study_from_being_shown():
    class Broken(ma.RandomSearch):
        def best(self):
            raise RuntimeError("no idea")

    assert "highest reward 0.5" in written(play(ma.Study(Broken(SPACE, budget=20, seed=0)), 0.5))


@pytest.mark.parametrize(
    "header", [{}, {"strategy": "evil<b>\x1b[2J"}, {"strategy": 3, "settings": 5, "direction": "sideways"}]
)
def test_a_view_of_a_stranger_is_always_shown(header):
    view = ma.StudyView(MemoryJournal("<script>\x1b[2J"), header, Counts("maximize"))
    html = view._repr_html_()
    assert "&lt;script&gt;" in html and html.isprintable()


def test_a_plan_is_a_table_of_its_phases():
    plan = play(new(), 0.5).plan()
    assert text(plan._repr_html_()).startswith("Plan · budget 20 steps, 2 spent so far phase arms steps random arms")
    assert text(new(budget=None).plan()._repr_html_()).endswith("open open")


def test_the_plan_of_a_custom_strategy_has_no_phases():
    class Own:
        def ask(self):
            return None

        def tell(self, pull, reward):
            pass

        def best(self):
            raise ma.NoResult("none")

    assert text(ma.Study(Own()).plan()._repr_html_()) == "Plan · budget open steps, 0 spent so far"
