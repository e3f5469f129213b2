"""The types of layers that graphs are made of; a subclass of `Layer` is a new one."""

from .basic import Dense, Dropout, Identity, Normalisation
from .convolution import AveragePool, Convolution, MaxPool
from .layer import EVERY, Layer, Settings, Shape, is_shape
from .sequences import Attention, Recurrent

__all__ = [
    "EVERY",
    "Attention",
    "AveragePool",
    "Convolution",
    "Dense",
    "Dropout",
    "Identity",
    "Layer",
    "MaxPool",
    "Normalisation",
    "Recurrent",
    "Settings",
    "Shape",
    "is_shape",
]
