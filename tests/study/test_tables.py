"""The tables of arms and pulls."""

from __future__ import annotations

import manyarms as ma

from .searches import height, search


def test_the_tables_have_their_promised_columns_even_when_empty():
    study = ma.Study(search())
    for _ in range(2):
        assert list(study.arms_dataframe())[:5] == ["arm", "parents", "steps", "reward", "status"]
        assert list(study.pulls_dataframe())[:6] == ["arm", "start", "stop", "reward", "status", "seconds"]
        study.optimize(height, progress=False)
    assert study.pulls_dataframe()["stop"].sub(study.pulls_dataframe()["start"]).sum() == study.tally.steps
    assert study.arms_dataframe()["config_x"].between(0, 1).all()
