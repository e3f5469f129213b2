import pytest

from manyarms.html import format


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (59.97, "1 min 0 s"),
        (119.7, "2 min 0 s"),
        (3599.7, "1 h 0 min"),
        (7195.0, "2 h 0 min"),
    ],
)
def test_rounded_durations_carry_over_to_the_next_unit(seconds, text):
    assert format.duration(seconds) == text


@pytest.mark.parametrize(("in_bytes", "text"), [(999, "999 B"), (99_960, "100 kB"), (999_600, "1.0 MB")])
def test_rounded_sizes_carry_over_to_the_next_unit(in_bytes, text):
    assert format.size(in_bytes) == text
