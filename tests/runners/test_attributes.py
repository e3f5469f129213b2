"""What a function returns beside numbers."""

import math

import numpy as np
import pytest

from manyarms.runners.attributes import MAX_BYTES, attributes_of
from manyarms.runners.execute import read_value

KEPT = {
    "text": ("warm-up", "warm-up"),
    "text that is a number": ("0.5", "0.5"),
    "text of any language": ("é 日本 🦾", "é 日本 🦾"),
    "text that no file can hold": ("é\x00\ud800", "é\\x00\\ud800"),
    "such text inside": ({"\udc80": ["\udc80"]}, {"\\udc80": ["\\udc80"]}),
    "list": ([1, "a", None, True], [1, "a", None, True]),
    "tuple": ((1, 2), [1, 2]),
    "dict": ({"a": {"b": [1]}}, {"a": {"b": [1]}}),
    "dict with numbers for names": ({1: 2}, {"1": 2}),
    "array": (np.arange(3), [0, 1, 2]),
    "array of text": (np.array(["a", "b"]), ["a", "b"]),
    "NumPy numbers inside": ([np.float32(0.5), np.int64(3)], [0.5, 3]),
    "NaN": (math.nan, "NaN"),
    "NumPy's NaN": (np.float64("nan"), "NaN"),
    "infinity": (-math.inf, "-Infinity"),
    "NaN inside": ({"a": [math.nan, 1.0]}, {"a": ["NaN", 1.0]}),
    "number beyond floats": (10**400, 10**400),
    "empty": ([], []),
}


@pytest.mark.parametrize(("value", "kept"), KEPT.values(), ids=KEPT)
def test_text_lists_and_dicts_are_kept_as_json(value, kept):
    returned = read_value({"reward": 1, "x": value})
    assert (returned.reward, returned.metrics, returned.attributes, returned.left_out) == (1.0, {}, {"x": kept}, None)


def test_a_large_array_is_left_out_without_a_list_of_its_numbers():
    class Array(np.ndarray):
        def tolist(self):
            raise AssertionError("a list of this array may not fit into memory")

    returned = read_value({"reward": 1, "x": np.zeros((MAX_BYTES // 2, 3)).view(Array)})
    assert returned.left_out == f"x (more than {MAX_BYTES} bytes in total)"


def test_names_of_metrics_and_attributes_are_kept_as_text_that_can_be_stored():
    returned = read_value({"reward": 1, "a\udc80": 2, "b\0": "text", "c\udc80": object()})
    assert (returned.metrics, returned.attributes) == ({"a\\udc80": 2.0}, {"b\\x00": "text"})
    assert returned.left_out == "c\\udc80 (object is not JSON)"


def test_text_that_cannot_be_stored_is_within_the_limit_once_it_is_escaped():
    returned = read_value({"reward": 1, "note": "\udc80" * (MAX_BYTES // 6 - 10)})
    assert returned.attributes == {} and "note" in returned.left_out


def test_numbers_are_metrics_and_none_is_no_value():
    returned = read_value({"reward": 1, "a": 2, "b": True, "c": np.float32(0.5), "d": np.array([3]), "e": None})
    assert returned.metrics == {"a": 2.0, "b": 1.0, "c": 0.5, "d": 3.0}
    assert returned.attributes == {} and returned.left_out is None


def endless():
    loop = []
    loop.append(loop)
    return loop


class Broken:
    def tolist(self):
        raise RuntimeError("no device")


NOT_JSON = {
    "object": (object(), "x (object is not JSON)"),
    "bytes": (b"abc", "x (bytes is not JSON)"),
    "complex": (1j, "x (complex is not JSON)"),
    "set": ({1}, "x (set is not JSON)"),
    "dict with tuples for names": ({(1, 2): 3}, "x (dict is not JSON)"),
    "list in itself": (endless(), "x (list is not JSON)"),
    "array that cannot be read": (Broken(), "x (Broken is not JSON)"),
}


@pytest.mark.parametrize(("value", "note"), NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_not_json_is_left_out_with_a_note_and_fails_nothing(value, note):
    returned = read_value({"reward": 1, "x": value, "y": "kept"})
    assert returned.attributes == {"y": "kept"} and returned.left_out == note


def test_all_attributes_of_a_pull_share_one_limit_and_what_fits_is_kept():
    half = "x" * (MAX_BYTES // 2)
    kept, note = attributes_of({"a": half, "b": half, "c": "small"})
    assert list(kept) == ["a", "c"] and note == f"b (more than {MAX_BYTES} bytes in total)"
    assert attributes_of({"a": "é" * (MAX_BYTES // 4)})[0] == {}, "as the journal writes it: 6 bytes for the letter"


def test_a_huge_list_is_given_up_as_soon_as_it_is_too_large():
    class Row(list):
        read = 0

        def __iter__(self):
            for value in super().__iter__():
                Row.read += 1
                yield value

    kept, note = attributes_of({"rows": [Row([1] * 10_000) for _ in range(1000)]})
    assert kept == {} and note is not None
    assert Row.read < 2 * MAX_BYTES


def test_the_note_is_bounded_too():
    kept, note = attributes_of({f"{'n' * 1000}{i}": object() for i in range(1000)})
    assert kept == {} and len(note) == 500
