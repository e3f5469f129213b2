from __future__ import annotations

import random
import shutil
import time

import chained
import numpy as np
import pytest

import manyarms as ma
from manyarms.audit import audit
from manyarms.journal import MemoryJournal

SPACE = ma.Space(x=ma.Float(0, 1), y=ma.Float(0, 1))


def height(config):
    return 1 - abs(config["x"] - 0.3) - abs(config["y"] - 0.6)


def search(budget=100, **changed):
    return ma.MutantUCB(SPACE, **{"budget": budget, "max_steps": 1, "seed": 0, **changed})


def outline(study):
    return [event.decision for event in study.journal.events()]


pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


# -- the short form and the long form


def test_tune_gives_the_trained_model_and_not_just_its_config():
    study = ma.tune(chained.train, chained.SPACE, budget=200, max_steps=5, seed=0, progress=False)
    record = study.tally.arms[study.best().id]
    assert study.best_model()["steps"] == record.steps == 5
    assert study.best_reward == chained.reward(study.best_model()) == record.reward
    assert study.best_config == record.arm.config


class Lines:
    """A function with a format of its own."""

    def __call__(self, pull):
        before = (pull.previous / "lines").read_text() if pull.previous else ""
        pull.save_file("lines", f"{before}{pull.stop}\n".encode())
        return pull.stop

    def load_model(self, directory):
        return (directory / "lines").read_text().split()


def test_a_function_with_a_format_of_its_own_loads_the_model_itself(tmp_path):
    study = ma.tune(Lines(), SPACE, budget=30, max_steps=3, seed=0, progress=False, checkpoints=str(tmp_path))
    assert study.best_model() == ["1", "2", "3"] == study.best_model(Lines())
    shutil.rmtree(study.checkpoint_of(study.best().id))
    assert study.best_model() == ["1", "2", "3"]  # trained again


def test_a_format_of_its_own_is_not_taken_for_no_model_where_the_function_is_not_known(tmp_path):
    with ma.Study(search(30, max_steps=3), storage=tmp_path / "study.db") as study:
        study.optimize(Lines(), progress=False)
        best = study.best().id
    with ma.Study(search(30, max_steps=3), storage=tmp_path / "study.db") as study:
        for asked in (study.best_model, lambda: study.model(best), lambda: study.best_model(height)):
            with pytest.raises(
                ma.CheckpointLost, match=rf"arm {best} saved files of its own.* best_model\(function\) .*load_model"
            ):
                asked()
        assert study.best_model(Lines()) == ["1", "2", "3"] == study.model(best, Lines())
        assert (study.checkpoint_of(best) / "lines").exists()  # as the message says


def test_a_model_that_was_saved_as_none_is_none(tmp_path):
    with ma.Study(search(2), storage=tmp_path / "study.db") as study:
        study.optimize(lambda pull: pull.save(None) or 1.0, progress=False)
    with ma.Study(search(2), storage=tmp_path / "study.db") as study:
        assert study.best_model() is None


def test_same_seed_same_search_and_another_seed_another():
    one, two, other = (ma.tune(height, SPACE, budget=60, seed=seed, progress=False) for seed in (1, 1, 2))
    assert outline(one) == outline(two) != outline(other)


def test_minimizing_finds_the_smallest_and_shows_rewards_as_they_were_returned():
    def loss(config):
        return 50 * (config["x"] - 0.3) ** 2 + 7

    study = ma.tune(loss, SPACE, budget=300, seed=0, direction="minimize", progress=False)
    assert study.best_config["x"] == pytest.approx(0.3, abs=0.1)
    assert study.best_reward == loss(study.best_config)
    assert study.best_reward == pytest.approx(min(study.pulls_dataframe()["reward"]), abs=0.1)


def test_declared_bounds_and_a_learned_scale_lead_to_good_arms():
    for bounds in (None, (0, 1e6)):
        study = ma.tune(lambda config: 1e6 * config["x"], SPACE, budget=300, bounds=bounds, seed=0, progress=False)
        assert study.best_reward > 9e5


