"""The counts that the database computes are those of counting every event."""

from contextlib import closing

import pytest

import manyarms as ma
from manyarms.journal import Event
from manyarms.journal.sql import SqlJournal
from manyarms.journal.storage import study_names, study_versions
from manyarms.journal.totals import StoredArm, arm_count, arms, best_arms, steps_before, totals
from manyarms.study.counts import Counts
from manyarms.study.frames import arm_rows

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.errors.ManyarmsWarning")  # about small budgets

SPACE = ma.Space(x=ma.Float(0, 1), act=ma.Choice("relu", "tanh"))


def train(pull):
    if pull["x"] > 0.4:
        raise RuntimeError('it said "retrained": 7 {}' if pull["act"] == "relu" else "another reason")
    pull.save(pull.stop)
    return pull["x"] * pull.stop


@pytest.fixture
def stored(url, tmp_path):
    """A study with failures, mutants, a raised budget and two pulls in flight, and another study."""
    for name, budget in (("study", 60), ("other", 30), ("study", 80)):
        strategy = ma.MutantUCB(SPACE, budget=budget, max_steps=5, initial=6, seed=1)
        with ma.Study(strategy, storage=url, name=name, checkpoints=str(tmp_path), direction="minimize") as study:
            study.optimize(train, progress=False)
    with ma.Study(ma.MutantUCB(SPACE, budget=100, max_steps=5, initial=6, seed=1), storage=url, direction="minimize") as study:
        for _ in range(3):
            pull = study.ask()
        study.tell(pull, {"reward": 0.1, "text": '"retrained": 7'})
    return url


def counted(journal):
    counts = Counts(journal.header["direction"])
    for event in journal.events():
        counts.count(event)
    return counts


def test_totals_are_what_counting_gives(stored):
    with closing(SqlJournal(stored, "study", write=False)) as journal:
        found, counts = totals(journal), counted(journal)
        assert counts.failures > 1 and len(counts.in_flight) == 2
        assert (found.arms, found.pulls, found.failures) == (len(counts.arms), counts.pulls, counts.failures)
        assert (found.in_flight, found.steps, found.retrained) == (2, counts.steps, 0)
        assert found.seconds == pytest.approx(counts.seconds)
        assert found.reason == counts.reasons.most_common(1)[0][0]
        assert found.changed_limits == {"budget": 100}


def test_the_version_of_a_study_changes_when_it_is_written_and_only_then(stored):
    before = study_versions(stored)
    assert list(before) == study_names(stored) == ["study", "other"]
    assert study_versions(stored) == before
    with ma.Study(
        ma.MutantUCB(SPACE, budget=100, max_steps=5, initial=6, seed=1), storage=stored, direction="minimize"
    ) as study:
        study.tell(study.ask(), 0.5)
        told = study_versions(stored)
        assert told["study"] != before["study"] and told["other"] == before["other"]
        study._writer.snapshots.save_recommendation()
    assert study_versions(stored)["study"] != told["study"]


def test_arms_are_what_counting_gives_and_the_best_come_first(stored):
    with closing(SqlJournal(stored, "study", write=False)) as journal:
        counts = counted(journal)
        expected = {row["arm"]: row for row in arm_rows(counts, max_steps=5)}
        found = best_arms(journal)
        assert sorted(arm.arm for arm in found) == sorted(expected)
        assert arm_count(journal) == len(expected)
        for arm in found:
            row, record = expected[arm.arm], counts.arms[arm.arm]
            assert (list(arm.parents), arm.steps, arm.reward, arm.config) == (
                row["parents"], row["steps"], row["reward"], row["config"]
            )  # fmt: skip
            assert arm.checkpoint == record.checkpoint
            best = record.best_reward, record.best_step, record.best_checkpoint
            assert (arm.best_reward, arm.best_step, arm.best_checkpoint) == best
            assert (arm.last_event == "asked") == (arm.arm in counts.in_flight)
            assert (arm.last_event == "failed") == (record.failed and arm.arm not in counts.in_flight)
        rewards = [arm.best_reward for arm in found if arm.best_reward is not None]
        assert rewards == sorted(rewards) and None not in [arm.reward for arm in found[: len(rewards)]]
        means = [counts.arms[arm.arm].mean_reward for arm in best_arms(journal, len(rewards), by_mean=True)]
        assert means == sorted(means)
        assert best_arms(journal, 3) == found[:3]
        assert arms(journal, [found[4].arm, found[1].arm]) == [found[4], found[1]]


def test_ties_are_in_the_order_of_the_arms_and_more_arms_than_fit_one_query_are_found(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({"direction": "maximize", "settings": None})
        journal.append(Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(1_100))
        journal.append(Event("told", arm, 0, 1, float(arm == 700)) for arm in range(1_050))
        found = best_arms(journal)
        assert [arm.arm for arm in found] == [700, *(arm for arm in range(1_100) if arm != 700)]
        assert found[-1] == StoredArm(1_099, (), 1_099, 0, None, None, 0, "asked", None, None)
        assert totals(journal).in_flight == 50


def test_a_study_without_events_adds_up_to_nothing(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({"direction": "maximize", "settings": {"budget": 7}})
        found = totals(journal)
        assert (found.arms, found.pulls, found.steps, found.seconds) == (0, 0, 0, 0.0)
        assert found.reason is None and found.changed_limits is None
        assert best_arms(journal) == [] and steps_before(journal, 0, 1) is None


@pytest.mark.parametrize("text", ["bad \x00 thing", "no file /data/\udcff.csv", 'it said ", "details": "x"'])
def test_a_reason_of_any_text_is_counted(url, tmp_path, text):
    def fail(pull):
        raise RuntimeError(text)

    with ma.Study(ma.RandomSearch(SPACE, budget=3, max_steps=1, seed=0), storage=url, checkpoints=str(tmp_path)) as study:
        with pytest.raises(ma.NoResult):
            study.optimize(fail, progress=False)
        assert len(study.pulls_dataframe()) == 3
        (reason,) = study.counts.reasons
    with closing(SqlJournal(url, "study", write=False)) as journal:
        assert totals(journal).reason == reason


def test_a_reason_that_a_database_cannot_read_is_counted_all_the_same(url):
    with closing(SqlJournal(url, "study")) as journal:
        journal.create({"direction": "maximize", "settings": None})
        journal.append([Event("asked", arm, 0, 1, data={"config": arm}) for arm in range(3)])
        reasons = ("rare", "bad \x00 \ud800", "bad \x00 \ud800")
        journal.append([Event("failed", arm, 0, 1, data={"reason": reasons[arm], "details": str(arm)}) for arm in range(3)])
        assert totals(journal).reason == "bad \x00 \ud800"
