r"""A Gaussian process of many rows, seen through few inducing points.

Model        f ~ GP(0, k),  y = f(x) + e,  e ~ N(0, s^2);  u = f(Z) at m inducing points Z
Objective    Titsias's lower bound of the log evidence, whatever the points:
             F = log N(y; 0, Q + s^2 I) - tr(K - Q)/(2 s^2),   Q = K_nm K_mm^-1 K_mn
Sums         with K_mm = LL' and V = L^-1 K_mn: VV', Vy, y'y and tr K are sums over the rows: blocks
             of rows, whose kernel is made, used and dropped.    n m^2 an evaluation, memory m^2
Gradient     dF/dK_nm, dF/dK_mm and dF/d diag K in closed form, pulled through the kernel block by
             block (``covariance.py``): as many flops again for all numbers together
Points       the kernel is first learned by the exact evidence of 500 rows drawn at random; then the
             rows that leave most variance under it are the points (greedy, Burt et al. 2020), and
             the bound of all rows is maximised from there

A bound, unlike FITC, cannot be raised by noise that is made to look small, never overfits with more
points, and equals the exact evidence when every row is a point.

References: Titsias (2009); Burt, Rasmussen & van der Wilk (2020).
"""

from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack
from scipy.special import ndtri
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.kernel.processes import hyperparameters
from pellucid.kernel.processes.covariance import Covariance, covariance, diagonal
from pellucid.kernel.processes.evidence import HALF_LOG_TWO_PI, evidence, inverse, threads_for
from pellucid.kernel.processes.hyperparameters import Goal, Search, bounds_of, theta_of, with_theta
from pellucid.solvers.lbfgs import lbfgsb

BLOCK = 4096  # rows whose kernel is in memory at a time
JITTER = 1e-8  # of the mean diagonal of K_mm: points may lie close together
JITTERS = tuple(JITTER * 10.0**i for i in range(7))  # tried in turn until the factors exist
NOISE = (1e-6, 1e2)  # bounds of the noise variance, y having variance 1
SAMPLE = 500  # rows on which the kernel is first learned, exactly


class Sums(NamedTuple):
    """What the rows add up to, V = L^-1 K_mn."""

    P: Array  # (m, m)  VV'
    v: Array  # (m,)  Vy
    trace: float


class Bound(NamedTuple):
    """The bound at one kernel, and the factors that predictions need."""

    value: float
    L: Array  # (m, m), of K_mm
    B: Array  # (m, m), of I + P/s^2
    beta: Array  # (m,): the mean is k_m'beta
    sums: Sums
    jitter: float  # of the mean diagonal, in K_mm


def blocks_of(n: int) -> list[slice]:
    return [slice(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK)]


def add_up(kernel: Covariance, X: Array, y: Array, Z: Array, L: Array) -> Sums:
    """One pass over the rows."""

    def one(part: slice) -> Sums:
        V = lapack.dtrtrs(L, covariance(kernel, X[part], Z).K.T, lower=1)[0]
        return Sums(V @ V.T, V @ y[part], float(diagonal(kernel, X[part]).K.sum()))

    found = list(map_threads(one, blocks_of(len(X))))
    return Sums(sum(f.P for f in found), sum(f.v for f in found), sum(f.trace for f in found))


def lifted_factor(K: Array) -> tuple[Array, float] | None:
    """Factor of K a little above itself, and by which share of its mean diagonal.

    Rounding may take the least share away: it grows until the factor exists. Points seen through
    noise give a bound as well, a lower one.

    >>> lifted_factor(np.ones((2, 2)))[1], lifted_factor(-np.eye(2))
    (1e-08, None)
    """
    mean = np.trace(K) / len(K)
    for jitter in JITTERS:
        L, bad = lapack.dpotrf((K + jitter * mean * np.eye(len(K))).T, lower=1, clean=1)
        if not bad:
            return L, jitter
    return None


def lower_bound(kernel: Covariance, noise: float, X: Array, y: Array, Z: Array) -> Bound | None:
    """F, or None where K_mm is not positive definite."""
    factor, n = lifted_factor(covariance(kernel, Z).K), len(y)
    if factor is None:
        return None
    L, jitter = factor
    sums = add_up(kernel, X, y, Z, L)
    B, bad = lapack.dpotrf(np.eye(len(Z)) + sums.P / noise, lower=1, clean=1)
    if bad:
        return None
    half = lapack.dtrtrs(B, sums.v / noise, lower=1)[0]
    beta = lapack.dtrtrs(L, lapack.dtrtrs(B, half, lower=1, trans=1)[0], lower=1, trans=1)[0]
    fit = float(y @ y) / noise - float(half @ half)
    value = -float(np.log(np.diag(B)).sum()) - 0.5 * n * np.log(noise) - n * HALF_LOG_TWO_PI
    value -= 0.5 * fit + 0.5 * (sums.trace - float(np.trace(sums.P))) / noise
    return Bound(float(value), L, B, beta, sums, jitter)


