"""The report is one page that needs nothing else, and shows names as they are."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count

import numpy as np
import pandas as pd
import pytest

from manyarms.tables import Facts
from manyarms.tables.report import Findings, charts, columns_frame, report_page, unused_columns
from manyarms.tables.report.importance import column_importance, missing_note

NASTY = "<script>alert('x')</script>&amp;\"\n</script><!--"

FACTS = Facts(
    task="classification",
    target="y",
    columns={"a": "number", NASTY: "text"},
    dtypes={"a": "int64", NASTY: "str"},
    target_kind="text",
    classes=["no", "yes", NASTY],
    scoring="accuracy",
    scores={"held out": 0.875, "search": 0.9123456},
    rows={"trained on": 100, "held out": 8},
    members=[{"family": "tree", "weight": 1.0, "arm": 1}],
    versions={"numpy": "2.0"},
    python="3.11",
    command="manyarms fit t.csv --target y",
    settings={"seed": 0},
)


def findings(**changes):
    pulls = pd.DataFrame(
        {
            "arm": [0, 1, 1, 2],
            "start": [0, 0, 1, 0],
            "stop": [1, 1, 2, 1],
            "reward": [0.5, 0.7, 0.9, None],
            "status": ["told", "told", "told", "failed"],
            "seconds": [1.0, 2.0, 3.0, 0.5],
            "family": ["linear", "tree", "tree", NASTY],
        }
    )
    board = pd.DataFrame(
        {
            "rank": [1, 2],
            "family": ["tree", NASTY],
            "score": [0.9, 0.5],
            "std": [0.01, 0.02],
            "steps": [2, 1],
            "max_steps": [8, 8],
            "seconds": [5.0, 1.0],
            "arm": [1, 0],
            "weight": [1.0, 0.0],
            "config": [{"model__depth": 3}, {"model__C": 0.123456}],
        }
    )
    columns = pd.DataFrame({"column": ["a", NASTY], "type": ["int64", "str"], "kind": ["number", "category"]})
    held_out = pd.DataFrame({"actual": ["no", "yes", NASTY, "no"], "predicted": ["no", "no", NASTY, "no"]})
    importance = pd.DataFrame({"mean": [0.2, 0.1], "std": [0.02, float("nan")]}, index=[NASTY, "a"])
    chances = np.array([[0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.2, 0.2]])
    evaluated = {"probabilities": chances, "constant": np.array([0.9, 0.05, 0.05]), "excluded": {NASTY: f"a leak {NASTY}"}}
    whole = Findings(NASTY, FACTS, board, pulls, columns, held_out, importance, [f"a note on {NASTY}"], **evaluated)
    return replace(whole, **changes)


class Parts(HTMLParser):
    """The elements of a page, and what its scripts say."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.ids, self.text, self.scripts, self._inside = [], [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        (self.scripts if self._inside == "script" else self.text).append(data)


def test_names_are_shown_as_they_are_and_never_run():
    parts = Parts(report_page(findings()))
    assert sum(id.startswith("chart-") for id in parts.ids) == 6
    assert len([tag for tag, _ in parts.tags if tag == "script"]) == 1  # and none that a name smuggled in
    shown = "".join(parts.text)
    assert shown.count(NASTY) >= 5
    assert "alert" not in "".join(parts.scripts)
    assert len(parts.ids) == len(set(parts.ids))


def test_the_page_needs_no_network_and_is_small():
    page = report_page(findings())
    parts = Parts(page)
    links = [value for _, attributes in parts.tags for name, value in attributes.items() if name in ("src", "href")]
    assert all(link.startswith("#") for link in links)
    assert "@import" not in page and "url(" not in page and "default-src 'none'" in page
    assert len(page) < 100_000


def test_the_page_shows_the_results():
    parts = Parts(report_page(findings()))
    shown = " ".join("".join(parts.text).split())
    for words in (
        "Classification: y (3 classes) from 2 columns, scored by accuracy.",
        "0.875", "0.9123", "depth=3", "C=0.1235", "2 of 8", "100%", "1 pull failed", "manyarms fit t.csv --target y", "2.0",
    ):  # fmt: skip
        assert words in shown
    heads = ["scores", "held-out", "curves", "importance", "ensemble", "leaderboard", "search", "columns", "notes", "settings"]
    assert [id for id in parts.ids if f"{id}-title" in parts.ids] == heads


def test_sections_without_content_are_left_out_or_explained():
    page = report_page(findings(held_out=None, importance=None, notes=()))
    assert not {"held-out", "importance", "notes"} & set(Parts(page).ids)
    page = report_page(findings(importance=None))
    assert "importance" in Parts(page).ids and "Not measured: there was no time left" in page


def test_numbers_are_drawn_against_what_was_predicted():
    facts = replace(FACTS, task="regression", classes=None, scoring="r2")
    held_out = pd.DataFrame({"actual": np.arange(6000.0), "predicted": np.arange(6000.0) + 1})
    page = report_page(findings(facts=facts, held_out=held_out, probabilities=None, constant=3000.0))
    assert {"chart-predicted-against-actual", "chart-residuals", "chart-errors"} <= set(Parts(page).ids)
    assert 'class="matrix"' not in page and "RMSE" in page and "median error" in page
    assert page.count("<circle") < 6_200  # samples of the points
    assert len(page) < 1_000_000


