"""What a notebook does: cells that are run again, studies that are extended, and who may write meanwhile."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import manyarms as ma
from manyarms.checkpoints import Checkpoints
from manyarms.errors import StudyClosed
from manyarms.journal import MemoryJournal
from manyarms.study.verify import audit
from manyarms.study.write_access import learn_from_others
from manyarms.study.writer import StudyWriter

from .searches import SPACE, height, outline, search

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


@pytest.fixture
def storage(tmp_path):
    return f"{tmp_path}/re.db"


def saving(pull):
    total = (pull.load() or 0.0) + height(pull)
    pull.save(total)
    return total / pull.stop


def tune(storage, budget, **options):
    return ma.tune(saving, SPACE, budget=budget, max_steps=3, storage=storage, seed=0, progress=False, **options)


def opened(storage, budget=100, **options):
    return ma.Study(search(budget), storage=storage, **options)


def play(study, pulls):
    for _ in range(pulls):
        pull = study.ask()
        study.tell(pull, height(pull.config))


def uninterrupted(pulls, budget=100):
    """What one object decides that nobody disturbs."""
    study = ma.Study(search(budget))
    play(study, pulls)
    return outline(study)


PREAMBLE = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent.parent.parent)!r})
import manyarms as ma
from tests.study.searches import height, search
storage = sys.argv[1]
"""


def start(storage, code):
    """Run code in a process of its own."""
    command = [sys.executable, "-c", PREAMBLE + code, storage]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def in_another_process(storage, code, status=0):
    """What the code printed."""
    process = start(storage, code)
    out, err = process.communicate()
    assert process.returncode == status, err
    return out.strip()


CONTINUE = "study = ma.Study(search({budget}), storage=storage)\nstudy.optimize(height, progress=False)\n"


# -- the same cell twice


def test_a_cell_with_tune_can_be_run_again_with_a_larger_budget(storage):
    study = tune(storage, 20)
    first = study
    study = tune(storage, 40)
    assert first.counts.steps == 20 and study.counts.steps == 40
    assert first.best_model() is not None and study.best_model() is not None


def test_a_cell_with_study_and_optimize_can_be_run_again(storage):
    for budget in (20, 40, 40):
        study = opened(storage, budget)
        study.optimize(height, progress=False)
    assert study.counts.steps == 40
    assert list(audit(study.journal)) == []


def test_a_cell_with_study_ask_and_tell_can_be_run_again_and_the_newer_object_wins(storage):
    study = opened(storage)
    play(study, 5)
    older, study = study, opened(storage)
    play(study, 5)
    assert study.counts.pulls == 10
    with pytest.raises(ma.StudyLocked, match="another Study object in this process: use that object, or close it"):
        older.ask()
    assert older.counts.pulls == 5 and older.best().id in older.counts.arms
    assert len(older.pulls_dataframe()) == 5
    assert outline(study) == uninterrupted(10)


def test_a_study_with_a_relative_path_continues_in_its_file_from_another_directory(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    study = opened("re.db")
    study.optimize(height, budget=20, progress=False)
    monkeypatch.chdir("other")
    study.optimize(height, budget=40, progress=False)
    assert list(Path.cwd().iterdir()) == []
    assert ma.load_study(tmp_path / "re.db").counts.steps == study.counts.steps > 20


def test_a_study_that_was_dropped_with_pulls_in_flight_locks_nobody_out(storage):
    study = opened(storage)
    play(study, 3)
    asked = study.ask()
    study = opened(storage)
    assert study.ask() == asked  # it was never written, and is decided again
    study.tell(asked, 0.5)
    assert study.counts.pulls == 4


def test_a_study_that_was_collected_leaves_the_lock_to_an_older_one(storage):
    older = opened(storage)
    play(older, 2)
    newer = opened(storage)
    play(newer, 2)
    del newer
    gc.collect()
    play(older, 2)
    assert outline(older) == uninterrupted(6)


# -- the lock


def test_a_study_is_free_for_other_processes_when_tune_or_optimize_returned(storage):
    study = opened(storage, 20)
    study.optimize(height, progress=False)
    in_another_process(storage, CONTINUE.format(budget=40))
    assert study.counts.pulls == 20 and len(study.pulls_dataframe()) == 20
    study.optimize(height, progress=False)
    assert study.counts.pulls == 40 and study.budget == 40
    study.optimize(height, budget=60, progress=False)
    assert outline(study)[:40] == uninterrupted(20, 20)
    assert study.counts.pulls == 60 and list(audit(study.journal)) == []


@pytest.mark.parametrize("step", [(Checkpoints, "sweep"), (StudyWriter, "commit_budget")], ids=["sweep", "budget"])
def test_a_study_is_free_for_others_when_opening_it_was_interrupted(storage, monkeypatch, step):
    opened(storage).close()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt) as raised:  # whose traceback keeps the object alive
        patch.setattr(*step, interrupted)
        opened(storage)
    in_another_process(storage, "ma.Study(search(100), storage=storage)")
    with opened(storage) as study:
        play(study, 1)
    assert raised.tb


