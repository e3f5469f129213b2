"""What table 2 of the ER-UCB paper prints, for experiments/algorithms.py to show beside its own."""

from __future__ import annotations

from typing import NamedTuple

_ROWS = ("ERUCB (paper)", "UCB1", "EpsilonGreedy", "Softmax", "Uniform", "joint")


class Printed(NamedTuple):
    """Of a set: its best algorithm, the beta set by hand, and by method (in the order of the paper) the figures.

    An empty one is not in print, or cannot be told from the text of the paper that we have.
    """

    best: str
    beta: float
    validation: str
    shares: str  # of trials on the best algorithm; not of the joint space
    test: str

    def of(self, method: str) -> tuple[str, str, str]:
        """Validation accuracy, share and test accuracy of a method."""
        if method not in _ROWS:
            return "", "", ""
        place = _ROWS.index(method)
        found = [dict(enumerate(column.split())).get(place, "") for column in (self.validation, self.shares, self.test)]
        validation, share, test = ("" if value == "-" else value for value in found)
        return validation, share, test


PAPER = {
    "balance_scale": Printed(
        "SGD",
        0.5,
        ".9025 .8924 .8931 .9004 .8978 .8978",
        ".5677 .1067 .0693 .1287 .1097",
        ".9074 .8339 .8227 .8809 .8597 .8994",
    ),
    "car": Printed(
        "ET", 0.6, ".8729 .8690 .8630 .8620 .8628 .8619", ".9800 .1173 .0277 .1163 .1053", ".6937 .6416 .6657 .6551 .6839 .8604"
    ),
    "chess_kr_vs_kp": Printed(
        "Ada",
        0.5,
        ".9557 .9414 .9492 .9414 .9464 .9457",
        ".6137 .1693 .3593 .1290 .1070",
        ".8515 .8860 .7510 .8229 .6999 .8479",
    ),
    "cylinder_bands": Printed(
        "ET", 0.5, ".7356 .7172 .6528 .6866 .6977 .6531", ".6043 .1117 .0443 .0977 .0990", ".6117 .5534 .5006 .5749 .5534 .5687"
    ),
    "ecoli": Printed("RF", 0.5, ".8763 .8745 .8129 .8728 .8695 -", ".7013 .2440 .3023 .1630 .1037", ""),
    "glass": Printed(
        "DT", 0.4, ".7540 .7265 .7163 .7197 .7247 .7087", ".9716 .1520 .0017 .1180 .1027", ".6740 .6370 .6148 .6148 .6666 .6444"
    ),
    "messidor": Printed(
        "SGD",
        0.5,
        ".7431 .7297 .7362 .7402 .7406 .7399",
        ".5203 .1133 .0157 .1163 .1027",
        ".7330 .7272 .7272 .7604 .7330 .7316",
    ),
    "nursery": Printed(
        "Ada",
        0.5,
        ".8200 .7871 .7201 .8010 .8039 .7884",
        ".7640 .1370 .0607 .1150 .1100",
        ".6909 .6688 .6457 .6238 .6631 .6304",
    ),
    "spambase": Printed(
        "Ada",
        0.7,
        ".9328 .9298 .9311 .9298 .9306 .9290",
        ".9853 .1757 .7333 .1253 .1057",
        ".9449 .9457 .9741 .9471 .9500 .9428",
    ),
    "statlog_segment": Printed("Ada", 0.6, ".9804 .9779 .9790 .9768 .9776 .9793", "- .1950 .8047 .1397 .1203", ""),
    "wdbc": Printed(
        "Ada",
        0.6,
        ".9823 .9808 .9816 .9794 .9794 .9794",
        ".9506 .1397 .8757 .1207 .1060",
        ".9681 .9710 .9681 .9739 .9739 .9594",
    ),
    "wilt": Printed(
        "Ada",
        0.8,
        ".9827 .9820 .9813 .9819 .9821 .9821",
        ".6206 .1200 .3567 .1097 .1103",
        ".9433 .9320 .9427 .9267 .9347 .9320",
    ),
}
