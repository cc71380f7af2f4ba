r"""LARS: least angle regression, and the whole lasso path in one walk.

Solve       for all alpha at once: |x_j'r| / n = alpha on the active columns, <= alpha elsewhere
Step        move w_A along d = (X_A'X_A)^-1 X_A'r: all active correlations C = |x_j'r| then fall as
            (1 - g) C. Column k with c = x_k'r and a = x_k'X_A d catches up where
            |c - g a| = (1 - g) C: at g = (C - c)/(C - a) or (C + c)/(C + a). Stop there, add k.
            The lasso's signs must agree with x_j'r: if w_j reaches 0 before, stop there and drop j.
Cost        n p + n |A|^2 per step; about p steps: the price of one least-squares fit.
The fast version updates a factor of X_A'X_A, works from cross-products and skips dependent columns.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    w: np.ndarray  # (p,)
    alpha: float  # largest |x_j'r| / n
    active: tuple[int, ...]  # the columns that move from here on


def knots(X: np.ndarray, y: np.ndarray, lasso: bool = False) -> Iterator[State]:
    """Every point where a column joins or leaves; the last one is least squares."""
    n, p = X.shape
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    w, active = np.zeros(p), [int(np.abs(Xc.T @ yc).argmax())]
    while True:
        c = Xc.T @ (yc - Xc @ w)
        C = np.abs(c[active]).max()
        yield State(w.copy(), C / n, tuple(active))
        A = Xc[:, active]
        d = np.linalg.solve(A.T @ A, c[active])
        a = Xc.T @ A @ d
        step, join, leave = 1.0, -1, -1  # g = 1 is the least-squares fit of the active columns
        for k in set(range(p)) - set(active):
            for g in ((C - c[k]) / (C - a[k]), (C + c[k]) / (C + a[k])):
                if 1e-10 < g < step:  # 0 for a column that has just left
                    step, join = g, k
        for j, direction in zip(active, d, strict=True):
            if lasso and w[j] * direction < 0 and -w[j] / direction < step:
                step, join, leave = -w[j] / direction, -1, j
        w[active] += step * d
        if leave >= 0:
            w[leave] = 0.0
            active.remove(leave)
        elif join >= 0:
            active.append(join)
        else:
            yield State(w.copy(), 0.0, tuple(active))
            return


def lars(X: np.ndarray, y: np.ndarray, lasso: bool = False) -> list[State]:
    """All knots of the path; w is linear between them. Needs more rows than columns."""
    return list(knots(X, y, lasso))


def at(path: list[State], alpha: float) -> np.ndarray:
    """The coefficients at any alpha, by linear interpolation."""
    alphas = np.array([state.alpha for state in path])
    W = np.array([state.w for state in path])
    return np.array([np.interp(alpha, alphas[::-1], w[::-1]) for w in W.T])
