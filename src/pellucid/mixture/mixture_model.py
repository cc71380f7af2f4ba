r"""What every mixture says of rows: densities, responsibilities, labels, bounds, criteria.

log p(x)    = log sum_k pi_k f_k(x)                          (in the log domain throughout)
r_k(x)      = pi_k f_k(x) / p(x)
bound(q)    = sum_ik q_ik (log pi_k f_k(x_i) - log q_ik)  <=  sum_i log p(x_i)
aic, bic    = -2 log-likelihood + 2 d,  -2 log-likelihood + d log n     (d free parameters)
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import DensityMixin

from pellucid.base import Estimator
from pellucid.core.arrays.tensors import host, like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.runtime.warn import warn


def log_sum(J: Array) -> Array:
    """log sum_k exp J_ik of each row.

    >>> log_sum(np.log([[0.25, 0.75], [1.0, 1.0]])).round(4)
    array([0.    , 0.6931])
    """
    top = J.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top + np.log(np.exp(J - top[:, None]).sum(axis=1))


def posterior(J: Array, weights: Array) -> Array:
    """exp(J) scaled to rows that sum to 1; the weights where every density is 0.

    >>> posterior(np.array([[0.0, 0.0], [-np.inf, -np.inf]]), np.array([0.2, 0.8]))
    array([[0.5, 0.5],
           [0.2, 0.8]])
    """
    top = J.max(axis=1, keepdims=True)
    nowhere = ~np.isfinite(top[:, 0])
    R = np.exp(J - np.where(np.isfinite(top), top, 0.0))
    R[nowhere] = weights
    R /= R.sum(axis=1, keepdims=True)
    return R


def warn_of_limit(model: Any, what: str, change: float) -> None:
    """Warn that ``what`` still changed in the last round of a fitted mixture."""
    end = f"no convergence in max_iter={model.max_iter} rounds"
    still = f"the {what} still changed by {change:.3g} (tol={model.tol:g})"
    warn(f"{type(model).__name__}: {end}: {still}", ConvergenceWarning)


class MixtureModel(DensityMixin, Estimator):
    """Base of mixtures; a subclass gives log pi_k f_k(x) and its number of parameters."""

    weights_: Array
    n_parameters_: int

    @abstractmethod
    def _log_joint(self, X: ArrayLike) -> Array:
        """log pi_k f_k(x_i) of checked rows, shape (n, k)."""

    @abstractmethod
    def component_log_density(self, X: ArrayLike) -> Array:
        """log f_k(x_i), shape (n, k)."""

    def predict_proba(self, X: ArrayLike) -> Array:
        """The responsibilities p(k | x), shape (n, k)."""
        rows = self._check_input(X)
        return posterior(self._log_joint(rows), self.weights_)

    def predict(self, X: ArrayLike) -> IntArray:
        """The component with the largest responsibility (the first of equals)."""
        return self._log_joint(self._check_input(X)).argmax(axis=1)

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) of each row."""
        return log_sum(self._log_joint(self._check_input(X)))

    def _joint_tensor(self, X: Any) -> Any:
        """log pi_k f_k(x_i) of a tensor; by the host where the components have no other form."""
        return like(self._log_joint(np.ascontiguousarray(host(X), dtype=np.float64)), X)

    def _predict_tensor(self, X: Any) -> Any:
        return namespace(X).argmax(self._joint_tensor(X), axis=1)

    def _predict_proba_tensor(self, X: Any) -> Any:
        xp, J = namespace(X), self._joint_tensor(X)
        E = xp.exp(J - xp.max(J, axis=1, keepdims=True))
        return E / xp.sum(E, axis=1, keepdims=True)

    def _score_samples_tensor(self, X: Any) -> Any:
        xp, J = namespace(X), self._joint_tensor(X)
        top = xp.max(J, axis=1, keepdims=True)
        return (top + xp.log(xp.sum(xp.exp(J - top), axis=1, keepdims=True)))[:, 0]

    def score(self, X: ArrayLike, y: MaybeArray = None) -> float:
        """The mean of log p(x)."""
        return float(self.score_samples(X).mean())

    def log_likelihood(self, X: ArrayLike) -> float:
        """The sum of log p(x)."""
        return float(self.score_samples(X).sum())

    def aic(self, X: ArrayLike) -> float:
        """Akaike's criterion on X: smaller is better."""
        return -2.0 * self.log_likelihood(X) + 2.0 * self.n_parameters_

    def bic(self, X: ArrayLike) -> float:
        """The Bayesian criterion on X: smaller is better."""
        values = self.score_samples(X)
        return float(-2.0 * values.sum() + self.n_parameters_ * np.log(len(values)))

    def evidence_lower_bound(self, X: ArrayLike, responsibilities: ArrayLike) -> float:
        """sum q (log pi_k f_k - log q) <= log-likelihood; equal at q = ``predict_proba(X)``."""
        J = self._log_joint(self._check_input(X))
        q = np.asarray(responsibilities, dtype=np.float64)
        if q.shape != J.shape:
            raise ValueError(f"responsibilities must have shape {J.shape}, got {q.shape}")
        if not (q >= 0).all() or not np.allclose(q.sum(axis=1), 1.0):
            raise ValueError("responsibilities must be >= 0 and sum to 1 in every row")
        used = q > 0  # 0 log 0 = 0
        return float((q[used] * (J[used] - np.log(q[used]))).sum())

    def fit_predict(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None
    ) -> IntArray:
        """``fit(X).predict(X)``."""
        return self.fit(X, sample_weight=sample_weight).predict(X)
