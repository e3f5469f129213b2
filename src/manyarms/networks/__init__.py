"""Networks that grow: spaces of graphs of layers, and their training in slices.

Making, mutating and crossing networks needs no more than the library; building and training them needs PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .drawing.family_tree import draw_family
from .drawing.network import draw_network
from .graphs.default_spaces import TRAINING, image_space, sequence_space, table_space
from .graphs.differences import changes_in_words
from .graphs.graph import Graph, Node
from .graphs.graph_space import Part
from .graphs.layout import Layout
from .graphs.network import Network
from .graphs.network_space import NetworkSpace
from .layers import Attention, AveragePool, Convolution, Dense, Dropout, Identity, Layer, MaxPool, Normalisation, Recurrent
from .layers.blueprint import Blueprint

if TYPE_CHECKING:
    from .torch.classifier import Classifier
    from .torch.default_classifiers import image_classifier, sequence_classifier, table_classifier
    from .torch.export import export_model, python_source, torchscript
    from .torch.network_module import NetworkModule, build, inherit
    from .torch.training import Cycle, subtrain

_WITH_TORCH = {
    "network_module": ("NetworkModule", "build", "inherit"),
    "classifier": ("Classifier",),
    "default_classifiers": ("image_classifier", "sequence_classifier", "table_classifier"),
    "training": ("Cycle", "subtrain"),
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
