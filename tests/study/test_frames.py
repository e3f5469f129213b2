"""The tables of arms and pulls."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import manyarms as ma
from manyarms.checkpoints import size_of
from manyarms.spaces.flattening import flattened

from .searches import SPACE, height, outline, search

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")


def test_the_tables_have_their_promised_columns_even_when_empty():
    study = ma.Study(search())
    for _ in range(2):
        first = ["arm", "parents", "steps", "reward", "best_reward", "best_step", "status"]
        assert list(study.arms_dataframe())[:7] == first
        assert list(study.pulls_dataframe())[:6] == ["arm", "start", "stop", "reward", "status", "seconds"]
        study.optimize(height, progress=False)
    assert study.pulls_dataframe()["stop"].sub(study.pulls_dataframe()["start"]).sum() == study.counts.steps
    assert study.arms_dataframe()["config_x"].between(0, 1).all()


def test_failed_pulls_have_their_reason_and_traceback():
    def train(pull):
        return 1 / pull.arm.id if pull.arm.id < 2 else float("nan")

    pulls = ma.tune(train, SPACE, budget=3, strategy="random", seed=0, progress=False).pulls_dataframe()
    assert pulls["reason"].isna().tolist() == [False, True, False]
    assert pulls["details"].isna().tolist() == [False, True, True]
    assert "return 1 / pull.arm.id" in pulls["details"][0] and pulls["details"][0].endswith(
        "ZeroDivisionError: division by zero\n"
    )


MODELS = ma.Space(
    lr=ma.Float(0, 1),
    model=ma.Choice(ma.Space(kind="tree", depth=ma.Int(1, 9)), "majority"),
    inner=ma.Space(deep=ma.Space(y=ma.Float(0, 1)), layers=[8, 8]),
)


def test_nested_and_conditional_parameters_are_columns_by_their_path():
    study = ma.tune(lambda config: config["lr"], MODELS, budget=30, strategy="random", seed=0, progress=False)
    arms = study.arms_dataframe()
    columns = {name for name in arms if name.startswith("config")}
    paths = {"config_lr", "config_model", "config_model.kind", "config_model.depth", "config_inner.deep.y"}
    assert columns == paths | {"config_inner.layers"}
    tree = arms["config_model.kind"] == "tree"
    assert 0 < tree.sum() < len(arms) and (arms["config_model"] == "majority").tolist() == (~tree).tolist()
    assert arms.loc[tree, "config_model.depth"].between(1, 9).all() and arms["config_inner.layers"].tolist()[0] == [8, 8]


def test_a_path_that_is_the_name_of_another_parameter_hides_no_value():
    assert flattened({"a.b": 1, "a": {"b": 2}}) == {"a.b": 1, "a": {"b": 2}}
    assert flattened({"a": {"b": 2}, "a.b": 1}) == {"a": {"b": 2}, "a.b": 1}
    assert flattened({"a.b": {"c": 1}, "a": {"b.c": 2}}) == {"a.b.c": 1, "a": {"b.c": 2}}
    assert flattened({"a": {}, "b": {"c": {}}}) == {"a": {}, "b.c": {}}


def returning(pull):
    """A number, text, a list, and a metric that is none on the second step."""
    pull.save([0] * pull.stop)
    loss = float("nan") if pull.start else 0.25
    return {"reward": pull["x"], "loss": loss, "steps": pull.stop, "stage": f"until {pull.stop}", "shape": (pull.stop, 2)}


@pytest.fixture
def storage(tmp_path):
    return tmp_path / "study.db"


def test_pulls_have_metrics_and_attributes_as_columns_and_arms_the_metrics_of_their_last_pull(storage):
    with ma.Study(ma.Hyperband(SPACE, budget=12, max_steps=3, seed=0), storage=storage) as study:
        study.optimize(returning, progress=False)
        pulls, arms = study.pulls_dataframe(), study.arms_dataframe()
    first = pulls["start"] == 0
    assert pulls["metric_loss"].isna().tolist() == (~first).tolist() and set(pulls.loc[first, "metric_loss"]) == {0.25}
    assert pulls.loc[~first, "attribute_loss"].tolist() == ["NaN"] * (~first).sum()
    assert pulls["attribute_stage"].tolist() == [f"until {stop}" for stop in pulls["stop"]]
    assert pulls["attribute_shape"].tolist() == [[stop, 2] for stop in pulls["stop"]]
    assert arms["metric_steps"].tolist() == arms["steps"].tolist() and not any("attribute" in name for name in arms)
    assert arms["seconds"].tolist() == pytest.approx(pulls.groupby("arm")["seconds"].sum().tolist())
    assert arms["checkpoint_bytes"].tolist() == [size_of(study.checkpoint_of(arm)) for arm in arms["arm"]]
    with ma.load_study(storage) as view:
        pd.testing.assert_frame_equal(view.arms_dataframe(), arms)
        pd.testing.assert_frame_equal(view.pulls_dataframe(), pulls)


def test_attributes_change_no_decision_and_are_told_by_hand_too():
    plain, rich = ma.Study(search()), ma.Study(search())
    plain.optimize(height, progress=False)
    while (pull := rich.ask()) is not None:
        rich.tell(pull, {"reward": height(pull.config), "note": "by hand", "model": object()})
    assert outline(plain) == outline(rich)
    pulls = rich.pulls_dataframe()
    assert set(pulls["attribute_note"]) == {"by hand"} and set(pulls["left_out"]) == {"model (object is not JSON)"}
    told = next(event for event in rich.journal.events() if event.kind == "told")
    assert told.data["attributes"] == {"note": "by hand"} and "metrics" not in told.data


def test_attributes_come_back_from_worker_processes():
    study = ma.Study(ma.RandomSearch(SPACE, budget=2, max_steps=1, seed=0))
    study.optimize(returning, pull_timeout=60, progress=False)
    assert study.pulls_dataframe()["attribute_stage"].tolist() == ["until 1"] * 2


def test_a_snapshot_without_the_columns_of_arms_is_not_used(storage):
    with ma.Study(ma.Hyperband(SPACE, budget=12, max_steps=3, seed=0), storage=storage) as study:
        study.optimize(returning, progress=False)
        arms = study.arms_dataframe()
        state = json.loads(study._state.state())
        state["counts"]["arms"] = [row[:7] for row in state["counts"]["arms"]]  # as an earlier version wrote them
        study.journal.acquire()  # which optimize has released
        study.journal.save_snapshot(study.counts.events, json.dumps(state))
    with ma.load_study(storage) as view:
        pd.testing.assert_frame_equal(view.arms_dataframe(), arms)


def test_a_snapshot_keeps_the_columns_of_arms(storage):
    with ma.Study(ma.Hyperband(SPACE, budget=12, max_steps=3, seed=0), storage=storage) as study:
        study.optimize(returning, progress=False)
        study.journal.acquire()  # which optimize has released
        study._writer.snapshots.save_snapshot()
        arms = study.arms_dataframe()
    with ma.load_study(storage) as view:
        assert repr(view.counts.arms[0]) == repr(study.counts.arms[0])
        pd.testing.assert_frame_equal(view.arms_dataframe(), arms)