def test_a_study_is_free_for_others_when_optimize_raised(storage):
    study = opened(storage, 20)

    def leave(study, outcome):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        study.optimize(height, progress=False, callbacks=[leave])
    assert in_another_process(storage, CONTINUE.format(budget=20) + "print(study.counts.pulls)") == "20"
    with ma.load_study(storage) as view:
        assert view.journal.recommendation() is not None


def test_two_objects_may_take_turns_and_decide_as_one_would(storage):
    one, two = opened(storage, 40), None
    one.optimize(height, progress=False, callbacks=[lambda study, _: study.counts.pulls == 10 and study.stop()])
    two = opened(storage, 40)
    two.optimize(height, progress=False, callbacks=[lambda study, _: study.counts.pulls == 20 and study.stop()])
    assert (one.counts.pulls, two.counts.pulls) == (10, 20)
    one.optimize(height, progress=False, callbacks=[lambda study, _: study.counts.pulls == 30 and study.stop()])
    two.optimize(height, progress=False)
    assert two.counts.pulls == 40
    assert outline(two) == uninterrupted(40, 40)
    assert list(audit(two.journal)) == []


def test_a_decision_that_was_never_written_gives_way_to_what_others_decided(storage):
    older = opened(storage)
    play(older, 3)
    pull = older.ask()
    newer = opened(storage)
    play(newer, 4)
    newer.close()
    older.tell(pull, 0.123)  # told by the newer one meanwhile, so that this changes nothing
    assert older.counts.pulls == 7
    play(older, 3)
    assert outline(older) == uninterrupted(10)


def test_pulls_that_others_left_in_flight_are_run_first(storage):
    older = opened(storage)
    play(older, 2)
    newer = opened(storage)
    left, done = newer.ask(), newer.ask()
    newer.tell(done, height(done.config))
    newer.close()
    assert older.ask() == left
    assert older.ask() not in (left, done)


def test_a_strategy_of_ones_own_catches_up_or_says_what_to_do(storage):
    class Counting:
        def __init__(self):
            self.asked = 0

        def ask(self):
            self.asked += 1
            return ma.Pull(ma.Arm(self.asked, {"x": self.asked}), 0, 1)

        def tell(self, pull, reward):
            pass

        def best(self):
            return ma.Arm(1, {"x": 1})

    one, two = ma.Study(Counting(), storage=storage), ma.Study(Counting(), storage=storage)
    two.tell(two.ask(), 0.5)
    two.close()
    assert one.ask().arm.id == 2  # and it is not written
    three = ma.Study(Counting(), storage=storage)
    three.tell(three.ask(), 0.5)
    three.close()
    with pytest.raises(StudyClosed, match=r"was continued elsewhere: open it again with ma\.Study"):
        one.ask()


def test_another_process_is_refused_while_a_study_is_open_or_runs(storage):
    attempt = "try:\n    ma.Study(search(100), storage=storage)\nexcept ma.StudyLocked as error:\n    print(error)"
    refusals = []
    study = opened(storage, 1)
    refusals.append(in_another_process(storage, attempt))
    study.optimize(height, progress=False, callbacks=[lambda *_: refusals.append(in_another_process(storage, attempt))])
    assert len(refusals) == 2
    assert all(f"is being written by another process (process {os.getpid()})" in refusal for refusal in refusals)
    assert in_another_process(storage, attempt) == ""


def test_an_older_object_is_refused_while_another_process_writes(storage):
    study = opened(storage, 20)
    study.optimize(height, progress=False)
    hold = "study = ma.Study(search(30), storage=storage)\nprint('open', flush=True)\nsys.stdin.read()"
    with start(storage, hold) as other:
        assert other.stdout.readline() == "open\n"
        for attempt in (study.ask, lambda: study.optimize(height, progress=False)):
            with pytest.raises(ma.StudyLocked, match=rf"by another process \(process {other.pid}\)"):
                attempt()
        assert study.best_config == study.best().config
        other.kill()
    study.optimize(height, progress=False)
    assert study.counts.pulls == study.budget == 30


def test_a_study_inside_optimize_is_not_taken_over(storage):
    running, over, refusals = threading.Event(), threading.Event(), []

    def train(config):
        running.set()
        assert over.wait(60)
        return height(config)

    study = opened(storage, 3)
    thread = threading.Thread(target=study.optimize, args=(train,), kwargs={"progress": False})
    thread.start()
    try:
        assert running.wait(60)
        with pytest.raises(ma.StudyLocked, match="is being written in this process, by a Study object inside optimize"):
            opened(storage, 3)
        with pytest.raises(ma.StudyLocked, match="is inside optimize in this process"):
            study.optimize(height, progress=False)
    finally:
        over.set()
        thread.join()
    assert study.counts.pulls == 3

    def open_again(study, outcome):
        with pytest.raises(ma.StudyLocked, match="in this process") as raised:
            opened(storage, 5)
        refusals.append(raised.value)

    study.optimize(height, budget=5, progress=False, callbacks=[open_again])
    assert len(refusals) == 2 and study.counts.pulls == 5


