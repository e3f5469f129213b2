"""A cluster whose checkpoints are in an object store."""

import pytest
from s3_server import s3_server

import manyarms as ma

SPACE = ma.Space(x=ma.Float(0, 1))


@pytest.fixture
def bucket(monkeypatch):
    """A bucket that this process and those that it starts can reach."""
    fsspec = pytest.importorskip("fsspec")
    with s3_server() as url:
        options = {"key": "test", "secret": "test", "endpoint_url": url}
        fsspec.filesystem("s3", **options).mkdir("models")
        yield "s3://models/runs", options


def train(pull):
    steps = pull.load() or 0
    pull.save(steps + pull.steps)
    return pull["x"] + pull.stop


@pytest.mark.parametrize("engine", ["dask client", "ray"], indirect=True)
def test_a_cluster_saves_and_loads_models_in_an_object_store(bucket, engine):
    url, options = bucket
    study = ma.Study(
        ma.AdaptiveMutantUCB(SPACE, budget=20, max_steps=4, seed=0),
        checkpoints=ma.Checkpoints(url, storage_options=options),
    )
    with study:
        study.optimize(train, runner=engine(2), progress=False)
        assert study.counts.failures == study.counts.retrained == 0
        assert study.best_model() == study.best_step
