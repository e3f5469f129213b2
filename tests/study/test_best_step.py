"""A model is worth its best checkpoint: which one is recommended, kept and given back."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest

import manyarms as ma

SPACE = ma.Space(x=ma.Float(0, 1))


def loss(x, step):
    """Falls until step 4, and rises until step 20."""
    return 0.1 + 0.05 * abs(x - 0.3) + (0.5 * (4 - step) / 4 if step < 4 else 0.8 * (step - 4) / 16)


def turning(pull):
    model = [*(pull.load() or ()), pull.stop]
    pull.save(model)
    return loss(pull["x"], pull.stop)


def tuned(budget=400, **options):
    settings = {"max_steps": 20, "direction": "minimize", "seed": 0, "progress": False} | options
    return ma.tune(turning, SPACE, budget=budget, **settings)


def check_best(study):
    """The recommendation is the best reward there was, and the model what was saved there."""
    pulls = study.pulls_dataframe()
    best = pulls.loc[pulls["reward"].idxmin()]
    assert (study.best_reward, study.best().id, study.best_step) == (best["reward"], best["arm"], best["stop"])
    assert study.best_model()[-1] == study.best_step == 4


@pytest.mark.parametrize("strategy", [None, "asha", "hyperband", "successive_halving", "random"])
def test_where_a_curve_turns_the_best_checkpoint_is_recommended(strategy):
    study = tuned(strategy=strategy)
    if strategy == "random":  # one pull each
        assert study.best_step == 20
    else:
        pulls = study.pulls_dataframe()
        best = pulls.loc[pulls["reward"].idxmin()]
        assert (study.best_reward, study.best_step) == (best["reward"], best["stop"])
        assert study.best_model()[-1] == study.best_step < 20


def test_the_default_strategy_finds_the_turn_and_stops_training_there():
    study = tuned()
    check_best(study)
    assert study.best_reward < 0.105
    assert sum(record.steps > 8 for record in study.counts.arms.values()) <= 2


@pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")
def test_mutant_ucb_recommends_the_best_step_of_its_arm():
    study = tuned(strategy="mutant_ucb")
    record = study.counts.arms[study.best().id]
    assert study.best_reward == record.best_reward == loss(study.best_config["x"], study.best_step)
    assert study.best_model()[-1] == study.best_step


def test_readers_and_reopened_studies_say_the_same(tmp_path):
    storage = tmp_path / "study.db"
    with tuned(storage=storage) as study:
        said = study.best_reward, study.best().id, study.best_step, study.best_model(), study.checkpoint_of(study.best().id)
    with ma.load_study(storage) as view:
        assert (view.best_reward, view.best().id, view.best_step) == said[:3]
        assert view.checkpoint_of(view.best().id) == said[4]
    with tuned(storage=storage, budget=440) as study:
        check_best(study)


def test_a_lost_best_state_is_trained_again_to_its_step(tmp_path):
    with tuned(storage=tmp_path / "study.db") as study:
        model = study.best_model()
        shutil.rmtree(study.checkpoint_of(study.best().id))
        assert study.best_model(turning) == model


def heavy(pull):
    pull.save(np.full(1_000, pull.stop))
    return loss(pull["x"], pull.stop)


def test_the_best_state_stays_where_disk_is_short(tmp_path):
    limit = 100_000
    checkpoints = ma.Checkpoints(str(tmp_path), max_bytes=limit)
    used = []
    study = ma.Study(
        ma.AdaptiveMutantUCB(SPACE, budget=400, max_steps=20, seed=0), direction="minimize", checkpoints=checkpoints
    )
    with study:
        study.optimize(heavy, progress=False, callbacks=[lambda study, outcome: used.append(checkpoints.used)])
        assert 0.5 * limit < max(used) <= limit
        assert study.best_step == 4 and study.checkpoint_of(study.best().id).exists()
        assert study.best_model()[0] == 4


def test_only_the_newest_and_the_best_state_of_an_arm_are_kept(tmp_path):
    with tuned(storage=tmp_path / "study.db", strategy="asha") as study:
        for id, record in study.counts.arms.items():
            kept = {int(path.name.split("-")[3]) for path in study.checkpoint_of(id).parent.glob(f"arm-{id}-step-*")}
            assert kept == {record.steps, record.best_step}


def test_where_rewards_are_repeated_measurements_the_mean_decides():
    def draw(pull):
        pull.save(pull.stop)
        return pull["x"] + np.random.default_rng(pull.seed).normal()

    for strategy in (None, "infinite_ucb_e", "d_ttts"):
        study = ma.tune(draw, SPACE, budget=600, max_steps=10, strategy=strategy, seed=0, progress=False)
        record = study.counts.arms[study.best().id]
        assert study.recommendation().by_mean
        assert study.best_reward == record.mean_reward < record.best_reward
        assert study.best_model() == study.best_step == record.steps


def test_an_arm_that_saved_nothing_where_it_was_best_gives_its_newest_state():
    def train(pull):
        if pull.stop == 20:
            pull.save("the end")
        return loss(pull["x"], pull.stop)

    strategy = ma.ASHA(SPACE, budget=100, max_steps=20, seed=0)
    with ma.Study(strategy, direction="minimize") as study:
        study.optimize(train, progress=False)
        finished = [id for id, record in study.counts.arms.items() if record.steps == 20]
        assert finished and all(study.model(id) == "the end" for id in finished)
        assert study.counts.arms[finished[0]].best_step < 20


def test_frames_tell_the_best_step_next_to_the_last_reward():
    arms = tuned(strategy="asha").arms_dataframe()
    assert (arms["best_reward"] <= arms["reward"]).all() and (arms["best_step"] <= arms["steps"]).all()
    turned = arms[arms["steps"] == 20]
    assert len(turned) and (turned["best_reward"] < turned["reward"]).all()
    assert not math.isnan(arms["best_step"].sum())
