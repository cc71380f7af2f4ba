"""KernelRidge, Nystroem and RandomFourierFeatures.

Run with ``python -m benchmarks kernel_features``.
"""

import numpy as np

from benchmarks.harness import Case


def table(n, p):
    def data():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)

    return data


def _ridge(module, **params):
    def fit(data):
        import importlib

        X, y = data
        model = importlib.import_module(module).KernelRidge(**params).fit(X, y)
        return model.predict(X[:1000])

    return fit


def _left_out(data):
    from pellucid import KernelRidge

    return KernelRidge(kernel="rbf", leave_one_out=True).fit(*data).leave_one_out_error_


def _left_out_peer(data):
    """The residuals from the inverse, by NumPy; scikit-learn has no closed form."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = data
    M = np.linalg.inv(rbf_kernel(X) + np.eye(len(X)))
    return np.mean(((M @ y) / np.diag(M)) ** 2)


def _nystroem(module):
    def transform(data):
        import importlib

        Z = importlib.import_module(module).Nystroem(n_components=200, random_state=0)
        Z = Z.fit_transform(data[0])
        return np.array([np.square(Z).sum() / len(Z)])

    return transform


def _random(data):
    from pellucid import RandomFourierFeatures

    Z = RandomFourierFeatures(np.sqrt(0.5), n_components=200, random_state=0)
    return np.array([np.square(Z.fit_transform(data[0])).mean()])


def _random_peer(data):
    from sklearn.kernel_approximation import RBFSampler

    Z = RBFSampler(gamma=1.0, n_components=200, random_state=0).fit_transform(data[0])
    return np.array([np.square(Z).mean()])


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-5, atol=1e-6))


def near(ours, theirs):
    """Other random numbers: the mean of the features agrees, not the features."""
    return bool(np.allclose(ours, theirs, rtol=0.02))


CASES = [
    Case(
        "KernelRidge linear, 5,000 x 50",
        table(5000, 50),
        {"pellucid": _ridge("pellucid"), "scikit-learn": _ridge("sklearn.kernel_ridge")},
        close,
        "n p^2: the ridge weights",
    ),
    Case(
        "KernelRidge rbf, 4,000 x 20",
        table(4000, 20),
        {
            "pellucid": _ridge("pellucid", kernel="rbf"),
            "scikit-learn": _ridge("sklearn.kernel_ridge", kernel="rbf"),
        },
        close,
        "n^3/3 of Cholesky by LAPACK, the same for both",
    ),
    Case(
        "KernelRidge rbf with leave-one-out, 2,000 x 20",
        table(2000, 20),
        {"pellucid": _left_out, "NumPy inverse": _left_out_peer},
        close,
        "n^3 of LAPACK",
    ),
    Case(
        "Nystroem 200 landmarks, 200,000 x 20",
        table(200_000, 20),
        {
            "pellucid": _nystroem("pellucid"),
            "scikit-learn": _nystroem("sklearn.kernel_approximation"),
        },
        near,
        "320 MB written once, 16 Gflop of products, 40 million exponentials",
    ),
    Case(
        "RandomFourierFeatures 200, 200,000 x 20",
        table(200_000, 20),
        {"pellucid": _random, "scikit-learn RBFSampler": _random_peer},
        near,
        "320 MB written once, 40 million cosines",
    ),
]


def labelled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, -1)


def _several(data):
    from pellucid import MultipleKernelClassifier
    from pellucid.kernel import GaussianKernel

    kernels = [GaussianKernel(s) for s in (0.5, 1.0, 2.0, 4.0, 8.0)]
    return np.array([MultipleKernelClassifier(kernels, tol=1e-3).fit(*data).objective_])


def _several_peer(data):
    """Projected gradient in the weights around libsvm: SimpleMKL's gradient, a plain step."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    X, y = data
    grams = [rbf_kernel(X, gamma=0.5 / s**2) for s in (0.5, 1.0, 2.0, 4.0, 8.0)]
    b = np.full(5, 0.2)
    for _ in range(100):
        K = np.tensordot(b, grams, axes=1)
        machine = SVC(kernel="precomputed").fit(K, y)
        beta, s = machine.dual_coef_[0], machine.support_
        q = np.array([beta @ G[np.ix_(s, s)] @ beta for G in grams])
        value = np.abs(beta).sum() - 0.5 * b @ q
        if q.max() - b @ q <= 2e-3 * value:
            break
        b = b * np.sqrt(q)
        b /= b.sum()
    return np.array([value])


CASES.append(
    Case(
        "MultipleKernelClassifier, 5 Gaussian kernels, 1,000 x 8",
        labelled,
        {"pellucid": _several, "libsvm and the same weights rule": _several_peer},
        lambda ours, theirs: bool(ours[0] <= theirs[0] * (1 + 1e-3)),
        "a support vector machine for each step",
    )
)
