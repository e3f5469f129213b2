"""From a table of anything to numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from manyarms.sklearn.automl import prepare
from manyarms.sklearn.automl.conversions import column_formats, date_parts, texts_of, words_of
from manyarms.sklearn.automl.prepare import Prepare

RNG = np.random.default_rng(0)
N = 120
TABLE = pd.DataFrame(
    {
        "number": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
        "infinite": np.where(RNG.random(N) < 0.1, np.inf, RNG.lognormal(size=N)),
        "few": RNG.choice(["red", "green", "blue"], N),
        "many": [f"town {i}" for i in RNG.integers(40, size=N)],
        "when": pd.date_range("2024-01-01", periods=N).astype(str),
        "text": [" ".join(RNG.choice(["alpha", "beta", "gamma", "delta"], 6)) + f" {i}" for i in range(N)],
        "empty": [None] * N,
        "constant": ["x"] * N,
        "row": [f"id{i}" for i in range(N)],
    }
)
Y = (TABLE["few"] == "red").astype(int).to_numpy()


@pytest.mark.parametrize("scale", [None, "standard", "quantile"])
@pytest.mark.parametrize("fill", [True, False])
def test_any_table_becomes_numbers(scale, fill):
    prepare = Prepare(scale, fill, random_state=0)
    rows = prepare.fit_transform(TABLE, Y)
    assert prepare.kinds_ == ["number", "number", "category", "many categories", "date", "text", *["nothing"] * 3]
    assert rows.shape == prepare.transform(TABLE).shape == (N, len(prepare.get_feature_names_out()))
    assert np.isfinite(rows).all() == fill
    assert not np.isinf(rows).any()


def test_unknown_categories_odd_values_and_gaps_in_new_rows_are_numbers_too():
    prepare = Prepare(random_state=0).fit(TABLE, Y)
    odd = TABLE.head(3).copy()
    odd["few"], odd["many"], odd["number"] = ["violet", None, "red"], [None, "nowhere", "town 1"], ["text", np.inf, 1e300]
    odd["when"], odd["text"] = ["never", None, "2024-01-01"], [None, "", "alpha"]
    assert np.isfinite(prepare.transform(odd)).all()


def test_averages_of_the_target_are_not_of_the_row_itself():
    towns = pd.DataFrame({"town": [f"town {i // 2}" for i in range(200)]})
    noise = np.random.default_rng(0).integers(2, size=200)
    trained = Prepare(random_state=0).fit_transform(towns, noise)[:, 0]
    assert abs(np.corrcoef(trained, noise)[0, 1]) < 0.5  # with its own label it would be 0.7


@pytest.mark.parametrize("target", [np.arange(200) % 90, (np.arange(200) % 90).astype(float), np.arange(200) % 2 == 0])
def test_whole_numbers_are_averaged_where_the_target_is_a_number(target):
    codes = pd.DataFrame({"code": [f"c{i % 40}" for i in range(200)]})
    rows = Prepare(target_type="continuous", random_state=0).fit_transform(codes, target)
    assert rows.shape == (200, 1)
    assert Prepare(random_state=0).fit_transform(codes, target.astype(float)).shape == (200, 1)


@pytest.mark.parametrize(("classes", "columns"), [(2, 1), (3, 3), (60, 40)])
def test_many_categories_are_never_a_column_for_each_of_many_classes(classes, columns):
    codes = pd.DataFrame({"code": [f"c{i % 40}" for i in range(600)]})
    assert Prepare(random_state=0).fit_transform(codes, np.arange(600) % classes).shape == (600, columns)


def test_a_table_without_useful_columns_is_refused():
    with pytest.raises(ValueError, match="None of the 3 columns can be used"):
        Prepare().fit(TABLE[["empty", "constant", "row"]])
    with pytest.raises(ValueError, match="X must have the 9 columns it was fitted with, got 2"):
        Prepare().fit(TABLE, Y).transform(TABLE.iloc[:, :2])


def test_numbers_are_read_in_all_folds_as_in_the_whole_column():
    table = pd.DataFrame({"price": ["12,5", "13,75", "1.815,5"]})
    prepare = Prepare(kinds=["number"], fill=False, formats=column_formats(table, [0]))
    assert prepare.fit(table.iloc[:2]).transform(table).tolist() == [[12.5], [13.75], [1815.5]]


def test_it_is_cloned_and_seeded_like_any_transformer():
    one, two = (clone(Prepare("standard", random_state=3)).fit_transform(TABLE, Y) for _ in range(2))
    assert np.array_equal(one, two)


def test_equal_numbers_are_one_category_and_missing_is_another():
    assert words_of(pd.Series([1, 1.0, "1", None, "a"], dtype=object)).tolist() == ["1", "1", "1", "(missing)", "a"]


def test_parts_of_dates_and_gaps_in_them():
    parts = date_parts(pd.Series(["1970-01-02 06:00", None, "2024-02-29"]))
    assert parts[0].tolist() == [1.25, 1970, 1, 2, 4, 6]
    assert np.isnan(parts[1]).all()
    assert parts[2, 1:].tolist() == [2024, 2, 29, 3, 0]


@pytest.mark.parametrize("text", ["Feb", "0001-02-01", "9999-12-31", "1-02-01", "2-10", "13:45"])
def test_no_text_is_too_far_from_a_date_to_be_read_as_one(text):
    parts = date_parts(pd.Series([text, "2024-02-29"]))
    assert parts.shape == (2, 6) and parts[1, 1] == 2024


def test_a_column_that_cannot_be_converted_is_treated_as_categories_or_dropped(monkeypatch):
    def fail(*arguments):
        raise ValueError("empty vocabulary")

    whole = Prepare(random_state=0).fit(TABLE, Y)
    monkeypatch.setattr(prepare._Topics, "fit", fail)
    without_topics = Prepare(random_state=0)
    rows = without_topics.fit_transform(TABLE, Y)
    assert without_topics.demoted_ == {5: ("text", "many categories")} and whole.demoted_ == {}
    assert np.isfinite(without_topics.transform(TABLE)).all() and len(rows) == N
    monkeypatch.setattr(prepare, "words_of", fail)
    numbers_alone = Prepare(random_state=0)
    assert np.isfinite(numbers_alone.fit_transform(TABLE, Y)).all()
    assert {kind for _, kind in numbers_alone.demoted_.values()} == {"nothing"}


def test_kinds_that_are_given_are_not_looked_for_again(monkeypatch):
    kinds = Prepare().fit(TABLE, Y).kinds_
    monkeypatch.setattr(prepare, "kinds_of", None)
    assert Prepare(kinds=kinds).fit(TABLE, Y).kinds_ == kinds


def test_only_the_beginning_of_a_very_long_text_counts():
    long = pd.DataFrame({"text": [f"word{i} and more {'x' * 50_000}" for i in range(30)], "n": range(30)})
    assert max(map(len, texts_of(long["text"]))) == 10_000
    assert Prepare(random_state=0).fit_transform(long).shape[0] == 30


def test_a_single_date_is_read_in_the_order_of_day_and_month_that_was_learned():
    days = pd.date_range("2024-01-01", periods=100)
    prepare = Prepare().fit(pd.DataFrame({"day": days.strftime("%d/%m/%Y")}))
    found = prepare.transform(pd.DataFrame({"day": ["05/03/2024"]}))
    np.testing.assert_array_equal(
        found, Prepare().fit(pd.DataFrame({"day": days})).transform(pd.DataFrame({"day": days[64:65]}))
    )
