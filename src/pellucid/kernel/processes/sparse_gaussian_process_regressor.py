r"""A Gaussian process of many rows, seen through few inducing points.

Model        f ~ GP(0, k),  y = f(x) + e,  e ~ N(0, s^2);  u = f(Z) at m inducing points Z
Objective    Titsias's lower bound of the log evidence, whatever the points:
             F = log N(y; 0, Q + s^2 I) - tr(K - Q)/(2 s^2),   Q = K_nm K_mm^-1 K_mn
Sums         with K_mm = LL' and V = L^-1 K_mn: VV', Vy, y'y and tr K are sums over the rows: leaves
             of rows, whose kernel is made, used and dropped.    n m^2 an evaluation, memory m^2,
             and two passes over the blocks of a file
Gradient     dF/dK_nm, dF/dK_mm and dF/d diag K in closed form, pulled through the kernel block by
             block (``covariance.py``): as many flops again for all numbers together
Points       the kernel is first learned by the exact evidence of 500 rows drawn at random; then the
             rows that leave most variance under it (greedy, Burt et al. 2020; of 131,072 rows drawn
             where there are more) are the points, and the bound of all rows is maximised from there

A bound, unlike FITC, cannot be raised by noise that is made to look small, never overfits with more
points, and equals the exact evidence when every row is a point.

References: Titsias (2009); Burt, Rasmussen & van der Wilk (2020).
"""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from scipy.linalg import lapack
from scipy.special import ndtri
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import Spread
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.numbered import drawn_rows
from pellucid.core.loops.statistics import (
    LEAF_ROWS,
    Rows,
    Source,
    Statistic,
    is_unit,
    reduce_rows,
)
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.kernel.processes import hyperparameters
from pellucid.kernel.processes.covariance import Covariance, covariance, diagonal
from pellucid.kernel.processes.evidence import evidence, threads_for
from pellucid.kernel.processes.hyperparameters import Goal, Search, bounds_of, theta_of, with_theta
from pellucid.kernel.processes.inducing_bound import (
    Data,
    Unit,
    bound_slope,
    lower_bound,
    most_variance,
)
from pellucid.solvers.lbfgs import lbfgsb

CANDIDATES = 32 * LEAF_ROWS  # rows among which the points are chosen
NOISE = (1e-6, 1e2)  # bounds of the noise variance, y having variance 1
SAMPLE = 500  # rows on which the kernel is first learned, exactly


def bound_goal(kernel: Covariance, noise: float, data: Data, Z: Array) -> tuple[float, Array]:
    """Minus the bound, and its slope; infinite where the kernel is not positive definite."""
    at = lower_bound(kernel, noise, data, Z)
    if at is None:
        return np.inf, np.zeros(len(theta_of(kernel)) + 1)
    return -at.value, -bound_slope(kernel, noise, data, Z, at)


def leaf_spread(rows: Rows) -> Spread:
    """Weight, means and squares about them of the columns of X and of y."""
    if not is_unit(rows.w):
        raise ValueError(
            "SparseGaussianProcessRegressor takes no sample weights: every row has the same noise"
        )
    Z = np.column_stack([rows.X, rows.y])
    origin = Z[0]
    Z = Z - origin
    offset = Z.mean(axis=0)
    return Spread(float(len(Z)), origin + offset, ((Z - offset) ** 2).sum(axis=0))


def merge_spreads(a: Spread, b: Spread) -> Spread:
    """The columns of two sets of rows taken together (Chan)."""
    n, gap = a.weight + b.weight, b.mean - a.mean
    squares = a.squares + b.squares + gap**2 * (a.weight * b.weight / n)
    return Spread(n, a.mean + gap * (b.weight / n), squares)


def exact_goal(kernel: Covariance, noise: float, X: Array, y: Array) -> tuple[float, Array]:
    """Minus the exact log evidence of few rows, and its slope in the noise as well."""
    whole = kernel + WhiteKernel(noise) if not hyperparameters.is_ours(kernel) else kernel
    if whole is not kernel:
        value, slope = evidence(whole, X, y[:, None], 0.0)
        return -value, -slope
    value, slope = evidence(kernel, X, y[:, None], noise)
    h = 1e-4
    ends = [evidence(kernel, X, y[:, None], noise * np.exp(e)).value for e in (h, -h)]
    return -value, -np.append(slope, (ends[0] - ends[1]) / (2 * h))


