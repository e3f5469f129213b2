"""Places for checkpoints: a directory, and URLs of the memory, of files and of an S3 server on this machine."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pytest
from s3_server import s3_server


@dataclass
class Root:
    """Where the checkpoints of some studies are, and how a test sees and changes what is there."""

    url: str

    @property
    def _located(self):
        from fsspec.core import url_to_fs

        fs, base = url_to_fs(self.url)
        fs.invalidate_cache()
        return fs, base

    def files(self) -> dict[str, bytes]:
        """The content of all files, by name."""
        fs, base = self._located
        return {path.removeprefix(f"{base}/"): fs.cat_file(path) for path in fs.find(base)}

    def sizes(self) -> dict[str, int]:
        fs, base = self._located
        return {path.removeprefix(f"{base}/"): info["size"] for path, info in fs.find(base, detail=True).items()}

    def models(self) -> set[str]:
        """The names of the complete checkpoints."""
        return {name.split("/")[-2] for name in self.sizes() if name.endswith("/manyarms.json")}

    def entries(self) -> set[str]:
        """The names of everything that begins like a checkpoint."""
        return {part for name in self.sizes() for part in name.split("/")[1:2] if part.startswith("arm-")}

    def write(self, name: str, data: bytes) -> None:
        fs, base = self._located
        if self.url.startswith(("file:", "/")):
            fs.makedirs(f"{base}/{name}".rpartition("/")[0], exist_ok=True)
        fs.pipe_file(f"{base}/{name}", data)

    def delete(self, name: str) -> None:
        fs, base = self._located
        fs.rm_file(f"{base}/{name}")


@pytest.fixture(scope="session")
def s3_url():
    pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    with s3_server() as url:
        yield url


@pytest.fixture
def s3(s3_url, monkeypatch):
    """An empty prefix of a bucket, with credentials in the environment as users have them."""
    import fsspec.config
    import s3fs

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-key")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("FSSPEC_S3_ENDPOINT_URL", s3_url)  # for other processes
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": s3_url})  # for this one, which has read the environment
    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"bucket-{uuid.uuid4().hex[:8]}"
    s3fs.S3FileSystem().mkdir(bucket)
    yield Root(f"s3://{bucket}/some/runs")
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def memory():
    """An empty directory of the file system in memory."""
    fsspec = pytest.importorskip("fsspec")
    name = uuid.uuid4().hex
    yield Root(f"memory://{name}")
    fs = fsspec.filesystem("memory")
    if fs.exists(f"/{name}"):
        fs.rm(f"/{name}", recursive=True)


@pytest.fixture(params=["directory", "file", "memory", "s3"])
def root(request, tmp_path):
    """A place for checkpoints, one of each kind."""
    if request.param in ("memory", "s3"):
        return request.getfixturevalue(request.param)
    pytest.importorskip("fsspec")
    (tmp_path / "models").mkdir()
    return Root(f"{'file://' if request.param == 'file' else ''}{tmp_path}/models")


@pytest.fixture(params=["memory", "s3"])
def remote(request):
    """A place at a URL."""
    return request.getfixturevalue(request.param)
