"""Several targets by copies of one regressor: the fits are the work, the wrapper adds little.

The copies are the same on both sides, so that the wrappers are compared and nothing else.
"""

import numpy as np

from benchmarks.harness import Case

N, P, L = 50_000, 20, 8


def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    return X, X @ rng.standard_normal((P, L)) + rng.standard_normal((N, L))


def pellucid_separate(data):
    from pellucid import MultiOutputRegressor, Ridge

    return MultiOutputRegressor(Ridge()).fit(*data).predict(data[0])


def sklearn_separate(data):
    from sklearn.multioutput import MultiOutputRegressor

    from pellucid import Ridge

    return MultiOutputRegressor(Ridge()).fit(*data).predict(data[0])


def pellucid_chain(data):
    from pellucid import RegressorChain, Ridge

    return RegressorChain(Ridge()).fit(*data).predict(data[0])


def sklearn_chain(data):
    from sklearn.multioutput import RegressorChain

    from pellucid import Ridge

    return RegressorChain(Ridge()).fit(*data).predict(data[0])


def close(ours, theirs):
    return bool(np.allclose(ours, theirs))


CASES = [
    Case(
        f"MultiOutputRegressor {N:,} x {P}, {L} targets",
        table,
        {"pellucid": pellucid_separate, "scikit-learn": sklearn_separate},
        close,
        "the fits inside",
    ),
    Case(
        f"RegressorChain {N:,} x {P}, {L} targets",
        table,
        {"pellucid": pellucid_chain, "scikit-learn": sklearn_chain},
        close,
        "the fits inside",
    ),
]
