r"""AdaBoost for regression (R2): regressors in turn, each on the rows that were met worst so far.

Start       d_i = 1/n
Step        fit f to rows drawn with the chances d;  L_i = |y_i - f(x_i)| / max_j |y_j - f(x_j)|
            e = sum d_i L_i;  beta = e / (1 - e) < 1 where e < 1/2
            d_i <- d_i beta^(1 - L_i), then divide by the sum: well met rows lose weight
Answer      the median of the f_t(x), where member t counts ln(1/beta_t)
Cost        T fits.
The fast version draws so that weight 2 is a row written twice, and has two more losses.
"""

from collections.abc import Callable

import numpy as np

Curve = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Curve]


def adaboost_regression(
    learn: Learner, X: np.ndarray, y: np.ndarray, draws: list[np.ndarray]
) -> Curve:
    """``draws``: uniform numbers (n,) for each round, which choose the rows by their chances."""
    d = np.full(len(y), 1 / len(y))
    found: list[tuple[Curve, float]] = []
    for u in draws:
        rows = np.minimum(np.searchsorted(np.cumsum(d), u * d.sum(), side="right"), len(y) - 1)
        f = learn(X[rows], y[rows])
        E = np.abs(y - f(X))
        L = E / E.max()
        e = d @ L
        if e >= 0.5:
            break
        beta = e / (1 - e)
        found.append((f, np.log(1 / beta)))
        d = d * beta ** (1 - L)
        d /= d.sum()

    def predict(new: np.ndarray) -> np.ndarray:
        V = np.column_stack([f(new) for f, _ in found])
        order = V.argsort(axis=1)
        mass = np.cumsum(np.array([w for _, w in found])[order], axis=1)
        at = (mass >= mass[:, -1:] / 2).argmax(axis=1)
        return np.asarray(V[np.arange(len(V)), order[np.arange(len(V)), at]])

    return predict
