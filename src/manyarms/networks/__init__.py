"""Networks that grow: spaces of graphs of layers, and their training in slices.

Making, mutating and crossing networks needs no more than the library; building and training them needs PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .blueprint import Blueprint
from .changes import changes_in_words
from .drawing import draw_network
from .family import draw_family
from .graph import Graph, Node
from .layers import (
    Attention,
    AveragePool,
    Convolution,
    Dense,
    Dropout,
    Identity,
    Layer,
    MaxPool,
    Normalisation,
    Recurrent,
)
from .layout import Layout
from .network import Network
from .part import Part
from .ready import TRAINING, image_space, sequence_space, table_space
from .space import NetworkSpace

if TYPE_CHECKING:
    from .building import NetworkModule, build, inherit
    from .classifier import Classifier
    from .classifiers import image_classifier, sequence_classifier, table_classifier
    from .cycles import Cycle, subtrain
    from .exporting import export_model, python_source, torchscript

_WITH_TORCH = {
    "building": ("NetworkModule", "build", "inherit"),
    "classifier": ("Classifier",),
    "classifiers": ("image_classifier", "sequence_classifier", "table_classifier"),
    "cycles": ("Cycle", "subtrain"),
    "exporting": ("export_model", "python_source", "torchscript"),
}
_HOME = {name: file for file, names in _WITH_TORCH.items() for name in names}

__all__ = [
    "TRAINING",
    "Attention",
    "AveragePool",
    "Blueprint",
    "Classifier",
    "Convolution",
    "Cycle",
    "Dense",
    "Dropout",
    "Graph",
    "Identity",
    "Layer",
    "Layout",
    "MaxPool",
    "Network",
    "NetworkModule",
    "NetworkSpace",
    "Node",
    "Normalisation",
    "Part",
    "Recurrent",
    "build",
    "changes_in_words",
    "draw_family",
    "draw_network",
    "export_model",
    "image_classifier",
    "image_space",
    "inherit",
    "python_source",
    "sequence_classifier",
    "sequence_space",
    "subtrain",
    "table_classifier",
    "table_space",
    "torchscript",
]


def __getattr__(name: str) -> Any:
    """What needs PyTorch is imported when it is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
