"""Small images with one bright quarter, and a space of small networks for them."""

from __future__ import annotations

from pictures import bright_quarters

from manyarms import networks

from .spaces import SMALL_TRAINING

SPACE = networks.image_space((1, 8, 8), 4, max_nodes=6, max_flops=500_000, training=SMALL_TRAINING)
DATA = (*bright_quarters(), *bright_quarters(seed=1))
