r"""Gaussian mixture by gradient ascent, beside EM.

Objective    l / n, the mean log-likelihood
Parameters   mu plainly;  S = L L', L lower triangular with exp(u) on the diagonal (so S stays
             positive definite);  pi = softmax(a) (so pi stays a distribution)
Gradient     with G_k = dl/dS_k = 1/2 (S^-1 A S^-1 - N S^-1), A = sum r d d':
             dl/dmu = S^-1 sum r d,   dl/dL = 2 G L,   dl/du_j = (2 G L)_jj L_jj,
             dl/da_k = N_k - n pi_k
             A diagonal structure has S = exp(2u);  a tied one sums the gradients of all k.
Damped       mu += rate (sum r x / sum r - mu), then S and pi in closed form: EM slowed down
"""

import warnings
from typing import Any, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core import check
from pellucid.core.iterate import ConvergenceWarning, FitContext, Iteration
from pellucid.core.records import Card
from pellucid.core.statistics import Source
from pellucid.core.threads import map_threads, single_threaded_blas
from pellucid.core.typing import Array, ArrayLike, Map
from pellucid.mixture.em import Climb, State, Update, climb, em_update
from pellucid.mixture.gaussian_model import GaussianModel
from pellucid.mixture.gaussians import DENSE, Gaussians, precision_roots

REG = 1e-6  # on the variances of the start and of the damped update, as in GaussianMixture


def dense_step(C: Array, roots: Array, A: Array, N: Array, structure: str, rate: float) -> Array:
    """Covariances after one step on their triangles; A (k, p, p) = sum r d d', N (k,)."""
    Q = roots @ np.swapaxes(roots, -1, -2)
    G = 0.5 * (Q @ A @ Q - N[:, None, None] * Q)
    if structure == "tied":
        G, C, roots = G.sum(axis=0)[None], C[None], roots[None]
    L = np.tril(np.linalg.inv(np.swapaxes(roots, -1, -2)))  # S = L L', from the roots that hold
    slope = np.tril(2.0 * G @ L)
    diagonal = np.diagonal(L, axis1=1, axis2=2)
    u = np.log(diagonal) + rate * np.diagonal(slope, axis1=1, axis2=2) * diagonal
    L = np.tril(L + rate * slope, -1) + np.exp(u)[:, :, None] * np.eye(C.shape[-1])
    S = L @ L.transpose(0, 2, 1)
    return S[0] if structure == "tied" else S


def diagonal_step(C: Array, A: Array, N: Array, structure: str, rate: float) -> Array:
    """Variances exp(2u) after one step on u; A (k, p) = the diagonal of sum r d d'."""
    s = C[:, None] if structure == "spherical" else C
    slope = A / s - N[:, None]  # dl/du = 2 G s, (k, p)
    if structure.startswith("tied"):
        slope = slope.sum(axis=0)
    if structure.endswith("spherical"):
        slope = slope.sum(axis=-1)
    return np.asarray(np.exp(np.log(C) + 2.0 * rate * slope))


def ascend(state: State, structure: str, rate: float) -> Gaussians:
    """One step of length ``rate`` along the gradient of the mean log-likelihood."""
    (weights, means, C), (N, M, A, _) = state.model, state.sums
    with single_threaded_blas():
        roots = precision_roots(C, structure)
        rate = rate / N.sum()
        if structure in DENSE:
            Q = roots @ np.swapaxes(roots, -1, -2)
            slope = (Q @ M[:, :, None])[:, :, 0]
            new = dense_step(C, roots, A, N, structure, rate)
        else:
            s = C[:, None] if structure == "spherical" else C
            slope = M / s
            new = diagonal_step(C, A, N, structure, rate)
    with np.errstate(divide="ignore"):
        a = np.log(weights) + rate * (N - N.sum() * weights)
    pi = np.exp(a - a.max())
    return Gaussians(pi / pi.sum(), means + rate * slope, new)


class GradientGaussianMixture(GaussianModel):
    """A mixture of normal densities, fitted by gradient ascent (or by a slowed EM).

    Parameters
    ----------
    n_components : int, default=1
    covariance_type : str, default="full"
        As in ``GaussianMixture``.
    update : {"gradient", "damped"}, default="gradient"
        Steps along the gradient of the mean log-likelihood, or means that go ``learning_rate``
        of the way of EM with closed-form covariances and weights.
    learning_rate : float, default=0.01
    max_iter : int, default=1000
    tol : float, default=1e-6
        Stop when the mean log-likelihood changes by less; 0 runs ``max_iter`` steps.
    init_params : str or MixtureStart, default="kmeans"
        As in ``GaussianMixture``; nothing can be held fixed.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
    converged_, n_iter_, lower_bound_, lower_bounds_, n_parameters_, history_
        As in ``GaussianMixture``.

    Examples
    --------
    >>> from pellucid import GradientGaussianMixture
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]
    >>> model = GradientGaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(2).tolist())
    [2.0, 11.0]
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        update: str = "gradient",
        learning_rate: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-6,
        init_params: Any = "kmeans",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.update = update
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.init_params = init_params
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Climb the mean log-likelihood of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)

    def _check_parameters(self) -> None:
        self._check_common()
        check.one_of(("gradient", "damped"), update=self.update)
        check.positive(learning_rate=self.learning_rate)
        if self._fixed():
            raise ValueError(
                f"fixed must be empty here, got {self._fixed()}; GaussianMixture can hold parts"
            )

    def _run(self, task: Climb, start: Gaussians, context: FitContext) -> Iteration:
        rate, structure = self.learning_rate, self.covariance_type

        def along_gradient(state: State) -> tuple[Gaussians, Any]:
            return ascend(state, structure, rate), None

        damped: Update = em_update(structure, REG, rate=rate)
        update = along_gradient if self.update == "gradient" else damped
        return climb(task, start, update, guard=False, context=context)

    def _say(self, best: Iteration) -> None:
        falls = int(np.count_nonzero(np.diff(best.history["log_likelihood"]) < 0))
        largest = -np.diff(best.history["log_likelihood"]).min(initial=0.0)
        if largest > 1e-9 * abs(best.state.value):  # more than rounding
            warnings.warn(
                f"the log-likelihood fell in {falls} of {best.n_iter} steps: "
                f"learning_rate={self.learning_rate:g} is too large",
                ConvergenceWarning,
                stacklevel=5,
            )
        super()._say(best)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        how = {
            "gradient": "gradient ascent on the mean log-likelihood in means, triangles with "
            "logged diagonals and softmax weights",
            "damped": "EM whose means go only part of the way",
        }[self.update]
        return self._card(
            f"{how}; learning rate {self.learning_rate:g}, at most {self.max_iter} steps or a "
            f"change below {self.tol:g}",
            (),
        )
