"""Linear classification rules: least squares, the perceptron, stochastic gradient descent.

Run with ``python -m benchmarks linear_classifiers``.
"""

import numpy as np
from scipy.sparse import csr_array, random_array

from benchmarks.harness import Case

N, P, EPOCHS = 200_000, 50, 10
SPARSE = (100_000, 20_000, 50)  # rows, columns, numbers in a row


def two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = (X @ rng.normal(size=P) + 2 * rng.normal(size=N) > 0).astype(int)
    return X, y


def ten_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=N)
    return rng.normal(size=(N, P)) + 0.7 * rng.normal(size=(10, P))[y], y


def words():
    n, p, stored = SPARSE
    rng = np.random.default_rng(0)
    X = random_array((n, p), density=stored / p, rng=rng, format="csr")
    y = (X @ rng.normal(size=p) + 0.5 * rng.normal(size=n) > 0).astype(int)
    return csr_array(X), y


def _accuracy(model, data):
    return model.score(*data)


def _least_squares(data):
    from pellucid import LeastSquaresClassifier

    return LeastSquaresClassifier(alpha=1.0).fit(*data).predict(data[0])


def _ridge_classifier(solver):
    def fit(data):
        from sklearn.linear_model import RidgeClassifier

        return RidgeClassifier(alpha=1.0, solver=solver).fit(*data).predict(data[0])

    return fit


def _perceptron(shuffle, **params):
    def fit(data):
        from pellucid import Perceptron

        model = Perceptron(max_iter=EPOCHS, tol=None, shuffle=shuffle, **params)
        return _quietly(model, data)

    return fit


def _perceptron_peer(shuffle):
    def fit(data):
        from sklearn.linear_model import Perceptron

        model = Perceptron(max_iter=EPOCHS, tol=None, shuffle=shuffle)
        return _quietly(model, data)

    return fit


def _quietly(model, data):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*data)
    return np.append(model.coef_, model.intercept_)


def _sgd(**params):
    def fit(data):
        from pellucid import SGDClassifier

        model = SGDClassifier(max_iter=EPOCHS, tol=None, random_state=0, **params)
        return _accuracy(model.fit(*data), data)

    return fit


def _sgd_peer(**params):
    def fit(data):
        from sklearn.linear_model import SGDClassifier

        model = SGDClassifier(max_iter=EPOCHS, tol=None, random_state=0, **params)
        return _accuracy(model.fit(*data), data)

    return fit


def nearly_all(a, b):
    return bool(np.mean(a == b) > 0.9999)


def close(a, b):
    return bool(np.allclose(a, b, rtol=1e-6))


def as_good(a, b):
    """Accuracies of two orders of the rows."""
    return bool(a > b - 0.02)


EPOCH = f"{EPOCHS} epochs of {8 * N * P / 1e6:.0f} MB"
CASES = [
    Case(
        f"LeastSquaresClassifier, 10 classes, {N:,} x {P}, fit and predict",
        ten_classes,
        {"pellucid": _least_squares, "scikit-learn cholesky": _ridge_classifier("cholesky"),
         "scikit-learn auto": _ridge_classifier("auto")},
        nearly_all,
        f"{8 * N * P / 1e6:.0f} MB read three times",
    ),
    Case(
        f"Perceptron, {EPOCHS} epochs in row order, {N:,} x {P}",
        two_classes,
        {"pellucid": _perceptron(False), "scikit-learn": _perceptron_peer(False)},
        close,
        EPOCH + ", the updates depend on each other",
    ),
    Case(
        f"Perceptron, 10 classes, {EPOCHS} epochs in row order, {N:,} x {P}",
        ten_classes,
        {"pellucid": _perceptron(False), "scikit-learn": _perceptron_peer(False)},
        close,
        EPOCH + " for each class",
        rounds=2, repeats=1,
    ),
    Case(
        f"SGDClassifier hinge, {EPOCHS} epochs, {N:,} x {P}",
        two_classes,
        {"pellucid": _sgd(), "scikit-learn": _sgd_peer()},
        as_good,
        EPOCH + " in random order",
    ),
    Case(
        f"SGDClassifier log_loss averaged, {EPOCHS} epochs, {N:,} x {P}",
        two_classes,
        {"pellucid": _sgd(loss="log_loss", average=True),
         "scikit-learn": _sgd_peer(loss="log_loss", average=True)},
        as_good,
        EPOCH + " in random order",
    ),
    Case(
        f"SGDClassifier hinge, sparse {SPARSE[0]:,} x {SPARSE[1]:,}, {SPARSE[2]} numbers a row",
        words,
        {"pellucid": _sgd(), "scikit-learn": _sgd_peer()},
        as_good,
        f"{EPOCHS} epochs of {12 * SPARSE[0] * SPARSE[2] / 1e6:.0f} MB in random order",
    ),
    Case(
        f"SGDClassifier log_loss L1, sparse {SPARSE[0]:,} x {SPARSE[1]:,}",
        words,
        {"pellucid": _sgd(loss="log_loss", penalty="l1", alpha=1e-5),
         "scikit-learn": _sgd_peer(loss="log_loss", penalty="l1", alpha=1e-5)},
        as_good,
        f"{EPOCHS} epochs of {12 * SPARSE[0] * SPARSE[2] / 1e6:.0f} MB in random order",
        note="Not quite the same work: scikit-learn truncates a weight only when its column is "
        "visited, here all truncations count, as for dense rows.",
    ),
]  # fmt: skip
