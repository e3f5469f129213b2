"""What the tests of networks share."""

from __future__ import annotations

import pytest

from manyarms import networks

from .images import DATA, SPACE


@pytest.fixture(scope="module")
def classifier():
    return networks.image_classifier(*DATA, space=SPACE, epochs=2)
