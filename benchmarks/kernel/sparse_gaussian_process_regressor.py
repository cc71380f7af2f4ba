"""A Gaussian process of 20,000 rows through 100 points, beside scikit-learn's Nystroem and ridge.

scikit-learn has no sparse process, and GPyTorch needs PyTorch: the peer learns no kernel and no
uncertainty, and is given the widths that ours finds.
"""

import numpy as np

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(20_000, 2))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * rng.normal(size=20_000)


def _ours(data):
    from pellucid import SparseGaussianProcessRegressor

    model = SparseGaussianProcessRegressor(n_inducing=100, random_state=0).fit(*data)
    return float(np.mean((model.predict(data[0]) - data[1]) ** 2))


def _theirs(data):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    X, y = data
    model = make_pipeline(Nystroem(gamma=0.5, n_components=100, random_state=0), Ridge(0.1))
    return float(np.mean((model.fit(X, y).predict(X) - y) ** 2))


CASES = [
    Case(
        "SparseGaussianProcessRegressor, 20,000 x 2, 100 points",
        table,
        {"pellucid": _ours, "scikit-learn Nystroem + Ridge, kernel given": _theirs},
        lambda ours, theirs: ours <= 1.01 * theirs,
        "n m^2 an evaluation, some forty of them; the peer makes one",
    ),
]
