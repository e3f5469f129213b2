"""A lost state is trained again to what it was, bit for bit, and the cost is shown."""

import os
import shutil
from pathlib import Path

import chained
import pytest

import manyarms as ma
from manyarms.checkpoints import is_sound
from manyarms.checkpoints.retraining import Slice, pull_seed, recipe
from manyarms.checkpoints.state import SavedState
from manyarms.core import Arm, Pull
from manyarms.study.counts import ArmRecord

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training", "ignore:.*could not save")


def orphaned(pull):
    """A chain of hashes that begins anew for every arm, whatever its parent saved."""
    state = pull.load() or {"steps": 0, "chain": ""}
    assert state["steps"] == pull.start
    for step in range(pull.start, pull.stop):
        state = {"steps": step + 1, "chain": chained.digest(state["chain"], pull.config, pull.seed, step)}
    pull.save(state)
    return chained.reward(state)


FUNCTIONS = {"orphaned": orphaned, "inherited": chained.train}
RUNS = [("orphaned", 1), ("inherited", 1), ("inherited", 3)]
"""Functions and numbers of workers."""

DAMAGES = {
    "corrupt": lambda place: (place / "state.pickle").write_bytes(b"x" * (place / "state.pickle").stat().st_size),
    "truncated": lambda place: os.truncate(place / "state.pickle", 10),
    "without its file": lambda place: (place / "state.pickle").unlink(),
    "no manifest": lambda place: (place / "manyarms.json").unlink(),
    "deleted": shutil.rmtree,
}


def new_study(**options) -> ma.Study:
    return ma.Study(chained.strategy(140, exploration=0.01), **options)


def search(study, function, pulls=None, workers=1):
    """Go on, for so many pulls if not to the end."""
    last = study.counts.pulls + (pulls or 10**9)

    def stop(study, outcome):
        if study.counts.pulls >= last:
            study.stop()

    runner = ma.SimulatedRunner(workers)
    study.optimize(function, runner=runner, deterministic=True, callbacks=[stop], progress=False)


@pytest.fixture(autouse=True, scope="module")
def _no_power_cuts():
    """Waiting for the disk would take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


def decisions(study):
    return [event.decision for event in study.journal.events()]


def states(study) -> dict:
    """The saved states that are sound, by arm."""
    places = {arm: study.checkpoint_of(arm) for arm in study.counts.arms}
    return {arm: SavedState(place).load() for arm, place in places.items() if is_sound(place)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Studies that lost nothing between their two calls, by function and number of workers."""
    studies = {}
    for name, workers in RUNS:
        studies[name, workers] = study = new_study(checkpoints=str(tmp_path_factory.mktemp("whole")))
        search(study, FUNCTIONS[name], pulls=60, workers=workers)
        search(study, FUNCTIONS[name], workers=workers)
        assert study.counts.retrained == 0
        assert len(states(study)) > 20
    yield studies
    for study in studies.values():
        study.close()


@pytest.mark.parametrize(("name", "workers"), [("orphaned", 1), ("inherited", 3)])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_states_lost_between_two_calls_are_rebuilt_as_they_were(tmp_path, undisturbed, damage, name, workers):
    with new_study(checkpoints=str(tmp_path)) as study:
        search(study, FUNCTIONS[name], pulls=60, workers=workers)
        for arm in study.counts.arms:
            if arm % 4:
                damage(study.checkpoint_of(arm))
        before = study.counts.pulls
        search(study, FUNCTIONS[name], workers=workers)
        whole, found = undisturbed[name, workers], states(study)
        assert decisions(study) == decisions(whole)
        assert study.counts.retrained > 0
        assert set(study.pulls_dataframe().arm[before:]) <= set(found)
        assert found.items() <= states(whole).items()


def test_the_cost_of_rebuilding_is_shown(tmp_path):
    with new_study(checkpoints=str(tmp_path)) as study:
        search(study, orphaned, pulls=60)
        for arm in study.counts.arms:
            shutil.rmtree(study.checkpoint_of(arm))
        lost = {arm: record.steps for arm, record in study.counts.arms.items()}
        before = study.counts.steps
        search(study, orphaned)
        pulls = study.pulls_dataframe()
        rebuilt = pulls[pulls.retrained.notna()]
        assert len(rebuilt) > 0
        assert all(row.retrained == row.start == lost[row.arm] for row in rebuilt.itertuples())
        assert rebuilt.retrained.sum() == study.counts.retrained
        assert study.counts.steps == before + (pulls.stop - pulls.start)[60:].sum(), "steps retrained are not charged as new"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_evicted_states_are_rebuilt_as_they_were(tmp_path, undisturbed, name):
    with new_study(checkpoints=ma.Checkpoints(tmp_path, max_bytes=1500)) as study:
        search(study, FUNCTIONS[name])
        whole = undisturbed[name, 1]
        assert study.counts.retrained > 0
        assert decisions(study) == decisions(whole)
        assert states(study)
        assert states(study).items() <= states(whole).items()


def test_processes_rebuild_as_well(tmp_path, undisturbed):
    with new_study(checkpoints=str(tmp_path)) as study:
        search(study, chained.train, pulls=60, workers=3)
        for number, arm in enumerate(study.counts.arms):
            list(DAMAGES.values())[number % len(DAMAGES)](study.checkpoint_of(arm))
        study.optimize(chained.train, workers=3, deterministic=True, progress=False)
        assert study.counts.retrained > 0
        assert decisions(study) == decisions(undisturbed["inherited", 3])