class SparseGaussianProcessRegressor(Regressor):
    """Gaussian-process regression for many rows: m inducing points stand for all of them.

    Parameters
    ----------
    kernel : kernel or None, default=None
        Of ``sklearn.gaussian_process.kernels`` or ``pellucid.kernel``, without noise; its numbers
        are learned. None is ``ConstantKernel() * RBF()`` with a width for every column, starting at
        its standard deviation.
    n_inducing : int, default=200
        m, the number of points; all rows where they are fewer.
    noise : float, default=0.1
        Variance of the noise at the start, y having variance 1; it is learned.
    optimizer : {"fmin_l_bfgs_b"} or None, default="fmin_l_bfgs_b"
        None keeps the numbers of the kernel and the noise.
    max_iter : int, default=100
        Most steps of each of the two searches.
    random_state : int, RandomState, Generator or None, default=None
        Of the rows (500 of more) on which the kernel is first learned.

    Attributes
    ----------
    kernel_ : the kernel with the numbers found, for y of mean 0 and variance 1
    noise_ : float, variance of the noise in units of y
    inducing_points_ : ndarray of shape (m, p)
    lower_bound_ : float, of the log evidence of y
    history_, n_iter_ : minus the bound and the logarithms of all numbers at each step

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SparseGaussianProcessRegressor
    >>> x = np.linspace(0, 6, 3000)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.cos(1000 * x[:, 0])
    >>> model = SparseGaussianProcessRegressor(n_inducing=20, random_state=0).fit(x, y)
    >>> mean, sd = model.predict([[1.5], [20.0]], return_std=True)
    >>> mean.round(1) + 0.0, bool(sd[1] > 5 * sd[0])
    (array([1., 0.]), True)
    """

    _squares_x = True
    _squares_y = True
    _multi_output = False
    fit_blocks = fit_blocks
    kernel_: Any
    noise_: float

    def __init__(
        self,
        kernel: Covariance | None = None,
        *,
        n_inducing: int = 200,
        noise: float = 0.1,
        optimizer: str | None = "fmin_l_bfgs_b",
        max_iter: int = 100,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_inducing = n_inducing
        self.noise = noise
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the points, learn the numbers, and keep what predictions need."""
        self._check_parameters()
        rows = self._check_training(X, y)
        self._fit_source(rows, map_threads, X=rows.X, y=rows.y)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_source(rows, map_)

    def _check_parameters(self) -> None:
        check.whole(n_inducing=self.n_inducing, max_iter=self.max_iter)
        check.positive(noise=self.noise)
        if self.optimizer is not None:
            check.one_of(("fmin_l_bfgs_b",), optimizer=self.optimizer)
        if self.kernel is not None:
            hyperparameters.check_kernel(self.kernel)

    def _fit_source(self, rows: Source, map_: Map, **given: Any) -> None:
        columns: Spread = reduce_rows(Statistic(leaf_spread, merge_spreads), rows, map_)
        deviations = np.sqrt(columns.squares / columns.weight)
        self._mean, spread = float(columns.mean[-1]), float(deviations[-1])
        self._unit = spread if spread > 0 else 1.0
        data = Data(rows, map_, Unit(self._mean, self._unit))
        context = FitContext(
            self, max_steps=None, attributes=lambda state: self._found(data, *state), **given
        )
        with threads_for(self.n_inducing):
            state = self._learn(data, deviations[:-1], context)
            for name, value in self._found(data, *state).items():
                setattr(self, name, value)
        context.end(state)

    def _found(self, data: Data, kernel: Covariance, noise: float, Z: Array) -> dict[str, Any]:
        """The attributes of a fit that ends with these numbers and points."""
        found = lower_bound(kernel, noise, data, Z)
        if found is None:
            raise np.linalg.LinAlgError(f"the kernel {kernel} is not positive definite")
        n = found.sums.n
        bound = found.value - n * float(np.log(self._unit))
        own = {"_L": found.L, "_A": found.L @ found.B, "_beta": found.beta, "_n": n}
        told = {"noise_": noise * self._unit**2, "inducing_points_": Z, "lower_bound_": bound}
        return {"kernel_": kernel, **told, **own}

    def _start(self, width: Array) -> Any:
        if self.kernel is not None:
            return deepcopy(self.kernel)
        width = np.where(width > 0, width, 1.0)
        return ConstantKernel(1.0) * RBF(width, [(1e-3 * w, 1e3 * w) for w in width])

    def _learn(self, data: Data, width: Array, context: FitContext) -> tuple[Any, float, Array]:
        """Kernel, noise and points."""
        rng, n = generator(self.random_state), data.rows.n_rows
        m = min(int(self.n_inducing), n)
        kernel, noise = self._start(width), float(self.noise)
        most = (
            np.arange(n) if n <= CANDIDATES else np.sort(rng.choice(n, CANDIDATES, replace=False))
        )
        drawn = data.rows if isinstance(data.rows, Rows) and len(most) == n else None
        X, y, _ = drawn or drawn_rows(data.rows, data.map_, most)
        part = rng.choice(len(X), min(len(X), SAMPLE), replace=False)
        task = Search(None, None, context)  # type: ignore[arg-type]  # the goal is its caller's
        if self.optimizer is not None:
            task.start = 1
            few, own = X[part], data.unit.of(y[part])
            goal = lambda k, s2: exact_goal(k, s2, few, own)  # noqa: E731
            kernel, noise = self._search(goal, few[:m], kernel, noise, task)
        Z = X[np.sort(most_variance(kernel, X, m, rng))]
        if self.optimizer is not None and not task.asked:
            task.start = 2
            goal = lambda k, s2: bound_goal(k, s2, data, Z)  # noqa: E731
            kernel, noise = self._search(goal, Z, kernel, noise, task)
        self.history_, self.n_iter_ = task.history, max(len(task.history), 1)
        return kernel, noise, Z

    def _search(
        self, goal: Goal, Z: Array, form: Any, noise: float, task: Search
    ) -> tuple[Any, float]:
        """L-BFGS-B over the logarithms of the kernel's numbers and of the noise."""

        def numbers(theta: Array) -> tuple[Any, float, Array]:
            return with_theta(form, theta[:-1]), float(np.exp(theta[-1])), Z

        task.state = numbers
        ends = np.vstack([bounds_of(form), np.log(NOISE)])
        found = lbfgsb(
            lambda theta: goal(*numbers(theta)[:2]),
            np.append(theta_of(form), np.log(noise)),
            bounds=[(float(low), float(high)) for low, high in ends],
            callback=task.passed,
            maxiter=self.max_iter,
            ftol=1e-7,
        )
        if found.status == 1:
            end = (
                f"{type(self).__name__}: no convergence in max_iter={self.max_iter} steps; raise it"
            )
            warn(f"{end} or scale the columns", ConvergenceWarning)
        return numbers(found.x)[:2]

    def _posterior(self, X: Array, spread: bool) -> tuple[Array, Array]:
        """Mean and variance of f, in units of y."""

        def one(part: slice) -> tuple[Array, Array]:
            K = covariance(self.kernel_, X[part], self.inducing_points_).K
            mean = np.einsum("ij,j->i", K, self._beta)  # each row by itself, unlike a product
            if not spread:
                return mean, mean
            prior = lapack.dtrtrs(self._L, K.T, lower=1)[0]
            known = lapack.dtrtrs(self._A, K.T, lower=1)[0]
            variance = diagonal(self.kernel_, X[part]).K
            variance = variance - (prior**2).sum(axis=0) + (known**2).sum(axis=0)
            return mean, np.maximum(variance, 0.0)

        starts = range(0, len(X), LEAF_ROWS)
        parts = list(map_threads(one, [slice(i, i + LEAF_ROWS) for i in starts]))
        mean = self._mean + self._unit * np.concatenate([p[0] for p in parts])
        return mean, self._unit**2 * np.concatenate([p[1] for p in parts])

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Mean of the rows; with ``return_std`` the standard deviation of new observations."""
        mean, variance = self._posterior(self._check_input(X), return_std)
        return (mean, np.sqrt(variance + self.noise_)) if return_std else mean

    def predict_interval(
        self, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
    ) -> Array:
        """Central intervals (n, 2) for new observations ("prediction") or the curve ("mean")."""
        check.fraction(confidence=confidence)
        check.one_of(("prediction", "mean"), kind=kind)
        mean, variance = self._posterior(self._check_input(X), True)
        noise = self.noise_ if kind == "prediction" else 0.0
        half = ndtri(0.5 + confidence / 2) * np.sqrt(variance + noise)
        return np.stack([mean - half, mean + half], axis=1)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.inducing_points_)
        shapes = {"_L": (m, m), "_A": (m, m), "_beta": (m,)}
        return {**shapes, "inducing_points_": (m, self.n_features_in_)}

    def card(self) -> Card:
        """The kernel found, its bound and how it was searched."""
        check_is_fitted(self)
        m = len(self.inducing_points_)
        learned = self.optimizer is not None
        how = f"L-BFGS-B, {self.n_iter_} steps, points by the variance they leave"
        starts = self.history_["start"]
        if int((starts == starts[-1]).sum()) >= self.max_iter:
            how += "; the last search was cut short by max_iter"
        return Card(
            representation=f"f ~ GP(0, k) through {m} points, k = {self.kernel_}, y standardised",
            evaluation="Titsias's lower bound of the log evidence",
            optimisation=how if learned else "the numbers of the kernel and the noise are kept",
            numbers={
                "rows": self._n,
                "inducing points": m,
                "standard deviation of the noise": float(np.sqrt(self.noise_)),
                "bound of the log evidence": self.lower_bound_,
            },
        )
