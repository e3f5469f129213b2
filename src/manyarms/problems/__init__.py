"""Test problems: synthetic reservoirs and learning curves, loaders of tabulated real curves, and networks that really train."""

from .curves import CurveWorld
from .images import Images, load_images
from .protocol import Problem, evaluate, regret
from .reservoirs import Reservoir
from .tables import TableProblem, TableSpace, lcbench, lcdb, nasbench201, taskset
from .trained import NetworkProblem, Training, cifar_cnn, mnist_mlp, svhn_cnn

__all__ = [
    "CurveWorld",
    "Images",
    "NetworkProblem",
    "Problem",
    "Reservoir",
    "TableProblem",
    "TableSpace",
    "Training",
    "cifar_cnn",
    "evaluate",
    "lcbench",
    "lcdb",
    "load_images",
    "mnist_mlp",
    "nasbench201",
    "regret",
    "svhn_cnn",
    "taskset",
]
