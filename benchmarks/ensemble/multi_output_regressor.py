"""Several targets by copies of one regressor: the fits are the work, the wrapper adds little.

scikit-learn's wrapper is given our Ridge, so that the wrappers are compared and nothing else, and
its own, which is what its users have.
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
    from sklearn.linear_model import Ridge
    from sklearn.multioutput import MultiOutputRegressor

    return MultiOutputRegressor(Ridge()).fit(*data).predict(data[0])


def mixed_separate(data):
    from sklearn.multioutput import MultiOutputRegressor

    from pellucid import Ridge

    return MultiOutputRegressor(Ridge()).fit(*data).predict(data[0])


def pellucid_chain(data):
    from pellucid import RegressorChain, Ridge

    return RegressorChain(Ridge()).fit(*data).predict(data[0])


def sklearn_chain(data):
    from sklearn.linear_model import Ridge
    from sklearn.multioutput import RegressorChain

    return RegressorChain(Ridge()).fit(*data).predict(data[0])


def mixed_chain(data):
    from sklearn.multioutput import RegressorChain

    from pellucid import Ridge

    return RegressorChain(Ridge()).fit(*data).predict(data[0])


def close(ours, theirs):
    return bool(np.allclose(ours, theirs))


CASES = [
    Case(
        f"MultiOutputRegressor {N:,} x {P}, {L} targets",
        table,
        {
            "pellucid": pellucid_separate,
            "scikit-learn": sklearn_separate,
            "scikit-learn around our Ridge": mixed_separate,
        },
        close,
        "the fits inside",
    ),
    Case(
        f"RegressorChain {N:,} x {P}, {L} targets",
        table,
        {
            "pellucid": pellucid_chain,
            "scikit-learn": sklearn_chain,
            "scikit-learn around our Ridge": mixed_chain,
        },
        close,
        "the fits inside",
    ),
]