def test_a_study_that_learns_what_others_wrote_is_not_taken_over_meanwhile(storage, monkeypatch):
    older = opened(storage)
    newer = opened(storage)
    play(newer, 3)
    newer.close()
    refusals = []

    def learn(*given, **options):
        with pytest.raises(ma.StudyLocked, match="in this process") as raised:
            opened(storage)
        refusals.append(raised.value)
        return learn_from_others(*given, **options)

    monkeypatch.setattr("manyarms.study.writer.learn_from_others", learn)
    play(older, 3)
    assert len(refusals) == 1
    assert outline(older) == uninterrupted(6)


def test_an_opening_that_is_refused_leaves_the_older_object_able_to_continue(storage):
    older = opened(storage)
    play(older, 3)
    with pytest.raises(ma.StudyMismatch):
        ma.Study(search(100, seed=1), storage=storage)
    play(older, 3)
    assert outline(older) == uninterrupted(6)


def test_two_studies_in_one_file_do_not_take_each_other_over(storage):
    one, two = opened(storage, name="one"), opened(storage, name="two")
    for _ in range(3):
        play(one, 1)
        play(two, 1)
    assert one.counts.pulls == two.counts.pulls == 3


def test_a_study_in_a_with_block_can_be_opened_again_inside_it_and_after_it(storage):
    with opened(storage, 20) as study:
        play(study, 2)
        with opened(storage, 20) as inner:
            play(inner, 2)
        play(study, 2)
    assert study.counts.pulls == 6
    with pytest.raises(StudyClosed):
        study.ask()
    with opened(storage, 20) as study:
        assert outline(study) == uninterrupted(6, 20)


def test_a_forked_process_cannot_write_through_the_study_of_its_parent(storage):
    study = opened(storage)
    play(study, 2)
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            study.ask()
        except ma.StudyLocked as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    assert f"was opened by process {os.getpid()}, from which this process was forked" in os.read(read, 9999).decode()
    os.close(read)
    play(study, 2)
    assert study.counts.pulls == 4


def test_a_study_killed_in_between_is_continued_by_the_object_that_was_released(storage):
    study = opened(storage, 10)
    study.optimize(height, progress=False)
    kill = "callbacks=[lambda study, _: study.counts.pulls == 15 and os.kill(os.getpid(), 9)]"
    code = f"ma.Study(search(30), storage=storage).optimize(height, progress=False, {kill})"
    in_another_process(storage, code, status=-9)
    study.optimize(height, progress=False)
    assert study.counts.pulls == 30 and not study.counts.in_flight
    assert list(audit(study.journal)) == []


# -- a storage that changed under a study


@pytest.mark.parametrize("change", ["deleted", "replaced"])
def test_a_file_that_was_deleted_or_replaced_is_an_error_and_is_not_made_again(storage, change):
    study = opened(storage, 10)
    study.optimize(height, progress=False)
    os.remove(storage)
    if change == "replaced":
        opened(storage, 20).close()
    with pytest.raises(ma.StorageError, match=r"the file was deleted or replaced since it was opened; open it again"):
        study.optimize(height, budget=20, progress=False)
    assert os.path.exists(storage) == (change == "replaced")
    assert study.counts.pulls == 10 and study.best_config is not None


def test_a_deleted_file_does_not_keep_the_cell_from_beginning_anew(storage):
    older = opened(storage)
    play(older, 3)
    os.remove(storage)
    study = opened(storage)
    play(study, 2)
    assert study.counts.pulls == 2
    study.close()
    with pytest.raises(ma.StorageError, match="the file was deleted or replaced"):
        older.ask()


@pytest.mark.parametrize("anew", [True, False])
def test_a_study_that_was_deleted_from_its_database_is_an_error(storage, anew):
    import sqlite3

    study = opened(storage, 10)
    study.optimize(height, progress=False)
    with sqlite3.connect(storage) as connection:
        for table in ("events", "heads", "snapshots"):
            connection.execute(f"DELETE FROM manyarms_{table}")
        connection.execute("DELETE FROM manyarms_studies")
    connection.close()
    if anew:
        opened(storage, 10).close()
    with pytest.raises(ma.ManyarmsError, match="was deleted and created again since|there is no study 'study'"):
        study.optimize(height, budget=20, progress=False)


# -- checkpoints


