"""Small images with labels, made on the spot."""

import numpy as np


def bright_quarters(rows=120, shape=(8, 8), seed=0):
    """Grey noise with one bright quarter; the label says which."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 120, (rows, *shape)).astype(np.uint8), rng.integers(0, 4, rows)
    half = shape[0] // 2, shape[1] // 2
    for image, label in zip(x, y, strict=True):
        top, left = half[0] * (label // 2), half[1] * (label % 2)
        image[top : top + half[0], left : left + half[1]] += 100
    return x, y
