r"""The error of a prediction rule under a known process, and the best linear rule.

    EPE(f) = E loss(Y, f(X))                         simulated, with its standard error
    best linear predictor   b = Cov(X)^-1 Cov(X, Y),  a = E Y - b.E X,  mse = Var Y - b.Cov(X, Y)

The conditional mean has the least squared EPE of all functions; the best linear predictor has the
least among linear ones, whatever the distribution.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.readable import readable
from pellucid.core.records import show
from pellucid.core.runtime.random import generator
from pellucid.inference.decisions.losses import Loss, get_loss

BLOCK = 100_000  # rows simulated at a time


@readable
class EPE(NamedTuple):
    """A simulated expected prediction error.

    >>> print(EPE(1.02, 0.01, 10_000))
    expected prediction error 1.02 +/- 0.01 (10000 draws)
    """

    value: float  # mean loss of the draws
    standard_error: float  # of that mean
    n: int  # number of draws

    def __str__(self) -> str:
        around = f"{show(self.value)} +/- {show(self.standard_error)}"
        return f"expected prediction error {around} ({self.n} draws)"


@readable
class LinearPredictor(NamedTuple):
    """The best linear predictor of one variable from the others.

    >>> LinearPredictor(np.array([2.0]), 1.0, 0.5).intercept
    1.0
    """

    coef: Array  # (d - 1,), of the other variables in their order
    intercept: float  # constant term
    mse: float  # expected squared error left


def expected_prediction_error(
    predict: Callable[[Any], Any],
    sample: Callable[[int, np.random.Generator], tuple[Any, Any]],
    *,
    loss: "str | Loss | Callable[..., Any]" = "squared",
    n_samples: int = 100_000,
    random_state: Seed = None,
) -> EPE:
    """E loss(Y, f(X)) over a known process.

    Parameters
    ----------
    predict : callable
        X -> predictions; a fitted model's ``predict``.
    sample : callable
        ``sample(n, rng)`` -> (X, y), n independent draws.
    loss : str, Loss or callable, default="squared"
        A name of ``get_loss``; ``"zero_one"`` takes labels of any kind.
    n_samples : int, default=100_000
        Number of draws.
    random_state : int, Generator, RandomState or None
        The same number for two rules gives the same draws: a paired comparison.

    Examples
    --------
    >>> from pellucid.inference import expected_prediction_error
    >>> def process(n, rng):
    ...     x = rng.normal(size=n)
    ...     return x, 2 * x + rng.normal(size=n)
    >>> error = expected_prediction_error(lambda x: 2 * x, process, random_state=0)
    >>> abs(error.value - 1.0) < 4 * error.standard_error
    True
    """
    check.whole(n_samples=n_samples, at_least=2)
    chosen = get_loss(loss)
    rng = generator(random_state)
    parts = []
    for start in range(0, n_samples, BLOCK):
        X, y = sample(min(BLOCK, n_samples - start), rng)
        y, f = np.asarray(y), np.asarray(predict(X))
        if y.shape != f.shape:
            raise ValueError(f"predict gave shape {f.shape} for y of shape {y.shape}")
        same_kind = chosen.name == "zero_one"  # labels may be text
        parts.append((y != f).astype(np.float64) if same_kind else chosen.value(y, f))
    losses = np.concatenate([np.ravel(part) for part in parts])
    if not np.isfinite(losses).all():
        raise ValueError("the loss of some draws is not finite: predictions or draws are not")
    spread = float(losses.std(ddof=1) / np.sqrt(len(losses)))
    return EPE(float(losses.mean()), spread, len(losses))


def best_linear_predictor(mean: ArrayLike, cov: ArrayLike, target: int = -1) -> LinearPredictor:
    """The linear function of the other variables that predicts one of them best.

    ``mean`` (d,) and ``cov`` (d, d) are those of all variables together, ``target`` is the one that
    is predicted. Dependent predictors: the coefficients of least norm.

    >>> from pellucid.inference import best_linear_predictor
    >>> best_linear_predictor([0.0, 1.0], [[4.0, 2.0], [2.0, 3.0]])
    LinearPredictor(coef=array([0.5]), intercept=1.0, mse=2.0)
    """
    m = np.array(mean, dtype=np.float64, ndmin=1)
    S = np.array(cov, dtype=np.float64, ndmin=2)
    d = len(m)
    if m.ndim != 1 or S.shape != (d, d):
        raise ValueError(f"cov must have shape ({d}, {d}), got {S.shape}")
    if not (np.isfinite(m).all() and np.isfinite(S).all()):
        raise ValueError("mean and cov must be finite")
    scale = float(np.abs(S).max())
    if not np.allclose(S, S.T, rtol=1e-8, atol=1e-12 * scale):
        raise ValueError("cov must be symmetric")
    if np.linalg.eigvalsh(S)[0] < -1e-8 * scale:
        raise ValueError("cov must be positive semidefinite: it is not a covariance")
    if not -d <= target < d or d < 2:
        raise ValueError(f"target must name one of {d} variables beside others, got {target!r}")
    others = np.delete(np.arange(d), target)
    c = S[others, target]
    coef = np.linalg.lstsq(S[np.ix_(others, others)], c, rcond=None)[0]
    mse = max(float(S[target, target] - c @ coef), 0.0)
    return LinearPredictor(coef, float(m[target] - m[others] @ coef), mse)
