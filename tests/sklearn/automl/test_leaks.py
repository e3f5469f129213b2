"""Row numbers and identifiers that give the target away."""

import numpy as np
import pandas as pd
import pytest

from manyarms.errors import ManyarmsWarning
from manyarms.sklearn.automl.auto import AutoClassifier
from manyarms.sklearn.automl.column_kinds import kinds_of
from manyarms.sklearn.automl.leaks import find_leaks
from manyarms.sklearn.automl.targets import class_target, number_target

ROWS = 200
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=ROWS)
SORTED = np.repeat(["a", "b", "c", "d"], ROWS // 4)


def leaks_of(columns, target):
    table = pd.DataFrame(columns)
    found = find_leaks(table, list(table), kinds_of(table.set_axis(range(table.shape[1]), axis=1)), target)
    return [list(table)[place] for place in found]


@pytest.mark.parametrize(
    "columns",
    [
        {"row": np.arange(1, ROWS + 1)},
        {"anything": np.arange(ROWS)},
        {"customer_id": 1000 + 3 * np.arange(ROWS)},
        {"id": [f"c{i // 5:03}" for i in range(ROWS)]},  # repeated
    ],
)
def test_row_numbers_and_ids_that_give_the_target_away_are_leaks(columns):
    name = next(iter(columns))
    assert leaks_of(columns | {"x": NOISE}, class_target(SORTED)) == [name]
    assert leaks_of(columns | {"x": NOISE}, number_target(np.arange(ROWS) // 10 * 2.5)) == [name]


def test_row_numbers_are_tested_with_any_number_of_classes():
    rows = 5_000
    columns = {"row": np.arange(rows), "x": RNG.normal(size=rows)}
    assert leaks_of(columns, class_target(np.arange(rows) // 100)) == ["row"]
    assert leaks_of(columns, class_target(np.arange(rows) % 1_000)) == []


def test_row_numbers_that_say_nothing_about_the_target_stay():
    shuffled = RNG.permutation(SORTED)
    assert leaks_of({"id": np.arange(ROWS), "x": NOISE}, class_target(shuffled)) == []


def test_a_column_that_predicts_well_but_identifies_nothing_stays():
    assert leaks_of({"width": 1000 + 3 * np.arange(ROWS), "x": NOISE}, class_target(SORTED)) == []
    years = {"year": np.arange(1800, 1800 + ROWS), "x": NOISE}
    assert leaks_of(years, number_target(np.arange(ROWS) * 2.5)) == []


def test_the_only_useful_column_stays():
    assert leaks_of({"id": np.arange(ROWS), "constant": np.ones(ROWS)}, class_target(SORTED)) == []


def test_leaks_are_excluded_with_a_warning_unless_they_are_kept():
    table = pd.DataFrame({"id": np.arange(ROWS), "x": NOISE})
    options = {"budget": 2, "families": ["tree"], "random_state": 0}
    with pytest.warns(ManyarmsWarning, match="'id'.*numbers the rows.*exclude_leaks=False"):
        model = AutoClassifier(**options).fit(table, SORTED)
    assert list(model.excluded_) == ["id"] and list(model.columns_["kind"]) == ["nothing", "number"]
    assert model.ensemble_score_ < 0.6
    moved = table.assign(id=0)
    np.testing.assert_array_equal(model.predict(table), model.predict(moved))
    kept = AutoClassifier(**options, exclude_leaks=False).fit(table, SORTED)
    assert kept.ensemble_score_ > 0.9 and kept.excluded_ == {}
