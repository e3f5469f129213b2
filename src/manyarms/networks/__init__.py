"""Networks that grow: spaces of graphs of layers, and their training in slices.

Making, mutating and crossing networks needs no more than the library; building and training them needs PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .drawing.family_tree import draw_family
from .drawing.network import draw_network
from .graphs.changes import changes_in_words
from .graphs.graph import Graph, Node
from .graphs.network import Network
from .graphs.part import Part
from .graphs.ready_spaces import TRAINING, image_space, sequence_space, table_space
from .graphs.shapes import Layout
from .graphs.space import NetworkSpace
from .layers import Attention, AveragePool, Convolution, Dense, Dropout, Identity, Layer, MaxPool, Normalisation, Recurrent
from .layers.blueprint import Blueprint

if TYPE_CHECKING:
    from .torch.build import NetworkModule, build, inherit
    from .torch.classifier import Classifier
    from .torch.cycles import Cycle, subtrain
    from .torch.export import export_model, python_source, torchscript
    from .torch.ready_classifiers import image_classifier, sequence_classifier, table_classifier

_WITH_TORCH = {
    "build": ("NetworkModule", "build", "inherit"),
    "classifier": ("Classifier",),
    "ready_classifiers": ("image_classifier", "sequence_classifier", "table_classifier"),
    "cycles": ("Cycle", "subtrain"),
    "export": ("export_model", "python_source", "torchscript"),
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
    return getattr(import_module(f"{__name__}.torch.{_HOME[name]}"), name)
