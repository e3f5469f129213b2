"""Spaces in notebooks."""

from __future__ import annotations

import manyarms as ma
from manyarms.spaces.space_html import parameter_rows


def test_each_parameter_is_a_row_with_its_kind_and_values():
    space = ma.Space(
        rate=ma.Float(1e-5, 0.1, log=True),
        width=ma.Int(1, 2_000_000),
        drop=ma.Float(0, 0.9, step=0.3),
        act=ma.Choice("relu", 1, "1"),
        size=ma.Choice(1, 2, 4, ordered=True),
        epochs=3,
    )
    assert list(parameter_rows(space)) == [
        ("rate", "float", "1e-05 to 0.1, log"),
        ("width", "int", "1 to 2000000"),
        ("drop", "float", "0 to 0.9, in steps of 0.3"),
        ("act", "choice", "'relu', 1, '1'"),
        ("size", "ordered choice", "1, 2, 4"),
        ("epochs", "constant", "3"),
    ]
    html = space._repr_html_()
    assert "<b>Space</b> · 6 parameters" in html and html.count("<tr>") == 7


def test_the_parameters_of_nested_spaces_follow_with_their_place_in_the_name():
    inner = ma.Space(depth=ma.Int(1, 5))
    space = ma.Space(model=inner, kind=ma.Choice("none", inner), empty=ma.Space())
    assert [row[::2] for row in parameter_rows(space)] == [
        ("model.depth", "1 to 5"),
        ("kind", "'none', space [2]"),
        ("kind[2].depth", "1 to 5"),
        ("empty", "no parameters"),
    ]
    joint = ma.Joint({"svm": ma.Space(C=ma.Float(0, 1)), "tree": inner})
    assert [name for name, *_ in parameter_rows(joint)] == ["svm.C", "tree.depth"]
    assert "<b>Joint</b> · 2 spaces" in joint._repr_html_()


def test_a_space_of_ones_own_within_a_joint_one_is_a_row():
    class Walk:
        def sample(self, rng):
            return 1

        def mutate(self, config, rng):
            return 2

        def __repr__(self):
            return "Walk()"

    assert list(parameter_rows(ma.Joint({"walk": Walk()}))) == [("walk", "space", "Walk()")]
    assert "Walk()" in ma.Joint({"walk": Walk()})._repr_html_()


def test_of_many_parameters_and_options_the_first_are_shown():
    space = ma.Space(**{f"p{number}": ma.Float(0, 1) for number in range(500)})
    html = space._repr_html_()
    assert html.count("<tr>") == 22 and "480 more" in html
    (row,) = parameter_rows(ma.Space(x=ma.Choice(*range(100))))
    assert row == ("x", "choice", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … 90 more")


def test_an_empty_space_and_configs_to_try_first_are_mentioned():
    assert "0 parameters" in ma.Space()._repr_html_()
    assert "1 to try first" in ma.Space(x=ma.Float(0, 1)).first({"x": 0.5})._repr_html_()


def test_names_and_options_are_escaped():
    html = ma.Space(**{"<b>": ma.Choice("<script>", "\x1b[2J")})._repr_html_()
    assert "&lt;b&gt;" in html and "&lt;script&gt;" in html and html.isprintable()
