r"""How good an estimator is: bias, variance and mean squared error by simulation.

    bias = E T - t,    variance = E (T - E T)^2,    mse = E (T - t)^2 = bias^2 + variance
    efficiency = bound(n) / variance                  1 where the Cramer-Rao bound is reached

Averages over ``repeats`` samples of each size; with divisor ``repeats`` the decomposition holds
exactly. Unbiased: |bias| below three standard errors. Consistent: the slope of log mse against
log n is below -1/4 (a regular estimator has -1, a constant bias 0).
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import text_table
from pellucid.core.runtime.random import generator
from pellucid.inference.distributions.distribution import Univariate
from pellucid.inference.estimation.information import cramer_rao

CELLS = 4_000_000  # numbers drawn at a time
SIGMAS = 3  # standard errors of the bias that count as chance
SLOPE = -0.25


@dataclass(frozen=True, eq=False)
class Efficiency:
    """How two estimators compare: mse of the second over mse of the first, for each n."""

    n: IntArray
    relative: Array

    def __str__(self) -> str:
        lines = []
        for n, ratio in zip(self.n, self.relative, strict=True):
            better = "first" if ratio > 1 else "second"
            lines.append(f"n = {n}: relative efficiency {ratio:.4g}; the {better} is better.")
        return "\n".join(lines)


@readable
@dataclass(frozen=True, eq=False)
class EstimatorStudy:
    """Bias, variance and mean squared error against the size of the sample.

    >>> import numpy as np
    >>> from pellucid.inference import Normal
    >>> study = study_estimator(np.mean, Normal(0, 2), 0.0, n=(4,), repeats=2000, random_state=0)
    >>> bool(study.unbiased[0]), bool(abs(study.variance[0] - 1.0) < 0.1)
    (True, True)
    """

    n: IntArray  # sizes of the samples
    bias: Array  # mean of the estimates minus the target
    variance: Array  # of the estimates
    mse: Array  # bias squared plus variance
    bias_se: Array  # standard error of ``bias``
    variance_se: Array  # standard error of ``variance``
    efficiency: Array | None  # least possible variance / variance
    unbiased: BoolArray  # whether the bias is within its noise
    consistent: bool | None  # whether the error shrinks with n; None for one n

    def compare(self, other: "EstimatorStudy") -> Efficiency:
        """Relative efficiency: the other's mse over this one's (variances where unbiased)."""
        if not np.array_equal(self.n, other.n):
            raise ValueError(f"the studies have different sizes: {self.n} and {other.n}")
        return Efficiency(self.n, other.mse / self.mse)

    def __str__(self) -> str:
        columns: tuple[str, ...] = ("n", "bias", "bias_se", "variance", "mse")
        arrays = [self.n, self.bias, self.bias_se, self.variance, self.mse]
        if self.efficiency is not None:
            columns, arrays = (*columns, "efficiency"), [*arrays, self.efficiency]
        table = text_table(columns, [tuple(row) for row in zip(*arrays, strict=True)])
        biased = self.n[~self.unbiased]
        first = "no bias beyond chance" if not len(biased) else f"biased at n = {biased.tolist()}"
        words = {
            True: "the error shrinks with n: consistent",
            None: "one n says nothing of limits",
            False: "the error does not shrink with n: not consistent",
        }
        return f"{table}\n{first}; {words[self.consistent]}."


def estimates(estimator: Callable[..., Any], law: Any, n: int, repeats: int, rng: Rng) -> Array:
    """The estimate of each of ``repeats`` samples of size n; at once where it takes an axis."""
    whole = takes_axis(estimator)
    out = np.empty(repeats)
    block = max(1, CELLS // n)
    for start in range(0, repeats, block):
        rows = min(block, repeats - start)
        x = np.asarray(law.sample(rows * n, random_state=rng)).reshape(rows, n)
        found = estimator(x, axis=1) if whole else [float(estimator(row)) for row in x]
        values = np.asarray(found, dtype=np.float64)
        if values.shape != (rows,):
            raise ValueError(f"estimator must give one number per sample, got {values.shape}")
        out[start : start + rows] = values
    if not np.isfinite(out).all():
        raise ValueError(f"estimator gave NaN or infinity for a sample of {n} values")
    return out


def takes_axis(estimator: Callable[..., Any]) -> bool:
    try:
        return "axis" in inspect.signature(estimator).parameters
    except ValueError:  # a builtin without a signature
        return False


def study_estimator(
    estimator: Callable[..., Any],
    distribution: Univariate,
    target: float | str,
    *,
    n: int | Sequence[int] = (10, 100, 1000),
    repeats: int = 10_000,
    bound: Any = None,
    random_state: Seed = None,
) -> EstimatorStudy:
    """Simulate an estimator on samples of a known distribution.

    Parameters
    ----------
    estimator : callable
        A sample to a number; one that takes ``axis`` runs once on (repeats, n).
    distribution : Distribution
        Where the samples come from.
    target : float or str
        What is estimated: a number, or an attribute of the distribution such as "variance".
    n : int or sequence of int, default=(10, 100, 1000)
        Sizes of the samples.
    repeats : int, default=10000
        Samples of each size.
    bound : callable or str, default=None
        n -> least variance, or the name of the parameter whose Cramer-Rao bound it is.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.inference import Normal, study_estimator
    >>> study = study_estimator(np.var, Normal(0.0, 2.0), 4.0, n=(5, 50), random_state=0)
    >>> study.unbiased, study.consistent, study.bias.round(1)
    (array([False, False]), True, array([-0.8, -0.1]))
    """
    check.whole(at_least=2, repeats=repeats)
    sizes = np.atleast_1d(np.asarray(n, dtype=np.intp))
    if sizes.ndim != 1 or not (sizes >= 1).all():
        raise ValueError(f"n must be whole numbers >= 1, got {n!r}")
    truth = float(getattr(distribution, target) if isinstance(target, str) else target)
    rng = generator(random_state)
    rows = []
    for size in sizes.tolist():
        T = estimates(estimator, distribution, size, repeats, rng)
        bias, gap = float(T.mean()) - truth, T - T.mean()
        variance, fourth = float((gap**2).mean()), float((gap**4).mean())
        errors = np.sqrt(variance / repeats), np.sqrt(max(fourth - variance**2, 0.0) / repeats)
        rows.append((bias, variance, *errors))
    bias, variance, bias_se, variance_se = np.array(rows).T
    mse = bias**2 + variance
    efficiency = None
    if bound is not None:
        if isinstance(bound, str):
            least = np.array([cramer_rao(distribution, bound, k) for k in sizes.tolist()])
        else:
            least = np.array([float(bound(k)) for k in sizes.tolist()])
        efficiency = least / np.where(variance > 0, variance, np.nan)
    consistent = None
    if len(sizes) > 1 and (mse > 0).all():
        consistent = bool(np.polyfit(np.log(sizes), np.log(mse), 1)[0] < SLOPE)
    unbiased = np.abs(bias) < SIGMAS * np.maximum(bias_se, 1e-15 * max(abs(truth), 1.0))
    noise = bias_se, variance_se
    return EstimatorStudy(sizes, bias, variance, mse, *noise, efficiency, unbiased, consistent)
