"""Neural architecture search: spaces of networks, and classifiers that train them in slices.

Sampling, mutating and crossing networks works without PyTorch. Building and training them needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .drawing import draw_family, draw_network
from .graphs import (
    TRAINING,
    Graph,
    GraphSpace,
    Layout,
    Network,
    NetworkSpace,
    Node,
    changes_in_words,
    image_space,
    sequence_space,
    table_space,
)
from .layers import (
    Attention,
    AveragePool,
    Blueprint,
    Convolution,
    Dense,
    Dropout,
    Identity,
    Layer,
    MaxPool,
    Normalization,
    Recurrent,
)

if TYPE_CHECKING:
    from .torch import (
        Classifier,
        Cycle,
        NetworkModule,
        build,
        export_model,
        exported_program,
        image_classifier,
        inherit,
        python_source,
        sequence_classifier,
        subtrain,
        table_classifier,
    )

Part = GraphSpace
"""The former name of `GraphSpace`."""

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
    "GraphSpace",
    "Identity",
    "Layer",
    "Layout",
    "MaxPool",
    "Network",
    "NetworkModule",
    "NetworkSpace",
    "Node",
    "Normalization",
    "Recurrent",
    "build",
    "changes_in_words",
    "draw_family",
    "draw_network",
    "export_model",
    "exported_program",
    "image_classifier",
    "image_space",
    "inherit",
    "python_source",
    "sequence_classifier",
    "sequence_space",
    "subtrain",
    "table_classifier",
    "table_space",
]


def __getattr__(name: str) -> Any:
    """Import the names that need PyTorch on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.torch"), name)
