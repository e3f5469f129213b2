"""Disk is bounded and may be full: a study keeps within its limit, and decides what it would have decided with any disk."""

import hashlib
import os
import warnings

import chained
import disks
import pytest

import manyarms as ma
from manyarms.checkpoints import OWNER, size_of

LIMIT = 150_000

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training", "ignore:.*could not save")


def heavy(pull):
    """Trains a chained state that comes with up to 20 kB of ballast, as much as the chain says."""
    saved = pull.load()
    state = saved[0] if saved else {"steps": 0, "chain": chained.digest(pull.parent.load()[0] if pull.parent else None)}
    for step in range(pull.start, pull.stop):
        state = {"steps": step + 1, "chain": chained.digest(state["chain"], pull.config, pull.seed, step)}
    pull.save((state, bytes(int(state["chain"][:4], 16) * 20_000 // 16**4)))
    return chained.reward(state)


class Watched(ma.Checkpoints):
    """Looks at every eviction."""

    study = None
    evictions = 0

    def evict(self, excess, owner, priority, needed):
        before = set(self.names())
        super().evict(excess, owner, priority, needed)
        gone, kept = before - set(self.names()), set(self.names()) - needed
        self.evictions += bool(gone)
        assert not gone & needed
        if gone and kept:
            assert max(priority(owner[name]) for name in gone) <= min(priority(owner[name]) for name in kept)
        assert self.study.counts.arms[self.study.best().id].checkpoint not in gone, "the best arm must keep its own"


@pytest.fixture(autouse=True, scope="module")
def _no_power_cuts():
    """Waiting for the disk would take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


def taken(directory) -> int:
    """The bytes on disk; workers may rename a directory while it is looked at, which then seems to be there twice."""
    sizes = []
    while len(sizes) < 3:
        try:
            sizes.append(size_of(directory))
        except FileNotFoundError:
            continue
    return min(sizes)


def decisions(study):
    return [event.decision for event in study.journal.events()]


@pytest.fixture(scope="module")
def undisturbed():
    """What studies decide whose disk has no end, by number of workers."""
    journals = {}
    for workers in (1, 3):
        study = ma.Study(chained.strategy(140))
        runner = ma.SimulatedRunner(workers)
        study.optimize(heavy, runner=runner, deterministic=True, progress=False)
        assert not study.counts.retrained
        journals[workers] = decisions(study)
    return journals


@pytest.mark.parametrize("workers", [1, 3])
def test_a_study_never_takes_more_than_max_bytes(tmp_path, undisturbed, workers):
    checkpoints = Watched(tmp_path, max_bytes=LIMIT)
    with ma.Study(chained.strategy(140), checkpoints=checkpoints) as study:
        checkpoints.study, most, refused = study, [], []

        def look(study, outcome):
            most.append(taken(checkpoints.directory))
            refused.append(outcome.unsaved is not None)
            assert checkpoints.used <= LIMIT

        study.optimize(heavy, workers=workers, deterministic=True, callbacks=[look], progress=False)
        assert LIMIT * 0.7 < max(most) <= LIMIT
        assert checkpoints.evictions > 3 and sum(refused) <= 10
        assert decisions(study) == undisturbed[workers]
        assert study.best_model()[0]["steps"] == study.best_step
        assert {path.name for path in checkpoints.directory.iterdir()} == {*checkpoints.names(), OWNER}
        assert size_of(checkpoints.directory) == checkpoints.used + (checkpoints.directory / OWNER).stat().st_size


def test_quick_pulls_of_several_workers_find_room_on_a_nearly_empty_disk(tmp_path):
    unsaved = []
    with ma.Study(chained.strategy(150), checkpoints=ma.Checkpoints(tmp_path, max_bytes="1MB")) as study:
        study.optimize(
            chained.train, workers=3, callbacks=[lambda study, outcome: unsaved.append(outcome.unsaved)], progress=False
        )
        assert set(unsaved) == {None} and study.counts.retrained == 0


@pytest.mark.parametrize("limit", [10, 5_000, 12_000])
def test_states_larger_than_the_room_are_refused_with_one_warning_and_change_no_result(tmp_path, limit):
    with ma.Study(chained.strategy(60)) as whole:
        whole.optimize(heavy, progress=False)
    checkpoints, most = ma.Checkpoints(tmp_path, max_bytes=limit), []
    with ma.Study(chained.strategy(60), checkpoints=checkpoints) as study:
        with pytest.warns(ma.ManyarmsWarning, match="could not save its state .* max_bytes") as warned:
            study.optimize(heavy, callbacks=[lambda *_: most.append(taken(checkpoints.directory))], progress=False)
        assert sum("could not save" in str(warning.message) for warning in warned) == 1
        assert max(most) <= limit
        assert decisions(study) == decisions(whole)
        assert study.counts.retrained > 0


def test_files_the_function_wrote_itself_are_refused_too(tmp_path):
    def train(pull):
        (pull.directory / "weights").write_bytes(bytes(2000))
        return pull.config["rate"]

    checkpoints = ma.Checkpoints(tmp_path, max_bytes=1000)
    with ma.Study(chained.strategy(100), checkpoints=checkpoints) as study, pytest.warns(ma.ManyarmsWarning, match="max_bytes"):
        study.optimize(train, progress=False)
    assert study.counts.failures == 0 and checkpoints.used == 0


def test_the_last_of_several_saves_counts(tmp_path):
    def train(pull):
        pull.save(bytes(2000))
        pull.save("small")
        return 1.0

    with ma.Study(ma.RandomSearch(chained.SPACE, budget=1), checkpoints=ma.Checkpoints(tmp_path, max_bytes=1000)) as study:
        study.optimize(train, progress=False)
        assert study.best_model() == "small"


def test_pulls_abandoned_by_an_error_leave_nothing_once_the_study_has_gone_on(tmp_path, undisturbed):
    checkpoints = ma.Checkpoints(tmp_path, max_bytes=LIMIT)
    with ma.Study(chained.strategy(140), checkpoints=checkpoints) as study:

        def fail(study, outcome):
            if outcome.pull.arm.id in (7, 20):
                raise RuntimeError("in a callback")

        for _ in range(2):
            with pytest.raises(RuntimeError, match="in a callback"):
                study.optimize(heavy, runner=ma.SimulatedRunner(3), deterministic=True, callbacks=[fail], progress=False)
        study.optimize(heavy, runner=ma.SimulatedRunner(3), deterministic=True, progress=False)
        assert {path.name for path in checkpoints.directory.iterdir()} == {*checkpoints.names(), OWNER}
        assert decisions(study) == undisturbed[3]


def test_a_study_opened_again_removes_what_its_killed_process_left(tmp_path):
    def stop(study, outcome):
        if study.counts.pulls == 30:
            study.stop()

    storage = f"{tmp_path}/study.db"
    with ma.Study(chained.strategy(100), storage=storage, checkpoints=str(tmp_path)) as study:
        study.optimize(chained.train, callbacks=[stop], progress=False)
        home = study.checkpoint_of(0).parent
    saved = {path.name for path in home.iterdir()}
    for name in ("arm-3-step-1-00000000", "arm-3-step-1-00000000.part"):
        (home / name).mkdir()
        (home / name / "state.pickle").write_bytes(b"half")
    with ma.Study(chained.strategy(100), storage=storage, checkpoints=str(tmp_path)) as study:
        assert {path.name for path in home.iterdir()} == saved
        study.optimize(chained.train, progress=False)
        assert study.counts.retrained == 0


@pytest.fixture
def small_disk(tmp_path):
    with disks.small_disk(tmp_path / "disk", "2m") as disk:
        yield disk


def bulky(pull):
    """A state of 300 kB: seven of them fill the small disk."""
    state, _ = pull.load() or (chained.digest(pull.config), None)
    for _ in range(pull.start, pull.stop):
        state = hashlib.sha256(f"{state}{pull.seed}".encode()).hexdigest()
    pull.save((state, bytes(300_000)))
    return int(state[:8], 16) / 16**8


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_a_warning_and_the_rewards_are_kept(small_disk, workers):
    journals = []
    for checkpoints in (None, str(small_disk)):
        with ma.Study(chained.strategy(40, initial=10), checkpoints=checkpoints) as study:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                study.optimize(bulky, workers=workers, deterministic=True, progress=False)
            journals.append(decisions(study))
            said = [str(warning.message) for warning in warned if "could not save" in str(warning.message)]
            assert len(said) == (checkpoints is not None)
            assert all("No space left on device" in text for text in said)
            assert study.counts.failures == 0
    assert study.counts.retrained > 0
    assert journals[0] == journals[1]
