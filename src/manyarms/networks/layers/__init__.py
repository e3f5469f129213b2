"""Layer types that graphs are made of. To add one, subclass `Layer`."""

from .basic import Dense, Dropout, Identity, Normalization
from .blueprint import Blueprint
from .convolution import Convolution
from .layer import ALL_DIMENSIONS, Layer, Settings, Shape, is_shape
from .pooling import AveragePool, MaxPool
from .sequences import Attention, Recurrent

__all__ = [
    "ALL_DIMENSIONS",
    "Attention",
    "AveragePool",
    "Blueprint",
    "Convolution",
    "Dense",
    "Dropout",
    "Identity",
    "Layer",
    "MaxPool",
    "Normalization",
    "Recurrent",
    "Settings",
    "Shape",
    "is_shape",
]
