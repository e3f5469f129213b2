"""Drawings of networks and of their family trees, as SVG."""
