import json
import math

import numpy as np
import pytest

import manyarms as ma
from manyarms.journal import Event
from manyarms.plots import (
    CHARTS,
    STRATEGY_CHARTS,
    Chart,
    History,
    matplotlib_figure,
    plotly_figure,
    plotly_json,
    strategy_chart,
)
from manyarms.plots.chart import Bars, Line, Points, Surface
from manyarms.plots.charts import latest_pulls, scores
from manyarms.strategies.kit import Scores

pytest.importorskip("plotly", reason="plotly is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

SPACE = ma.Space(
    rate=ma.Float(1e-4, 1, log=True),
    width=ma.Int(8, 64),
    model=ma.Choice(ma.Space(kind="tree", depth=ma.Int(1, 9, log=True)), "constant", "forest"),
)


def train(pull):
    if pull["width"] > 60:
        raise RuntimeError("too wide")
    return (1 + math.log10(pull["rate"]) / 4) * (1 - math.exp(-pull.stop)) - 0.001 * pull["width"]


@pytest.fixture(scope="module")
def study():
    return ma.tune(train, SPACE, budget=200, max_steps=5, seed=0, progress=False, verbose=0)


@pytest.fixture(scope="module")
def history(study):
    return filled(study.journal.events(), study.header)


def filled(events, header=None):
    history = History(header or {"direction": "maximize"})
    for event in events:
        history.add(event)
    return history


def pull(arm, reward, config=None, start=0, parents=(), **data):
    asked = {"config": {"x": arm} if config is None else config, "parents": list(parents)} if start == 0 else {}
    kind = "failed" if reward is None else "told"
    yield Event("asked", arm, start, start + 1, data=asked)
    yield Event(kind, arm, start, start + 1, reward, 0.5, {"ended": 1e9 + arm + start, **data})


def many(*pulls):
    return filled(event for events in pulls for event in events)


ODD = {
    "empty": lambda: filled([]),
    "asked": lambda: filled([Event("asked", 0, 0, 1, data={"config": {"x": 1}})]),
    "one arm": lambda: many(pull(0, 1.0)),
    "all failed": lambda: many(*(pull(arm, None, reason="\x1b[31m<b>bad</b> $x^2$") for arm in range(3))),
    "same reward": lambda: many(*(pull(arm, 1.0) for arm in range(30))),
    "numbers as configs": lambda: many(*(pull(arm, float(arm), config=arm) for arm in range(30))),
    "lists as configs": lambda: many(*(pull(arm, float(arm), config=[arm % 2, "<i>"]) for arm in range(30))),
    "no configs": lambda: many(*(pull(arm, float(arm), config=None) for arm in range(30))),
    "long configs": lambda: many(*(pull(arm, float(arm), config={"text": f"{arm % 3}" * 10_000}) for arm in range(30))),
    "mixed": lambda: many(*(pull(arm, float(arm), config={"x": [1, "a", None, True, 2.5][arm % 5]}) for arm in range(30))),
    "huge": lambda: many(*(pull(arm, (-1.0) ** arm * 1e300) for arm in range(30))),
    "tags": lambda: many(*(pull(arm, 1.0, config={"<script>": f"<b>{arm % 4}</b>", "y": arm}) for arm in range(30))),
    "formulas": lambda: many(*(pull(arm, 1.0, config={"$x_{": f"${arm % 4}^", "y": arm}) for arm in range(30))),
    "cycle": lambda: many(pull(0, 1.0, parents=[1]), pull(1, 2.0, parents=[0]), pull(2, 3.0, parents=[2, 77])),
    "without times": lambda: many(pull(0, 1.0, ended=None), pull(1, 2.0, ended=None, worker=3)),
    "future": lambda: many(pull(0, 1.0, ended=9e15, worker="a:1"), pull(1, 2.0, ended=-9e15, worker="b:1")),
}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("odd", ODD)
def test_every_chart_of_every_odd_study_can_be_drawn(odd, name):
    chart = CHARTS[name](ODD[odd]())
    described = plotly_json(chart)
    for dimension in (dimension for trace in described["data"] for dimension in trace.get("dimensions", [])):
        assert "\x1b" not in "".join(dimension.pop("ticktext"))  # plotly shows the rest as it is
    text = json.dumps(described, allow_nan=False)
    assert "<script>" not in text and "<b>" not in text and "\\u001b" not in text
    plotly_figure(chart)
    matplotlib_figure(chart).draw_without_rendering()


@pytest.mark.parametrize("backend", ["plotly", "matplotlib"])
@pytest.mark.parametrize("name", CHARTS)
def test_every_plot_is_a_method_of_a_study(study, name, backend):
    figure = getattr(study.plot, name)(backend=backend)
    assert type(figure).__name__ == "Figure"
    assert type(figure).__module__.startswith(backend)


@pytest.mark.parametrize("odd", ODD)
def test_the_best_reward_of_every_odd_study_can_be_drawn_over_time(odd):
    chart = CHARTS["history"](ODD[odd](), x="time")
    json.dumps(plotly_json(chart), allow_nan=False)
    matplotlib_figure(chart).draw_without_rendering()


def layers(chart: Chart, kind: type, name: str | None = None):
    return [
        layer
        for panel in chart.panels
        for layer in panel.layers
        if isinstance(layer, kind) and (name is None or layer.name == name)
    ]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_best_reward_only_improves_and_ends_at_the_best(direction):
    rewards = np.random.default_rng(0).normal(size=50)
    events = [event for arm, reward in enumerate(rewards) for event in pull(arm, float(reward))]
    chart = CHARTS["history"](filled(events, {"direction": direction}))
    (line,) = layers(chart, Line, "best so far")
    sign = 1 if direction == "maximize" else -1
    assert (np.diff(sign * line.y) >= 0).all()
    assert line.y[-1] == (rewards.max() if sign > 0 else rewards.min())
    assert line.x[-1] == 50


@pytest.mark.parametrize(("x", "last"), [("steps", 4), ("seconds", 2.0), ("time", 1e9 + 3)])
def test_the_horizontal_axis_of_the_best_reward_can_be_chosen(x, last):
    chart = CHARTS["history"](many(*(pull(arm, float(arm)) for arm in range(4))), x=x)
    assert layers(chart, Line)[0].x[-1] == last
    assert chart.panels[0].x.is_date == (x == "time")


def test_a_study_without_times_says_why_it_shows_none():
    for chart in (CHARTS["timeline"](ODD["without times"]()), CHARTS["history"](ODD["without times"](), x="time")):
        assert "did not store when pulls ended" in chart.note


def test_a_long_study_is_thinned_and_says_so():
    history = many(*(pull(arm, float(arm % 100), start=0) for arm in range(4_000)))
    assert len(layers(CHARTS["history"](history), Points)[0].x) <= 3_000
    assert "of 4,000" in CHARTS["history"](history).note
    curves = CHARTS["curves"](history)
    assert "Shows 2,000 of 4,000 arms" in curves.note
    assert np.isnan(layers(curves, Line, "other arms")[0].x).sum() == 1_999
    assert "newest 3,000" in CHARTS["timeline"](history).note


def test_the_best_arm_is_highlighted(study, history):
    (best,) = [line for line in layers(CHARTS["curves"](history), Line) if line.name.startswith("best")]
    record = max((r for r in study.counts.arms.values() if r.best_reward is not None), key=lambda r: r.best_reward)
    assert best.name == f"best: arm {record.arm.id}"
    assert best.x.tolist() == list(record.stops)
    assert best.y.max() == record.best_reward


def test_the_parameter_that_decides_is_the_most_important_one(history):
    chart = CHARTS["importance"](history)
    assert chart.panels[0].y.categories[-1] == "rate"
    assert sum(layers(chart, Bars)[0].lengths) == pytest.approx(100)


def test_logarithmic_parameters_have_logarithmic_axes(history):
    axes = {panel.x.title: panel.x for panel in CHARTS["slices"](history).panels}
    assert axes["rate"].log and axes["model.depth"].log and not axes["width"].log
    assert axes["model"].categories == ("constant", "forest", "—")


@pytest.mark.parametrize("backend", [plotly_figure, matplotlib_figure])
def test_long_names_that_begin_alike_stay_apart(backend):
    names = [f"/data/models/checkpoints/experiments/{'long/' * 10}{end}" for end in ("small", "large")]
    history = many(*(pull(arm, float(arm), config={"model": names[arm % 2]}) for arm in range(12)))
    (panel,) = CHARTS["slices"](history).panels
    assert [label[-5:] for label in panel.x.categories] == ["large", "small"]
    assert set(panel.layers[0].x) == {0.0, 1.0}
    assert max(map(len, panel.x.categories)) <= 36
    backend(CHARTS["parallel_coordinates"](history))


def test_options_are_not_escaped_on_axes_that_show_no_tags():
    history = many(*(pull(arm, float(arm), config={"model": f"<b>a & {arm % 2}</b>"}) for arm in range(12)))
    (trace,) = plotly_figure(CHARTS["parallel_coordinates"](history)).data
    assert trace.dimensions[0].ticktext == ("<b>a & 0</b>", "<b>a & 1</b>")


@pytest.mark.parametrize("name", ["importance", "algorithms"])
def test_notes_of_matplotlib_figures_are_not_cut_off(history, name):
    figure = matplotlib_figure(CHARTS[name](history))
    figure.draw_without_rendering()
    note = figure._supxlabel.get_window_extent()
    assert note.x1 <= figure.bbox.x1 and note.y0 >= 0


def test_axes_without_numbers_have_no_line(history):
    (axes,) = matplotlib_figure(CHARTS["algorithms"](history)).axes
    assert not any(spine.get_visible() for spine in axes.spines.values())


def test_parameters_can_be_chosen_and_unknown_ones_are_named(study):
    assert len(study.plot.slices(["width"]).data) == 1
    assert study.plot.contour("width", "rate").layout.xaxis.title.text == "width"
    for draw in (lambda: study.plot.slices(["depht"]), lambda: study.plot.contour(x="depht")):
        with pytest.raises(ValueError, match=r"(?s)width.*'depht'"):
            draw()
    with pytest.raises(TypeError, match="list of names"):
        study.plot.parallel_coordinates("width")


@pytest.mark.parametrize(
    ("draw", "match"),
    [
        (lambda plot: plot.history(backend="ggplot"), "backend"),
        (lambda plot: plot.history(x="days"), "x must"),
        (lambda plot: plot.curves(0), "max_arms"),
        (lambda plot: plot.family(-1), "max_arms"),
        (lambda plot: plot.timeline(0), "max_pulls"),
    ],
)
def test_bad_arguments_are_named(study, draw, match):
    with pytest.raises(ValueError, match=match):
        draw(study.plot)


def test_a_family_keeps_parents_below_their_children():
    history = many(pull(0, 1.0), pull(1, 2.0, parents=[0]), pull(2, 3.0, parents=[1, 0]), pull(3, 0.5))
    chart = CHARTS["family"](history)
    assert layers(chart, Points)[0].y.tolist() == [0, 1, 2, 0]
    assert len(set(zip(layers(chart, Points)[0].x, layers(chart, Points)[0].y, strict=True))) == 4
    assert np.isnan(layers(chart, Line)[0].x).sum() == 3  # an edge for each parent


def test_a_large_family_shows_the_best_arms_with_all_their_ancestors():
    chain = [pull(arm, float(arm), parents=[arm - 1] if arm else []) for arm in range(1_000)]
    chart = CHARTS["family"](many(*chain, *(pull(arm, -1.0) for arm in range(1_000, 1_200))), most=2)
    assert layers(chart, Points)[0].y.tolist() == list(range(1_000))
    assert "Shows 1,000 of 1,200 arms" in chart.note


def test_bars_of_one_row_of_the_timeline_do_not_overlap():
    pulls = [pull(arm, 1.0, ended=1e9 + arm * 0.25, worker=f"host:{arm % 3}") for arm in range(30)]
    chart = CHARTS["timeline"](many(*pulls))
    assert chart.panels[0].y.categories == ("host 1", "host 2", "host 3")
    spans = [
        (row, begin, begin + length)
        for bars in layers(chart, Bars)
        for row, begin, length in zip(bars.y, bars.begins, bars.lengths, strict=True)
    ]
    assert len(spans) == 30
    for (row, _, end), (other, begin, _) in zip(sorted(spans), sorted(spans)[1:], strict=False):
        assert row != other or begin >= end - 1e-6


def test_pulls_that_follow_each_other_share_a_row_in_spite_of_rounded_times():
    at, events = 1e9, []
    for arm in range(200):  # short pulls between long ones; the time at which each ended is rounded
        seconds = (0.00007, 0.0041, 0.00004)[arm % 3]
        at += seconds + 0.00005
        events += [Event("asked", arm, 0, 1), Event("told", arm, 0, 1, 1.0, seconds, {"ended": round(at, 3)})]
    assert CHARTS["timeline"](filled(events)).panels[0].y.categories == ("this process 1",)


def test_a_replaced_worker_continues_the_row():
    chart = CHARTS["timeline"](many(pull(0, 1.0, worker="host:1"), pull(1, 1.0, worker="host:2")))
    assert chart.panels[0].y.categories == ("host 1",)


def test_the_shares_of_the_kinds_of_pulls_add_up(history):
    lines = layers(CHARTS["decisions"](history), Line)
    np.testing.assert_allclose(sum(line.y for line in lines), 100.0)
    assert all(line.y.max() > 0 for line in lines)


STRATEGIES = {
    "adaptive": (lambda: ma.AdaptiveMutantUCB(SPACE, budget=80, max_steps=5, seed=0), "arm", "predicted reward"),
    "mutant": (lambda: ma.MutantUCB(SPACE, budget=80, max_steps=5, seed=0), "arm", "mean reward"),
    "infinite": (lambda: ma.InfiniteUCBE(SPACE, budget=80, max_steps=5, initial=10, seed=0), "arm", "mean reward"),
    "thompson": (lambda: ma.DTTTS(SPACE, budget=80, max_steps=5, seed=0), "arm", "posterior mean"),
    "tree": (lambda: ma.TreeUCB(SPACE, budget=80, seed=0), "region", "mean value"),
    "partition": (lambda: ma.PartitionUCB(SPACE, budget=80, seed=0), "region", "mean value"),
    "cascade": (lambda: ma.Cascade({"a": ma.RandomSearch(SPACE), "b": ma.DTTTS(SPACE)}, budget=80, seed=0), "child", "share"),
    "random": (lambda: ma.RandomSearch(SPACE, budget=80, seed=0), None, None),
}


@pytest.mark.filterwarnings("ignore:.*crowd out training")
@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("pulls", [0, 80])
def test_what_a_strategy_thinks_can_be_drawn(name, pulls, tmp_path):
    make, rows, value = STRATEGIES[name]
    study = ma.Study(make(), storage=f"sqlite:///{tmp_path}/study.db")
    if pulls:
        study.optimize(lambda pull: 0.5 + pull.arm.id % 7 / 20, progress=False)
    study.close()
    with ma.load_study(f"sqlite:///{tmp_path}/study.db") as view:
        strategy = view._strategy()
        found = strategy.scores() if rows is not None else None
        if found is not None and pulls:
            assert found.rows == rows and value in found.value
            assert len(found.names) == len(found.values) == len(found.sums) > 0
            assert np.isfinite(found.sums).all()
        for chart in STRATEGY_CHARTS:
            json.dumps(plotly_json(strategy_chart(chart, strategy, view.header)), allow_nan=False)
            getattr(view.plot, chart)(backend="matplotlib").draw_without_rendering()
        view.plot.latest_pulls(backend="matplotlib").draw_without_rendering()


def test_the_arm_with_the_largest_score_is_on_top():
    found = Scores("arm", ("0", "1", "2"), "mean", np.array([1.0, 3.0, 2.0]), "bonus", np.array([0.0, 0.0, 2.0]))
    assert scores(found, {}).panels[0].y.categories == ("arm 0", "arm 1", "arm 2")  # from the bottom up


def test_value_and_bonus_are_stacked_and_what_is_left_out_is_counted():
    values = np.linspace(1.0, 2.0, 60)
    value, bonus = layers(scores(Scores("arm", tuple("x" * 60), "mean", values, "bonus", np.full(60, 0.5)), {}), Bars)
    np.testing.assert_allclose(value.begins + value.lengths, bonus.begins)
    np.testing.assert_allclose(bonus.begins + bonus.lengths, values[10:] + 0.5)
    chart = scores(Scores("arm", tuple("x" * 60), "mean", values), {"direction": "minimize"})
    assert "50 highest of 60 arms" in chart.note and "negated" in chart.note


@pytest.mark.parametrize("values", [[0.0], [-1.0, 5.0], [100.0, 100.001], [3.0, 3.0], [-7.0, -7.0]])
def test_bars_reach_their_values_from_any_start(values):
    found = Scores("arm", tuple(map(str, range(len(values)))), "mean", np.array(values))
    (bars,) = layers(scores(found, {}), Bars)
    np.testing.assert_allclose(bars.begins + bars.lengths, sorted(values))


def searched(strategy, function):
    while (pull := strategy.ask()) is not None:
        strategy.tell(pull, function(pull))
    return strategy


def test_the_surrogate_predicts_a_smooth_reward_and_says_how_well_it_does():
    space = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))
    strategy = searched(
        ma.AdaptiveMutantUCB(space, budget=300, max_steps=5, seed=0),
        lambda pull: (1 - (pull.config["x"] - 0.3) ** 2 - pull.config["y"]) * (1 - 0.5**pull.stop),
    )
    before = strategy.state()["process"]["noise"]
    found = strategy.predictions()
    assert 2 < len(found.arms) <= 64 and (found.deviations > 0).all() and 0 < found.complete.sum() <= len(found.arms)
    complete = found.complete
    assert np.corrcoef(found.predicted[complete], found.measured[complete])[0, 1] > 0.5
    assert strategy.state()["process"]["noise"] == before  # showing it changes nothing
    for header in ({"direction": "minimize"}, {"direction": "minimize", "bounds": [0, 10]}, {"bounds": [0, 10]}):
        sign = -1 if "direction" in header else 1
        chart = strategy_chart("predictions", strategy, header)
        (points,) = layers(chart, Points, "fully trained")
        unit = 10 if "bounds" in header else 1
        np.testing.assert_allclose(points.x, (10 if unit > 1 and sign < 0 else 0) + sign * unit * found.measured[complete])