def test_the_function_is_given_the_pull_or_the_config_by_the_name_of_its_parameter():
    seen = []
    ma.tune(lambda config: seen.append(config) or 0.5, SPACE, budget=5, progress=False)
    ma.tune(lambda pull: seen.append(pull) or pull["x"], SPACE, budget=20, max_steps=2, progress=False)
    assert type(seen[0]) is dict
    assert dict(seen[-1]) == seen[-1].config
    assert {seen[-1].start, seen[-1].stop} <= {0, 1, 2}


def test_a_function_of_the_config_alone_with_many_steps_is_warned_about():
    study = ma.Study(search(max_steps=5))
    with pytest.warns(ma.ManyarmsWarning, match="max_steps=5"):
        study.optimize(height, progress=False)


def test_ask_and_tell_without_a_loop_record_the_same_as_optimize():
    ran, driven = ma.Study(search()), ma.Study(search())
    ran.optimize(height, progress=False)
    while (pull := driven.ask()) is not None:
        driven.tell(pull, height(pull.config))
    assert outline(ran) == outline(driven)


def test_a_pull_told_twice_or_late_changes_nothing():
    study = ma.Study(search())
    pull = study.ask()
    study.tell(pull, 0.5)
    before = study.tally.state()
    study.tell(pull, 0.9)
    assert study.tally.state() == before
    assert len(study.journal) == 2


def test_a_strategy_with_only_three_methods_runs_and_resumes(tmp_path):
    class Grid:
        def __init__(self):
            self.asked, self.rewards = 0, {}

        def ask(self):
            self.asked += 1
            return ma.Pull(ma.Arm(self.asked, {"x": self.asked / 20}), 0, 1) if self.asked <= 20 else None

        def tell(self, pull, reward):
            self.rewards[pull.arm.id] = reward

        def best(self):
            arm = max(self.rewards, key=self.rewards.get)
            return ma.Arm(arm, {"x": arm / 20})

    storage = f"{tmp_path}/study.db"
    with ma.Study(Grid(), storage=storage) as study:
        for _ in range(7):
            study.tell(study.ask(), 0.1)
    with ma.Study(Grid(), storage=storage) as study:
        study.optimize(lambda config: config["x"], progress=False)
        assert study.tally.pulls == 20
        assert study.best().id == 20


def test_any_object_with_sample_and_mutate_is_a_space():
    class Letters:
        def sample(self, rng):
            return "".join(rng.choice(list("abc"), 5))

        def mutate(self, config, rng):
            spot = int(rng.integers(5))
            return config[:spot] + "abc"[("abc".index(config[spot]) + 1) % 3] + config[spot + 1 :]

    study = ma.tune(lambda config: config.count("c") / 5, Letters(), budget=150, seed=0, progress=False)
    assert study.best_config == "ccccc"
    assert study.arms_dataframe()["config"].str.len().eq(5).all()


# -- budgets


def test_running_again_continues_to_the_same_total_and_a_larger_one_extends_it(tmp_path):
    arguments = {"space": SPACE, "storage": f"{tmp_path}/study.db", "seed": 0, "progress": False}
    for budget, steps in [(60, 60), (60, 60), (100, 100), (80, 100)]:
        with ma.tune(height, budget=budget, **arguments) as study:
            assert study.tally.steps == steps
            assert study.budget == budget


def test_an_extended_study_decides_the_same_after_a_crash(tmp_path):
    def grown(storage):
        for budget in (40, 90):
            with ma.Study(search(budget), storage=storage) as study:
                study.optimize(height, progress=False)

    grown(f"{tmp_path}/one.db")
    grown(f"{tmp_path}/two.db")
    with ma.Study(search(90), storage=f"{tmp_path}/one.db") as study:
        assert study.tally.pulls == 90
    assert chained.decisions(f"{tmp_path}/one.db") == chained.decisions(f"{tmp_path}/two.db")


