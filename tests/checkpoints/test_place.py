"""Studies whose checkpoints are in a directory, in memory, or on an S3 server: all of them do the same."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import chained
import pytest
from commands import called
from rechaining import rechain

import manyarms as ma
from manyarms.checkpoints import MANIFEST, OWNER, Owner, is_sound, objects
from manyarms.checkpoints.place import make_place
from manyarms.checkpoints.remote import location
from manyarms.checkpoints.uploads import uploads

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*mutants crowd out training:manyarms.ManyarmsWarning", "ignore:.*could not save its state:manyarms.ManyarmsWarning"
)

HALF = "arm-3-step-1-00000000"


def search(budget):
    return chained.strategy(budget, initial=6)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The working directory, and one for temporary files, in which nothing may be left."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("manyarms.checkpoints.scratch._own", None)
    yield tmp_path
    left = [path for path in (tmp_path / "temporary").glob("manyarms-*") if not path.name.startswith("manyarms-process-")]
    left += (tmp_path / "temporary").glob("manyarms-process-*/tmp*")
    uploads.clear()
    assert not left


@pytest.fixture(scope="module")
def undisturbed():
    """What a study decides that keeps its checkpoints in a temporary directory, by budget: "more" is 18, then 32."""
    found = {}
    for budget in (18, 32):
        with ma.Study(search(budget)) as study:
            study.optimize(chained.train, progress=False)
            found[budget] = [event.decision for event in study.journal.events()]
            if budget == 18:
                study.optimize(chained.train, budget=32, progress=False)
                found["more"] = [event.decision for event in study.journal.events()]
    return found


@pytest.fixture
def manyarms(capsys):
    return partial(called, capsys)


def study(root, budget=18, storage="study.db", max_bytes=None, **options):
    return ma.Study(search(budget), storage=storage, checkpoints=ma.Checkpoints(root.url, max_bytes=max_bytes), **options)


def trained(root, budget=18, storage="study.db", function=chained.train, **options):
    """Runs a study. Returns how many steps were trained again."""
    with study(root, budget, storage) as running:
        running.optimize(function, progress=False, **options)
        assert running.counts.failures == 0
        return running.counts.retrained


def home(root):
    """The directory of the only study there."""
    (found,) = {name.partition("/")[0] for name in root.sizes()}
    return found


# -- the same everywhere


def test_a_study_saves_loads_mutates_and_resumes(root, undisturbed):
    assert trained(root) == 0
    assert chained.decisions("study.db") == undisturbed[18]
    assert trained(root, 32) == 0
    assert chained.decisions("study.db") == undisturbed["more"]
    with ma.load_study("study.db") as view:
        needed = view.counts.needed()
        assert root.models() == root.entries() == needed and len(needed) > 5
        owner = json.loads(root.files()[f"{home(root)}/{OWNER}"])
        assert (owner["id"], owner["name"]) == (view.header["id"], "study")
        assert owner["storage"].endswith("study.db")


def test_the_best_model_is_loaded_by_a_study_that_says_nothing_about_where_it_is(root, manyarms):
    trained(root)
    with ma.Study(search(18), storage="study.db") as resumed:
        model, step = resumed.best_model(), resumed.best_step
        assert model["steps"] == step and chained.reward(model) == resumed.best_reward
        directory = resumed.checkpoint_of(resumed.best().id)
        assert is_sound(directory)
    with ma.load_study("study.db") as view:
        directory = view.checkpoint_of(view.best().id)
        assert sorted(path.name for path in directory.iterdir()) == [MANIFEST, "state.pickle"]
        assert view.checkpoint_of(view.best().id) == directory
        assert view.best_model() == model
    shown = manyarms("best", "study.db", "--json")
    assert shown.code == 0
    place = json.loads(shown.out)["checkpoint"]
    assert place == f"{root.url.removeprefix('file://')}/{home(root)}/{directory.name}"
    assert manyarms("verify", "study.db").code == 0


def test_what_a_killed_worker_left_is_counted_then_removed(root):
    trained(root)
    before = root.models()
    root.write(f"{home(root)}/{HALF}/state.pickle", b"half" * 100)
    with ma.load_study("study.db") as view:
        owner = Owner("study", view.header["id"], Path("study.db").absolute())
        checkpoints = ma.Checkpoints(root.url)
        checkpoints.open(owner, ())
        assert checkpoints.size(HALF) == 400 and HALF not in checkpoints
        assert checkpoints.used == sum(root.sizes().values()) - root.sizes()[f"{home(root)}/{OWNER}"]
    study(root).close()
    assert root.entries() == root.models() == before


@pytest.mark.parametrize("damage", ["changed", "longer", "missing", "no manifest", "other manifest"])
def test_a_corrupt_checkpoint_is_named_and_trained_again(root, damage, manyarms, undisturbed):
    trained(root)
    uploads.clear()
    for name in root.models():
        path, manifest = f"{home(root)}/{name}/state.pickle", f"{home(root)}/{name}/{MANIFEST}"
        if damage == "changed":
            root.write(path, bytes(root.sizes()[path]))
        elif damage == "longer":
            root.write(path, root.files()[path] + b"more")
        elif damage == "other manifest":
            root.write(manifest, b"[1, 2]")
        else:
            root.delete(path if damage == "missing" else manifest)
    told = manyarms("verify", "study.db")
    if damage == "no manifest":
        assert told.code == 0
    else:
        assert told.code == 1 and "the checkpoint of arm 0 is corrupt: " in told.err and home(root) in told.err
    assert trained(root, 32) > 0
    assert chained.decisions("study.db") == undisturbed["more"]


def test_a_lost_best_model_is_trained_again(root):
    trained(root)
    with study(root) as resumed:
        expected, best = resumed.best_model(), resumed.checkpoint_of(resumed.best().id).name
        root.delete(f"{home(root)}/{best}/state.pickle")
        with pytest.raises(ma.CheckpointLost, match="is lost"):
            resumed.best_model()
        assert resumed.best_model(chained.train) == expected


@pytest.mark.parametrize("limit", [700, 1])
def test_max_bytes_holds_after_every_pull(root, limit, undisturbed):
    sizes = []
    with study(root, 32, max_bytes=limit) as running:

        def look(study, outcome):
            sizes.append(sum(size for name, size in root.sizes().items() if not name.endswith(OWNER)))

        running.optimize(chained.train, callbacks=[look], progress=False)
        assert running.counts.failures == 0 and running.counts.retrained > 0
    assert max(sizes) <= limit
    assert limit == 1 or max(sizes) > 400
    assert chained.decisions("study.db") == undisturbed[32]


def test_gc_deletes_leftovers_then_all_but_the_best(root, manyarms):
    trained(root)
    needed = root.models()
    root.write(f"{home(root)}/{HALF}/state.pickle", b"half")
    assert "1 checkpoint would be deleted" in manyarms("gc", "study.db", "--dry-run").out
    assert root.entries() == needed | {HALF}
    assert "1 checkpoint deleted, freeing 4 of" in manyarms("gc", "study.db").out
    assert root.entries() == needed
    assert manyarms("gc", "study.db", "--best-only").code == 0
    with ma.load_study("study.db") as view:
        assert root.entries() == {view.checkpoint_of(view.best().id).name}
    assert trained(root, 32) > 0


def test_two_studies_share_a_place_and_touch_only_their_own(root, manyarms):
    trained(root, storage="one.db")
    first = root.files()
    trained(root, storage="two.db")
    assert root.files().items() > first.items()
    assert manyarms("gc", "two.db", "--best-only").code == 0
    assert root.files().items() >= first.items()
    assert trained(root, 32, storage="one.db") == 0
    assert trained(root, 32, storage="two.db") > 0


def test_files_with_odd_names_stay(root):
    trained(root)
    odd = (
        "notes.txt",
        "arm-0-step-1",
        "arm-0-step-1-0000000g/state",
        f"x{HALF}/state",
        f"{HALF}x/state",
        "a b/é [1] *.txt",
        "best/manyarms.json",
    )
    own = home(root)
    root.write(f"{own}/{HALF}/state", b"left over")
    names = {f"{above}{name}" for name in odd for above in (f"{own}/", "other-")}
    for name in names:
        root.write(name, b"mine")
    with study(root) as running:
        running._assignment.checkpoints.sweep(())
    assert root.sizes().keys() == names | {f"{own}/{OWNER}"}


@pytest.mark.parametrize(
    "name", ["../x", "..", "", ".", "/", "*", OWNER, f"{HALF}/../../x", f"../x/{HALF}", f"{HALF}/", "arm-*"]
)
def test_hostile_names_delete_nothing(root, name):
    root.write("x/thesis.tex", b"years of work")
    root.write(f"x/{HALF}/state", b"years of work")
    owner = Owner("study", "0123456789abcdef")
    root.write(f"{owner.directory_name}/{HALF}/state", b"mine")
    checkpoints = ma.Checkpoints(root.url)
    checkpoints.open(owner, [HALF, name])
    before = root.files()
    checkpoints.add(name, 1)
    checkpoints.drop([name])
    checkpoints._remove([name])
    assert root.files() == before
    place = location("directory", root.url) / owner.directory_name / name
    if not isinstance(place, Path):
        objects.remove([place, place.parent, location("directory", root.url), location("directory", root.url) / HALF])
    assert root.files() == before


# -- places at URLs


def change_header(storage="study.db", **entries):
    with closing(sqlite3.connect(storage)) as database, database:
        header = json.loads(database.execute("SELECT header FROM manyarms_studies").fetchone()[0]) | entries
        database.execute("UPDATE manyarms_studies SET header = ?", [json.dumps(header)])
    rechain(storage)


@pytest.mark.parametrize("where", ["root", "home", "id"])
def test_a_header_that_points_at_somebody_elses_place_leads_to_no_deletion_there(remote, manyarms, where):
    trained(remote, storage="ours.db")
    before, place = remote.files(), home(remote)
    with ma.Study(search(18), storage="study.db", checkpoints="models") as sent:
        sent.optimize(chained.train, progress=False)
    change_header(checkpoints=f"{remote.url}/{place}" if where != "root" else remote.url)
    if where == "id":
        with ma.load_study("ours.db") as ours:
            change_header(id=ours.header["id"])
        assert "of which this is a copy" in manyarms("gc", "study.db").err
    for line in ("best", "verify", "gc", "gc --best-only", "gc --max-bytes 1"):
        command, *options = line.split()
        manyarms(command, "study.db", *options)
    with ma.Study(search(32), storage="study.db") as resumed:
        resumed.optimize(chained.train, progress=False)
    assert remote.files() == before


def test_a_copied_database_may_not_use_the_place_of_the_original(remote):
    trained(remote)
    before = remote.files()
    Path("copy.db").write_bytes(Path("study.db").read_bytes())
    with pytest.raises(
        ma.StorageError, match=rf"of which this is a copy: .* moved here for good, delete '{remote.url}/.*json'"
    ):
        study(remote, storage="copy.db")
    assert remote.files() == before
    remote.delete(f"{home(remote)}/{OWNER}")
    assert trained(remote, 32, storage="copy.db") == 0


def test_a_bucket_that_is_full_costs_training_but_no_reward(memory, monkeypatch, undisturbed):
    from fsspec.implementations.memory import MemoryFileSystem

    written, original = [], MemoryFileSystem._open

    def full(self, path, mode="rb", **options):
        if mode == "wb" and "/arm-" in path:
            written.append(path)
            if len(written) % 3:  # some fail at once, some with the manifest
                raise OSError(errno.ENOSPC, "the bucket is full")
        return original(self, path, mode, **options)

    monkeypatch.setattr(MemoryFileSystem, "_open", full)
    with study(memory, 32) as running:
        with pytest.warns(
            ma.ManyarmsWarning, match=r"could not save its state \(memory://.* cannot be written: .*bucket is full"
        ):
            running.optimize(chained.train, progress=False)
        assert running.counts.failures == 0 and running.counts.retrained > 0
        assert chained.decisions("study.db") == undisturbed[32]
        assert memory.entries() == memory.models()


def test_a_study_may_save_files_in_directories_with_any_names(remote):
    names = ("weights/layer [1] *.bin", "weights/é?.bin", "empty", "weights/deep/er/x.bin")

    def train(pull):
        for name in names:
            path = (pull.previous or Path()) / name
            before = path.read_bytes() if pull.previous else b""
            pull.save_file(name, b"" if name == "empty" else before + name.encode())
        return 0.5

    with ma.Study(ma.MutantUCB(chained.SPACE, budget=20, max_steps=4, initial=4, seed=0), checkpoints=remote.url) as running:
        running.optimize(train, progress=False)
        assert running.counts.failures == 0 and running.counts.retrained == 0
        arm, record = next((id, record) for id, record in running.counts.arms.items() if record.steps == 4)
        directory = running.checkpoint_of(arm)
        steps = int(re.search("step-([0-9]+)", directory.name)[1])
        assert record.steps >= steps > 0
        for name in names:
            assert (directory / name).read_bytes() == (b"" if name == "empty" else name.encode() * steps)


def test_a_place_is_the_only_one_of_its_kind(memory):
    owner = Owner("study", "0123456789abcdef")
    place = make_place(location("directory", memory.url), owner)
    assert not place.open(()) and place.open(())
    with pytest.raises(ma.StorageError, match="belongs to study 'other'"):
        memory.write(f"{owner.directory_name}/{OWNER}", b'{"id": "other", "name": "other"}')
        place.open(())


# -- an S3 server


@pytest.mark.parametrize("workers", [1, 2])
def test_worker_processes_share_checkpoints_on_s3(s3, workers, undisturbed):
    assert trained(s3, workers=workers, deterministic=True, pull_timeout=600) == 0
    assert trained(s3, 32, workers=workers, deterministic=True, pull_timeout=600) == 0
    if workers == 1:
        assert chained.decisions("study.db") == undisturbed["more"]
    code = """