def test_a_surrogate_that_is_off_predicts_nothing():
    assert ma.AdaptiveMutantUCB(SPACE, budget=100, max_steps=5, surrogate=False, seed=0).predictions() is None


def test_posteriors_are_densities_of_the_leading_arms():
    strategy = searched(ma.DTTTS(ma.Space(x=ma.Float(0, 1)), budget=200, seed=0), lambda pull: pull.config["x"])
    chart = strategy_chart("posteriors", strategy, {})
    lines = layers(chart, Line)
    assert 1 < len(lines) <= 7 and "are not shown" in chart.note
    for line in lines:
        assert 0.9 < np.sum((line.y[1:] + line.y[:-1]) / 2 * np.diff(line.x)) < 1.01


@pytest.mark.parametrize("kind", [ma.TreeUCB, ma.PartitionUCB])
@pytest.mark.parametrize("dimension", [1, 2, 3, 13])
def test_a_partition_has_a_panel_for_each_dimension_or_a_plane_of_two(kind, dimension):
    space = ma.Space(**{f"x{i}": ma.Float(0, 1) for i in range(dimension)})
    strategy = searched(kind(space, budget=60, seed=0), lambda pull: pull.config["x0"])
    chart = strategy_chart("boxes", strategy, {})
    assert len(chart.panels) == {1: 1, 2: 1, 3: 3, 13: 12}[dimension]
    assert len(strategy.boxes().means) == len(strategy.regions()) > 1
    if dimension == 2:
        (surface,) = layers(chart, Surface)
        assert np.nanmax(surface.z) == max(region.mean for region in strategy.regions() if region.count)
    plotly_figure(chart)
    matplotlib_figure(chart).draw_without_rendering()


