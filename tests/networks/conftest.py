"""Fixtures for the tests of networks."""

from __future__ import annotations

import pytest

from manyarms import networks

from .images import DATA, SPACE


@pytest.fixture(scope="module")
def classifier():
    return networks.image_classifier(*DATA, space=SPACE, epochs=2)
