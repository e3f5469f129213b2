"""A study has a directory of its own for its checkpoints, finds it again, and touches no other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import chained
import pytest
from commands import quick_directory

import manyarms as ma
from manyarms.checkpoints import OWNER, Owner, is_sound, size_of, slug
from manyarms.journal import MemoryJournal

pytestmark = pytest.mark.filterwarnings("ignore:.*mutants crowd out training:manyarms.ManyarmsWarning")


def study(storage, budget=40, **options):
    return ma.Study(chained.strategy(budget), storage=storage, **options)


def trained(storage, budget=40, **options):
    """The names of the checkpoints of a study that was run, and closed; and how many steps were trained again."""
    with study(storage, budget, **options) as running:
        running.optimize(chained.train, progress=False)
        return set(running._assignment.checkpoints.names()), running.counts.retrained


def models(root):
    """The names of all checkpoints below a directory."""
    return {path.name for path in Path(root).glob("*/arm-*")}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """The working directory."""
    with quick_directory() as directory:
        monkeypatch.chdir(directory)
        yield Path(directory)


def test_a_directory_that_the_function_replaced_by_a_link_is_not_saved_and_what_it_leads_to_is_not_changed():
    Path("fast").mkdir()
    Path("fast", "weights").write_text("mine")

    def linked(pull):
        place = pull.directory
        place.rmdir()
        place.symlink_to(Path("fast").absolute())
        return pull["x"]

    with pytest.warns(ma.ManyarmsWarning, match="could not save its state .*a link to one"):
        study = ma.tune(linked, ma.Space(x=ma.Float(0, 1)), budget=3, storage="one.db", seed=0, progress=False)
    assert study.counts.pulls == 3 and [path.name for path in Path("fast").iterdir()] == ["weights"]


# -- two of them


def test_studies_of_the_same_name_in_two_databases_keep_their_models_in_one_directory():
    first, _ = trained("one.db", checkpoints="models")
    second, _ = trained("two.db", checkpoints="models")
    assert len(first) > 10 and models("models") == first | second
    for storage in ("one.db", "two.db"):
        assert trained(storage, budget=60, checkpoints="models")[1] == 0  # nothing had to be trained again


def test_studies_in_memory_keep_their_models_in_one_directory():
    first, _ = trained(None, checkpoints="models")
    second, _ = trained(None, checkpoints="models")
    assert len(first) > 10 and models("models") == first | second


def test_the_directory_of_a_study_is_called_by_its_name_and_id_and_says_whose_it_is():
    with study("study.db", name="é digits/2", checkpoints="models") as running:
        running.optimize(chained.train, progress=False)
        place, id = running.checkpoint_of(0).parent, running.header["id"]
    assert place == Path("models").absolute() / f"digits-2-{id}"
    assert json.loads((place / OWNER).read_text()) == {"id": id, "name": "é digits/2", "storage": "../../study.db"}


def test_a_study_that_saves_nothing_leaves_no_directory():
    with study("study.db") as running:
        running.optimize(lambda pull: 0.5, progress=False)
        assert not list(Path().glob("*checkpoints*"))


def test_files_of_others_stay_and_so_does_a_directory_that_holds_some():
    trained("study.db", checkpoints="models")
    (place,) = Path("models").absolute().iterdir()
    for name in ("notes.txt", "arm-0-step-1", "best", "manyarms.json"):
        (place / name).write_text("mine")
    (place / "plots").mkdir()
    for path in place.glob("arm-*-step-*-*"):
        shutil.rmtree(path)
    trained("study.db", checkpoints="models")
    with ma.load_study("study.db") as view:
        assert view.checkpoint_of(0).parent == place
    assert {"notes.txt", "arm-0-step-1", "best", "manyarms.json", "plots"} <= {path.name for path in place.iterdir()}


def test_a_directory_of_another_study_is_refused():
    trained("study.db", checkpoints="models")
    (place,) = Path("models").iterdir()
    before = models("models")
    (place / OWNER).write_text(json.dumps({"id": "ab" * 8, "name": "other", "storage": None}))
    with pytest.raises(ma.StorageError, match="belongs to study 'other' with id 'abababababababab': pass .* checkpoints="):
        study("study.db", checkpoints="models")
    assert models("models") == before
    with study("study.db", checkpoints="elsewhere") as running:  # its lock was released
        assert running.counts.pulls > 0


def test_a_worker_saves_nothing_in_a_directory_that_another_study_has_taken():
    with study(None, checkpoints="models") as running:
        place = Path("models") / Owner("study", running.header["id"]).directory_name
        place.mkdir(parents=True)
        (place / OWNER).write_text(json.dumps({"id": "ab" * 8, "name": "other", "storage": None}))
        with pytest.warns(ma.ManyarmsWarning, match="could not save its state .*belongs to study 'other'"):
            running.optimize(lambda pull: pull.save("state") or 0.5, progress=False)
    assert [path.name for path in place.iterdir()] == [OWNER]


@pytest.mark.parametrize("change", ["", "[]", '{"id": 5}', None], ids=["empty", "no object", "no id", "missing"])
def test_an_owner_file_that_was_lost_is_written_again_and_nothing_else_is_lost(change):
    trained("study.db", checkpoints="models")
    (owner,) = Path("models").glob(f"*/{OWNER}")
    before, text = models("models"), owner.read_text()
    (owner.parent / "arm-9-step-9-00000000").mkdir()
    owner.unlink() if change is None else owner.write_text(change)
    study("study.db", checkpoints="models").close()
    assert owner.read_text() == text
    assert models("models") == before | {"arm-9-step-9-00000000"}  # whose it is was not known
    study("study.db", checkpoints="models").close()
    assert models("models") == before


# -- copies


def test_a_copied_database_gets_checkpoints_of_its_own_and_trains_again_what_it_needs():
    kept, _ = trained("study.db")
    shutil.copy("study.db", "copy.db")
    with study("copy.db", 80) as copy:
        copy.optimize(chained.train, progress=False)
        assert copy.counts.retrained > 0
        decided = chained.decisions("copy.db")
    assert models("study.db-checkpoints") == kept
    assert trained("study.db", 80)[1] == 0
    assert chained.decisions("study.db") == decided


def test_a_copied_database_may_not_use_the_directory_of_the_original():
    kept, _ = trained("study.db", checkpoints="models")
    shutil.copy("study.db", "copy.db")
    with pytest.raises(ma.StorageError, match=r"in '../../study.db', of which this is a copy: give .* moved here .* delete"):
        study("copy.db", checkpoints="models")
    assert models("models") == kept
    Path("study.db").unlink()
    assert trained("copy.db", 60, checkpoints="models")[1] == 0  # it was moved, rather than copied


def test_a_copied_folder_is_a_study_of_its_own():
    Path("one").mkdir()
    trained("one/study.db", checkpoints="one/models")
    shutil.copytree("one", "two")
    kept = models("one/models")
    assert trained("two/study.db", 60, checkpoints="two/models")[1] == 0
    assert models("one/models") == kept


# -- moves


@pytest.mark.parametrize("checkpoints", [None, "old/models"], ids=["beside", "given"])
def test_a_moved_folder_finds_its_models(checkpoints):
    Path("old").mkdir()
    trained("old/study.db", checkpoints=checkpoints)
    Path("old").rename("new")
    with ma.load_study("new/study.db") as view:
        place = view.checkpoint_of(view.best().id)
        assert is_sound(place) and place.is_relative_to(Path("new").absolute())
    moved = checkpoints and checkpoints.replace("old", "new")
    with study("new/study.db", 60, checkpoints=moved) as running:
        assert running.best_model()["steps"] == running.best_step
        running.optimize(chained.train, progress=False)
        assert running.counts.retrained == 0
    assert not Path("old").exists()


def test_a_moved_database_finds_the_models_that_stayed_where_they_were():
    trained("study.db", checkpoints="models")
    Path("elsewhere").mkdir()
    Path("study.db").rename("elsewhere/moved.db")
    assert trained("elsewhere/moved.db", 60, checkpoints="models")[1] == 0
    assert trained("elsewhere/moved.db", 80, checkpoints="models")[1] == 0


def test_a_renamed_database_finds_its_models():
    kept, _ = trained("study.db")
    Path("study.db").rename("renamed.db")
    with ma.load_study("renamed.db") as view:
        assert is_sound(view.checkpoint_of(view.best().id))
    assert trained("renamed.db", 60)[1] == 0
    assert not Path("renamed.db-checkpoints").exists() and len(models("study.db-checkpoints")) >= len(kept)


def test_a_study_resumed_without_saying_where_its_models_are_finds_them():
    trained("study.db", checkpoints="models")
    assert trained("study.db", 60)[1] == 0
    assert not Path("study.db-checkpoints").exists()


def test_models_that_were_put_elsewhere_are_found_by_the_study_that_says_where():
    trained("study.db")
    Path("study.db-checkpoints").rename("models")
    with study("study.db", checkpoints="models") as running:
        best = running.checkpoint_of(running.best().id)
        assert is_sound(best) and best.is_relative_to(Path("models").absolute())


def test_a_limit_may_be_given_without_a_directory():
    trained("study.db", checkpoints=ma.Checkpoints(max_bytes="1KB"))
    assert models("study.db-checkpoints")
    assert size_of(Path("study.db-checkpoints")) <= 1000
    trained(None, checkpoints=ma.Checkpoints(max_bytes="1KB"))
    assert {path.name for path in Path().iterdir() if not path.name.endswith(".lock")} == {"study.db", "study.db-checkpoints"}


def test_a_database_opened_through_a_link_is_the_same_study(here):
    kept, _ = trained("study.db")
    Path("links").mkdir()
    Path("links/link.db").symlink_to(here / "study.db")
    assert trained("links/link.db", 60)[1] == 0
    assert not Path("links/link.db-checkpoints").exists()
    assert len(models("study.db-checkpoints")) >= len(kept)


# -- studies that were made before they had ids


def old_journal():
    """A journal of the user's own, whose header has no id."""

    class Own(MemoryJournal):
        @property
        def header(self):
            header = super().header
            return header and {key: value for key, value in header.items() if key != "id"}

    return Own()


def test_journals_whose_headers_have_no_id_share_a_directory_and_touch_only_what_they_name():
    one, two = old_journal(), old_journal()
    first, _ = trained(one, checkpoints="models")
    (place,) = Path("models").iterdir()
    assert place.name == slug("study") and not (place / OWNER).exists()
    second, _ = trained(two, checkpoints="models")
    (place / "arm-9-step-9-00000000").mkdir()
    assert models("models") == first | second | {"arm-9-step-9-00000000"}
    third, retrained = trained(one, 60, checkpoints="models")
    assert retrained == 0 and models("models") == third | second | {"arm-9-step-9-00000000"}
