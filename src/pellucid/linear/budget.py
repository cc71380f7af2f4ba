r"""The constrained form of shrinkage: minimise RSS subject to P(w) <= t.

For ridge, P(w) = |w|^2. With the singular values d and beta = U'y of the centred X,

    |w(alpha)|^2 = sum_j (d_j beta_j / (d_j^2 + alpha))^2,

which falls strictly in alpha. By the KKT conditions the solution is least squares (alpha = 0) if
that meets the budget, else the alpha >= 0 with |w(alpha)|^2 = t. Newton's method on
1/sqrt(t) - 1/|w(alpha)|, which is nearly linear in alpha, climbs to it from 0 without overshoot.

References: Hebden (1973); Moré & Sorensen (1983), Computing a trust region step.
"""

from dataclasses import dataclass, field

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable


@readable
@dataclass(frozen=True, repr=False)
class Budget:
    """A bound on the penalty instead of its price: pass it as ``alpha``.

    Parameters
    ----------
    t : float or pair of floats, optional
        The bound: sum of squared coefficients <= t for Ridge, sum of absolute coefficients <= t
        for Lasso; for ElasticNet a pair, squares <= t[0] and absolute values <= t[1].
    fraction : float, optional
        The bound (for ElasticNet both) as a share of the penalty of the least-squares fit.

    Examples
    --------
    >>> from pellucid.linear import Budget, Ridge
    >>> model = Ridge(Budget(1.0)).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> model.coef_, round(float(model.alpha_), 6)
    (array([1.]), 1.0)
    """

    t: float | tuple[float, float] | None = None
    fraction: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.t is None) == (self.fraction is None):
            raise ValueError("Budget needs either t or fraction, and not both")
        if isinstance(self.t, list | tuple | np.ndarray):
            if len(self.t) != 2:
                raise ValueError(f"t must be a number or a pair of numbers, got {self.t!r}")
            for bound in self.t:
                check.positive(t=bound)
            object.__setattr__(self, "t", (float(self.t[0]), float(self.t[1])))
        elif self.t is not None:
            check.positive(t=self.t)
        else:
            check.positive(fraction=self.fraction)

    def bound(self, penalty_of_least_squares: Array) -> Array:
        """The bound for each target."""
        if isinstance(self.t, tuple):
            raise ValueError(f"this estimator needs one bound, got the pair {self.t!r}")
        if self.t is not None:
            return np.full(len(penalty_of_least_squares), float(self.t))
        return float(self.fraction or 0.0) * penalty_of_least_squares

    def bounds(self, squares: float, absolute: float) -> tuple[float, float]:
        """The bounds on the squares and on the absolute values, for one target."""
        if isinstance(self.t, tuple):
            return self.t
        if self.t is not None:
            pair = "Budget((t1, t2)), squares <= t1 and absolute values <= t2"
            raise ValueError(f"ElasticNet needs two bounds, {pair}, got {self!r}")
        share = float(self.fraction or 0.0)
        return share * squares, share * absolute

    def __repr__(self) -> str:
        given = f"fraction={self.fraction!r}" if self.t is None else repr(self.t)
        return f"Budget({given})"


def ridge_multiplier(d: Array, beta: Array, t: float) -> float:
    """The alpha >= 0 with sum (d beta / (d^2 + alpha))^2 = t, or 0 if alpha = 0 is within t.

    >>> round(ridge_multiplier(np.ones(2), np.array([3.0, 4.0]), 1.0), 9)
    4.0
    """
    d, beta = d[d > 0], beta[d > 0]
    alpha = 0.0
    for _ in range(200):
        w = d * beta / (d**2 + alpha)
        size = np.sqrt(w @ w)
        if size <= np.sqrt(t) * (1 + 1e-15):
            return alpha
        step = (w @ w) / (w @ (w / (d**2 + alpha))) * (size / np.sqrt(t) - 1)
        if alpha + step == alpha:
            return alpha
        alpha += float(step)
    return alpha