def bound_slope(kernel: Covariance, noise: float, X: Array, y: Array, Z: Array, at: Bound) -> Array:
    """Derivatives in the logarithms of the kernel's numbers and of the noise."""
    n, m = len(y), len(Z)
    P, Binv = at.sums.P, inverse(at.B)

    def around(M: Array) -> Array:  # L^-T M L^-1, M symmetric
        half = lapack.dtrtrs(at.L, M, lower=1, trans=1)[0]
        return lapack.dtrtrs(at.L, half.T, lower=1, trans=1)[0]

    # dF/dS, S = K_mn K_nm, and dF/dK_mm, from the terms of F one by one
    gone = around(np.eye(m) - Binv) - np.outer(at.beta, at.beta)
    dS, dK = 0.5 / noise * gone, 0.5 * gone - 0.5 / noise * around(P)
    dv = at.beta / noise

    def one(part: slice) -> Array:
        K, pull, _ = covariance(kernel, X[part], Z)
        W = 2.0 * (K @ dS) + np.outer(y[part], dv)
        ends = diagonal(kernel, X[part]).pull(np.full(len(K), -0.5 / noise))
        return pull(W) + ends

    total = sum(map_threads(one, blocks_of(n)))
    corner = covariance(kernel, Z)
    lift = at.jitter * np.trace(dK) / m * np.eye(m)
    numbers = total + corner.pull(dK + lift)
    w = at.L.T @ at.beta
    spread = float(y @ y) - 2.0 * float(at.sums.v @ w) + float(w @ P @ w)
    left = at.sums.trace - float(np.trace(P))
    known = m - float(np.trace(Binv))
    return np.append(numbers, 0.5 * (known - n + (spread + left) / noise))


def most_variance(kernel: Covariance, X: Array, m: int, rng: Rng) -> IntArray:
    """Rows chosen one at a time: the next is where the points so far leave most variance.

    It is the pivoted Cholesky factorisation of K: n m^2 flops, m columns of K.
    """
    left = diagonal(kernel, X).K.copy()
    C, chosen = np.empty((m, len(X))), np.empty(m, dtype=np.intp)
    tiny = JITTER * float(left.max())
    for j in range(m):
        i = int(left.argmax())
        if not left[i] > tiny:  # the rows are spanned: any others will do
            rest = np.setdiff1d(np.arange(len(X)), chosen[:j])
            return np.append(chosen[:j], rng.choice(rest, min(m - j, len(rest)), replace=False))
        chosen[j] = i
        column = covariance(kernel, X, X[i : i + 1]).K[:, 0] - C[:j].T @ C[:j, i]
        C[j] = column / np.sqrt(left[i])
        left = np.maximum(left - C[j] ** 2, 0.0)
        left[i] = 0.0
    return chosen


def bound_goal(
    kernel: Covariance, noise: float, X: Array, y: Array, Z: Array
) -> tuple[float, Array]:
    """Minus the bound, and its slope; infinite where the kernel is not positive definite."""
    at = lower_bound(kernel, noise, X, y, Z)
    if at is None:
        return np.inf, np.zeros(len(theta_of(kernel)) + 1)
    return -at.value, -bound_slope(kernel, noise, X, y, Z, at)


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
        check.whole(n_inducing=self.n_inducing, max_iter=self.max_iter)
        check.positive(noise=self.noise)
        if self.optimizer is not None:
            check.one_of(("fmin_l_bfgs_b",), optimizer=self.optimizer)
        if self.kernel is not None:
            hyperparameters.check_kernel(self.kernel)
        rows = self._check_training(X, y)
        self._mean, spread = float(rows.y.mean()), float(rows.y.std())
        self._unit = spread if spread > 0 else 1.0
        target = (rows.y - self._mean) / self._unit
        context = FitContext(
            self,
            X=rows.X,
            y=rows.y,
            max_steps=None,
            attributes=lambda state: self._found(rows.X, target, *state),
        )
        with threads_for(self.n_inducing):
            state = self._learn(rows.X, target, context)
            for name, value in self._found(rows.X, target, *state).items():
                setattr(self, name, value)
        context.end(state)
        return self

    def _found(
        self, X: Array, y: Array, kernel: Covariance, noise: float, Z: Array
    ) -> dict[str, Any]:
        """The attributes of a fit that ends with these numbers and points."""
        found = lower_bound(kernel, noise, X, y, Z)
        if found is None:
            raise np.linalg.LinAlgError(f"the kernel {kernel} is not positive definite")
        bound = found.value - len(y) * float(np.log(self._unit))
        own = {"_L": found.L, "_A": found.L @ found.B, "_beta": found.beta, "_n": len(y)}
        told = {"noise_": noise * self._unit**2, "inducing_points_": Z, "lower_bound_": bound}
        return {"kernel_": kernel, **told, **own}

    def _start(self, X: Array) -> Any:
        if self.kernel is not None:
            return deepcopy(self.kernel)
        width = X.std(axis=0)
        width = np.where(width > 0, width, 1.0)
        return ConstantKernel(1.0) * RBF(width, [(1e-3 * w, 1e3 * w) for w in width])

    def _learn(self, X: Array, y: Array, context: FitContext) -> tuple[Any, float, Array]:
        """Kernel, noise and points."""
        rng, n = generator(self.random_state), len(X)
        m = min(int(self.n_inducing), n)
        kernel, noise = self._start(X), float(self.noise)
        part = rng.choice(n, min(n, SAMPLE), replace=False)
        task = Search(None, None, context)  # type: ignore[arg-type]  # the goal is its caller's
        if self.optimizer is not None:
            task.start = 1
            few, own = X[part], y[part]
            goal = lambda k, s2: exact_goal(k, s2, few, own)  # noqa: E731
            kernel, noise = self._search(goal, few[:m], kernel, noise, task)
        Z = X[np.sort(most_variance(kernel, X, m, rng))]
        if self.optimizer is not None and not task.asked:
            task.start = 2
            goal = lambda k, s2: bound_goal(k, s2, X, y, Z)  # noqa: E731
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
            mean = K @ self._beta
            if not spread:
                return mean, mean
            prior = lapack.dtrtrs(self._L, K.T, lower=1)[0]
            known = lapack.dtrtrs(self._A, K.T, lower=1)[0]
            variance = diagonal(self.kernel_, X[part]).K
            variance = variance - (prior**2).sum(axis=0) + (known**2).sum(axis=0)
            return mean, np.maximum(variance, 0.0)

        parts = list(map_threads(one, blocks_of(len(X))))
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
