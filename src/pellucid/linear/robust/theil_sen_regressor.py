r"""Theil-Sen regression: the spatial median of the planes through small sets of rows.

Subsets      all sets of q rows (q = p + 1 with an intercept), or ``max_subpopulation`` drawn ones
Plane s      theta_s = (b_s, w_s), exact or of least norm, least squares where sets are larger
Estimator    argmin_t sum_s |theta_s - t|, the spatial median; for one parameter the median
Algorithm    theta_s by one stacked SVD; Newton on the sum of distances, with Weiszfeld's step where
             Newton's does not lower it, and the rule of Vardi and Zhang on a point itself
Cost         m q^3 for m subsets, then m q + q^3 per step
Breakdown    1 - (2^(-1/q) (n - q + 1) + q - 1)/n: the share of bad rows that it bears

The spatial median is one point where the planes lie in more than a line, but not equivariant: other
units of the columns give (a little) another plane.

References: Theil (1950); Sen (1968); Dang, Peng, Wang & Zhang (2009); Vardi & Zhang (2000).
"""

import math
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas

PART = 1024  # subsets that one thread solves at a time


class Median(NamedTuple):
    """A point and the sum of its distances from all others."""

    at: Array  # (q,)
    objective: float


def draw_subsets(n: int, q: int, m: int, rng: Rng) -> IntArray:
    """m sets of q different numbers below n, (m, q).

    >>> found = draw_subsets(50, 3, 200, np.random.default_rng(0))
    >>> found.shape, bool((np.diff(np.sort(found, axis=1), axis=1) > 0).all())
    ((200, 3), True)
    """
    if 2 * q * q > n:  # few tries would do: shuffle instead
        return np.stack([rng.permutation(n)[:q] for _ in range(m)])
    found = rng.integers(n, size=(m, q))
    while len(twice := np.flatnonzero((np.diff(np.sort(found, axis=1), axis=1) == 0).any(axis=1))):
        found[twice] = rng.integers(n, size=(len(twice), q))
    return found


def fit_subsets(D: Array, y: Array, subsets: IntArray) -> Array:
    """Least squares of least norm on each subset of the rows of D (n, q): (m, q).

    >>> D, y = np.array([[1.0, 0], [1, 1], [1, 3]]), np.array([1.0, 3, 7])
    >>> fit_subsets(D, y, np.array([[1, 2]])).round(9)
    array([[1., 2.]])
    """

    def part(start: int) -> Array:
        index = subsets[start : start + PART]
        U, d, Vt = np.linalg.svd(D[index], full_matrices=False)
        live = d > EPS * max(D.shape[1], index.shape[1]) * d[:, :1]
        gain = np.divide(1.0, d, out=np.zeros_like(d), where=live)
        along = np.matmul(np.swapaxes(U, 1, 2), y[index][:, :, None])[:, :, 0] * gain
        return np.matmul(along[:, None, :], Vt)[:, 0]

    with single_threaded_blas():
        return np.concatenate(list(map_threads(part, range(0, len(subsets), PART))))


def distances(P: Array, at: Array) -> Array:
    """|theta_s - t| of every point."""
    return np.sqrt(((P - at) ** 2).sum(axis=1))


def median_step(P: Array, state: Median) -> tuple[Median, float]:
    """One step down the sum of distances; the gap is its length over the mean distance."""
    r = distances(P, state.at)
    size = float(r.mean())
    if size == 0:
        return state, 0.0  # all points are one
    far = r > EPS * size
    here = len(P) - int(far.sum())
    D, s = P[far] - state.at, r[far]
    U = D / s[:, None]
    pull = U.sum(axis=0)
    force = float(np.linalg.norm(pull))
    if force <= here + EPS * len(P):
        return state, 0.0  # no direction leads down
    free = pull * max(0.0, 1 - here / force)  # what is left of the pull of the others
    mass = float((1 / s).sum())
    H = mass * np.eye(P.shape[1]) - (U / s[:, None]).T @ U
    moves = [free / mass]
    if here == 0 and np.linalg.matrix_rank(H) == len(H):
        moves.insert(0, np.linalg.solve(H, pull))
    for move in moves:
        at = state.at + move
        value = float(distances(P, at).sum())
        if value < state.objective:
            return Median(at, value), float(np.linalg.norm(move)) / size
    return state, 0.0  # no representable step lowers it


