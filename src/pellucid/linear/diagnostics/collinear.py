r"""How well the columns determine a least-squares fit.

Centred columns of norm 1, Z = U diag(d) V':

    condition indices d_1/d_j,    VIF_j = [(Z'Z)^-1]_jj = sum_r V_jr^2/d_r^2,
    |z_j|^2/|x_j|^2 = 1/VIF_j     for z_j = what all other columns leave of x_j,
    Var(b_j) = s^2/|z_j|^2.

And the problem itself: RSS/(2n) is a convex quadratic with Hessian D'D/n, eigenvalues l_min..l_max.
Gradient descent with a constant rate converges below 2/l_max, fastest at 2/(l_min + l_max). The
normal equations always have a solution; it is the only one iff l_min > 0.

References: Belsley, Kuh & Welsch (1980); ESL, section 3.2.3.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS, triangle
from pellucid.core.algebra.relations import exact_relations
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import column_names, numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike

CONDITION = 30.0  # condition number from which coefficients become loose
INFLATION = 10.0  # variance inflation likewise


class Collinearity(NamedTuple):
    """Rank, conditioning and the columns that follow from others."""

    rank: int
    condition_number: float  # inf where columns are dependent
    condition_indices: Array  # (p,) rising; inf for the directions that are missing
    vif: Array  # (p,) variance inflation; inf for a column that follows from others
    residual_fraction: Array  # (p,) 1/vif
    dependent: tuple[str, ...]  # exact relations, "x2 = 4 + x0 - 2 x1"
    advice: tuple[str, ...]

    def __str__(self) -> str:
        head = f"rank {self.rank} of {len(self.vif)}, condition number {self.condition_number:.4g}"
        return "\n".join([head, *self.dependent, *self.advice])


def collinearity(
    X: ArrayLike, *, fit_intercept: bool = True, tol: float | None = None
) -> Collinearity:
    """Whether some columns nearly, or exactly, follow from others.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n, p)
        The columns to look at.
    fit_intercept : bool, default=True
        Look at the columns about their means.
    tol : float, optional
        What is left of a unit column, below which it counts as dependent; default
        10 max(n, p) eps.

    Examples
    --------
    >>> from pellucid.linear import collinearity
    >>> found = collinearity([[1, 2, 1], [2, 1, 1], [3, 5, 2], [4, 4, 4], [5, 9, 4]])
    >>> found.rank, found.vif.round(1)
    (3, array([13.8,  4.1,  8.8]))
    >>> collinearity([[0, 1], [1, 3], [2, 5]]).dependent
    ('x1 = 1 + 2 x0',)
    """
    check.boolean(fit_intercept=fit_intercept)
    if tol is not None:
        check.positive(tol=tol)
    names = column_names(X, np.shape(X)[1] if len(np.shape(X)) == 2 else 0)
    X = numeric_matrix(X, "X")
    n, p = X.shape
    found = exact_relations(X, intercept=fit_intercept, tolerance=tol)
    mean = X[0] + (X - X[0]).mean(axis=0) if fit_intercept else np.zeros(p)
    C = X - mean
    norms = np.linalg.norm(C, axis=0)
    constant = norms <= np.sqrt(n) * EPS * np.abs(mean)
    d, Vt = np.linalg.svd(found.triangle, full_matrices=False)[1:]
    rank = len(found.kept)
    indices = np.full(p, np.inf)
    indices[:rank] = d[0] / d[:rank]
    vif = (Vt[:rank].T ** 2) @ (1 / d[:rank] ** 2) if rank else np.zeros(p)
    outside = (Vt[:rank] ** 2).sum(axis=0) < 1 - np.sqrt(EPS)  # it takes part in a relation
    vif = np.where(outside | constant, np.inf, vif)
    condition = float(indices[-1])
    sentences = tuple(relation.sentence(names) for relation in found.relations)
    advice = _advice(condition, vif, names, sentences, n, p)
    return Collinearity(rank, condition, indices, vif, 1 / vif, sentences, advice)


def _advice(
    condition: float, vif: Array, names: tuple[str, ...], relations: tuple[str, ...], n: int, p: int
) -> tuple[str, ...]:
    if relations:
        what = f"{n} rows cannot determine {p} columns: " if n <= p else ""
        remedy = "drop them (DropCollinear), or use Ridge, which needs no independent columns"
        return (f"{what}{len(relations)} column(s) follow exactly from others: {remedy}",)
    loose = [name for name, v in zip(names, vif, strict=True) if v > INFLATION]
    if condition <= CONDITION and not loose:
        return ("the columns determine the coefficients well",)
    which = f" (VIF above {INFLATION:g}: {', '.join(loose)})" if loose else ""
    loosely = "single coefficients are loosely determined, predictions need not be"
    remedy = "use Ridge, principal components or partial least squares, or drop a column"
    return (f"the columns nearly follow from each other{which}: {loosely}; {remedy}",)


class LeastSquaresReport(NamedTuple):
    """The least-squares problem as an optimisation problem, RSS/(2n)."""

    exact: bool  # y is a combination of the columns: RSS = 0 is possible
    n_solutions: str  # "one" or "infinitely many"
    eigenvalue_min: float  # of D'D/n
    eigenvalue_max: float
    condition_number: float  # of D'D/n
    convex: bool
    unique: bool
    critical_rate: float  # gradient descent diverges above 2/l_max
    best_rate: float  # 2/(l_min + l_max)


def least_squares_report(
    X: ArrayLike, y: ArrayLike, *, fit_intercept: bool = True
) -> LeastSquaresReport:
    """How many solutions, how fast gradient descent can be, and whether the fit can be exact.

    Parameters
    ----------
    X, y : table of shape (n, p) and target(s) of shape (n,) or (n, k)
        The data of the fit.
    fit_intercept : bool, default=True
        D = [1 X] instead of X.

    Examples
    --------
    >>> from pellucid.linear import least_squares_report
    >>> report = least_squares_report([[0], [1], [2]], [1, 2, 4])
    >>> report.n_solutions, round(report.critical_rate, 6), round(report.best_rate, 6)
    ('one', 0.837722, 0.75)
    """
    check.boolean(fit_intercept=fit_intercept)
    X = numeric_matrix(X, "X")
    n = len(X)
    Y = numeric_matrix(np.asarray(y, dtype=np.float64).reshape(np.shape(y)[0], -1), "y")
    if len(Y) != n:
        raise ValueError(f"X and y need the same number of rows, got {n} and {len(Y)}")
    D = np.column_stack([np.ones(n), X]) if fit_intercept else X
    q = D.shape[1]
    rank = len(exact_relations(D, intercept=False).kept)
    d = np.linalg.svd(triangle(D), compute_uv=False)
    unique = rank == q
    low = float(d[-1] ** 2 / n) if unique else 0.0
    high = float(d[0] ** 2 / n)
    kept = exact_relations(np.column_stack([D, Y]), intercept=False).kept
    exact = all(j < q for j in kept)  # rank D = rank [D Y]
    solutions = "one" if unique else "infinitely many"
    condition = high / low if low > 0 else np.inf
    rates = (2 / high, 2 / (low + high)) if high > 0 else (np.inf, np.inf)
    return LeastSquaresReport(exact, solutions, low, high, condition, True, unique, *rates)
