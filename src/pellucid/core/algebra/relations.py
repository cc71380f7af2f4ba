r"""Exact linear relations between columns, found in column order and written out.

Gram-Schmidt on unit-norm columns: x_j is dependent when what the kept columns before it leave over,
z_j = x_j - sum_l q_l q_l'x_j, has norm below ``tolerance`` |x_j|. Each dependent column has one
relation, x_j = a + sum_k c_k x_k over kept columns k < j. Without a tolerance the limit is what the
rounding of the cells themselves can leave: 10 max(n, p) eps (|x_j| + sum_k |c_k| |x_k|), the norms
those of the columns as given.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.algebra.linalg import EPS, triangle
from pellucid.core.arrays.typing import Array


class Relation(NamedTuple):
    """x_column = intercept + sum of coefficient times kept column."""

    column: int
    intercept: float
    coefficients: dict[int, float]

    def sentence(self, names: tuple[str, ...]) -> str:
        """The relation in words.

        >>> Relation(2, 4.0, {0: 1.0, 1: -2.0}).sentence(("x0", "x1", "x2"))
        'x2 = 4 + x0 - 2 x1'
        """
        terms = [(self.intercept, "")] if _shown(self.intercept) != "0" else []
        terms += [(c, names[k]) for k, c in self.coefficients.items() if _shown(c) != "0"]
        text = ""
        for value, name in terms:
            sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
            size = _shown(abs(value))
            text += sign + (size if not name else name if size == "1" else f"{size} {name}")
        return f"{names[self.column]} = {text or '0'}"


def _shown(value: float) -> str:
    return f"{round(value, 9) + 0.0:.6g}"


class Independence(NamedTuple):
    """Which columns are kept, and how the others follow from them."""

    kept: list[int]
    relations: list[Relation]
    left_over: Array  # (p,) |z_j| / |x_j|; 0 for a constant (or zero) column
    triangle: Array  # R of the (centred) columns of unit norm


def exact_relations(X: Array, *, intercept: bool, tolerance: float | None = None) -> Independence:
    """Independent columns of X (about their means with an intercept) and the relations of the rest.

    >>> X = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 5.0, 8.0], [4.0, 0.0, 4.0]])
    >>> exact_relations(X, intercept=False).relations[0].sentence(("a", "b", "c"))
    'c = a + b'
    """
    n, p = X.shape
    origin = X[0] if intercept else np.zeros(p)
    mean = origin + (X - origin).mean(axis=0) if intercept else origin
    C = X - mean
    norms = np.linalg.norm(C, axis=0)
    constant = norms <= np.sqrt(n) * EPS * np.abs(mean)
    scale = np.where(constant, 1.0, norms)
    R = triangle(np.where(constant, 0.0, C / scale))
    rounding = 10 * max(n, p) * EPS
    raw = np.maximum(np.linalg.norm(X, axis=0) / scale, 1.0)  # cells are rounded at this size
    kept: list[int] = []
    relations: list[Relation] = []
    left = np.zeros(p)
    room = np.zeros((len(R), p), order="F")  # q_1, q_2, ... of the kept columns
    S = np.zeros((p, p), order="F")  # Q'R of the kept columns: an upper triangle
    for j in range(p):
        k = len(kept)
        Q = room[:, :k]
        part = Q.T @ R[:, j]
        z = R[:, j] - Q @ part
        z -= Q @ (Q.T @ z)  # twice is enough
        left[j] = np.linalg.norm(z)
        c = solve_triangular(S[:k, :k], part) if kept else np.zeros(0)
        limit = rounding * (raw[j] + np.abs(c) @ raw[kept]) if tolerance is None else tolerance
        if not constant[j] and left[j] > limit:
            kept.append(j)
            room[:, k] = z / left[j]
            S[:k, k], S[k, k] = part, room[:, k] @ R[:, j]
            continue
        c = c * scale[j] / scale[kept]
        at_mean = float(mean[j] - mean[kept] @ c) if intercept else 0.0
        size = np.abs(mean[j]) + np.abs(mean[kept]) @ np.abs(c)
        at_mean = 0.0 if abs(at_mean) <= 1e3 * EPS * size else at_mean
        weights = {k: float(v) for k, v in zip(kept, c, strict=True)}
        small = 1e-9 * scale[j]  # a smaller part is rounding error
        large = {k: part for k, part in weights.items() if abs(part) * scale[k] > small}
        relations.append(Relation(j, at_mean, large))
    return Independence(kept, relations, left, R)