def test_a_budget_of_seconds_counts_training_over_all_runs(tmp_path):
    runner = ma.SimulatedRunner(workers=4, seconds=lambda pull: 60.0)
    strategy = ma.RandomSearch(SPACE, seed=0)
    with ma.Study(strategy, storage=f"{tmp_path}/study.db", budget="1h") as study:
        study.optimize(height, runner=runner, progress=False)
        assert 3600 <= study.tally.seconds <= 3600 + 4 * 60
    with ma.Study(ma.RandomSearch(SPACE, seed=0), storage=f"{tmp_path}/study.db", budget="2h") as study:
        study.optimize(height, runner=runner, progress=False)
        assert 7200 <= study.tally.seconds <= 7200 + 4 * 60


def test_a_budget_of_reported_cost_ends_the_search():
    study = ma.tune(lambda config: {"reward": 0.5, "cost": 2.5, "loss": 3}, SPACE, budget=ma.Budget(cost=10), progress=False)
    assert study.tally.cost == 10
    assert study.pulls_dataframe()["metric_loss"].tolist() == [3, 3, 3, 3]


def test_a_timeout_starts_no_more_pulls_and_the_next_call_goes_on():
    study = ma.Study(search(100))
    runner = ma.SimulatedRunner(workers=2, seconds=lambda pull: 60.0)
    study.optimize(height, runner=runner, timeout="10m", progress=False)
    assert study.tally.pulls == 20
    study.optimize(height, progress=False)
    assert study.tally.pulls == 100


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, float("nan"), "soon", None])
def test_a_budget_that_is_none_is_refused_by_name(budget):
    with pytest.raises((ValueError, TypeError), match="budget must"):
        ma.tune(height, SPACE, budget=budget, progress=False)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("workers", 0), ("workers", 1.5), ("retries", -1), ("timeout", "soon"), ("timeout", 0), ("pull_timeout", float("nan"))],
)
def test_wrong_arguments_of_optimize_are_refused_by_name(argument, value):
    with pytest.raises((ValueError, TypeError), match=f"{argument} must be"):
        ma.Study(search()).optimize(height, **{argument: value})


@pytest.mark.parametrize(
    "changed", [{"direction": "up"}, {"bounds": (1, 0)}, {"bounds": (0, float("nan"))}, {"name": ""}, {"storage": 7.5}]
)
def test_wrong_arguments_of_a_study_are_refused_by_name(changed):
    with pytest.raises((ValueError, TypeError), match=next(iter(changed))):
        ma.Study(search(), **changed)


def test_a_function_that_cannot_be_called_and_a_used_strategy_are_refused():
    with pytest.raises(TypeError, match="function must be callable"):
        ma.Study(search()).optimize("train")
    used = search()
    used.ask()
    with pytest.raises(ValueError, match="strategy must be fresh"):
        ma.Study(used)


# -- going on with a study


def test_other_arguments_than_the_study_was_made_with_are_refused(tmp_path):
    storage = f"{tmp_path}/study.db"
    ma.Study(search(exploration=0.05), storage=storage).close()
    for changed, words in [
        ({"exploration": 0.1}, "exploration=0.05"),
        ({"seed": 1}, "seed=0"),
        ({"initial": 3}, "initial=None"),
    ]:
        with pytest.raises(ma.StudyMismatch, match=words):
            ma.Study(search(**changed), storage=storage)
    with pytest.raises(ma.StudyMismatch, match="direction='maximize'"):
        ma.Study(search(), storage=storage, direction="minimize")
    with pytest.raises(ma.StudyMismatch, match="strategy='MutantUCB'"):
        ma.Study(ma.RandomSearch(SPACE, budget=100, seed=0), storage=storage)
    with ma.Study(search(seed=None), storage=storage) as study:  # a seed not given is the old one
        assert study.seed == 0