def test_the_steps_are_a_dimension_of_a_contextual_partition():
    strategy = searched(ma.ContextualTreeUCB(ma.Space(x=ma.Float(0, 1)), budget=60, max_steps=4, seed=0), lambda pull: 0.5)
    chart = strategy_chart("boxes", strategy, {})
    assert [axis.title for axis in (chart.panels[0].x, chart.panels[0].y)] == ["steps / max_steps", "x, from 0 to 1"]


def test_the_latest_pulls_are_named_by_the_rule_that_chose_them():
    history = many(pull(0, 1.0), pull(1, 2.0, parents=[0]), pull(1, 3.0, start=1), pull(2, 0.5), pull(3, None))
    chart = latest_pulls(history, to_completion={2})
    assert {points.name: points.y.tolist() for points in layers(chart, Points)} == {
        "starts a new arm: 1": [1.0],
        "starts a mutant: 1": [2.0],
        "continues an arm: 1": [3.0],
        "trains to completion: 1": [0.5],
    }
    assert "1 failed pull is not shown" in chart.note
    tail = filled([event for arm in range(300) for event in pull(arm, 1.0)][-20:])  # enough for the dashboard
    assert layers(latest_pulls(tail), Points)[0].name == "starts a new arm: 10"


def test_the_shares_of_the_children_of_a_cascade_add_up(tmp_path):
    children = {name: ma.RandomSearch(ma.Space(x=ma.Float(0, 1))) for name in "abcdefghi"}
    study = ma.Study(ma.Cascade(children, ma.pickers.UCB1(), budget=90, seed=0))
    study.optimize(lambda pull: 0.5, progress=False)
    lines = layers(CHARTS["algorithms"](filled(study.journal.events(), study.header)), Line)
    assert len(lines) == 8 and lines[-1].name == "2 others"
    np.testing.assert_allclose(sum(line.y for line in lines), 100.0)


def test_rungs_count_pulls_and_steps(study, history):
    pulls, steps = layers(CHARTS["rungs"](history), Bars)
    assert sum(pulls.lengths) == study.counts.pulls
    assert sum(steps.lengths) <= study.counts.steps


def test_a_stored_study_has_the_same_plots(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    study = ma.tune(train, SPACE, budget=60, max_steps=5, seed=0, storage=storage, progress=False, verbose=0)
    with ma.load_study(storage) as view:
        assert view.plot.curves().to_json() == study.plot.curves().to_json()
    assert view.is_closed