import chained
import manyarms as ma
with ma.Study(chained.strategy(32, initial=6), storage="study.db") as study:
    print(chained.reward(study.best_model()) == study.best_reward)
with ma.load_study("study.db") as view:
    print((view.checkpoint_of(view.best().id) / "state.pickle").exists())
"""
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert answer.stdout.split() == ["True", "True"], answer.stderr


def dies_between_files_and_manifest(pull):
    """Once: the worker that saves the second state of an arm is killed when its files are uploaded."""
    if pull.start and not os.path.exists("died"):
        Path("died").touch()
        upload_files = objects._each

        def dying(*arguments):
            upload_files(*arguments)
            os._exit(9)

        objects._each = dying
    return chained.train(pull)


def test_a_worker_killed_between_the_files_and_the_manifest_leaves_no_checkpoint(s3, undisturbed):
    with study(s3, 32) as running:
        running.optimize(dies_between_files_and_manifest, workers=2, deterministic=True, retries=1, progress=False)
        assert Path("died").exists() and running.counts.failures == 0
        assert s3.models() == s3.entries() == running.counts.needed()
        assert running.counts.retrained == 0


def test_a_bucket_that_does_not_exist_is_an_error_before_anything_is_stored(s3):
    url = f"{s3.url.replace('bucket-', 'no-bucket-')}"
    with pytest.raises(ma.StorageError, match=f"the checkpoints at {url}/study-.* cannot be written: .*bucket does not exist"):
        ma.Study(search(18), storage="study.db", checkpoints=url)
    with pytest.raises(ma.StudyNotFound):
        ma.load_study("study.db")
    trained(s3)  # the corrected place
    with ma.load_study("study.db") as view:
        assert is_sound(view.checkpoint_of(view.best().id))


def test_a_place_that_cannot_be_reached_is_an_error_and_not_a_new_place(s3, monkeypatch, manyarms):
    import fsspec.config
    import s3fs

    trained(s3)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    s3fs.S3FileSystem.clear_instance_cache()
    for checkpoints in (None, s3.url):
        with pytest.raises(ma.StorageError, match=f"the checkpoints at {s3.url}/study-.* cannot be reached: .*credentials"):
            ma.Study(search(32), storage="study.db", checkpoints=checkpoints)
    shown = manyarms("best", "study.db")
    assert shown.code == 0 and "cannot be reached" in shown.err and "checkpoint: None" in shown.out
    for command in ("gc", "verify"):
        answer = manyarms(command, "study.db")
        assert answer.code == 1 and "cannot be reached" in answer.err
    assert manyarms("status", "study.db").code == manyarms("arms", "study.db").code == 0
    assert not Path("study.db-checkpoints").exists()
    options = {"key": "testing", "secret": "a-secret-key", "endpoint_url": fsspec.config.conf["s3"]["endpoint_url"]}
    given = ma.Checkpoints(s3.url, storage_options=options)
    with ma.Study(search(32), storage="study.db", checkpoints=given) as running:
        running.optimize(chained.train, workers=2, deterministic=True, progress=False)
        assert running.counts.retrained == 0
        assert is_sound(running.checkpoint_of(running.best().id))
        assert running.best_model()["steps"] == running.best_step
    with ma.load_study("study.db", storage_options=options) as view:
        assert is_sound(view.checkpoint_of(view.best().id))
    assert b"a-secret-key" not in Path("study.db").read_bytes()


def test_the_command_line_runs_and_resumes_with_checkpoints_on_s3(s3, manyarms):
    Path("script.py").write_text(
        "import manyarms as ma\nspace = ma.Space(x=ma.Float(0, 1))\n"
        "def train(pull):\n    pull.save(pull.stop)\n    return pull['x'] * pull.stop\n"
    )
    run = ["run", "script.py:train", "--max-steps", "3", "--storage", "cli.db", "--seed", "0", "--checkpoints", s3.url]
    assert manyarms(*run, "--budget", "20").code == 0
    saved = s3.models()
    assert saved
    assert manyarms("resume", "cli.db", "--budget", "40").code == 0
    assert len(s3.models()) > len(saved) and not Path("s3:").exists()
    assert manyarms("verify", "cli.db").code == 0
    refused = manyarms(*run[:-1], "s3://key:hunter2@bucket", "--budget", "32")
    assert refused.code == 2 and "without a password" in refused.err and "hunter2" not in refused.err
    assert b"hunter2" not in Path("cli.db").read_bytes()
