"""Scalers, expansions, splines and filters against scikit-learn.

Bound: these move memory. X of 1,000,000 x 50 is 400 MB; scaling reads it twice and writes it once,
an expansion writes its answer once.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 1_000_000, 50


def table():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, P)) * np.linspace(0.5, 2, P) + np.linspace(-3, 3, P)


def fewer():
    return table()[:100_000]


def narrow():
    return np.ascontiguousarray(table()[:200_000, :10])


def skewed():
    rng = np.random.default_rng(0)
    return rng.lognormal(size=(200_000, 20)) - 1.0


def dependent():
    X = table()
    X[:, 7] = 4 + X[:, 0] - 2 * X[:, 1]
    return X


def some(Z):
    """A small part of an answer that is too large to compare."""
    return np.asarray(Z[:: max(1, len(Z) // 500)])


def runner(home, name, **options):
    """Fit and transform with the class of this name."""

    def run(X):
        from importlib import import_module

        return some(getattr(import_module(home), name)(**options).fit_transform(X))

    return run


def pair(name, package="preprocessing", **options):
    """Ours and scikit-learn's class of the same name."""
    return {
        "pellucid": runner("pellucid.features", name, **options),
        "scikit-learn": runner(f"sklearn.{package}", name, **options),
    }


def pellucid_unit_norm(X):
    from pellucid.features import UnitNormScaler

    return some(UnitNormScaler().fit_transform(X))


def numpy_unit_norm(X):
    C = X - X.mean(axis=0)
    return some(C / np.linalg.norm(C, axis=0))


def pellucid_collinear(X):
    from pellucid.features import DropCollinear

    return DropCollinear().fit(X).support_


def scipy_collinear(X):
    from scipy.linalg import qr

    C = X - X.mean(axis=0)
    R = qr(C / np.linalg.norm(C, axis=0), mode="r", overwrite_a=True)[0]
    return np.abs(np.diag(R[:P])) > 1e-7


def pellucid_truncated(X):
    from pellucid.features import TruncatedPowerBasis

    return some(TruncatedPowerBasis(5).fit_transform(X))


def numpy_truncated(X):
    parts = []
    for j in range(X.shape[1]):
        x = X[:, j]
        knots = np.quantile(x, np.arange(1, 6) / 6)
        parts += [x, x**2, x**3, *(np.maximum(x - k, 0) ** 3 for k in knots)]
    return some(np.column_stack(parts))


def pellucid_natural(X):
    from pellucid.features import NaturalSplineBasis

    return some(NaturalSplineBasis(6).fit_transform(X))


def numpy_natural(X):
    parts = []
    for j in range(X.shape[1]):
        x = X[:, j]
        knots = np.quantile(x, np.linspace(0, 1, 6))
        cubes = [np.maximum(x - k, 0) ** 3 for k in knots]
        d = [(cubes[k] - cubes[-1]) / (knots[-1] - knots[k]) for k in range(5)]
        parts += [x, *(d[k] - d[-1] for k in range(4))]
    return some(np.column_stack(parts))


def pellucid_bumps(X):
    from pellucid.features import GaussianBasis

    return some(GaussianBasis(10).fit_transform(X))


def numpy_bumps(X):
    parts = []
    for j in range(X.shape[1]):
        b = np.quantile(X[:, j], np.linspace(0, 1, 10))
        width = np.diff(b).mean()
        parts.append(np.exp(-((X[:, [j]] - b) ** 2) / (2 * width**2)))
    return some(np.hstack(parts))


def pellucid_expansion(X):
    from pellucid.features import BasisExpansion

    return some(BasisExpansion(("identity", "square", "exp", "sin")).fit_transform(X))


def numpy_expansion(X):
    return some(np.hstack([X, X**2, np.exp(X), np.sin(X)]))


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-7))


SCALE = "400 MB read twice, 400 MB written"
CASES = [
    Case(f"StandardScaler {N:,} x {P}", table, pair("StandardScaler"), close, SCALE),
    Case(
        f"UnitNormScaler {N:,} x {P}",
        table,
        {"pellucid": pellucid_unit_norm, "numpy": numpy_unit_norm},
        close,
        SCALE,
    ),
    Case(f"MinMaxScaler {N:,} x {P}", table, pair("MinMaxScaler"), close, SCALE),
    Case(f"MaxAbsScaler {N:,} x {P}", table, pair("MaxAbsScaler"), close, SCALE),
    Case(f"RobustScaler {N:,} x {P}", table, pair("RobustScaler"), close, SCALE, repeats=2),
    Case(f"Normalizer {N:,} x {P}", table, pair("Normalizer"), close, "400 MB read and written"),
    Case(
        "PolynomialFeatures degree 2, 100,000 x 50",
        fewer,
        pair("PolynomialFeatures"),
        close,
        "1.06 GB written",
    ),
    Case(
        "PolynomialFeatures degree 4, 200,000 x 10, by columns",
        narrow,
        pair("PolynomialFeatures", degree=4, order="F"),
        close,
        "1.6 GB written",
    ),
    Case(
        "SplineTransformer 200,000 x 10, 8 knots",
        narrow,
        pair("SplineTransformer", n_knots=8),
        close,
        "160 MB written, 6 steps per cell",
    ),
    Case(
        "SplineTransformer 200,000 x 10, quantile knots, sparse",
        narrow,
        {
            "pellucid": lambda X: _sparse_splines("pellucid.features", X),
            "scikit-learn": lambda X: _sparse_splines("sklearn.preprocessing", X),
        },
        close,
        "96 MB written, 6 steps per cell",
    ),
    Case(
        "PowerTransformer 200,000 x 20",
        skewed,
        pair("PowerTransformer"),
        close,
        "one exponential per cell and step",
        repeats=2,
    ),
    Case(
        "QuantileTransformer 200,000 x 20, all rows, normal",
        skewed,
        pair("QuantileTransformer", output_distribution="normal", subsample=None),
        close,
        "a sort of each column, 10 comparisons and an inverse normal per cell",
        repeats=2,
    ),
    Case(
        "TruncatedPowerBasis 200,000 x 10, 5 knots",
        narrow,
        {"pellucid": pellucid_truncated, "numpy": numpy_truncated},
        close,
        "128 MB written",
    ),
    Case(
        "NaturalSplineBasis 200,000 x 10, 6 knots",
        narrow,
        {"pellucid": pellucid_natural, "numpy": numpy_natural},
        close,
        "80 MB written",
    ),
    Case(
        "GaussianBasis 200,000 x 10, 10 centres",
        narrow,
        {"pellucid": pellucid_bumps, "numpy": numpy_bumps},
        close,
        "160 MB written, one exponential per cell",
    ),
    Case(
        "BasisExpansion 100,000 x 50, 4 functions",
        fewer,
        {"pellucid": pellucid_expansion, "numpy": numpy_expansion},
        close,
        "160 MB written",
    ),
    Case(
        f"VarianceThreshold {N:,} x {P}",
        table,
        pair("VarianceThreshold", package="feature_selection"),
        close,
        SCALE,
    ),
    Case(
        f"DropCollinear {N:,} x {P}",
        dependent,
        {"pellucid": pellucid_collinear, "scipy": scipy_collinear},
        close,
        "400 MB read twice, 5 GFlop",
        repeats=2,
    ),
]


def _sparse_splines(home, X):
    from importlib import import_module

    model = import_module(home).SplineTransformer(knots="quantile", sparse_output=True)
    return model.fit_transform(X)[::400].toarray()
