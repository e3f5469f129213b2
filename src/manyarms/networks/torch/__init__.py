"""Networks in PyTorch: building, training and exporting them."""

from .classifier import Classifier
from .default_classifiers import image_classifier, sequence_classifier, table_classifier
from .export import export_model, exported_program
from .network_module import NetworkModule, build, inherit
from .source import python_source
from .training import Cycle, subtrain

__all__ = [
    "Classifier",
    "Cycle",
    "NetworkModule",
    "build",
    "export_model",
    "exported_program",
    "image_classifier",
    "inherit",
    "python_source",
    "sequence_classifier",
    "subtrain",
    "table_classifier",
]
