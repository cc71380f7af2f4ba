"""pellucid.maths: mergeable moments against NumPy and pandas, subspaces by hand against SymPy.

Moments read X once and do half of n p^2 multiply-adds; np.cov and np.corrcoef each copy X.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 1_000_000, 20


def table():
    return np.random.default_rng(0).standard_normal((N, P)) + 1e3


def pellucid_moments(X):
    from pellucid.maths import moments

    found = moments(X)
    return np.vstack([found.mean, found.cov, found.corr])


def numpy_moments(X):
    return np.vstack([X.mean(axis=0), np.cov(X.T, ddof=0), np.corrcoef(X.T)])


def pandas_moments(X):
    import pandas as pd

    frame = pd.DataFrame(X)
    return np.vstack([frame.mean(), frame.cov(ddof=0), frame.corr()])


def whole_numbers():
    rng = np.random.default_rng(0)
    return rng.integers(-3, 4, (30, 20)) @ rng.integers(-3, 4, (20, 40))


def pellucid_null_space(A):
    from pellucid.maths import fundamental_subspaces

    return fundamental_subspaces(A, "pivot").null


def sympy_null_space(A):
    import sympy

    vectors = sympy.Matrix(A.tolist()).nullspace()
    return np.array([[float(value) for value in v] for v in vectors]).T


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-8))


CASES = [
    Case(
        "moments 1e6 x 20",
        table,
        {"pellucid": pellucid_moments, "numpy": numpy_moments, "pandas": pandas_moments},
        close,
        limit="160 MB read once, 0.2 G multiply-adds",
    ),
    Case(
        "null space by elimination, 30 x 40 of rank 20",
        whole_numbers,
        {"pellucid": pellucid_null_space, "sympy": sympy_null_space},
        close,
        limit="35 k multiply-adds",
        note="SymPy is exact",
    ),
]
