from __future__ import annotations

import pytest
from dashboards import client_of


@pytest.fixture
def storage(tmp_path):
    """A storage without a file yet."""
    return str(tmp_path / "study.db")


@pytest.fixture
def client(storage):
    """A client of the dashboard of the storage."""
    with client_of(storage) as client:
        yield client
