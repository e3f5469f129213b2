"""Image data sets, read from local files: MNIST, Fashion-MNIST, CIFAR-10, SVHN, and MRBI (rotated digits on photographs)."""

from ..bench.problems.published import NAMES
from ..bench.problems.published import load_images as load

__all__ = ["NAMES", "load"]
