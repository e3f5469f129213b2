"""How spaces differ."""

from __future__ import annotations

import pytest

from manyarms.spaces import Choice, Float, Int, Joint, Space, differences

SVM, TREE = Space(kind="svm", C=Float(1, 9)), Space(kind="tree", depth=Int(1, 9))
CASES = {
    "a range": (Space(x=Int(1, 9)), Space(x=Int(1, 8)), ["parameter 'x': Int(1, 9) was stored, got Int(1, 8)"]),
    "a type": (Space(x=Int(1, 9)), Space(x=Float(1, 9)), ["parameter 'x': Int(1, 9) was stored, got Float(1, 9)"]),
    "a constant": (Space(x=1), Space(x=True), ["parameter 'x': 1 was stored, got True"]),
    "options": (
        Space(x=Choice("a", "b")),
        Space(x=Choice("a")),
        ["parameter 'x': Choice('a', 'b') was stored, got Choice('a')"],
    ),
    "added": (Space(x=1), Space(x=1, y=Int(1, 9)), ["parameter 'y': none was stored, got Int(1, 9)"]),
    "removed": (Space(x=1, y=Int(1, 9)), Space(x=1), ["parameter 'y': Int(1, 9) was stored, got none"]),
    "renamed": (
        Space(x=Int(1, 9)),
        Space(y=Int(1, 9)),
        ["parameter 'x': Int(1, 9) was stored, got none", "parameter 'y': none was stored, got Int(1, 9)"],
    ),
    "order": (Space(x=1, y=2), Space(y=2, x=1), ["the order of the parameters: 'x', 'y' was stored, got 'y', 'x'"]),
    "nested": (Space(m=Space(x=1)), Space(m=Space(x=2)), ["parameter 'm.x': 1 was stored, got 2"]),
    "a nested space": (Space(m=Space(x=1)), Space(m=1), ["parameter 'm': Space(x=1) was stored, got 1"]),
    "an option": (
        Space(m=Choice("none", SVM)),
        Space(m=Choice("none", Space(kind="svm", C=Float(1, 8)))),
        ["parameter 'm[1].C': Float(1, 9) was stored, got Float(1, 8)"],
    ),
    "an option more": (
        Space(m=Choice(SVM)),
        Space(m=Choice(SVM, TREE)),
        ["parameter 'm[1]': none was stored, got Space(kind='tree', depth=Int(1, 9))"],
    ),
    "joint": (Joint({"svm": SVM}), Joint({"svm": TREE}), ["parameter 'svm.kind': 'svm' was stored, got 'tree'"]),
    "a space and a joint one": (
        Space(x=1),
        Joint({"x": Space()}),
        ["the space: Space(x=1) was stored, got Joint({'x': Space()})"],
    ),
    "first": (Space(x=Int(1, 9)), Space(x=Int(1, 9)).first({"x": 2}), ["first: None was stored, got [{'x': 2}]"]),
    "nothing": (Space(x=Choice(1, 2)), Space(x=Choice(1, 2)), []),
}


@pytest.mark.parametrize(("old", "new", "found"), CASES.values(), ids=CASES)
def test_two_spaces_differ_in_what_is_named(old, new, found):
    assert list(differences(old.describe(), new.describe()))[: len(found) or 1] == found
