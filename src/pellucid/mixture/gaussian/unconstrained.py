r"""A Gaussian mixture as a vector without constraints, and the gradient of the fit in it.

Vector       (a, mu, c):  pi = softmax(a), so pi stays a distribution;  mu plainly;  S = L L' with
             L lower triangular, its diagonal exp(u), so S stays positive definite. c holds L with
             u on the diagonal, one triangle for all components of a tied structure; a diagonal
             structure has S = exp(2u) and c = u.
Objective    -l / n, l the log-likelihood and n the sum of the weights
Gradient     with G_k = dl/dS_k = 1/2 (S^-1 A S^-1 - N S^-1), A = sum r d d', d = x - mu_k:
             dl/dmu = S^-1 sum r d,   dl/dL = 2 G L,   dl/du_j = (2 G L)_jj L_jj,
             dl/da_k = N_k - n pi_k
             A tied structure sums the gradients of all k. One pass over the rows, an E step, gives
             the value and all of them.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.mixture.gaussian import gaussians
from pellucid.mixture.gaussian.em import Climb, State
from pellucid.mixture.gaussian.gaussians import CollapseError, Factors, Gaussians, Sums
from pellucid.mixture.gaussian.missing_cells import expectation_missing
from pellucid.solvers.objective import Objective


class Chart(NamedTuple):
    """Between parameters and vectors, for k components in p columns."""

    structure: str
    k: int
    p: int

    def vector(self, model: Gaussians) -> Array:
        """(a, mu, c) of parameters; CollapseError where a covariance is singular."""
        roots = gaussians.precision_roots(model.covariances, self.structure)
        if self.structure in gaussians.DENSE:
            inverse = np.linalg.inv(np.swapaxes(roots, -1, -2))
            L = np.asarray(inverse, dtype=np.float64).reshape(-1, self.p, self.p)
            self._diagonal(L)[:] = np.log(self._diagonal(L))
            c = L[:, *np.tril_indices(self.p)]
        else:
            c = -np.log(roots)
        a = np.log(np.maximum(model.weights, np.finfo(np.float64).tiny))
        return np.concatenate([a, model.means.ravel(), np.ravel(c)])

    def model(self, x: Array) -> Gaussians:
        """The parameters of a vector."""
        a, means = x[: self.k], x[self.k : self.k * (1 + self.p)].reshape(self.k, self.p)
        pi = np.exp(a - a.max())
        if self.structure in gaussians.DENSE:
            L = self.triangles(x)
            S = L @ L.transpose(0, 2, 1)
            covariances = S[0] if self.structure == "tied" else S
        else:
            shape = gaussians.shape_of(self.structure, self.k, self.p)
            covariances = np.exp(2.0 * x[self.k * (1 + self.p) :]).reshape(shape)
        return Gaussians(pi / pi.sum(), means.copy(), covariances)

    def triangles(self, x: Array) -> Array:
        """L, (k or 1, p, p)."""
        c = x[self.k * (1 + self.p) :].reshape(-1, self.p * (self.p + 1) // 2)
        L = np.zeros((len(c), self.p, self.p))
        L[:, *np.tril_indices(self.p)] = c
        self._diagonal(L)[:] = np.exp(self._diagonal(L))
        return L

    @staticmethod
    def _diagonal(L: Array) -> Array:
        return np.einsum("kjj->kj", L)  # a view that can be written

    def gradient(self, x: Array, weights: Array, factors: Factors, sums: Sums) -> Array:
        """The gradient of l at x, given its weights, factors and E step."""
        N, M, A, _ = sums
        if factors.dense:
            U = factors.root[:, :, : self.p]
            Q = U @ U.transpose(0, 2, 1)
            means = (Q @ M[:, :, None])[:, :, 0]
            G = 0.5 * (Q @ A @ Q - N[:, None, None] * Q)
            G = G.sum(axis=0)[None] if self.structure == "tied" else G
            L = self.triangles(x)
            slope = 2.0 * G @ L
            self._diagonal(slope)[:] *= self._diagonal(L)
            c = slope[:, *np.tril_indices(self.p)]
        else:
            means = M * factors.root
            c = A * factors.root - N[:, None]  # dl/du = 2 G S, (k, p)
            c = c.sum(axis=0) if self.structure.startswith("tied") else c
            c = c.sum(axis=-1) if self.structure.endswith("spherical") else c
        return np.concatenate([N - N.sum() * weights, means.ravel(), np.ravel(c)])


class MixtureFit(Objective):
    """-l / n of a task's rows, as the solvers ask for it; ``at`` is the last point asked for."""

    twice = False

    def __init__(self, task: Climb, start: Gaussians) -> None:
        super().__init__(lambda x: self.value_gradient(x)[0], lambda x: self.value_gradient(x)[1])
        self.task, self.why = task, ""
        self.chart = Chart(task.structure, *start.means.shape)
        self.start = self.chart.vector(start)
        self.at: State | None = None

    def value_gradient(self, x: Array) -> tuple[float, Array]:
        task = self.task
        with np.errstate(over="ignore"), single_threaded_blas():
            model = self.chart.model(x)
        try:
            factors = gaussians.factors_of(model, task.structure)
        except CollapseError as error:
            self.why = str(error)
            return np.nan, np.zeros(len(x))
        expect = expectation_missing if task.missing else gaussians.expectation
        sums = expect(task.source, task.map_, factors)
        with single_threaded_blas():
            slope = self.chart.gradient(x, model.weights, factors, sums)
        self.at = State(0, model, sums, None)
        return -sums.value / task.weight, -slope / task.weight
