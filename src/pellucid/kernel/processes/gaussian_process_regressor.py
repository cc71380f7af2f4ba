r"""Gaussian-process regression: a distribution over curves, and what the rows leave of it.

Model        f ~ GP(0, k),   y = f(x) + e,  e ~ N(0, alpha);  WhiteKernel in k is noise as well
Posterior    f(x) ~ N(k'A, k(x,x) - k'(K + alpha I)^-1 k),   A = (K + alpha I)^-1 y, k_i = k(x_i, x)
Evidence     log p(y) is maximised over the numbers of k (``evidence.py``) by L-BFGS-B, from the
             kernel's own start and from ``n_restarts_optimizer`` random ones
Cost         n^3/3 a factorisation, n^3 an evaluation with its gradient in all parameters, n^2 p
             for the distances; n a mean and n^2 a variance of a new row

Reference: Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1 and
equation 5.9.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from scipy.linalg import lapack
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import validate_data
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.warn import warn
from pellucid.kernel.processes import hyperparameters
from pellucid.kernel.processes.covariance import Covariance, covariance, diagonal
from pellucid.kernel.processes.evidence import Factor, evidence, factor, log_evidence, threads_for
from pellucid.kernel.processes.hyperparameters import bounds_of, takes_vectors, theta_of, with_theta
from pellucid.kernel.processes.learned_numbers import mixture_quantile, plausible

BLOCK = 4_000_000  # cells of the covariance between new rows and the training rows at a time


class GaussianProcessRegressor(Regressor):
    """A normal distribution over functions, given the rows.

    Parameters
    ----------
    kernel : kernel or None, default=None
        Of ``sklearn.gaussian_process.kernels`` or ``pellucid.kernel``; its numbers are learned.
        None is ``ConstantKernel() * RBF()``. Noise of unknown size is a ``WhiteKernel`` in the sum.
    alpha : float or ndarray of shape (n,), default=1e-10
        Variance of known noise, in units of y (of the standardised y for ``normalize_y``).
    optimizer : {"fmin_l_bfgs_b"}, callable or None, default="fmin_l_bfgs_b"
        A callable takes ``(goal, theta, bounds=)`` and returns the best theta and its value; None
        keeps the numbers of the kernel.
    n_restarts_optimizer : int, default=0
        Further starts, log-uniform within the bounds.
    normalize_y : bool, default=False
        Take the mean off y and divide by its standard deviation first.
    copy_X_train : bool, default=True
        False keeps the caller's X.
    n_targets : int or None, default=None
        Number of targets of the prior, before ``fit``.
    random_state : int, RandomState, Generator or None, default=None
        Of the restarts.

    Attributes
    ----------
    kernel_ : the kernel with the numbers found
    X_train_, y_train_ : the rows (y standardised where asked)
    L_ : ndarray of shape (n, n), the Cholesky factor of K + alpha
    alpha_ : ndarray of shape (n,) or (n, n_targets), (K + alpha)^-1 y
    log_marginal_likelihood_value_ : float
    history_, n_iter_ : minus the log evidence and the logarithms of the numbers at each step

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> from pellucid import GaussianProcessRegressor
    >>> x = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> model = GaussianProcessRegressor(1.0 * RBF() + WhiteKernel()).fit(x, y)
    >>> mean, sd = model.predict([[1.5], [20.0]], return_std=True)
    >>> mean.round(1), sd.round(1)
    (array([0.9, 0. ]), array([0.1, 0.8]))
    """

    _squares_x = True
    _squares_y = True
    kernel_: Any
    X_train_: Any
    y_train_: Array

    def __init__(
        self,
        kernel: Covariance | None = None,
        *,
        alpha: float | Array = 1e-10,
        optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # before it, predictions are those of the prior
        return tags

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn the kernel's numbers and factor the covariance of the rows."""
        self._check_parameters()
        X, y = self._training(X, y)
        self._take(X, y)
        with threads_for(len(y)):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Array) -> None:
        Y, noise = self.y_train_.reshape(len(y), -1), self._noise(len(y))
        context = FitContext(self, X=X, y=y, max_steps=None)
        if self.optimizer is not None and len(theta_of(self.kernel_)):
            found = hyperparameters.search(
                self._goal,
                self.kernel_,
                self.optimizer,
                self.n_restarts_optimizer,
                self.random_state,
                context,
            )
            self.kernel_ = with_theta(self.kernel_, found.theta)
            self.history_, self.n_iter_ = found.history, found.n_iter
        solved = factor(np.array(covariance(self.kernel_, self.X_train_).K), Y, noise)
        if solved is None:
            raise np.linalg.LinAlgError(
                f"The kernel, {self.kernel_}, is not returning a positive definite matrix. Try "
                "gradually increasing the 'alpha' parameter of your GaussianProcessRegressor "
                "estimator."
            )
        self.L_, self.alpha_ = solved.L, solved.A.reshape(self.y_train_.shape)
        self.log_marginal_likelihood_value_ = log_evidence(solved, Y)
        context.end()

    def _check_parameters(self) -> None:
        check.whole(at_least=0, n_restarts_optimizer=self.n_restarts_optimizer)
        check.boolean(normalize_y=self.normalize_y, copy_X_train=self.copy_X_train)
        check.whole(**check.given(n_targets=self.n_targets))
        if not isinstance(self.alpha, np.ndarray):
            check.non_negative(alpha=self.alpha)
        hyperparameters.check_search(self.kernel, self.optimizer)

    def _training(self, X: Any, y: ArrayLike) -> tuple[Any, Array]:
        if takes_vectors(self.kernel):
            rows = self._check_training(X, y)
            return rows.X, rows.y
        X, y = validate_data(
            self, X, y, multi_output=True, y_numeric=True, ensure_2d=False, dtype=None
        )
        return X, np.asarray(y, dtype=np.float64)

    def _take(self, X: Any, y: Array) -> None:
        """Keep the rows, y in its unit."""
        seen = y.shape[1] if y.ndim > 1 else 1
        if self.n_targets is not None and seen != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {seen} != {self.n_targets}."
            )
        self.kernel_ = ConstantKernel() * RBF() if self.kernel is None else deepcopy(self.kernel)
        width = y.shape[1:] or (1,)
        self._y_train_mean, self._y_train_std = np.zeros(width), np.ones(width)
        if self.normalize_y:
            self._y_train_mean = np.reshape(y.mean(axis=0), width)
            spread = np.reshape(y.std(axis=0), width)
            tiny = 10 * np.finfo(np.float64).eps * np.abs(self._y_train_mean)
            self._y_train_std = np.where(spread > tiny, spread, 1.0)  # a constant stays one
        self.X_train_ = X.copy() if self.copy_X_train else X
        self.y_train_ = (y - self._y_train_mean) / self._y_train_std

    def _noise(self, n: int) -> Any:
        """alpha, one number or one a row."""
        if np.ndim(self.alpha) == 0:
            return float(self.alpha)
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.shape == (1,):
            return float(alpha[0])
        if alpha.shape != (n,):
            raise ValueError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({alpha.shape[0]} != {n})"
            )
        if not (alpha >= 0).all():
            raise ValueError(f"alpha must be at least 0 in every row, got {alpha.min():g}")
        return alpha

    def _goal(self, theta: Array, eval_gradient: bool = True) -> Any:
        """Minus the log evidence, what the optimiser sees."""
        found = self.log_marginal_likelihood(theta, eval_gradient)
        return (-found[0], -found[1]) if eval_gradient else -found

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """log p(y) at the logarithms ``theta`` of the kernel's numbers, and its gradient.

        ``clone_kernel=False`` leaves these numbers in ``kernel_``. Without theta: that of the fit.
        """
        if theta is None:
            if eval_gradient:
                raise ValueError("Gradient can only be evaluated for theta!=None")
            return self.log_marginal_likelihood_value_
        kernel = with_theta(self.kernel_, np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self.kernel_ = kernel
        Y, noise = self.y_train_.reshape(len(self.y_train_), -1), self._noise(len(self.y_train_))
        if eval_gradient:
            value, gradient = evidence(kernel, self.X_train_, Y, noise)
            return value, gradient
        solved = factor(np.array(covariance(kernel, self.X_train_).K), Y, noise)
        return -np.inf if solved is None else log_evidence(solved, Y)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Mean of f at the rows, with its standard deviations or covariance where asked.

        They hold white noise of the kernel, not ``alpha``, as in scikit-learn. Before ``fit`` they
        are those of the prior.
        """
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        X = self._query(X)
        if not hasattr(self, "X_train_"):
            return self._prior(X, return_std, return_cov)
        if return_cov:
            mean, V = self._posterior(X, True)
            S = np.array(covariance(self.kernel_, X).K) - V.T @ V
            return mean, squeezed(S[:, :, None] * self._y_train_std**2)
        cells = max(1, BLOCK // max(1, len(self.alpha_)))
        parts = [
            self._marginal(X[i : i + cells], self.kernel_, return_std)
            for i in range(0, len(X), cells)
        ]
        mean = np.concatenate([m for m, _ in parts])
        if not return_std:
            return mean
        variance = np.concatenate([v for _, v in parts])
        return mean, squeezed(np.sqrt(variance[:, None] * self._y_train_std**2))

    def _query(self, X: Any) -> Any:
        if takes_vectors(self.kernel):
            return self._check_matrix(X, reset=False, finite=True)
        return validate_data(self, X, ensure_2d=False, dtype=None, reset=False)

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        self._check_parameters()
        kernel = ConstantKernel(1.0) * RBF(1.0) if self.kernel is None else self.kernel
        t = self.n_targets or 1
        mean = squeezed(np.zeros((len(X), t)))
        if return_cov:
            return mean, squeezed(np.repeat(covariance(kernel, X).K[:, :, None], t, axis=2))
        if return_std:
            sd = np.sqrt(diagonal(kernel, X).K)
            return mean, squeezed(np.repeat(sd[:, None], t, axis=1))
        return mean

    def _posterior(self, X: Any, spread: bool) -> tuple[Array, Array]:
        """Mean, and V = L^-1 k whose squares are what the rows explain."""
        K = np.asarray(covariance(self.kernel_, X, self.X_train_).K)
        mean = (K @ self.alpha_.reshape(len(self.alpha_), -1)) * self._y_train_std
        mean += self._y_train_mean
        V = lapack.dtrtrs(self.L_, K.T, lower=1)[0] if spread else K
        return squeezed(mean), V

    def _marginal(self, X: Any, kernel: Covariance, spread: bool) -> tuple[Array, Array]:
        """Mean and variance of every row; ``kernel`` says whether noise is counted."""
        mean, V = self._posterior(X, spread)
        if not spread:
            return mean, np.empty(0)
        variance = diagonal(kernel, X).K - np.einsum("ij,ij->j", V, V)
        if (variance < 0).any():
            warn("Predicted variances smaller than 0. Setting those variances to 0.")
        return mean, np.maximum(variance, 0.0)

    def predict_interval(
        self, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
    ) -> Array:
        """Central intervals (n, 2) for new observations ("prediction") or the curve ("mean").

        The first hold all noise, white and ``alpha`` (its mean where it differs by row). Numbers of
        the kernel that were learned are averaged over (``learned_numbers.py``), in every call: with
        d of them, 2 d + 1 gradients of the evidence and 8 d + 9 factorisations, less than most fits
        take. With ``optimizer=None`` they are taken as known. Several targets: (n, 2, n_targets).
        """
        check.fraction(confidence=confidence)
        check.one_of(("prediction", "mean"), kind=kind)
        check_is_fitted(self, "alpha_")
        rows = self._check_input(X)
        with threads_for(len(self.alpha_)):
            weight, mean, variance = self._mixture(rows, kind == "prediction")
        sd = np.sqrt(variance)[:, :, None]  # (points, rows, 1)
        ends = [
            mixture_quantile(weight, mean, sd, 0.5 + side * confidence / 2) for side in (-1.0, 1.0)
        ]
        scaled = np.stack(ends, axis=1) * self._y_train_std + self._y_train_mean
        return squeezed(scaled)

    def _mixture(self, X: Array, new: bool) -> tuple[Array, Array, Array]:
        """Weights of plausible numbers, and means (., rows, targets) and variances at the rows."""
        n = len(self.alpha_)
        Y, noise = self.y_train_.reshape(n, -1), self._noise(n)
        theta = theta_of(self.kernel_)
        if self.optimizer is None or not len(theta):
            found = Factor(self.L_, self.alpha_.reshape(n, -1))
            mean, variance = self._given(X, self.kernel_, found, new)
            return np.ones(1), mean[None], variance[None]
        points = plausible(
            lambda t: evidence(with_theta(self.kernel_, t), self.X_train_, Y, noise).gradient,
            theta,
            bounds_of(self.kernel_),
        )
        log_weight, parts = [], []
        for at, log_w in zip(*points, strict=True):
            kernel = with_theta(self.kernel_, at)
            solved = (
                factor(np.array(covariance(kernel, self.X_train_).K), Y, noise)
                if np.isfinite(log_w)
                else None
            )
            if solved is not None and np.isfinite(level := log_w + log_evidence(solved, Y)):
                log_weight.append(level)
                parts.append(self._given(X, kernel, solved, new))
        weight = np.exp(np.array(log_weight) - max(log_weight))
        means, variances = zip(*parts, strict=True)
        return weight / weight.sum(), np.array(means), np.array(variances)

    def _given(self, X: Array, kernel: Covariance, found: Factor, new: bool) -> tuple[Array, Array]:
        """Mean (rows, targets) and variance given the numbers, in the unit of ``y_train_``."""
        own = kernel if new else hyperparameters.without_noise(kernel)
        cells = max(1, BLOCK // max(1, len(found.A)))
        means, variances = [], []
        for i in range(0, len(X), cells):
            part = X[i : i + cells]
            K = np.asarray(covariance(kernel, part, self.X_train_).K)
            V = lapack.dtrtrs(found.L, K.T, lower=1)[0]
            means.append(K @ found.A)
            variances.append(diagonal(own, part).K - np.einsum("ij,ij->j", V, V))
        variance = np.maximum(np.concatenate(variances), 0.0)
        return np.concatenate(means), variance + (float(np.mean(self.alpha)) if new else 0.0)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Seed = 0) -> Array:
        """Curves drawn from the process at the rows: (n, n_samples) or (n, targets, n_samples)."""
        check.whole(n_samples=n_samples)
        rng = hyperparameters.as_random_state(random_state)
        mean, S = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return np.asarray(rng.multivariate_normal(mean, S, n_samples).T)
        drawn = [
            rng.multivariate_normal(mean[:, k], S[..., k], n_samples).T
            for k in range(mean.shape[1])
        ]
        return np.stack(drawn, axis=1)

    def summary(self, confidence: float = 0.95) -> Summary:
        """The kernel's numbers with intervals from the curvature of the log evidence.

        Errors are those of the logarithms, by differences of the gradient; a number at its bound or
        without a maximum has none.
        """
        check.fraction(confidence=confidence)
        check_is_fitted(self, "alpha_")
        return hyperparameters.numbers_summary(
            "Gaussian process: numbers of the kernel",
            self.kernel_,
            lambda theta: self.log_marginal_likelihood(theta, True)[1],
            confidence,
            {"log evidence": self.log_marginal_likelihood_value_},
            self._feature_names() if takes_vectors(self.kernel) else (),
        )

    def _check_state(self) -> None:
        if hasattr(self, "alpha_"):
            n, width = len(self.alpha_), self.alpha_.shape[1:] or (1,)
            fits = self.L_.shape == (n, n) and len(self.X_train_) == n == len(self.y_train_)
            unit = self._y_train_mean.shape == self._y_train_std.shape == width
            if not (fits and unit):
                raise ValueError("X_train_, y_train_, L_ and alpha_ do not fit together")

    def card(self) -> Card:
        """The kernel found, its evidence, and how it was searched."""
        check_is_fitted(self, "alpha_")
        n, steps = len(self.alpha_), getattr(self, "n_iter_", 0)
        at = theta_of(self.kernel_)
        how = f"L-BFGS-B, {steps} steps from {self.n_restarts_optimizer + 1} start(s)"
        own = "an optimiser of the caller's own"
        kept = "none: the numbers of the kernel are kept"
        searched = own if callable(self.optimizer) else how if self.optimizer and len(at) else kept
        edges = np.isclose(bounds_of(self.kernel_), at[:, None]).any() if len(at) else False
        return Card(
            representation=f"f ~ GP(0, k), k = {self.kernel_}; y = f(x) + noise",
            evaluation="log evidence of the rows, log N(y; 0, K + alpha)",
            optimisation=f"{searched}; one Cholesky factorisation for the posterior",
            numbers={
                "rows": n,
                "learned numbers": len(at),
                "log evidence": self.log_marginal_likelihood_value_,
            },
            warnings=("a number of the kernel is at its bound",) * bool(edges)
            + (hyperparameters.KNOWN,) * bool(len(at) and self.optimizer is not None),
        )


def squeezed(values: Array) -> Array:
    """Without the last axis where there is one target."""
    return values[..., 0] if values.shape[-1] == 1 else values
