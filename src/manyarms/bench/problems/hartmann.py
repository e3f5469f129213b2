"""Hartmann functions with fidelities: smooth landscapes whose low fidelities rank configs well or badly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checks
from ...spaces import Float, Space

_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_A = {
    3: [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]],
    6: [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]],
}
_P = {  # multiplied by 10,000
    3: [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
    6: [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ],
}
_BEST = {3: 3.8627797873328, 6: 3.3223680114156}  # found by L-BFGS-B from many starts, the last digit rounded up
_BIASES = {"good": 0.5, "bad": 2.0, "terrible": 3.0}


class Hartmann:
    """Four hills over the unit cube, alpha_i exp(-sum_j A_ij (x_j - P_ij)^2), which grow during the training.

    After a share z of the training, alpha_i is lower by bias (1 - z), as in Kandasamy et al., "Multi-fidelity Bayesian
    Optimisation with Continuous Approximations", appendix. The standard deviation of the noise is noise (1 - z). A full
    training gives the negative of the published function, so that larger is better. If the bias exceeds 1 and 1.2, the two
    lower hills become valleys at first, and low fidelities are misleading.

    Args:
        dimensions: 3 or 6.
        bias: A number or a name. With "good" (0.5) the first steps rank configs almost like the last one, with "bad" (2.0)
            partly, with "terrible" (3.0) not at all.
        max_steps: Steps of a full training.
        noise: Standard deviation of the noise at fidelity 0.
        seed: Random seed for the landscape. 0 is the published one; any other permutes and mirrors its axes.

    >>> problem = Hartmann(6)
    >>> x = [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]
    >>> round(problem.value(problem.space.decode(x)), 4), round(problem.best, 4)
    (3.3224, 3.3224)
    """

    def __init__(
        self, dimensions: int = 6, bias: str | float = "good", max_steps: int = 10, noise: float = 0.1, seed: int = 0
    ) -> None:
        if dimensions not in _BEST:
            raise ValueError(f"dimensions must be 3 or 6, got {dimensions!r}")
        kind = bias if isinstance(bias, str) else f"bias {bias:g}"
        self.name = f"Hartmann {dimensions}, {kind}" + (f", landscape {seed}" if seed else "")
        self.max_steps = checks.whole("max_steps", max_steps, 1)
        self.space = Space(**{f"x{i}": Float(0, 1) for i in range(dimensions)})
        self.best = _BEST[dimensions]
        self._bias = _BIASES[checks.one_of("bias", bias, _BIASES)] if isinstance(bias, str) else checks.finite("bias", bias)
        self._noise = checks.between("noise", noise, 0)
        self._a, self._p = np.array(_A[dimensions], dtype=float), np.array(_P[dimensions]) / 1e4
        self._turn(checks.whole("seed", seed, 0))
        points = np.random.default_rng(1).random((4000, dimensions))
        self.typical = float(np.median(self._hills(points) @ _ALPHA))

    def _turn(self, seed: int) -> None:
        """Permute and mirror the axes."""
        if not seed:
            return
        rng = np.random.default_rng([seed, 1])  # a different stream from a strategy with the same seed
        order, mirrored = rng.permutation(self._a.shape[1]), rng.random(self._a.shape[1]) < 0.5
        self._a, self._p = self._a[:, order], self._p[:, order]
        self._p = np.where(mirrored, 1.0 - self._p, self._p)

    def _hills(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The height of each hill at a point, relative to its top."""
        return np.asarray(np.exp(-(self._a * (points[..., None, :] - self._p) ** 2).sum(axis=-1)))

    def _at(self, config: Any, missing: float) -> float:
        """The landscape when this share of the training is missing."""
        point = np.array([config[name] for name in self.space.parameters])  # JSON may have changed their order
        return float(self._hills(point) @ (_ALPHA - self._bias * missing))

    def value(self, config: Any) -> float:
        """The negative of the Hartmann function."""
        return self._at(config, 0.0)

    def reward(self, config: Any, step: int, seed: int) -> float:
        """The function at the fidelity of this step, with noise."""
        missing = 1.0 - step / self.max_steps
        return self._at(config, missing) + self._noise * missing * float(np.random.default_rng(seed).standard_normal())
