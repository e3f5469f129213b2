"""Drawings of networks and family trees as SVG."""

from .family_tree import draw_family
from .network import draw_network

__all__ = ["draw_family", "draw_network"]
