"""The runners for several machines keep the contract of runners."""

import pytest

from manyarms.testing import RUNNER_CHECKS


@pytest.mark.parametrize("check", RUNNER_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("engine", ["dask client", "ray", "loky"], indirect=True)
def test_a_runner_of_an_engine_keeps_the_contract(engine, check):
    check(engine, 2)
