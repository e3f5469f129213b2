"""Harmonica: fix the few bits of a config that matter, stage by stage."""

from .harmonica import Harmonica

__all__ = ["Harmonica"]
