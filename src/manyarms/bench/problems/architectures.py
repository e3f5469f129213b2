"""The networks that Wang, Geng and Rudin tune: their spaces, layers and optimizers.

"A Practical Bandit Method with Advantages in Neural Network Tuning", section 3.3.1 and tables 1 and 2. PyTorch is imported only
when a network is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ... import checks
from ...spaces import Choice, Float, Int, Space

if TYPE_CHECKING:
    from torch import nn, optim

Config = Mapping[str, Any]

_PARTS = 15  # in setting A, the training lengths of the CNNs are multiples of a fifteenth of the longest


class Architecture(Protocol):
    """How the network of a config is made and trained.

    Attributes:
        space: Space of the configs. If they have `iterations`, this is the length of the training.
    """

    space: Space

    def network(self, config: Config, shape: tuple[int, int, int], n_classes: int) -> nn.Sequential:
        """The network for images of this shape: channels, height, width."""

    def optimizer(self, config: Config, network: nn.Module) -> optim.Optimizer | None:
        """The optimizer; None if it would divide by zero."""

    def batch_size(self, config: Config) -> int:
        """Images per iteration."""

    def rate(self, config: Config, share: float) -> float:
        """The learning rate after this share of the training."""


class Mlp:
    """One hidden layer with dropout, trained by stochastic gradient descent (section 3.3.1).

    Args:
        lengths: The fewest and the most iterations, if the length of the training is tuned.
    """

    def __init__(self, lengths: tuple[int, int] | None = None) -> None:
        self.space = Space(
            hidden=Int(10, 784),
            learning_rate=Float(0.0001, 4),
            dropout=Float(0.1, 0.9),
            batch_size=Int(10, 500),
            **({} if lengths is None else {"iterations": Int(*lengths)}),
        )

    def network(self, config: Config, shape: tuple[int, int, int], n_classes: int) -> nn.Sequential:
        from torch import nn

        hidden = config["hidden"]
        layers = [nn.Flatten(), nn.Linear(int(np.prod(shape)), hidden), nn.ReLU(), nn.Dropout(config["dropout"])]
        return nn.Sequential(*layers, nn.Linear(hidden, n_classes))

    def optimizer(self, config: Config, network: nn.Module) -> optim.Optimizer:
        from torch import optim

        return optim.SGD(network.parameters(), lr=config["learning_rate"])

    def batch_size(self, config: Config) -> int:
        return int(config["batch_size"])

    def rate(self, config: Config, share: float) -> float:
        return float(config["learning_rate"])


def learning_rates() -> list[float]:
    """The grid of tables 1 and 2: 50 values from 1e-6 to 1 on a logarithmic scale, then 49 from 1.08 to 5 on a linear one."""
    return [float(rate) for rate in (*np.geomspace(1e-6, 1, 50), *np.linspace(1.08, 5, 49))]


def reduced(rate: float, reductions: int, share: float) -> float:
    """The learning rate after a share of the training. It is divided by ten `reductions` times, at equal distances.

    >>> [reduced(1.0, 1, share) for share in (0.0, 0.49, 0.5, 0.99)]
    [1.0, 1.0, 0.1, 0.1]
    """
    return rate / 10.0 ** min(int(share * (reductions + 1)), reductions)


class Cnn:
    """Three convolutions, each followed by a pooling, and a dense layer, trained by Adam (tables 1a and 2a).

    The paper has 200 channels and 512 hidden units. The padding is "same" everywhere, and the second pooling halves the image.

    Args:
        space: `cifar_space()` or `svhn_space()`, or another space with the same names.
        channels: Channels of each convolution.
        hidden: Units of the dense layer.
        batch: Images per iteration, which the paper does not specify.
    """

    def __init__(self, space: Space, channels: int = 16, hidden: int = 128, batch: int = 50) -> None:
        self.space = space
        self._channels, self._hidden = checks.whole("channels", channels, 1), checks.whole("hidden", hidden, 1)
        self._batch = checks.whole("batch", batch, 2)

    def network(self, config: Config, shape: tuple[int, int, int], n_classes: int) -> nn.Sequential:
        from torch import nn

        (depth, height, width), channels, hidden = shape, self._channels, self._hidden
        flat = channels * -(-height // 2) * -(-width // 2)
        return nn.Sequential(
            *convolution(depth, channels, config["conv1_kernel"]),
            nn.ReLU(),
            *max_pooling(config["pool1"], 1, height, width),
            *convolution(channels, channels, config["conv2_kernel"]),
            nn.ReLU(),
            *max_pooling(config["pool2"], 2, height, width),
            *convolution(channels, channels, config["conv3_kernel"]),
            nn.ReLU(),
            *average_pooling(config["pool3"]),
            nn.Flatten(),
            nn.Linear(flat, hidden),
            nn.BatchNorm1d(hidden, eps=1e-3, momentum=0.01),  # defaults of TensorFlow
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(hidden, n_classes),
        )

    def optimizer(self, config: Config, network: nn.Module) -> optim.Optimizer | None:
        from torch import optim

        betas = config["beta1"], config["beta2"]
        if 1.0 in betas:  # 1 is in the grid of the paper, but Adam divides by 1 - beta^t
            return None
        return optim.Adam(network.parameters(), lr=config["learning_rate"], betas=betas)

    def batch_size(self, config: Config) -> int:
        return self._batch

    def rate(self, config: Config, share: float) -> float:
        return reduced(config["learning_rate"], config["reductions"], share)


def cifar_space(longest: int | None = None) -> Space:
    """The space of table 2b. If `longest` is given, the number of iterations is tuned too, and `longest` is its maximum."""
    kernels = {"conv1_kernel": Int(1, 7), "conv2_kernel": Int(1, 7), "conv3_kernel": Int(1, 3)}
    pools = {"pool1": Int(1, 3), "pool2": Int(1, 3), "pool3": Int(1, 6)}
    return Space(**kernels, **pools, **_adam(), reductions=Int(1, 3), **_lengths(longest, 1))


def svhn_space(longest: int | None = None) -> Space:
    """The space of table 1b, with `longest` as in `cifar_space`. Parameters that it does not tune are constant."""
    kernels = {"conv1_kernel": Int(1, 7), "conv2_kernel": Int(1, 7), "conv3_kernel": 3}
    return Space(**kernels, pool1=3, pool2=3, pool3=3, **_adam(), reductions=0, **_lengths(longest, 3))


def _adam() -> dict[str, Any]:
    betas = [round(0.05 * i, 2) for i in range(21)]
    rates = Choice(*learning_rates(), ordered=True)
    return {"beta1": Choice(*betas, ordered=True), "beta2": Choice(*betas, ordered=True), "learning_rate": rates}


def _lengths(longest: int | None, first: int) -> dict[str, Any]:
    """The lengths {200, 400, .., 3000} of table 2 start at the first fifteenth, {300, .., 1500} of table 1 at the third."""
    if longest is None:
        return {}
    return {"iterations": Choice(*(longest * part // _PARTS for part in range(first, _PARTS + 1)), ordered=True)}


def convolution(depth: int, channels: int, size: int) -> list[nn.Module]:
    """A convolution with padding "same". For even sizes there is more padding at the end, as in TensorFlow."""
    from torch import nn

    before, after = (size - 1) // 2, size // 2
    return [nn.ZeroPad2d((before, after, before, after)), nn.Conv2d(depth, channels, size)]


def max_pooling(size: int, stride: int, height: int, width: int) -> list[nn.Module]:
    """Max pooling with padding "same": the number of outputs is that of inputs divided by the stride, rounded up."""
    from torch import nn

    padding: list[int] = []
    for length in (width, height):
        missing = max(0, (-(-length // stride) - 1) * stride + size - length)
        padding += [missing // 2, missing - missing // 2]
    return [nn.ConstantPad2d(tuple(padding), -float("inf")), nn.MaxPool2d(size, stride)]  # type: ignore[arg-type]


def average_pooling(size: int) -> list[nn.Module]:
    """Average pooling with padding "same" and stride 1. Only values within the image are averaged."""
    from torch import nn

    pooling = nn.AvgPool2d(size, 1, padding=size // 2, count_include_pad=False)
    return (
        [pooling] if size % 2 else [pooling, nn.ZeroPad2d((-1, 0, -1, 0))]
    )  # for even sizes there is one output too many, the first
