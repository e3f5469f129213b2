"""Graphs of layers: spaces of networks, mutation and crossover, shapes and costs. None of this needs PyTorch."""

from .default_spaces import TRAINING, image_space, sequence_space, table_space
from .differences import changes_in_words
from .graph import Graph, Node
from .graph_space import GraphSpace
from .layout import Layout
from .network import Network
from .network_space import NetworkSpace

__all__ = [
    "TRAINING",
    "Graph",
    "GraphSpace",
    "Layout",
    "Network",
    "NetworkSpace",
    "Node",
    "changes_in_words",
    "image_space",
    "sequence_space",
    "table_space",
]