def shown_by(page):
    return " ".join("".join(Parts(page).text).split())


def two_classes(rows, share, seed=0):
    """Findings on two classes, one of them with this share."""
    rng = np.random.default_rng(seed)
    actual = np.where(np.arange(rows) < share * rows, "yes", "no")
    chance = np.clip(0.4 * (actual == "yes") + rng.uniform(0.0, 0.6, rows), 0, 1)
    held_out = pd.DataFrame({"actual": actual, "predicted": np.where(chance > 0.5, "yes", "no")})
    facts = replace(FACTS, classes=["no", "yes"], scores={"held out": 0.9, "search": 0.9, "baseline": 1 - share})
    probabilities = np.column_stack([1 - chance, chance])
    constant = np.array([1 - share, share])
    return findings(facts=facts, held_out=held_out, probabilities=probabilities, constant=constant)


def test_a_hint_says_when_accuracy_misleads():
    page = report_page(two_classes(500, 0.03))
    assert 'class="hint"' in page
    assert "Accuracy is misleading here: 97% of the rows are 'no'" in shown_by(page)
    assert 'class="hint"' not in report_page(two_classes(500, 0.5))


def test_the_hint_on_accuracy_names_scores_that_fit_any_classes():
    assert "search to balanced_accuracy or roc_auc." in shown_by(report_page(two_classes(500, 0.03)))


def test_the_leaderboard_has_no_deviation_over_a_single_validation_set():
    board = findings().leaderboard
    assert ">std</th>" in report_page(findings())
    page = report_page(findings(leaderboard=board.assign(std=0.0)))
    assert ">std</th>" not in page and "deviation over the folds" not in page
    assert ">nan<" not in report_page(findings(leaderboard=board.assign(std=[float("nan"), 0.1])))


def test_two_classes_have_curves_and_thresholds():
    page = report_page(two_classes(500, 0.3))
    assert {"chart-roc", "chart-precision-recall", "chart-calibration", "chart-threshold"} <= set(Parts(page).ids)
    for goal in ("the default", "best F1", "recall of at least 90%", "baseline 0.7000"):
        assert goal in shown_by(page)


def test_few_held_out_rows_are_called_uncertain():
    shown = shown_by(report_page(two_classes(20, 0.5)))
    assert "Only 20 rows held out" in shown and "70% to 97%" in shown


def test_held_out_rows_of_one_class_have_no_curves():
    page = report_page(two_classes(60, 0.0))
    assert not {"curves", "threshold"} & set(Parts(page).ids) and "scores" in Parts(page).ids


def test_a_constant_model_says_so_and_has_no_importance():
    facts = replace(FACTS, members=[{"family": "constant", "weight": 1.0, "arm": -1}])
    page = report_page(findings(facts=facts))
    assert "importance" not in Parts(page).ids and "The prediction is the same for every row" in page


def test_the_members_of_an_ensemble_are_listed_with_their_weights():
    members = [{"family": "linear", "weight": 0.25, "arm": 0}, {"family": "tree", "weight": 0.75, "arm": 1}]
    shown = shown_by(report_page(findings(facts=replace(FACTS, members=members))))
    assert "weighted average of 2 models" in shown and shown.index("75%") < shown.index("25%")


def test_excluded_columns_are_listed_with_the_reason():
    shown = shown_by(report_page(findings(excluded={"id": "it numbers the rows"})))
    assert "it numbers the rows" in shown and "Excluded" in shown
    table = pd.DataFrame({"a": [1, 2], "e": [None, None], "c": [3, 3]})
    assert unused_columns(table, ["number", "nothing", "nothing"]) == {"e": "empty", "c": "constant"}


def counts_of(matrix):
    """The numbers in the cells of a confusion matrix."""
    return [[int(cell) for cell in re.findall(r"heat-\d+\">(\d+)<", row)] for row in matrix.split("<tr>")[2:]]


def test_the_confusion_matrix_counts_by_actual_class():
    matrix = charts.confusion(findings().held_out, FACTS.classes)
    assert counts_of(matrix) == [[2, 0, 0], [1, 0, 0], [0, 0, 1]]


def many_classes(n):
    labels = np.repeat(np.arange(n), np.arange(1, n + 1))
    return pd.DataFrame({"actual": labels, "predicted": np.where(labels == n - 1, 0, labels)})


def test_of_many_classes_the_most_frequent_are_shown_and_the_others_as_one():
    held_out = many_classes(40)
    cells = counts_of(charts.confusion(held_out, list(range(40))))
    assert len(cells) == 16 and [row[i] for i, row in enumerate(cells)] == [*range(26, 40), 0, sum(range(1, 26))]
    assert cells[14][15] == 40 and sum(map(sum, cells)) == len(held_out)
    names, _ = charts.confusion_counts(held_out, list(range(40)))
    assert names == [*map(str, range(25, 40)), "all others"]
    facts = replace(FACTS, classes=list(range(40)))
    shown = " ".join("".join(Parts(report_page(findings(facts=facts, held_out=held_out, probabilities=None))).text).split())
    assert "The 15 most frequent classes are shown; the other 25 are grouped." in shown


