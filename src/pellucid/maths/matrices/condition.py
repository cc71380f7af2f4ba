r"""Does X determine a least-squares fit, and how well?

    X'X w = X'y always has a solution; one solution  iff  rank X = number of columns
    the fit is exact  iff  rank X = rank [X y]
    condition of X'X/n = (d_1/d_p)^2: the ratio of the largest to the smallest curvature of RSS

Units alone can make the condition bad: the same with the non-constant columns standardised is
``condition_scaled``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.algebra.relations import exact_relations
from pellucid.core.arrays.matrices import column_names, numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.wording import folded, number, one_line

POOR = 1e6  # condition of X'X from which a third of the digits is gone
MEMORY = 2**31  # bytes of X'X from which an iterative solver is the better choice
FLOPS = 1e13  # operations n p^2 + p^3 likewise


@readable
class Conditioning(NamedTuple):
    """Rank, uniqueness and condition of a design.

    >>> print(conditioning([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]))
    rank 2 of 2 columns: least squares has one solution
    condition of X'X/n 8.5497, with standardised columns 1
    the normal equations are well conditioned: solve them directly
    """

    rank: int  # number of independent columns
    n_columns: int  # of the design
    unique: bool  # whether least squares has one solution
    exact_fit: bool | None  # None without y
    condition: float  # of X'X/n; inf where columns are dependent
    condition_scaled: float  # the same with standardised columns
    combinations: tuple[str, ...]  # "x4 = x1 + x2"
    advice: tuple[str, ...]  # how to solve it, in sentences

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        many = "one solution" if self.unique else "infinitely many solutions"
        lines = [f"rank {self.rank} of {self.n_columns} columns: least squares has {many}"]
        if self.exact_fit is not None:
            lines.append("some w fits y exactly" if self.exact_fit else "no w fits y exactly")
        lines.append(
            f"condition of X'X/n {number(self.condition)}, with standardised columns "
            f"{number(self.condition_scaled)}"
        )
        return "\n".join(folded(line) for line in [*lines, *self.combinations, *self.advice])


def conditioning(
    X: ArrayLike, y: ArrayLike | None = None, feature_names: Sequence[str] | None = None
) -> Conditioning:
    """Rank, uniqueness and condition number of the normal equations of X, with advice.

    ``X`` is the design as it is, dense, sparse or a frame: add a column of ones yourself if there
    is an intercept. With ``y`` (n,) or (n, k) ``exact_fit`` says whether some w has X w = y.
    ``feature_names`` are for the sentences; by default those of a frame, else x1, x2, ...

    >>> from pellucid.maths import conditioning
    >>> found = conditioning([[1, 2, 3], [1, 0, 1], [2, 5, 7], [0, 1, 1]])
    >>> found.rank, found.unique, found.combinations
    (2, False, ('x2 = x0 + x1',))
    """
    names = column_names(X, np.shape(X)[1] if len(np.shape(X)) == 2 else 0)
    X = numeric_matrix(X, "X")
    n, p = X.shape
    if feature_names is not None:
        names = tuple(str(name) for name in feature_names)
        if len(names) != p:
            raise ValueError(f"feature_names must have {p} names, got {len(names)}")
    found = exact_relations(X, intercept=False)
    rank, unique = len(found.kept), len(found.kept) == p
    exact = None
    if y is not None:
        Y = numeric_matrix(np.asarray(y, dtype=np.float64).reshape(np.shape(y)[0], -1), "y")
        if len(Y) != n:
            raise ValueError(f"X and y need the same number of rows, got {n} and {len(Y)}")
        both = exact_relations(np.column_stack([X, Y]), intercept=False)
        exact = all(j < p for j in both.kept)
    condition = _condition(X) if unique else np.inf
    scaled = _condition(standardised(X)) if unique else np.inf
    combinations = tuple(relation.sentence(names) for relation in found.relations)
    advice = _advice(n, p, combinations, condition, scaled)
    return Conditioning(rank, p, unique, exact, condition, scaled, combinations, advice)


def standardised(X: Array) -> Array:
    """Non-constant columns to mean 0 and variance 1 (1/n); constant ones stay."""
    mean = X[0] + (X - X[0]).mean(axis=0)
    spread = np.sqrt(((X - mean) ** 2).mean(axis=0))
    live = spread > EPS * np.abs(mean)
    return np.where(live, (X - mean) / np.where(live, spread, 1.0), X)


def _condition(X: Array) -> float:
    d = np.linalg.svd(X, compute_uv=False)
    return float((d[0] / d[-1]) ** 2) if len(X) >= X.shape[1] and d[-1] > 0 else np.inf


def _advice(
    n: int, p: int, combinations: tuple[str, ...], condition: float, scaled: float
) -> tuple[str, ...]:
    advice = []
    if combinations:
        advice.append(
            "drop: some columns follow from others, so the solution is one of many; drop them, or "
            "use ridge, whose solution is unique"
        )
    if condition > POOR and scaled <= POOR:
        advice.append("scale: the columns have very different units; standardise them")
    if scaled > POOR and not combinations:
        advice.append("ridge: the columns nearly follow from each other, whatever their units")
    if 8 * p**2 > MEMORY or n * p**2 + p**3 > FLOPS:
        advice.append(
            "iterative: X'X is too large (p^2 numbers, n p^2 + p^3 operations); use an iterative "
            "solver, such as gradient descent or conjugate gradients"
        )
    return tuple(advice) or ("the normal equations are well conditioned: solve them directly",)
