"""`manyarms report` writes one file, and replaces only what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import make_study, refused

from manyarms.cli.report import default_file
from manyarms.html.format import size


def test_the_file_has_the_name_of_the_study(manyarms):
    make_study("first")
    answer = manyarms("report", "manyarms.db")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"Wrote first.html ({size(Path('first.html').stat().st_size)}).\n"
    assert "<h1>first</h1>" in Path("first.html").read_text(encoding="utf-8")
    assert not list(Path().glob("*.part")) and not list(Path().glob(".*.part"))


def test_an_earlier_report_is_replaced_and_another_file_only_by_force(manyarms):
    make_study("first")
    Path("mine.html").write_text("<h1>my work</h1>")
    line = ("report", "manyarms.db", "first", "-o", "mine.html")
    assert refused(manyarms(*line), 1, "mine.html exists and is not a report. Choose another file with --out, or replace it")
    assert Path("mine.html").read_text() == "<h1>my work</h1>"
    assert manyarms(*line, "--force").code == 0
    assert manyarms(*line).code == 0
    assert "my work" not in Path("mine.html").read_text(encoding="utf-8")


def test_one_of_several_studies_must_be_named(manyarms):
    make_study("first")
    make_study("second")
    assert refused(manyarms("report", "manyarms.db"), 1, "The storage contains 2 studies. Give the name of one of them")
    assert refused(manyarms("report", "manyarms.db", "third"), 1, "third")
    assert manyarms("report", "manyarms.db", "second").code == 0 and Path("second.html").exists()


def test_a_place_that_cannot_be_written_is_an_error_before_anything_is_read(manyarms):
    make_study("first")
    Path("folder").mkdir()
    assert refused(manyarms("report", "manyarms.db", "-o", "folder"), 1, "folder is a directory. Name a file with --out.")
    assert refused(manyarms("report", "manyarms.db", "-o", "nowhere/a.html"), 1, "The directory nowhere does not exist.")


@pytest.mark.parametrize(
    ("name", "file"),
    [("first", "first.html"), ("../../etc/x", "etc-x.html"), ("", "study.html"), ("a" * 300, f"{'a' * 100}.html")],
)
def test_no_name_leads_out_of_the_directory(name, file):
    assert default_file(name) == file
