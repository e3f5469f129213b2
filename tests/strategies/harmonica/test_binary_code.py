"""The bits of a space: what they stand for, and that configs with random bits are drawn as the space draws them."""

import numpy as np
import pytest

from manyarms import Choice, Float, Int, Joint, Space
from manyarms.strategies.harmonica.binary_code import BinaryCode, Restriction, slots

SVM, FOREST = Space(kind="svm", C=Float(1e-3, 1e3, log=True)), Space(kind="forest", trees=Int(10, 1000))
RICH = Space(
    x=Float(0, 1),
    fixed=Float(2, 2),
    width=Int(1, 3),
    size=Choice("s", "m", "l", ordered=True),
    act=Choice("relu", "tanh", "elu"),
    flag=Choice(True, False),
    only=Choice("one"),
    model=Choice(SVM, FOREST, "majority"),
    epochs=3,
)


def drawn(space, bits, signs, n=200):
    """Configs with these bits, by the names of the bits."""
    code, rng = BinaryCode(space, bits), np.random.default_rng(0)
    places = [code.names.index(name) for name in signs]
    restriction = Restriction(places, np.array([list(signs.values())], dtype=np.int8))
    return [code.draw([restriction], rng)[1] for _ in range(n)]


def test_every_number_and_every_choice_has_its_bits():
    assert {slot.name: slot.bits for slot in slots(RICH, 3)} == {
        "x": 3,
        "fixed": 0,
        "width": 2,
        "size": 2,
        "act": 2,
        "flag": 1,
        "model": 2,
        "model[0].C": 3,
        "model[1].trees": 3,
    }
    assert [slot.name for slot in slots(Joint({"svm": SVM, "forest": FOREST}), 1)] == [
        "algorithm",
        "algorithm[0].C",
        "algorithm[1].trees",
    ]


def test_a_number_with_steps_has_as_many_bits_as_tell_its_values_apart():
    space = Space(x=Float(0, 1, step=0.5), width=Int(8, 32, step=8), fine=Float(0, 1, step=1e-6))
    assert [slot.bits for slot in slots(space, 5)] == [2, 2, 5]


@pytest.mark.parametrize(
    ("signs", "low", "high"),
    [
        ({"x/1": 1}, 0.5, 1.0),
        ({"x/1": -1}, 0.0, 0.5),
        ({"x/2": 1}, 0.25, 0.75),
        ({"x/1": 1, "x/2": 1}, 0.5, 0.75),
        ({"x/1": 1, "x/2": -1}, 0.75, 1.0),
        ({"x/1": -1, "x/2": -1, "x/3": 1}, 0.125, 0.25),
    ],
)
def test_the_bits_of_a_number_are_its_halves_and_the_middle(signs, low, high):
    values = [config["x"] for config in drawn(RICH, 3, signs)]
    assert low <= min(values) < low + 0.1 and high - 0.1 < max(values) <= high


def test_the_outer_quarters_are_left_when_the_middle_is_fixed():
    values = np.array([config["x"] for config in drawn(RICH, 2, {"x/2": -1})])
    assert ((values < 0.25) | (values > 0.75)).all() and 0.3 < (values < 0.5).mean() < 0.7


def test_the_bits_of_a_choice_are_its_options():
    assert {config["flag"] for config in drawn(RICH, 2, {"flag/1": 1})} == {False}
    assert {config["act"] for config in drawn(RICH, 2, {"act/1": 1, "act/2": -1})} == {"elu"}
    assert {config["act"] for config in drawn(RICH, 2, {"act/1": -1})} == {"relu", "tanh"}
    forests = drawn(Joint({"svm": SVM, "forest": FOREST}), 2, {"algorithm/1": 1, "algorithm[1].trees/1": -1})
    assert {config["algorithm"] for config in forests} == {"forest"}
    assert max(config["config"]["trees"] for config in forests) <= 505


@pytest.mark.parametrize("space", [RICH, Joint({"svm": SVM, "forest": FOREST})], ids=["space", "joint"])
def test_with_random_bits_configs_are_drawn_as_the_space_draws_them(space):
    code, rng = BinaryCode(space, 2), np.random.default_rng(0)
    ours = [code.draw([], rng)[1] for _ in range(4000)]
    theirs = [space.sample(rng) for _ in range(4000)]
    assert all(map(space.contains, ours))
    codes = [np.array([space.encode(config) for config in configs]) for configs in (ours, theirs)]
    for moment in (1, 2):
        np.testing.assert_allclose((codes[0] ** moment).mean(axis=0), (codes[1] ** moment).mean(axis=0), atol=0.04)


def test_each_arm_has_one_of_the_rows_that_are_kept():
    code, rng = BinaryCode(RICH, 2), np.random.default_rng(0)
    rows = np.array([[1, 1], [-1, -1]], dtype=np.int8)
    found = [code.draw([Restriction([0, 3], rows)], rng)[0][[0, 3]].tolist() for _ in range(100)]
    assert {tuple(row) for row in found} == {(1, 1), (-1, -1)}


class Disc:
    """A space that is not the library's: two numbers, as an angle and a distance."""

    dimension = 2

    def sample(self, rng):
        return self.decode(rng.random(2))

    def mutate(self, config, rng):
        return self.sample(rng)

    def encode(self, config):
        return np.array([config["angle"] / 360, config["distance"]])

    def decode(self, vector):
        return {"angle": 360 * float(vector[0]), "distance": float(vector[1])}


class Turned(Space):
    """A space whose codes are not those of its parameters."""

    def __init__(self):
        super().__init__(side=Choice("left", "right"))
        self.dimension = 1

    def encode(self, config):
        return np.array([0.25 if config["side"] == "left" else 0.75])

    def decode(self, vector):
        return {"side": "left" if vector[0] < 0.5 else "right"}


def test_a_space_of_ones_own_is_taken_as_numbers():
    assert BinaryCode(Disc(), 2).names == ["[0]/1", "[0]/2", "[1]/1", "[1]/2"]
    assert all(config["angle"] >= 180 for config in drawn(Disc(), 2, {"[0]/1": 1}))
    assert {config["side"] for config in drawn(Turned(), 1, {"[0]/1": 1})} == {"right"}


def test_a_space_without_parameters_has_no_bits():
    code = BinaryCode(Space(epochs=3), 2)
    assert code.names == [] and code.draw([], np.random.default_rng(0))[1] == {"epochs": 3}
