"""Test problems: synthetic ones, loaders of tabulated real curves and of a surrogate, and models that really train."""

from .curves import CurveWorld
from .estimators import boosted_trees, digits_mlp
from .fitted import FittedProblem
from .hartmann import Hartmann
from .images import Images
from .protocol import Problem, evaluate, regret
from .published import load_images
from .reservoirs import Reservoir
from .surrogates import RBV2_TASKS, SurrogateProblem, rbv2_xgboost
from .surveys import Survey, survey
from .tables import TableProblem, TableSpace, lcbench, lcdb, nasbench201, taskset
from .trained import NetworkProblem, Training, cifar_cnn, mnist_mlp, svhn_cnn

__all__ = [
    "RBV2_TASKS",
    "CurveWorld",
    "FittedProblem",
    "Hartmann",
    "Images",
    "NetworkProblem",
    "Problem",
    "Reservoir",
    "SurrogateProblem",
    "Survey",
    "TableProblem",
    "TableSpace",
    "Training",
    "boosted_trees",
    "cifar_cnn",
    "digits_mlp",
    "evaluate",
    "lcbench",
    "lcdb",
    "load_images",
    "mnist_mlp",
    "nasbench201",
    "rbv2_xgboost",
    "regret",
    "survey",
    "svhn_cnn",
    "taskset",
]
