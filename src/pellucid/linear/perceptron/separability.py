r"""Whether a linear rule separates the classes: an exact linear programme.

For scores t_k.d (d = (1, x)) and every row i and rival class k the margin is
m_ik(t) = (t_{y_i} - t_k).d_i. With |t| <= 1 in scaled columns

    separable     max_t min_ik m_ik > 0           every row strictly right
    quasi         max_t sum m_ik > 0 subject to m_ik >= 0: right, with rows on the boundary
    overlapping   neither: then the logistic loss has a finite minimum

Few rows decide: the programme is solved on some, the rule it finds is tried on all, the rows it
gets wrong are added. A subset that no rule separates proves the same for all rows (the second
programme needs a subset of full rank for that).

References: Albert & Anderson (1984); Konis (2007), Linear programming algorithms for detecting
separated data in binary logistic regression models.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack, issparse

from pellucid.base import check_labels, encode_labels
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.reading import check_form
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray

FIRST = 2000  # margins of the first programme
POSITIVE = 1e-7  # a margin, in columns of size 1, that is more than the programme's rounding
OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Separability(NamedTuple):
    """``status`` is separable, quasi or overlapping; coef and intercept are a witness or None."""

    status: str
    coef: Any  # (p,) for two classes, else (K, p)
    intercept: Any  # a number, else (K,)


class Rule(NamedTuple):
    """A linear rule, one row of scores per class."""

    coef: Array  # (K, p)
    intercept: Array  # (K,)


class Design(NamedTuple):
    """Scaled columns after a column of ones, and what takes a rule back to the units of X."""

    D: Any  # (n, q), dense or CSR
    codes: IntArray
    n_classes: int
    mean: Array  # (p,)
    scale: Array  # (p,)


def make_design(X: Any, codes: IntArray, n_classes: int, *, intercept: bool = True) -> Design:
    """Columns about their mean (sparse ones as they are), the largest entry 1."""
    n, p = X.shape
    mean, ones = np.zeros(p), np.full((n, 1), float(intercept))
    if issparse(X):
        largest = abs(X).max(axis=0)
        scale = np.asarray(largest.todense() if issparse(largest) else largest).ravel()
    else:
        mean = X[0] + (X - X[0]).mean(axis=0) if intercept else mean
        scale = np.abs(X - mean).max(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    if issparse(X):
        D: Any = csr_matrix(hstack([ones, X @ diags(1 / scale)]))
    else:
        D = np.hstack([ones, (X - mean) / scale])
    return Design(D, codes, n_classes, mean, scale)


def constraint_rows(design: Design, rows: IntArray, rivals: IntArray) -> Any:
    """The margins m_ik as rows of a matrix in (t_0, ..., t_K-1); two classes: in t_1 - t_0."""
    D, own = design.D[rows], design.codes[rows]
    if design.n_classes == 2:
        sign = np.where(own == 1, 1.0, -1.0)
        return csr_matrix(diags(sign) @ D) if issparse(D) else sign[:, None] * D
    parts = []
    for k in range(design.n_classes):
        factor = (own == k).astype(np.float64) - (rivals == k)
        parts.append(diags(factor) @ D if issparse(D) else factor[:, None] * D)
    return csr_matrix(hstack(parts)) if issparse(D) else np.hstack(parts)


def all_margins(design: Design, t: Array) -> Array:
    """The margins of every row: (n, 1) for two classes, else (n, K - 1)."""
    D, codes, K = design.D, design.codes, design.n_classes
    if K == 2:
        return ((D @ t) * np.where(codes == 1, 1.0, -1.0))[:, None]
    Z = D @ t.reshape(K, -1).T
    gaps = Z[np.arange(len(Z)), codes][:, None] - Z
    return gaps[np.arange(K) != codes[:, None]].reshape(len(Z), K - 1)


def programme(A: Array, *, strict: bool) -> Array:
    """argmax of the least margin (``strict``) or of the sum of non-negative margins."""
    m, q = A.shape
    box: list[Any] = [(-1.0, 1.0)] * q
    rows, cost = -A, -np.asarray(A.sum(axis=0)).ravel()
    if strict:
        one = np.ones((m, 1))
        rows = hstack([-A, one]) if issparse(A) else np.hstack([-A, one])
        cost, box = np.append(np.zeros(q), -1.0), [*box, (None, 1.0)]
    limits: dict[str, Any] = {"A_ub": rows, "b_ub": np.zeros(m), "bounds": box}
    from scipy.optimize import linprog  # slow to import, and seldom needed

    found = linprog(cost, **limits, method="highs", options=OPTIONS)
    if found.x is None:
        raise RuntimeError(f"the linear programme ended without an answer: {found.message}")
    return np.asarray(found.x[:q])


def find_rule(design: Design, *, strict: bool) -> Array | None:
    """A rule with every margin > 0 (``strict``), or >= 0 and some > 0; None where there is none."""
    n, K = design.D.shape[0], design.n_classes
    rival = np.array([[k for k in range(K) if k != c] for c in range(K)])
    total = n * (K - 1)
    active = np.unique(np.linspace(0, total - 1, min(FIRST, total)).astype(np.intp))
    while True:
        rows, place = np.divmod(active, K - 1)
        A = constraint_rows(design, rows, rival[design.codes[rows], place])
        t = programme(A, strict=strict)
        seen = A @ t
        if strict and seen.min() <= POSITIVE:
            return None
        if not strict and seen.max() <= POSITIVE:
            if len(active) == total or _spans(design, A):
                return None
            wanted = np.arange(total)
            if 2 * len(active) < total:
                wanted = np.unique(np.linspace(0, total - 1, 2 * len(active)).astype(np.intp))
        else:
            margins = all_margins(design, t).ravel()
            floor = 0.0 if strict else -POSITIVE
            if (margins > floor).all():
                return t
            wanted = np.argsort(margins)[: max(FIRST // 2, len(active) // 2)]
        grown = np.union1d(active, wanted)
        active = grown if len(grown) > len(active) else np.arange(total)


def _spans(design: Design, A: Array) -> bool:
    """Whether the margins in A leave no rule free that the other rows could still decide."""
    if issparse(A):
        return False
    K = design.n_classes
    return bool(np.linalg.matrix_rank(A) >= (K - 1) * np.linalg.matrix_rank(design.D))


def in_units(design: Design, t: Array) -> Rule:
    """The rule for X itself; two classes have one row."""
    T = t[None] if design.n_classes == 2 else t.reshape(design.n_classes, -1)
    coef = T[:, 1:] / design.scale
    return Rule(coef, T[:, 0] - coef @ design.mean)


def separate(
    X: ArrayLike, codes: IntArray, n_classes: int, *, intercept: bool = True
) -> tuple[str, Rule | None]:
    """The status and a witness for checked rows; without ``intercept`` through the origin."""
    design = make_design(X, codes, n_classes, intercept=intercept)
    t = find_rule(design, strict=True)
    if t is not None:
        return "separable", in_units(design, t)
    t = find_rule(design, strict=False)
    return ("overlapping", None) if t is None else ("quasi", in_units(design, t))


def linear_separability(X: Any, y: Any) -> Separability:
    """Whether a hyperplane (for more classes a linear argmax rule) separates the classes.

    Parameters
    ----------
    X, y : table of shape (n, p), dense or sparse, and labels (n,)
        The rows and their classes, at least two.

    Returns
    -------
    Separability
        ``status`` "separable" (every row strictly right), "quasi" (right, with rows on the
        boundary) or "overlapping"; ``coef`` and ``intercept`` of such a rule, or None. For two
        classes (p,) and a number, positive on the side of the larger label.

    Examples
    --------
    >>> from pellucid.linear import linear_separability
    >>> linear_separability([[0], [1], [2], [3]], [0, 0, 1, 1]).status
    'separable'
    >>> linear_separability([[0], [1], [1], [2]], [0, 0, 1, 1]).status
    'quasi'
    >>> linear_separability([[0], [1], [2], [3]], [0, 1, 0, 1]).status
    'overlapping'
    """
    check_form(X)
    if issparse(X):
        X = csr_matrix(X, dtype=np.float64)
        if not np.isfinite(X.data).all():
            raise ValueError("X contains NaN or infinity (inf); finite numbers only")
    else:
        X = numeric_matrix(frame_matrix(X) if is_frame(X) else X, "X")
    classes, codes = encode_labels(check_labels(y, X.shape[0], None))
    if len(classes) < 2:
        raise ValueError("linear_separability needs at least 2 classes, got 1 class")
    status, rule = separate(X, codes, len(classes))
    if rule is None:
        return Separability(status, None, None)
    if len(classes) == 2:
        return Separability(status, rule.coef[0], float(rule.intercept[0]))
    return Separability(status, rule.coef, rule.intercept)
