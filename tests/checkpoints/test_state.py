"""States made of tensors: saved and loaded without a pickle that runs code; all others as before."""

from __future__ import annotations

import os
import pickle
import sys
from collections import OrderedDict

import numpy as np
import pytest

import manyarms as ma
from manyarms.checkpoints import MANIFEST, commit
from manyarms.checkpoints.state import DamagedCheckpoint, SavedState
from manyarms.core import Arm, Pull
from manyarms.runners import RunningPull
from manyarms.runners.execute import execute
from manyarms.study.verify import audit
from manyarms.testing.runners import make_task

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::manyarms.ManyarmsWarning")  # small studies are not good ones


def saved(directory, *states):
    """The checkpoint of a pull that saves these one after the other."""
    task = make_task(directory, 0)
    assert execute(lambda pull: [pull.save(state) for state in states] and 1.0, task).checkpoint == task.final.name
    return task.final


def files(place):
    return {path.name for path in place.iterdir()} - {MANIFEST}


def same(one, two):
    """Whether two states are equal, types and what is attached included."""
    if type(one) is not type(two):
        return False
    if isinstance(one, torch.Tensor):
        return torch.equal(one, two) and one.requires_grad == two.requires_grad and same(vars(one), vars(two))
    if isinstance(one, dict):
        return list(one) == list(two) and same([*one.values()], [*two.values()]) and attached(one) == attached(two)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    return one == two


def attached(state):
    return getattr(state, "__dict__", None)


def module():
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def optimiser():
    """One that has made a step."""
    trained = module()
    made = torch.optim.Adam(trained.parameters())
    trained(torch.rand(4, 2)).sum().backward()
    made.step()
    return made


def noted(note):
    """A tensor with something attached."""
    tensor = torch.ones(2)
    tensor.note = note
    return tensor


def ordered(note):
    """An ordered dict with something attached, as state dicts have."""
    state = OrderedDict(w=torch.ones(2))
    state.note = note
    return state


class Named(dict):
    """A dict, but not quite."""


class Mark:
    """An object, of which all are equal."""

    def __eq__(self, other):
        return isinstance(other, Mark)

    __hash__ = None