def models(tmp_path):
    return {path.name for path in tmp_path.glob("re.db-checkpoints/*/arm-*")}


def test_a_study_without_the_lock_deletes_no_checkpoints(storage, tmp_path):
    older = tune(storage, 20)
    newer = tune(storage, 40)
    kept = models(tmp_path)
    older.close()
    assert models(tmp_path) == kept
    assert newer.best_model() is not None
    newer.close()
    assert models(tmp_path) == kept


def test_a_study_that_catches_up_uses_the_checkpoints_of_others(storage):
    older = tune(storage, 20)
    tune(storage, 40)
    older.optimize(saving, budget=60, progress=False)
    assert older.counts.steps >= 58 and older.counts.retrained == 0
    assert older.best_model() is not None


# -- extending


@pytest.mark.parametrize("stored", [False, True])
def test_a_study_can_be_extended_by_optimize(storage, stored):
    study = opened(storage if stored else None, 20)
    study.optimize(height, progress=False)
    study.optimize(height, budget=40, progress=False)
    assert study.counts.pulls == study.budget == 40
    study.optimize(height, budget=30, progress=False)
    assert study.counts.pulls == 40 and study.budget == 30
    study.optimize(height, progress=False)
    assert study.limits == ma.Budget(steps=30) and study.counts.pulls == 40
    assert [event.data for event in study.journal.events() if event.kind == "budget"] == [{"budget": 40}, {"budget": 30}]


def test_the_models_of_a_study_in_memory_stay_until_it_is_closed():
    study = tune(None, 20)
    place = study.checkpoint_of(study.best().id)
    study.optimize(saving, budget=40, progress=False)
    assert study.counts.steps >= 38 and study.counts.retrained == 0
    assert study.best_model() is not None
    study.close()
    assert not place.parent.exists()


def test_extending_decides_and_records_what_opening_with_a_larger_budget_does(tmp_path):
    one = opened(f"{tmp_path}/one.db", 20)
    one.optimize(height, progress=False)
    one.optimize(height, budget=40, progress=False)
    for budget in (20, 40):
        two = opened(f"{tmp_path}/two.db", budget)
        two.optimize(height, progress=False)
    assert outline(one) == outline(two)


def test_an_extension_may_be_time_or_cost(storage):
    minute = {"runner": ma.SimulatedRunner(1, lambda pull: 60.0), "progress": False}
    study = ma.Study(ma.RandomSearch(SPACE, seed=0), storage=storage, budget="10m")
    study.optimize(height, **minute)
    assert study.counts.pulls == 10
    study.optimize(height, budget="20m", **minute)
    assert study.counts.pulls == 20 and study.limits == ma.Budget(seconds=1200)
    study.optimize(height, budget=ma.Budget(steps=25, seconds="1h"), **minute)
    assert study.counts.pulls == 25 and study.limits == ma.Budget(25, 3600)
    with ma.load_study(storage) as view:
        assert view.limits == ma.Budget(25, 3600)


@pytest.mark.parametrize(("budget", "error"), [(0, ValueError), ("soon", ValueError), (2.5, TypeError), ([], TypeError)])
def test_a_budget_that_cannot_be_changes_nothing(budget, error):
    study = opened(None, 5)
    with pytest.raises(error, match="budget"):
        study.optimize(height, budget=budget, progress=False)
    assert study.counts.events == 0 and study.budget == 5


def test_studies_that_share_a_journal_in_memory_take_turns():
    journal = MemoryJournal()
    one, two = ma.Study(search(20), storage=journal), ma.Study(search(20), storage=journal)
    for _ in range(3):
        play(one, 1)
        play(two, 1)
    assert one.counts.pulls == 5
    assert outline(one) == uninterrupted(6, 20)


# -- Ctrl-C


def test_a_study_says_that_it_was_interrupted_and_what_remains(storage):
    def interrupt(study, outcome):
        if study.counts.pulls == 7:
            os.kill(os.getpid(), 2)

    study = ma.tune(height, SPACE, budget=20, storage=storage, seed=0, progress=False, callbacks=[interrupt])
    assert study.interrupted and study.remaining == {"steps": 13}
    assert "7 of 20 steps" in repr(study) and repr(study).endswith(", interrupted)")
    study.optimize(height, progress=False)
    assert not study.interrupted and study.remaining == {"steps": 0}
    with ma.load_study(storage) as view:
        assert view.remaining == {"steps": 0}


def test_what_remains_has_each_limit_and_none_without_limits():
    study = ma.Study(ma.RandomSearch(SPACE, budget=10, seed=0), budget=ma.Budget(seconds=60, cost=1.5))
    study.tell(study.ask(), {"reward": 0.5, "cost": 2.0}, seconds=15)
    assert study.remaining == {"steps": 9, "seconds": 45, "cost": 0}
    assert ma.Study(ma.RandomSearch(SPACE)).remaining == {}