class TheilSenRegressor(Regressor):
    """Linear regression by the spatial median of planes through small sets of rows.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_subpopulation : int, default=10_000
        Subsets at most; where there are more they are drawn.
    n_subsamples : int or None, default=None
        Rows of a subset: between p + 1 (p without an intercept), the default and the most robust,
        and n, which is least squares.
    max_iter : int, default=300
        Largest number of steps to the spatial median.
    tol : float, default=1e-3
        The steps end when one is at most ``tol/1000`` of the mean distance of the planes.
    random_state : int, RandomState, Generator or None, default=None
        Draws the subsets.
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake: the threads of the library share the subsets.
    verbose : bool, default=False
        Print the steps.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) and intercept
    breakdown_ : share of bad rows that the estimate bears
    n_subpopulation_ : subsets used
    n_iter_, history_ : steps to the spatial median; objective (sum of distances) of each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import TheilSenRegressor
    >>> x = np.arange(12.0)
    >>> y = 2 * x + 1
    >>> y[[3, 8]] = 90.0, -40.0
    >>> model = TheilSenRegressor(random_state=0).fit(x[:, None], y)
    >>> model.coef_.round(3), round(model.intercept_, 3), round(model.breakdown_, 3)
    (array([2.]), 1.0, 0.268)
    """

    _multi_output = False
    _squares_x = True
    _squares_y = True

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_subpopulation: float = 1e4,
        n_subsamples: int | None = None,
        max_iter: int = 300,
        tol: float = 1e-3,
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_subpopulation = max_subpopulation
        self.n_subsamples = n_subsamples
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the planes and find their median."""
        self._check_parameters()
        rows = self._check_training(X, y)
        n, p = rows.X.shape
        size = self._subset_size(n, p)
        every = math.comb(n, size)
        m = int(min(self.max_subpopulation, every))
        rng = generator(self.random_state)
        all_of_them = every <= self.max_subpopulation
        listed = np.array(list(combinations(range(n), size))) if all_of_them else None
        subsets = draw_subsets(n, size, m, rng) if listed is None else listed
        D = np.column_stack([np.ones(n), rows.X]) if self.fit_intercept else rows.X
        planes = fit_subsets(D, rows.y, subsets)
        if not np.isfinite(planes).all():
            raise ValueError("the planes overflow float64; scale the columns of X or y")
        self.n_subpopulation_ = m
        self.breakdown_ = 1 - (0.5 ** (1 / size) * (n - size + 1) + size - 1) / n
        context = FitContext.of_rows(self, rows, None, self.max_iter, self._line)
        self._find_median(planes, context)
        return self

    def _find_median(self, P: Array, context: FitContext) -> None:
        single = P.shape[1] == 1
        at = np.median(P, axis=0) if single else P.mean(axis=0)
        start = Median(at, float(distances(P, at).sum()))
        steps: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol / 1000}
        if single:
            steps = {"max_iter": 0, "tol": None}
        run = self._iterate(
            partial(median_step, P),
            start,
            **steps,
            record=lambda state: {"objective": state.objective},
            context=context,
        )
        self._converged = run.converged or single
        for name, value in self._line(run.state).items():
            setattr(self, name, value)

    def _line(self, state: Median) -> dict[str, Any]:
        t = state.at
        if self.fit_intercept:
            return {"coef_": t[1:].copy(), "intercept_": float(t[0])}
        return {"coef_": t.copy(), "intercept_": 0.0}

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept)
        check.positive(max_subpopulation=self.max_subpopulation)
        if self.max_subpopulation < 1:
            raise ValueError(f"max_subpopulation must be >= 1, got {self.max_subpopulation!r}")
        check.whole(at_least=0, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        if self.n_subsamples is not None:
            check.whole(n_subsamples=self.n_subsamples)

    def _subset_size(self, n: int, p: int) -> int:
        """Rows of a subset, checked against the table."""
        least = min(p + self.fit_intercept, n)
        if self.n_subsamples is None:
            return least
        size = int(self.n_subsamples)
        if size > n:
            raise ValueError(f"Invalid parameter since n_subsamples > n_samples ({size} > {n}).")
        if size < least:
            width = "n_features+1" if self.fit_intercept else "n_features"
            width = width if least < n else f"min({width}, n_samples)"
            what = f"{width} > n_subsamples ({least} > {size})"
            raise ValueError(f"Invalid parameter since {what}.")
        return size

    def predict(self, X: ArrayLike) -> Array:
        """b + x'w of every row."""
        return self._check_input(X) @ self.coef_ + self.intercept_

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        objective = self.history_[-1]["objective"]
        notes = () if self._converged else ("the steps to the spatial median did not converge",)
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"sum of the distances from {self.n_subpopulation_} planes, each through a "
            "small set of rows",
            optimisation=f"Newton and Weiszfeld steps: {self.n_iter_}",
            numbers={
                "subsets": self.n_subpopulation_,
                "breakdown": self.breakdown_,
                "mean distance": objective / self.n_subpopulation_,
            },
            warnings=notes,
        )