def test_a_single_class_more_is_shown_rather_than_grouped():
    assert len(counts_of(charts.confusion(many_classes(16), list(range(16))))) == 16


def test_captions_mention_what_a_chart_leaves_out():
    facts = replace(FACTS, task="regression", classes=None, scoring="r2")
    columns = pd.DataFrame({"column": [f"c{i}" for i in range(300)]})
    few = {"importance": pd.DataFrame({"mean": 1.0 / np.arange(1, 31), "std": 0.1}), "columns": columns}
    held_out = pd.DataFrame({"actual": np.arange(6000.0), "predicted": np.arange(6000.0)})
    shown = " ".join("".join(Parts(report_page(findings(facts=facts, held_out=held_out, constant=1.0, **few))).text).split())
    for words in (
        "A random sample of 3,000 rows is drawn.",
        "Measured for 30 of 300 columns, because the time was limited.",
        "The 20 most important columns are shown.",
        "100 more columns.",
    ):
        assert words in shown


def test_a_search_of_one_pull_or_of_failures_makes_a_page():
    for rows in (slice(0, 1), slice(3, 4)):
        report_page(findings(pulls=findings().pulls.iloc[rows]))


def test_a_search_without_pulls_makes_a_page_that_says_so():
    page = report_page(findings(pulls=findings().pulls.iloc[:0]))
    assert "No pull has started." in page and "No pull has ended with a score." in page


# -- importance


def agreement(predictions, target):
    """The score of a model that predicts the first column."""
    return float((predictions[:, 0] == target).mean())


def test_the_informative_column_is_the_important_one():
    target = pd.Series([0, 1] * 50)
    rows = pd.DataFrame({"good": target, "bad": range(100), "unused": range(100)})
    importance = column_importance(same, agreement, rows, target, 1e3, clock=count().__next__, columns=["bad", "good"])
    assert importance.index.tolist() == ["good", "bad"]
    assert importance["mean"]["bad"] == 0 and 0.3 < importance["mean"]["good"] < 0.7
    assert importance["std"]["bad"] == 0 and 0 < importance["std"]["good"] < 0.2


def same(rows):
    """A model that predicts the values of all columns."""
    return rows.to_numpy()


def test_where_time_is_short_fewer_rows_are_used_and_then_fewer_columns():
    rows, predicted, now = pd.DataFrame({f"c{i}": range(2_000) for i in range(50)}), [], [0.0]

    def predict(rows):
        predicted.append(len(rows))
        now[0] += len(rows) / 1_000  # a second for a thousand rows
        return same(rows)

    def half(predictions, target):
        return 0.5

    importance = column_importance(predict, half, rows, rows["c0"], 10.0, clock=lambda: now[0])
    assert predicted[:2] == [1_000, 200] and {n % 200 for n in predicted[2:]} == {0} and 40 <= len(importance) < 50
    predicted.clear()
    importance = column_importance(predict, half, rows, rows["c0"], 2.0, clock=lambda: now[0])
    assert predicted[:2] == [1_000, 100] and len(importance) == 9
    assert missing_note(importance, 50) == "Measured for 9 of 50 columns, because the time was limited."


def test_columns_are_left_out_if_predicting_takes_longer_than_expected():
    rows, now = pd.DataFrame({f"c{i}": range(10) for i in range(50)}), [0.0]

    def predict(rows):
        now[0] += 1.0 if now[0] else 0.01
        return same(rows)

    assert len(column_importance(predict, agreement, rows, rows["c0"], 1.0, clock=lambda: now[0])) == 2


def test_the_spread_of_the_importance_needs_two_shuffles():
    rows, now = pd.DataFrame({"a": range(100), "b": range(100)}), [0.0]

    def predict(rows):
        now[0] += len(rows) / 100  # a second for each copy
        return same(rows)

    once = column_importance(predict, agreement, rows, rows["a"], 3.5, clock=lambda: now[0])
    assert once["std"].isna().all()
    often = column_importance(predict, agreement, rows, rows["a"], 60.0, clock=lambda: now[0])
    assert often["std"].notna().all()


def test_importance_is_not_measured_where_it_takes_too_long_or_cannot_be():
    rows = pd.DataFrame({"good": [0, 1]})
    assert column_importance(same, agreement, rows, rows["good"], 0.9, clock=count().__next__) is None

    def fail(predictions, target):
        raise ValueError("only one class")

    assert column_importance(same, fail, rows, rows["good"], 10.0) is None


@pytest.mark.parametrize(("rows", "suffix"), [(50_000, ""), (50_001, " (first 50,000 rows)")])
def test_missing_and_distinct_values_are_counted_in_the_first_rows_of_a_long_table(rows, suffix):
    table = pd.DataFrame({"half": [1.0, None] * 25_000 + [2.0] * (rows - 50_000)})
    row = columns_frame(table, ["number"]).iloc[0]
    assert (row[f"missing{suffix}"], row[f"distinct{suffix}"]) == ("50%", "1")
