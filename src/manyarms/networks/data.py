"""Image data sets, read from local files: MNIST, Fashion-MNIST, CIFAR-10, SVHN, and MRBI (rotated digits on photographs)."""

from ..bench.problems.image_datasets import NAMES
from ..bench.problems.image_datasets import load_images as load

__all__ = ["NAMES", "load"]
