"""Addresses of checkpoints: which URLs are accepted, and that nothing secret is shown or stored."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import manyarms as ma
from manyarms.checkpoints.location import absolute
from manyarms.checkpoints.remote import RemotePath, filesystem, location, shown_error, stored_location


@pytest.mark.parametrize(
    ("url", "below"),
    [
        ("s3://bucket", "s3://bucket/study/arm"),
        ("s3://bucket/", "s3://bucket/study/arm"),
        ("S3://bucket/a b/runs//", "s3://bucket/a b/runs/study/arm"),
        ("memory://", "memory://study/arm"),
        ("abfs://container@account.dfs.core.windows.net/runs", "abfs://container@account.dfs.core.windows.net/runs/study/arm"),
    ],
)
def test_directories_below_a_url_have_urls(url, below):
    place = location("directory", url) / "study" / "arm"
    assert str(place) == below
    assert place.name == "arm" and str(place.parent / "arm") == below
    assert str(stored_location(str(place))) == below


def test_a_url_of_a_file_is_a_path(tmp_path):
    assert location("directory", f"file://{tmp_path}/models") == tmp_path / "models"
    assert location("directory", tmp_path) == tmp_path
    assert absolute("models") == str(Path("models").absolute())
    assert absolute("s3://bucket/models/") == "s3://bucket/models"


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:hunter2@bucket/runs",
        "sftp://user:hunter2@host/runs",
        "https://user:hunter2@host@other/runs",
        "abfs://container/runs?sig=hunter2",
        "s3://bucket/runs#hunter2",
        "simplecache::s3://bucket/hunter2",
        "s3://bucket/hunter2::s3://bucket",
        "s3://bucket/hunter2*",
        "s3://bucket/hunter[2]",
        "s3://bucket/../hunter2",
        "s3://bucket/./hunter2",
        "s3://bucket//hunter2",
        "s3://bucket/hunter2\n",
        "://hunter2",
        "s3://",
        "file://",
    ],
)
def test_other_urls_are_refused_before_anything_is_stored_and_not_shown(url, tmp_path):
    for use in (
        lambda: ma.Checkpoints(url),
        lambda: ma.tune(lambda pull: 0.5, {"x": (0.0, 1.0)}, budget=3, storage=str(tmp_path / "study.db"), checkpoints=url),
    ):
        with pytest.raises(ValueError, match="must be a") as error:
            use()
        assert "hunter" not in str(error.value)
    assert not list(tmp_path.iterdir())
    assert stored_location(url) is None  # from a header of somebody else


def test_storage_options_must_be_a_dict_for_a_url_and_are_not_shown():
    for wrong in ("hunter2", {1: "hunter2"}):
        with pytest.raises(TypeError, match="storage_options must be a dict with names as keys") as error:
            ma.Checkpoints("s3://bucket", storage_options=wrong)
        assert "hunter" not in str(error.value)
    for directory in (None, "models"):
        with pytest.raises(ValueError, match="storage_options must be None unless directory is a URL"):
            ma.Checkpoints(directory, storage_options={})
    checkpoints = ma.Checkpoints("s3://bucket", storage_options={"secret": "hunter2"})
    assert "hunter2" not in repr(checkpoints) and "hunter2" not in repr(checkpoints.root)
    place = pickle.loads(pickle.dumps(checkpoints.root / "study"))
    assert place.options == {"secret": "hunter2"} and str(place) == "s3://bucket/study"


def test_errors_do_not_show_storage_options():
    place = RemotePath("s3://bucket", (), {"key": "AKIAEXAMPLE", "client": {"tokens": ["hunter2"]}, "url": "http://host"})
    error = OSError("AKIAEXAMPLE may not enter\nwith hunter2 at http://host")
    assert shown_error(error, place) == "*** may not enter with *** at http://host"


def test_a_header_that_names_a_host_leads_to_no_connection():
    for url in ("sftp://host/runs/study", "http://host/runs/study", "smb://host/runs/study"):
        with pytest.raises(ma.StorageError, match="names a host: if you trust it, pass this URL"):
            stored_location(url)
        assert str(stored_location(url, {})) == url


def test_an_unknown_protocol_is_a_clear_error():
    pytest.importorskip("fsspec")
    with pytest.raises(ma.StorageError, match="checkpoints at nothing://here cannot be used: Protocol not known: nothing"):
        filesystem(RemotePath("nothing://here"))


def test_a_missing_package_of_a_protocol_is_a_clear_error():
    pytest.importorskip("fsspec")
    code = """
import sys
sys.modules["s3fs"] = sys.modules["gcsfs"] = None  # importing them fails
import manyarms as ma
for place in ("s3://bucket", "gs://bucket"):
    try:
        ma.Study(ma.RandomSearch({"x": (0.0, 1.0)}, budget=3), checkpoints=place)
    except ImportError as error:
        print(error)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [
        'checkpoints at s3:// need another package: pip install "manyarms[s3]"',
        "checkpoints at gs:// need another package: Please install gcsfs to access Google Storage",
    ]


def test_without_fsspec_a_url_is_one_clear_error_and_a_path_works():
    code = """
import sys
sys.modules["fsspec"] = None  # importing it fails
import manyarms as ma, tempfile
def train(pull):
    pull.save(1)
    return 0.5
for place in ("memory://models", "s3://bucket", tempfile.mkdtemp()):
    try:
        ma.tune(train, {"x": (0.0, 1.0)}, budget=3, checkpoints=place, progress=False)
        print("works")
    except ImportError as error:
        print(error)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [
        'checkpoints at memory:// need fsspec: pip install "manyarms[fsspec]"',
        'checkpoints at s3:// need fsspec: pip install "manyarms[s3]"',
        "works",
    ]
