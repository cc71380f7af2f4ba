"""Least angle regression, the lasso by its walk, and stagewise regression.

Bound of a path of p steps on p columns: p^3/6 multiply-adds for the rows of Q'X and as many for the
coefficients of the lasso, each number read once; the cross-products before it n p^2 / 2.
scikit-learn's ``lars_path(method="lar")`` changes a sign whenever a coefficient passes 0 and leaves
the LAR path there, so its case has data without such a passage.
"""

import warnings

import numpy as np

from benchmarks.harness import Case

N, P = 1000, 500
MOVES, STEP = 100_000, 1e-4


def columns(n=N, p=P, correlation=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + correlation * rng.standard_normal((n, 1))
    X -= X.mean(axis=0)
    y = X[:, :50] @ rng.standard_normal(50) + rng.standard_normal(n)
    return X, y - y.mean()


def orthogonal():
    """Nearly orthogonal columns and strong signals: no coefficient passes 0."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((N, P)))[0]
    X = Q + 0.002 * rng.standard_normal((N, P))
    X -= X.mean(axis=0)
    y = X @ (rng.uniform(1, 10, P) * rng.choice([-1.0, 1.0], P))
    return X, y - y.mean()


def wide():
    return columns(200, 5000)


def quiet(function):
    def call(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(data)

    return call


def pellucid_lar(data):
    from pellucid.linear import lars_path

    return lars_path(*data, method="lar", max_iter=P)[2]


@quiet
def sklearn_lar(data):
    from sklearn.linear_model import lars_path

    return lars_path(*data, method="lar", max_iter=P, Gram="auto")[2]


def pellucid_lasso(data):
    from pellucid.linear import lars_path

    return lars_path(*data, method="lasso", max_iter=5000)[2]


@quiet
def sklearn_lasso(data):
    from sklearn.linear_model import lars_path

    return lars_path(*data, method="lasso", max_iter=5000, Gram="auto")[2]


def pellucid_estimators(data):
    from pellucid import Lars, LassoLars

    return np.append(Lars().fit(*data).coef_, LassoLars(0.001).fit(*data).coef_)


@quiet
def sklearn_estimators(data):
    from sklearn.linear_model import Lars, LassoLars

    return np.append(Lars().fit(*data).coef_, LassoLars(0.001).fit(*data).coef_)


def pellucid_ic(data):
    from pellucid import LassoLarsIC

    return LassoLarsIC("bic", max_iter=5000).fit(*data).coef_


@quiet
def sklearn_ic(data):
    from sklearn.linear_model import LassoLarsIC

    return LassoLarsIC("bic", max_iter=5000).fit(*data).coef_


def few():
    return columns(2000, 100, correlation=0.5)


@quiet
def pellucid_stagewise(data):
    from pellucid import StagewiseRegression

    return StagewiseRegression(epsilon=STEP, max_iter=MOVES).fit(*data).coef_


def numpy_stagewise(data):
    """The same moves in plain NumPy, with the cross-products computed once."""
    X, y = data
    G, corr, w = X.T @ X, X.T @ y, np.zeros(X.shape[1])
    norm = np.sqrt(np.diag(G))
    for _ in range(MOVES):
        j = np.argmax(np.abs(corr) / norm)
        if abs(corr[j]) <= STEP * norm[j] ** 2 / 2:
            break
        step = STEP * np.sign(corr[j])
        w[j] += step
        corr -= step * G[j]
    return w


def close(ours, theirs):
    """The same knots, where both have them (the peer stops at alpha = 1.2e-7)."""
    if ours.ndim == 2:
        m = min(ours.shape[1], theirs.shape[1]) - 1
        ours, theirs = ours[:, :m], theirs[:, :m]
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-8))


CASES = [
    Case(
        f"lars_path lar {N} x {P}, all columns",
        orthogonal,
        {"pellucid": pellucid_lar, "scikit-learn": sklearn_lar},
        close,
        "0.02 G multiply-adds in the path, 0.125 G before it",
    ),
    Case(
        f"lars_path lasso {N} x {P}, down to least squares",
        columns,
        {"pellucid": pellucid_lasso, "scikit-learn": sklearn_lasso},
        close,
        "0.04 G multiply-adds in the path, 0.125 G before it",
    ),
    Case(
        "lars_path lasso 200 x 5000, down to interpolation",
        wide,
        {"pellucid": pellucid_lasso, "scikit-learn": sklearn_lasso},
        close,
        "8 MB read once per step",
        "Ours solves every knot anew from the factor, so that no error carries over.",
        repeats=2,
    ),
    Case(
        f"Lars and LassoLars(0.001) {N} x {P}",
        orthogonal,
        {"pellucid": pellucid_estimators, "scikit-learn": sklearn_estimators},
        close,
        "two paths and two sets of cross-products",
    ),
    Case(
        f"LassoLarsIC bic {N} x {P}",
        columns,
        {"pellucid": pellucid_ic, "scikit-learn": sklearn_ic},
        close,
        "the path, and its residuals at every knot",
    ),
    Case(
        f"StagewiseRegression epsilon={STEP:g}, {MOVES:,} moves, 2000 x 100",
        few,
        {"pellucid": pellucid_stagewise, "NumPy loop": numpy_stagewise},
        close,
        "0.02 G multiply-adds",
        note="No Python package has it; the peer is the textbook's loop on cross-products.",
        repeats=2,
    ),
]