def test_a_space_that_changed_in_secret_is_noticed(tmp_path):
    class Secret:
        high = 1.0

        def sample(self, rng):
            return {"x": rng.random() * self.high}

        mutate = lambda self, config, rng: self.sample(rng)  # noqa: E731

    def strategy():
        return ma.RandomSearch(Secret(), budget=10, seed=0)

    with ma.Study(strategy(), storage=f"{tmp_path}/study.db") as study:
        study.optimize(lambda config: config["x"], progress=False)
    Secret.high = 2.0
    with pytest.raises(ma.StudyMismatch, match="event 0"):
        ma.Study(strategy(), storage=f"{tmp_path}/study.db")


def test_a_snapshot_leads_to_the_same_decisions_as_the_whole_journal(monkeypatch, tmp_path):
    monkeypatch.setattr("manyarms.study._SNAPSHOT_EVERY", 30)
    monkeypatch.setattr("manyarms.study._SNAPSHOT_LAST", 10)
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/often.db") as study:
        for _ in range(40):
            study.tell(study.ask(), random.Random(study.tally.pulls).random())
        assert study.journal.snapshot()[0] >= 60
        in_flight = [study.ask() for _ in range(3)]
        study.tell(in_flight[1], None)
    with ma.Study(chained.strategy(), storage=f"{tmp_path}/often.db") as study:
        study.optimize(lambda pull: random.Random(pull.seed).random(), progress=False)
        assert not study.tally.in_flight
    with ma.load_study(f"{tmp_path}/often.db") as view:
        assert list(audit(view.journal)) == []


def test_studies_in_memory_survive_in_their_journal():
    journal = MemoryJournal()
    ma.Study(search(50), storage=journal).optimize(height, progress=False)
    study = ma.Study(search(80), storage=journal)
    assert study.tally.pulls == 50
    study.optimize(height, progress=False)
    assert study.tally.pulls == 80


# -- parallel and deterministic


def pausing(pull):
    """Takes a time that differs from run to run."""
    time.sleep(random.SystemRandom().uniform(0, 0.01))
    return chained.train(pull)


def test_deterministic_workers_give_the_same_study_whatever_their_timing():
    studies = []
    for _ in range(2):
        study = ma.Study(chained.strategy(120))
        study.optimize(pausing, workers=3, deterministic=True, progress=False)
        studies.append(outline(study))
    assert studies[0] == studies[1]


def test_one_worker_process_decides_what_no_process_does():
    inline, process = ma.Study(chained.strategy(100)), ma.Study(chained.strategy(100))
    inline.optimize(chained.train, progress=False)
    process.optimize(chained.train, pull_timeout=60, progress=False)
    assert outline(inline) == outline(process)


@pytest.mark.parametrize("workers", [2, 16, 128])
def test_many_workers_spend_the_budget_exactly_and_forget_no_arm(workers):
    study = ma.Study(chained.strategy(400))
    random_times = random.Random(workers)
    study.optimize(chained.train, runner=ma.SimulatedRunner(workers, lambda pull: random_times.random()), progress=False)
    assert not study.tally.in_flight
    assert 400 - 5 <= study.tally.steps <= 400
    assert study.tally.arms[study.best().id].steps == 6


# -- failures


def test_failures_are_recorded_with_their_reason_charged_and_never_best():
    def sometimes(config):
        if config["x"] > 0.5:
            raise RuntimeError("too steep")
        return float("nan") if config["y"] > 0.5 else config["x"]

    study = ma.tune(sometimes, SPACE, budget=100, strategy=ma.RandomSearch, seed=0, progress=False)
    pulls = study.pulls_dataframe()
    assert len(pulls) == study.tally.steps == 100
    assert set(pulls["reason"].dropna()) == {"RuntimeError: too steep", "the function gave nan"}
    assert study.best_config["x"] <= 0.5
    assert study.best_config["y"] <= 0.5
    assert set(study.arms_dataframe()["status"]) == {"done", "failed"}