# -- recipes


def family() -> dict[int, ArmRecord]:
    """A grandparent trained in three pulls, its child grown after two of them, a grandchild grown after the child's first."""
    arms = [Arm(0, "a"), Arm(1, "b", (0,)), Arm(2, "c", (1,))]
    return {
        0: ArmRecord(arms[0], stops=[1, 3, 4], checkpoint="zero"),
        1: ArmRecord(arms[1], stops=[2, 5], checkpoint="one", born_at=3, inherited=True),
        2: ArmRecord(arms[2], stops=[1], checkpoint="two", born_at=2, inherited=True),
    }


def seeded(record: ArmRecord, start: int, stop: int, parent=None) -> Slice:
    return Slice(Pull(record.arm, start, stop), pull_seed(9, record.arm.id, start), parent)


def test_grandparents_are_rebuilt_first_to_where_their_children_were_grown():
    arms = family()
    assert recipe(arms, 2, 1, 9, find=lambda name: None) == (
        seeded(arms[0], 0, 1),
        seeded(arms[0], 1, 3),
        seeded(arms[1], 0, 2, parent=1),
        seeded(arms[2], 0, 1, parent=2),
    )


def test_an_ancestor_is_taken_from_its_checkpoint_if_that_is_of_the_right_step():
    arms = family()
    arms[1].stops = [2]
    assert recipe(arms, 2, 1, 9, find=Path) == (seeded(arms[2], 0, 1, parent=Path("one")),)
    arms = family()
    arms[0].stops = [1, 3]
    assert recipe(arms, 2, 1, 9, find=Path) == (seeded(arms[1], 0, 2, parent=Path("zero")), seeded(arms[2], 0, 1, parent=0))


def test_thousands_of_generations_can_be_rebuilt():
    arms = {0: ArmRecord(Arm(0, {}), stops=(1,))}
    arms |= {id: ArmRecord(Arm(id, {}, (id - 1,)), stops=(1,), born_at=1, inherited=True) for id in range(1, 5000)}
    assert recipe(arms, 4999, 1, 9, find=lambda name: None) == (
        seeded(arms[0], 0, 1),
        *(seeded(arms[id], 0, 1, parent=id - 1) for id in range(1, 5000)),
    )


def test_an_arm_that_inherited_nothing_is_rebuilt_alone():
    arms = family()
    arms[1].inherited = False
    assert recipe(arms, 1, 5, 9, find=lambda name: None) == (seeded(arms[1], 0, 2), seeded(arms[1], 2, 5))
    assert recipe(arms, 1, 2, 9, find=lambda name: None) == (seeded(arms[1], 0, 2),)


def test_seeds_differ_between_arms_steps_and_studies():
    assert len({pull_seed(study, arm, start) for study in range(5) for arm in range(20) for start in range(10)}) == 1000


# -- the best model


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_best_model_is_rebuilt_when_every_state_is_gone(tmp_path, undisturbed, name):
    with new_study(checkpoints=str(tmp_path)) as study:
        search(study, FUNCTIONS[name])
        home = study.checkpoint_of(study.best().id).parent
        shutil.rmtree(home)
        assert study.best_model() == undisturbed[name, 1].best_model()


def test_a_study_opened_again_needs_the_function_to_rebuild_its_best_model(tmp_path, undisturbed):
    storage = f"{tmp_path}/study.db"
    with new_study(storage=storage) as study:
        search(study, chained.train)
        os.truncate(study.checkpoint_of(study.best().id) / "state.pickle", 10)
    with new_study(storage=storage) as study:
        with pytest.raises(ma.CheckpointLost, match=r"best_model\(function\)"):
            study.best_model()
        assert study.best_model(chained.train) == undisturbed["inherited", 1].best_model()


def test_a_model_that_was_never_saved_is_said_to_be_none():
    with ma.Study(ma.RandomSearch(chained.SPACE, budget=2, seed=0)) as study:
        study.optimize(lambda config: 1.0, progress=False)
        with pytest.raises(ma.CheckpointLost, match=r"pull\.save"):
            study.best_model()


def test_the_best_model_is_rebuilt_when_every_state_is_damaged(tmp_path, undisturbed):
    with new_study(checkpoints=str(tmp_path)) as study:
        search(study, chained.train)
        for place in study.checkpoint_of(study.best().id).parent.glob("arm-*"):
            os.truncate(place / "state.pickle", 10)
        assert study.best_model() == undisturbed["inherited", 1].best_model()


def test_rebuilding_without_room_for_it_fails_rather_than_begin_anew(tmp_path, monkeypatch):
    def train(pull):
        if pull.load() is None:
            assert pull.start == 0, "began anew"
        monkeypatch.setattr(Path, "write_bytes", full if pull.start == 0 and full_now else write)
        pull.save("state")
        return 1.0

    write, full_now = Path.write_bytes, []

    def full(path, data):
        raise OSError(28, "No space left on device")

    with ma.Study(chained.strategy(60), checkpoints=str(tmp_path)) as study:
        search(study, train, pulls=30)
        for arm in study.counts.arms:
            shutil.rmtree(study.checkpoint_of(arm))
        full_now.append(True)
        search(study, train)
        assert set(study.counts.reasons) == {"OSError: cannot train a lost state again: [Errno 28] No space left on device"}
