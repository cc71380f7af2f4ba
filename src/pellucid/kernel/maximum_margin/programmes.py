r"""The three quadratic programmes of the widest margin, for ``interior_point.py``.

primal   x = (w, b, xi):  1/2 |w|^2 + sum C xi,  y (w.x + b) >= 1 - xi, xi >= 0     linear kernel
         H = P + G'DG is eliminated to p + 1 variables: I_0 + M' diag(d e / (d + e)) M, M = y [X 1]
dual     x = a:  1/2 a'Q a - sum a,  y'a = 0, 0 <= a <= C,   Q = y y' K             n variables
hull     x = a:  1/2 a'Q a,  sum of a = 1 in either class, a >= 0: the nearest points of the two
         convex hulls, at distance d. The hard margin is half of it, its multipliers 2 a / d^2;
         d = 0: no plane separates the classes. The programme is feasible and bounded either way.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays.typing import Array
from pellucid.kernel.maximum_margin.interior_point import Programme

Solver = Callable[[Array], Array]


def cholesky_solver(H: Array) -> Solver:
    """r -> H^-1 r, with one step of refinement; H is scaled to unit diagonal first."""
    scale = 1.0 / np.sqrt(np.diagonal(H))
    S = H * scale * scale[:, None]
    n = len(S)
    S[np.diag_indices(n)] += 1e-14 * n  # K is often singular; the barrier alone keeps H definite
    factor = cho_factor(in_range(S, "the quadratic programme"), lower=True)

    def solve(r: Array) -> Array:
        u = scale * cho_solve(factor, scale * r)
        return u + scale * cho_solve(factor, scale * (r - H @ u))

    return solve


def primal_programme(X: Array, y: Array, C: Array | None) -> Programme:
    """Variables w, b and, for finite C, the slacks."""
    n, p = X.shape
    M = y[:, None] * np.column_stack([X, np.ones(n)])
    d = p + 1
    unit = np.concatenate([np.ones(p), [0.0]])
    soft = C is not None
    no_rows = np.zeros((0, d + n if soft else d))

    def quadratic(x: Array) -> Array:
        out = np.zeros_like(x)
        out[:p] = x[:p]
        return out

    if not soft:

        def factor_hard(D: Array) -> Solver:
            return cholesky_solver(np.diag(unit) + M.T @ (D[:, None] * M))

        G, Gt = lambda x: -(M @ x), lambda z: -(M.T @ z)
        h, b = -np.ones(n), np.zeros(0)
        return Programme(quadratic, np.zeros(d), G, Gt, h, no_rows, b, factor_hard)

    def limits(x: Array) -> Array:
        return np.concatenate([-(M @ x[:d]) - x[d:], -x[d:]])

    def transposed(z: Array) -> Array:
        return np.concatenate([-(M.T @ z[:n]), -z[:n] - z[n:]])

    def factor(D: Array) -> Solver:
        first, both = D[:n], D[:n] + D[n:]
        solve = cholesky_solver(np.diag(unit) + M.T @ ((first * D[n:] / both)[:, None] * M))

        def whole(r: Array) -> Array:
            u = solve(r[:d] - M.T @ (first / both * r[d:]))
            return np.concatenate([u, (r[d:] - first * (M @ u)) / both])

        return whole

    q = np.concatenate([np.zeros(d), C])
    h = np.concatenate([-np.ones(n), np.zeros(n)])
    return Programme(quadratic, q, limits, transposed, h, no_rows, np.zeros(0), factor)


def dual_programme(Q: Array, y: Array, C: Array) -> Programme:
    """Variables a with bounds on both sides."""
    n = len(y)

    def factor(D: Array) -> Solver:
        H = Q.copy()
        H[np.diag_indices(n)] += D[:n] + D[n:]
        return cholesky_solver(H)

    G, Gt = lambda x: np.concatenate([-x, x]), lambda z: z[n:] - z[:n]
    h, A = np.concatenate([np.zeros(n), C]), y[None, :].copy()
    return Programme(lambda x: Q @ x, -np.ones(n), G, Gt, h, A, np.zeros(1), factor)


def hull_programme(Q: Array, y: Array) -> Programme:
    """Variables a, two sums."""
    n = len(y)

    def factor(D: Array) -> Solver:
        H = Q.copy()
        H[np.diag_indices(n)] += D
        return cholesky_solver(H)

    A, zero = np.vstack([y > 0, y < 0]).astype(np.float64), np.zeros(n)
    return Programme(lambda x: Q @ x, zero, np.negative, np.negative, zero, A, np.ones(2), factor)
