"""Tables are read regardless of their name and format; other files are refused with a reason."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import manyarms as ma
from manyarms.sklearn.automl.conversions import numbers
from manyarms.tables import fields, read_table
from manyarms.tables.reading import file_format

PLAIN = "size,colour,y\n1,red,0.5\n2,blue,1.5\n3,red,2.5\n"
FRAME = pd.DataFrame({"size": [1, 2, 3], "colour": ["red", "blue", "red"], "y": [0.5, 1.5, 2.5]})


@pytest.fixture
def read(tmp_path):
    """Reads a file with this content; returns the frame and the notes."""

    def call(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        notes = []
        return read_table(path, notify=notes.append, **options), notes

    return call


WRITTEN = {
    "plain": PLAIN,
    "lines of Windows": PLAIN.replace("\n", "\r\n"),
    "lines of old Macs": PLAIN.replace("\n", "\r"),
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n\n"),
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "bars": PLAIN.replace(",", "|"),
    "blanks after commas": PLAIN.replace(",", ", "),
    "quotes": PLAIN.replace("red", '"red"').replace("colour", '"colour"'),
    "a comma after each row": PLAIN.replace("\n", ",\n").replace("y,\n", "y\n", 1),
    "no last newline": PLAIN.rstrip("\n"),
    "gzip": gzip.compress(PLAIN.encode()),
    "bzip2": bz2.compress(PLAIN.encode()),
    "xz": lzma.compress(PLAIN.encode()),
    "utf-16": PLAIN.encode("utf-16"),
    "utf-8 with a mark": PLAIN.encode("utf-8-sig"),
}


# Parametrized by names: compressed content includes the time, so it must not name a test.
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", ["table.csv", "anything"])
def test_a_table_is_the_same_however_it_is_written(read, written, name):
    frame, notes = read(WRITTEN[written], name)
    pd.testing.assert_frame_equal(frame, FRAME, check_dtype=False)
    assert notes == []


def test_a_parquet_file_is_read_regardless_of_its_name_and_index(tmp_path):
    FRAME.set_index("colour").to_parquet(tmp_path / "table.csv")
    notes = []
    frame = read_table(tmp_path / "table.csv", notify=notes.append)
    pd.testing.assert_frame_equal(frame[list(FRAME)], FRAME, check_dtype=False)
    assert notes == []


def test_dates_decimals_and_lists_of_a_parquet_file(tmp_path):
    import decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "day": pa.array([0, 1], pa.date32()),
        "price": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(5, 2)),
        "list": pa.array([[1], [2, 3]]),
        "kind": pa.array(["a", "b"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    notes = []
    frame = read_table(tmp_path / "t.parquet", notify=notes.append)
    assert [dtype.kind for dtype in frame.dtypes] == ["M", "f", "O"]
    assert frame["day"].dt.day.tolist() == [1, 2]
    assert notes == ["Dropped columns of lists or records: 'list'."]


def test_decimal_commas_are_read_with_a_note(read):
    frame, notes = read("a;b\n1,5;x\n-2,25;y\n")
    assert frame["a"].tolist() == [1.5, -2.25]
    assert "decimal comma" in notes[0]


def test_commas_before_three_digits_are_decimal_commas_beside_whole_numbers(read):
    frame, notes = read("item;weight\n1;1,250\n2;3,500\n")
    assert frame["weight"].tolist() == [1.25, 3.5]
    assert "decimal comma" in notes[0]


@pytest.mark.parametrize("sign", ["", "€ "])
def test_with_decimal_commas_points_separate_thousands(read, sign):
    frame, notes = read(f"size;price;day\n3,45;{sign}815.498;12.05.2024\n4,00;{sign}12.000;13.05.2024\n5;{sign}7;14.05.2024\n")
    assert frame["size"].tolist() == [3.45, 4, 5] and numbers(frame["price"]).tolist() == [815498, 12000, 7]
    assert frame["day"].iloc[0] == "12.05.2024"
    assert notes[1:] == [f"Points separate thousands in these columns: 'price' ('{sign}815.498', read as 815,498)."]


def test_points_separate_thousands_in_a_single_row_too(read):
    assert numbers(read("size;price\n3,45;815.498\n")[0]["price"]).tolist() == [815498]


def test_points_are_not_marked_as_thousands_in_columns_that_would_not_be_numbers(read):
    places = [f"{46 + number / 1000:.10g}" for number in range(1, 200)]  # 46.001, ..., 46.01: not thousands
    codes = [f"{number}.100" if number % 15 else f"x{number}" for number in range(1, 200)]  # 7% are words
    rows = [f"4,5;{place};{code}" for place, code in zip(places, codes, strict=True)]
    frame, notes = read("\n".join(["size;place;code", *rows]))
    assert frame["place"].tolist() == places and frame["code"].tolist() == codes
    assert len(notes) == 1


def test_points_that_may_separate_thousands_are_decimal_points_with_a_note(read):
    frame, notes = read("size;price\n3;815.498\n4;712.300\n")
    assert frame["price"].tolist() == [815.498, 712.3]
    assert "uses decimal points: 815.498 was read as 815.498, not as thousands" in notes[0]
    assert read("size;price\n3.5;815.498\n4;712.300\n")[1] == read("size,price\n3,815.498\n")[1] == []


def test_windows_text_is_read_with_a_note(read):
    frame, notes = read("größe,€\n1,ä\n".encode("cp1252"))
    assert list(frame) == ["größe", "€"] and frame["€"].tolist() == ["ä"]
    assert len(notes) == 1 and "not valid UTF-8, so it is read as cp1252" in notes[0]
    frame, notes = read(b"a,b\n1,\x81\n")  # undefined in cp1252
    assert frame["b"].tolist() == ["\x81"] and "latin-1" in notes[0]


def test_question_marks_and_the_like_are_missing(read):
    frame, _ = read("a,b\n?,x\n1,?\n,NA\nNaN,null\n")
    assert frame["a"].isna().tolist() == [True, False, True, True]
    assert frame["b"].isna().tolist() == [False, True, True, True]


def test_columns_named_as_text_stay_as_they_are_written(read):
    frame, _ = read("code,n\n007,1\n1.0,2\n,3\n", text=["code", "absent"])
    assert frame["code"].tolist()[:2] == ["007", "1.0"] and frame["code"].isna()[2]


def test_a_column_is_text_as_a_whole_if_its_last_value_is(read):
    frame, _ = read("a,b\n" + "".join(f"{i},{i}\n" for i in range(300_000)) + "x,1\n")  # more than pandas looks at in one go
    assert set(map(type, frame["a"])) == {str}
    assert frame["b"].dtype == int


@pytest.mark.parametrize(
    ("header", "names", "word"),
    [
        ("a,a,b", ["a", "a.1", "b"], "the second 'a' is now 'a.1'"),
        ("a,a,a.1", ["a", "a.2", "a.1"], "'a' is now 'a.2'"),
        ("a,,b", ["a", "Unnamed: 1", "b"], "without a name are called 'Unnamed: 1'"),
        ("1,2,3", ["1", "2", "3"], "although all of them are numbers"),
        ('"a b","c\nd","[é]<"', ["a b", "c\nd", "[é]<"], None),
    ],
)
def test_odd_names_of_columns(read, header, names, word):
    frame, notes = read(f"{header}\n5,6,7\n8,9,10\n")
    assert list(frame) == names
    assert (word in notes[0]) if word else notes == []


def test_a_wide_table_keeps_all_its_columns(read):
    names = [f"{'a very long name ' * 10}{place}" for place in range(2_000)]
    assert sum(map(len, names)) > 1 << 18
    frame, notes = read(";".join(names) + "\n" + ("1,5;" * 2_000)[:-1] + "\n" + ("2,5;" * 2_000)[:-1] + "\n")
    assert list(frame) == names and frame.shape == (2, 2_000)
    assert frame[names[-1]].tolist() == [1.5, 2.5] and "decimal comma" in notes[0]


def test_many_columns_of_one_name_are_renamed_each(read):
    frame, notes = read(",".join(["a"] * 2_000) + "\n" + ",".join(["1"] * 2_000) + "\n")
    assert frame.columns.is_unique and list(frame)[-1] == "a.1999"
    assert "and 1994 more" in notes[0]


def test_a_field_longer_than_others_are_in_total_is_read(read):
    frame, _ = read("a,text\n1," + "x" * 1_000_000 + "\n2,y\n")
    assert frame["text"].str.len().tolist() == [1_000_000, 1] and frame["a"].tolist() == [1, 2]


@pytest.mark.parametrize("written", ["b", '"b"', '"b\n"'], ids=["plain", "quoted", "of several lines"])
def test_a_field_that_is_too_long_is_refused_by_its_place(read, monkeypatch, written):
    monkeypatch.setattr(fields, "_LONGEST", 1_000)
    long = written.replace("b", "b " * 1_000)
    words = r"has a field of 2,00[01] characters in column 'text'{}, and at most 1,000 can be used: shorten it"
    with pytest.raises(ValueError, match=words.format(", row 2")):
        read(f"text,y\na,1\n{long},2\nc,3\n")
    with pytest.raises(ValueError, match=words.format("")):
        read(f"text,y\na,1\n{long},2\nc,3\n", rows=3)


def test_many_short_fields_are_not_one_long_field(read, monkeypatch):
    monkeypatch.setattr(fields, "_LONGEST", 1_000)
    frame, _ = read("text,y\n" + "abc,1\n" * 1_000)
    assert len(frame) == 1_000


def test_a_first_line_that_cannot_be_a_header_is_refused_with_a_reason(read, monkeypatch):
    with pytest.raises(ValueError, match="The first line of .* cannot be read as column names. Is there an unclosed quote"):
        read('a,"b\n' + "1,2\n" * 100_000)
    monkeypatch.setattr(file_format, "_LONGEST", 1 << 17)
    with pytest.raises(ValueError, match="has a first line of more than 131,072 bytes, which is too long for column names"):
        read("x" * 300_000)


def test_row_names_and_row_numbers_are_dropped_with_a_note(read):
    frame, notes = read("a,b\nfirst,1,2\nsecond,3,4\n")
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]} and "row name" in notes[0]
    frame, notes = read(",b\n0,5\n1,6\n")
    assert list(frame) == ["b"] and "only numbers the rows" in notes[-1]
    frame, notes = read(",b\n4,5\n1,6\n")
    assert list(frame) == ["Unnamed: 0", "b"]


def test_lines_that_are_too_short_are_filled_and_too_long_ones_refused_by_number(read):
    assert read("a,b,c\n1,2,3\n4\n")[0].loc[1].isna().tolist() == [False, True, True]
    with pytest.raises(ValueError, match="line 3: 4 fields instead of 3"):
        read("a,b,c\n1,2,3\n1,2,3,4\n")


@pytest.mark.parametrize("rest", ["", "4,5,6\n", "4,5,6,7,8\n"])
def test_a_first_row_that_is_too_long_is_refused_like_any_other(read, rest):
    with pytest.raises(ValueError, match="row 1: 5 fields instead of 3. Is ',' the right delimiter, or is a quote missing?"):
        read("a,b,y\n1,Smith, John,2,3\n" + rest)


@pytest.mark.filterwarnings("ignore:Length of header:pandas.errors.ParserWarning")
def test_delimiters_after_the_last_value_of_a_row_are_ignored(read):
    frame, _ = read("a,y\n1,2,,\n3,4\n")
    assert frame.to_dict("list") == {"a": [1, 3], "y": [2, 4]}


NO_TABLES = {
    "nothing": ("", "is empty.$"),
    "blank lines": ("\n\n \n", "only blank lines"),
    "names alone": ("a,b\n", "has a header with 2 columns, but no rows"),
    "open quote": ('a,b\n"1,2\n3,4\n', "row 1: a quote is opened and never closed"),
    "every byte": (bytes(range(256)) * 4, "is a binary file"),
    "control bytes": (bytes([1, 2, 3, 65, 200]) * 50, "is a binary file"),
    "zip": (b"PK\x03\x04 and so on", "is a ZIP file, or a spreadsheet"),
    "cut gzip": (gzip.compress(PLAIN.encode())[:-9], "is a corrupt compressed file"),
    "cut parquet": (b"PAR1 and no more", "is a corrupt Parquet file"),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_is_refused_with_a_reason(read, case):
    content, message = NO_TABLES[case]
    with pytest.raises(ValueError, match=message):
        read(content)


def test_options_are_checked(read):
    with pytest.raises(ValueError, match="encoding must be a Python encoding, .* got 'klingon'"):
        read(PLAIN, encoding="klingon")
    with pytest.raises(ValueError, match="not encoded in ascii: .* at byte 0"):
        read("é,b\n1,2\n", encoding="ascii")
    with pytest.raises(ValueError, match="delimiter must be one character, or \"tab\", got '::'"):
        read(PLAIN, delimiter="::")
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        read(PLAIN, rows=0)
    assert list(read("a b;c\n1;2\n", delimiter=" ")[0]) == ["a", "b;c"]
    assert list(read("a\tb,c\n1\t2\n", delimiter="tab")[0]) == ["a", "b,c"]


def test_what_is_no_file_is_refused_with_a_reason(tmp_path):
    with pytest.raises(FileNotFoundError, match="The file '.*nowhere.csv' does not exist"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(IsADirectoryError, match="is a directory. Give the path"):
        read_table(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        read_table(tmp_path / "pipe")


def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(PLAIN)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read anything
    with pytest.raises(PermissionError, match="permission denied"):
        read_table(tmp_path / "t.csv")


def test_notes_are_warnings_by_default(tmp_path):
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    with pytest.warns(ma.ManyarmsWarning, match="Duplicate column names"):
        read_table(tmp_path / "t.csv")


# -- a sample of the rows


def make_large(path: Path, rows: int = 120_000) -> Path:
    if path.suffix == ".parquet":
        numbers = np.arange(rows)
        pd.DataFrame({"n": numbers, "even": np.where(numbers % 2, "no", "yes")}).to_parquet(path, row_group_size=10_000)
    else:
        path.write_text("n,even\n" + "".join(f"{i},{'no' if i % 2 else 'yes'}\n" for i in range(rows)))
    return path


@pytest.mark.parametrize("name", ["large.csv", "large.parquet"])
def test_a_sample_is_drawn_evenly_keeps_the_order_and_depends_on_the_seed(tmp_path, name):
    path, notes = make_large(tmp_path / name), []
    drawn = read_table(path, rows=6_000, seed=1, notify=notes.append)
    numbers = drawn["n"].to_numpy()
    assert len(numbers) == len(set(numbers)) == 6_000 and (np.diff(numbers) > 0).all() and numbers.dtype.kind == "i"
    assert (drawn["even"] == np.where(numbers % 2, "no", "yes")).all()
    shares = np.histogram(numbers, bins=6, range=(0, 120_000))[0]
    assert abs(shares - 1_000).max() < 150
    assert notes == ["Using a random sample of 6,000 rows out of 120,000."]
    assert (read_table(path, rows=6_000, seed=1, notify=notes.append)["n"] == numbers).all()
    assert (read_table(path, rows=6_000, seed=2, notify=notes.append)["n"] != numbers).any()


def test_a_sample_as_large_as_the_table_is_the_table(read):
    frame, notes = read(PLAIN, rows=1_000)
    pd.testing.assert_frame_equal(frame, FRAME, check_dtype=False)
    assert notes == []
    frame, _ = read(PLAIN, rows=3)
    pd.testing.assert_frame_equal(frame, FRAME, check_dtype=False)
