"""The pull as the user's function sees it, and what is left when it is cut short."""

import copy
import json
import pickle
import shutil

import pytest

from manyarms.checkpoints.state import DamagedCheckpoint, SavedState
from manyarms.core import Arm, Pull
from manyarms.runners import RunningPull
from manyarms.runners.execute import execute
from manyarms.testing.runners import make_task


def saved(directory, function):
    """The checkpoint of a pull that runs this function."""
    task = make_task(directory, 0)
    assert execute(lambda pull: function(pull) or 1.0, task).checkpoint == task.final.name
    return task.final


def test_a_pull_reads_like_its_config(tmp_path):
    pull = RunningPull(Pull(Arm(3, {"lr": 0.1, "width": 5}), 2, 6), seed=7, staged=tmp_path)
    assert {**pull} == {"lr": 0.1, "width": 5} and len(pull) == 2 and "lr" in pull
    assert (pull.arm.id, pull.start, pull.stop, pull.steps, pull.seed) == (3, 2, 6, 4, 7)
    assert repr(pull) == "<pull of arm 3 from 2 to 6: {'lr': 0.1, 'width': 5}>"
    assert bool(RunningPull(Pull(Arm(0, {}), 0, 1), 0, tmp_path)), "also if the config is empty"


def test_the_arm_of_a_pull_is_an_arm_with_the_config_that_the_function_may_change(tmp_path):
    asked = Pull(Arm(3, {"lr": 0.1}, (1, 2)), 0, 1)
    pull = RunningPull(asked, 0, tmp_path)
    assert pull.arm == asked.arm and pull.arm.parents == (1, 2)
    pull.config["lr"] = 5
    assert pull.arm.config is pull.config and asked.config == {"lr": 0.1}


def test_a_pull_can_be_used_as_a_dict(tmp_path):
    config = {"lr": 0.1, "sizes": [1, 2]}
    pull = RunningPull(Pull(Arm(3, config), 2, 6), 0, tmp_path)
    assert pull == config and json.loads(json.dumps(pull)) == config and dict(pull) == config and list(pull) == ["lr", "sizes"]
    assert pull | {"lr": 1} == {"lr": 1, "sizes": [1, 2]} and pull.pop("lr") == 0.1 and pull.config == config
    for same in (copy.deepcopy(pull), pickle.loads(pickle.dumps(pull))):
        assert type(same) is dict and same == {"sizes": [1, 2]}
    with pytest.raises(KeyError, match="depth"):
        pull["depth"]


def test_a_config_that_is_not_a_mapping_is_an_attribute_of_the_pull(tmp_path):
    pull = RunningPull(Pull(Arm(3, "abc"), 2, 6), 0, tmp_path)
    assert pull.config == "abc" and list(pull) == ["a", "b", "c"] and len(pull) == 3 and pull[1] == "b"
    with pytest.raises(AttributeError, match="a pull has no attribute 'count'. Its config, a str, is pull.config"):
        pull.count("a")


def test_a_first_pull_has_nothing_to_load(tmp_path):
    pull = RunningPull(Pull(Arm(0, None), 0, 1), 0, tmp_path)
    assert pull.load() is None and pull.previous is None and pull.parent is None


def test_files_alone_are_no_object(tmp_path):
    place = saved(tmp_path, lambda pull: (pull.directory / "weights").touch())
    assert SavedState(place).load() is None
    assert (SavedState(place).directory / "weights").exists()


def test_bytes_are_saved_under_a_name_or_not_at_all_where_there_is_no_room(tmp_path):
    place = saved(tmp_path, lambda pull: pull.save_file("weights", b"1234"))
    assert (SavedState(place).directory / "weights").read_bytes() == b"1234" and SavedState(place).load() is None
    pull = RunningPull(Pull(Arm(0, None), 0, 1), 0, tmp_path / "staged", room=3)
    pull.save_file("weights", b"1234")
    assert pull.unsaved == "4 bytes, but max_bytes leaves 3" and pull.refused == 4 and not (tmp_path / "staged").exists()


def test_a_file_may_be_saved_in_a_directory_inside(tmp_path):
    place = saved(tmp_path, lambda pull: pull.save_file("weights/deep/layer.bin", b"1234"))
    assert (SavedState(place).directory / "weights" / "deep" / "layer.bin").read_bytes() == b"1234"


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "..", ".", "", "/manyarms-test/x", "nul\0", "manyarms.json", "./manyarms.json", "Manyarms.JSON"],
)
def test_a_file_cannot_be_saved_outside_nor_as_the_manifest(tmp_path, name):
    pull = RunningPull(Pull(Arm(0, None), 0, 1), 0, tmp_path / "staged")
    with pytest.raises(ValueError, match="^name must .* got ") as raised:
        pull.save_file(name, b"1234")
    assert repr(name) in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_the_name_of_a_file_must_be_text(tmp_path):
    with pytest.raises(TypeError, match="name must be text, got 5"):
        RunningPull(Pull(Arm(0, None), 0, 1), 0, tmp_path / "staged").save_file(5, b"1234")


def test_a_pull_that_leaves_a_link_is_rewarded_but_its_state_is_not_saved(tmp_path):
    def train(pull):
        pull.save("state")
        (pull.directory / "last").symlink_to("state.pickle")
        return 1.0

    outcome = execute(train, make_task(tmp_path, 0))
    assert outcome.reward == 1.0 and outcome.checkpoint is None
    assert outcome.unsaved == "'last' is not a regular file; links, pipes and devices cannot be saved"
    assert not list(tmp_path.iterdir())


def test_a_state_dropped_after_it_was_checked_is_not_taken_for_none(tmp_path):
    state = SavedState(saved(tmp_path, lambda pull: pull.save("model")))
    shutil.rmtree(state.directory)
    with pytest.raises(DamagedCheckpoint):
        state.load()


def test_a_state_that_grew_after_it_was_checked_is_not_read(tmp_path):
    state = SavedState(saved(tmp_path, lambda pull: pull.save("model")))
    with open(state.directory / "state.pickle", "ab") as file:
        file.truncate(2**40)  # a file with a hole, which takes no room on disk
    with pytest.raises(DamagedCheckpoint):
        state.load()


@pytest.mark.parametrize("name", ["state.pickle", "state.pt"])
def test_a_file_that_the_manifest_does_not_name_is_never_loaded(tmp_path, name):
    state = SavedState(saved(tmp_path, lambda pull: pull.save_file("weights", b"1234")))
    with open(state.directory / name, "wb") as file:
        file.truncate(2**40)
    assert not state.has_object and state.load() is None


def test_an_interrupt_gets_through_and_leaves_nothing(tmp_path):
    def train(pull):
        pull.save("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(train, make_task(tmp_path, 0))
    assert not list(tmp_path.iterdir())
