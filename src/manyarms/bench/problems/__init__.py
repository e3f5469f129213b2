"""Test problems: synthetic ones, tables of real learning curves, a surrogate, and models that are really trained."""

from .estimators import boosted_trees, digits_mlp
from .fitted_problem import FittedProblem
from .hartmann import Hartmann
from .image_datasets import load_images
from .images import Images
from .network_problem import NetworkProblem, Training, cifar_cnn, mnist_mlp, svhn_cnn
from .protocol import Problem, evaluate, regret
from .reference_values import Survey, survey
from .reservoirs import Reservoir
from .surrogates import RBV2_TASKS, SurrogateProblem, rbv2_xgboost
from .synthetic_curves import CurveWorld
from .tables import TableProblem, TableSpace, lcbench, lcdb, nasbench201, taskset

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