def test_a_study_of_nothing_but_failures_ends_with_a_clear_message_and_goes_on_once_the_cause_is_gone(tmp_path):
    def broken(config):
        raise OSError("no data")

    study = ma.Study(search(40), storage=f"{tmp_path}/study.db")
    with pytest.raises(ma.NoResult, match=r"all 40 pulls failed; most often \(40 times\): OSError: no data"):
        study.optimize(broken, progress=False)
    with pytest.raises(ma.NoResult, match="OSError: no data"):
        study.best_config  # noqa: B018
    study.close()
    with ma.Study(search(80), storage=f"{tmp_path}/study.db") as study:
        study.optimize(height, progress=False)
        assert study.tally.pulls == 40
        assert study.best_reward > 0


def test_a_failed_pull_is_retried_as_often_as_asked():
    calls = {}

    def flaky(pull):
        calls[pull.arm] = calls.get(pull.arm, 0) + 1
        if calls[pull.arm] <= 2:
            raise ConnectionError("again")
        return 0.5

    study = ma.Study(search(30))
    study.optimize(flaky, retries=2, progress=False)
    assert study.tally.pulls == 30
    assert study.pulls_dataframe()["attempts"].tolist() == [3] * 30
    with pytest.raises(ma.NoResult):
        ma.Study(search(30)).optimize(lambda config: 1 / 0, retries=1, progress=False)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None, "0.5", [1, 2], {"loss": 1}, object()])
def test_what_is_no_reward_is_a_failed_pull_that_says_so(value):
    study = ma.Study(search(20))
    first = study.ask()
    study.tell(first, value)
    assert study.tally.failures == 1
    study.tell(study.ask(), 0.01)
    assert study.best().id != first.arm.id


@pytest.mark.parametrize("value", [1, True, 0.25, np.float32(0.25), np.int64(1), np.array([0.5]), {"reward": np.float64(0.5)}])
def test_numbers_of_any_kind_are_rewards(value):
    study = ma.Study(search(20))
    study.tell(study.ask(), value)
    assert study.tally.pulls == 1


# -- callbacks, tables, plans


def test_callbacks_see_each_recorded_outcome_and_may_stop_the_study():
    seen = []

    def enough(study, outcome):
        seen.append((outcome.pull, study.tally.pulls))
        if study.tally.pulls == 12:
            study.stop()

    study = ma.Study(search(100))
    study.optimize(height, callbacks=[enough], progress=False)
    assert [count for _, count in seen] == list(range(1, 13))
    assert study.tally.pulls == 12


def test_the_tables_have_their_promised_columns_even_when_empty():
    study = ma.Study(search())
    for _ in range(2):
        assert list(study.arms_dataframe())[:5] == ["arm", "parents", "steps", "reward", "status"]
        assert list(study.pulls_dataframe())[:6] == ["arm", "start", "stop", "reward", "status", "seconds"]
        study.optimize(height, progress=False)
    assert study.pulls_dataframe()["stop"].sub(study.pulls_dataframe()["start"]).sum() == study.tally.steps
    assert study.arms_dataframe()["config_x"].between(0, 1).all()


def test_the_plan_adds_up_to_the_budget_before_anything_runs():
    study = ma.Study(chained.strategy(300))
    assert sum(phase.steps for phase in study.plan().phases) == 300
    assert "budget 300 steps, 0 spent" in str(study.plan())
    open_plan = str(ma.Study(ma.MutantUCB(SPACE, seed=0)).plan())
    assert "open" in open_plan


def test_only_a_study_whose_journal_outlasts_a_power_cut_waits_for_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(ma.checkpoints, "_sync", synced.append)

    def train(pull):
        pull.save(pull["x"])
        return pull["x"]

    for storage, waits in ((None, False), (str(tmp_path / "study.db"), True)):
        synced.clear()
        ma.tune(train, ma.Space(x=ma.Float(0, 1)), budget=5, max_steps=1, storage=storage, seed=0, progress=False).close()
        assert bool(synced) == waits