class Payload:
    """What a pickle can do to who loads it."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


TENSORS = {
    "a tensor": lambda: torch.arange(3),
    "a parameter": lambda: [torch.nn.Parameter(torch.rand(2))],
    "a module": lambda: module().state_dict(),
    "an optimiser": lambda: optimiser().state_dict(),
    "half precision": lambda: (torch.ones(2, dtype=torch.bfloat16),),
    "plain values beside": lambda: {"w": torch.zeros(3), 1: [None, True, 2**70, 0.5, 1j, "é", b"\xff", {1, 2}, (), ("a", 1)]},
    "plain values attached": lambda: [noted("a"), ordered({"version": 1})],
}

OTHERS = {
    "no tensor": lambda: {"steps": 3},
    "an array of NumPy's beside": lambda: {"w": torch.zeros(3), "score": np.float64(0.5)},
    "an object beside": lambda: (torch.zeros(3), Mark()),
    "a dict of another class": lambda: Named(w=torch.zeros(3)),
    "an object attached to a tensor": lambda: noted(Mark()),
    "an object attached to a dict": lambda: ordered(Mark()),
    "what PyTorch cannot read back": lambda: [torch.zeros(3), b""],
    "too large a number": lambda: [torch.zeros(3), 2**3000],
}


@pytest.mark.parametrize("make", TENSORS.values(), ids=TENSORS)
def test_tensors_and_plain_values_are_saved_without_a_pickle_and_come_back(tmp_path, monkeypatch, make):
    state = make()
    place = saved(tmp_path, state)
    monkeypatch.setattr(pickle, "loads", None)
    assert files(place) == {"state.pt"} and same(SavedState(place).load(), state)


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_any_other_state_is_pickled_and_comes_back(tmp_path, make):
    state = make()
    with torch.serialization.safe_globals([Mark]):  # which another process need not do
        place = saved(tmp_path, state)
    assert files(place) == {"state.pickle"} and same(SavedState(place).load(), state)


def test_a_whole_module_is_pickled(tmp_path):
    model = module()
    place = saved(tmp_path, model)
    assert files(place) == {"state.pickle"} and same(SavedState(place).load().state_dict(), model.state_dict())


def test_a_state_that_holds_itself_is_saved(tmp_path):
    state = [torch.ones(2)]
    state.append(state)
    again = SavedState(saved(tmp_path, state)).load()
    assert same(again[0], state[0]) and again[1] is again


def test_tensors_that_share_their_numbers_go_on_doing_so(tmp_path):
    weight = torch.zeros(3)
    again = SavedState(saved(tmp_path, {"a": weight, "b": weight[1:]})).load()
    again["a"][1] = 5
    assert again["b"].tolist() == [5, 0]


def large():
    """Four million bytes."""
    return torch.arange(1e6).reshape(1000, 1000)


SLICES = {
    "a row": lambda: large()[3],
    "a column": lambda: {"column": large()[:, 3]},
    "rows in lists and dicts": lambda: OrderedDict(rows=[(large()[0], {1: large()[1]}), [large()[999]]], steps=3),
    "part of what is learnt": lambda: large().requires_grad_()[:5],
    "beside whole tensors": lambda: [large()[3], torch.ones(4), torch.zeros(0)],
}


@pytest.mark.parametrize("make", SLICES.values(), ids=SLICES)
def test_slices_are_saved_without_what_they_were_cut_from(tmp_path, make):
    state = make()
    place = saved(tmp_path, state)
    assert files(place) == {"state.pt"} and same(SavedState(place).load(), state)
    assert (place / "state.pt").stat().st_size < 50_000


def test_saving_a_slice_does_not_change_it(tmp_path):
    whole = large()
    row = whole[3]
    state = {"row": row}
    saved(tmp_path, state)
    assert state["row"] is row and row.data_ptr() == whole[3].data_ptr()


def test_slices_that_share_their_numbers_go_on_doing_so(tmp_path):
    whole = large()
    again = SavedState(saved(tmp_path, [whole[3], whole[3, 1:]])).load()
    again[0][1] = 5
    assert again[1][0] == 5


def test_a_slice_in_a_state_that_holds_itself_or_with_something_attached_is_saved(tmp_path):
    state = [large()[3]]
    state.append(state)
    again = SavedState(saved(tmp_path / "itself", state)).load()
    assert same(again[0], state[0]) and again[1] is again
    row = torch.arange(6).reshape(2, 3)[1]
    row.note = "second"
    assert same(SavedState(saved(tmp_path / "attached", row)).load(), row)


@pytest.mark.parametrize("last", ["tensors", "other"])
def test_of_two_states_of_a_pull_the_last_is_kept(tmp_path, last):
    states = [torch.ones(2), "other"] if last == "other" else ["other", torch.ones(2)]
    place = saved(tmp_path, *states)
    assert len(files(place)) == 1 and same(SavedState(place).load(), states[1])


def test_a_file_of_ones_own_is_left_alone_beside_an_object(tmp_path):
    def train(pull):
        (pull.directory / "state.pt").write_bytes(b"mine")
        pull.save("first")
        pull.save("object")
        return 1.0

    task = make_task(tmp_path, 0)
    execute(train, task)
    assert (task.final / "state.pt").read_bytes() == b"mine" and SavedState(task.final).load() == "object"


def test_tensors_that_would_run_code_are_refused_and_not_run(tmp_path):
    staged, harm = tmp_path / "a.part", tmp_path / "harm"
    staged.mkdir()
    torch.save({"w": torch.zeros(3), "more": Payload(harm)}, staged / "state.pt")
    commit(staged, tmp_path / "a")
    with pytest.raises(pickle.UnpicklingError):
        SavedState(tmp_path / "a").load()
    assert not harm.exists()


def test_tensors_keep_to_their_room(tmp_path):
    pull = RunningPull(Pull(Arm(0, None), 0, 1), 0, tmp_path / "staged", room=1000)
    pull.save(torch.zeros(1000))
    assert pull.unsaved.endswith("bytes, but max_bytes leaves 1000") and pull.refused > 4000
    assert not (tmp_path / "staged").exists()


def test_damaged_tensors_are_not_loaded(tmp_path):
    place = saved(tmp_path, torch.zeros(3))
    (place / "state.pt").write_bytes(bytes((place / "state.pt").stat().st_size))
    with pytest.raises(DamagedCheckpoint):
        SavedState(place).load()


def test_loading_tensors_without_pytorch_says_what_to_install(tmp_path, monkeypatch):
    place = saved(tmp_path, torch.zeros(3))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'loading a state with tensors needs PyTorch: pip install "manyarms\[torch\]"'):
        SavedState(place).load()


def test_pytorch_is_not_imported_for_other_states(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    assert SavedState(saved(tmp_path, {"steps": 3})).load() == {"steps": 3}
    assert "torch" not in sys.modules


def descend(pull):
    """Each pull adds to what its arm, or the parent of its arm, saved."""
    state = pull.load() or (pull.parent.load() if pull.parent is not None else {"w": torch.zeros(2), "pulls": 0})
    state = {"w": state["w"] + pull["x"], "pulls": state["pulls"] + 1}
    pull.save(state)
    return float(state["w"].sum()) / state["pulls"] / 2


def test_a_study_goes_on_from_tensors_and_trains_them_again_when_lost(tmp_path):
    def opened():
        strategy = ma.MutantUCB(ma.Space(x=ma.Float(0, 1)), budget=24, max_steps=3, initial=4, seed=0)
        return ma.Study(strategy, storage=tmp_path / "study.db")

    with opened() as study:
        study.optimize(descend, progress=False)
        assert not study.counts.failures and any(record.inherited for record in study.counts.arms.values())
    with opened() as study:  # in a process that has not run the function, as far as the study knows
        model, place = study.best_model(), study.checkpoint_of(study.best().id)
        assert files(place) == {"state.pt"} and float(model["w"].sum()) / model["pulls"] / 2 == study.best_reward
        os.truncate(place / "state.pt", 10)
        assert any("corrupt" in wrong for wrong in audit(study.journal))
        assert same(study.best_model(descend), model)
