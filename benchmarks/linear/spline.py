"""Curves of one input, 1,000,000 points: smoothing splines (alpha given, or by generalised
cross-validation) and isotonic regression.

Bound: a chain of about four divisions per point in each direction; 16 MB of data.
"""

import numpy as np

from benchmarks.harness import Case

N, SMALL, ALPHA = 1_000_000, 20_000, 100.0


def points(n):
    rng = np.random.default_rng(0)
    x = np.arange(n) + rng.uniform(-0.3, 0.3, size=n)
    return x, np.sin(6 * x / n) + rng.normal(size=n)


def many():
    return points(N)


def some():
    x, y = points(SMALL)
    return x * (60 / SMALL), y  # scipy looks for alpha between 0 and n only


def pellucid_spline(data):
    from pellucid import SmoothingSpline

    x, y = data
    return SmoothingSpline(ALPHA).fit(x[:, None], y).values_


def csaps_spline(data):
    from csaps import csaps

    x, y = data
    return csaps(x, y, smooth=1 / (1 + ALPHA)).spline(x)


def scipy_spline(data):
    from scipy.interpolate import make_smoothing_spline

    x, y = data
    return make_smoothing_spline(x, y, lam=ALPHA)(x)


def pellucid_gcv(data):
    from pellucid import SmoothingSpline

    x, y = data
    return SmoothingSpline("gcv").fit(x[:, None], y).values_


def scipy_gcv(data):
    from scipy.interpolate import make_smoothing_spline

    x, y = data
    return make_smoothing_spline(x, y)(x)


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-5, atol=1e-5))


def near(ours, theirs):  # two minimisers of the same flat criterion
    return bool(np.abs(ours - theirs).max() < 0.05)


def scattered():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, size=N)
    return x, np.log1p(x) + rng.normal(size=N)


def pellucid_isotonic(data):
    from pellucid import IsotonicRegression

    return IsotonicRegression().fit(*data).predict(data[0])


def sklearn_isotonic(data):
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression().fit(*data).predict(data[0])


CASES = [
    Case(
        f"SmoothingSpline, given alpha, {N:,} points",
        many,
        {"pellucid": pellucid_spline, "csaps": csaps_spline, "scipy": scipy_spline},
        close,
        "4 dependent divisions per point and direction; 16 MB of data",
        rounds=2,
        repeats=2,
    ),
    Case(
        f"SmoothingSpline, alpha by GCV, {SMALL:,} points",
        some,
        {"pellucid": pellucid_gcv, "scipy": scipy_gcv},
        near,
        "about 60 fits over the whole range of alpha",
    ),
    Case(
        f"IsotonicRegression {N:,} rows, fit and predict",
        scattered,
        {"pellucid": pellucid_isotonic, "scikit-learn": sklearn_isotonic},
        lambda ours, theirs: bool(np.array_equal(ours, theirs)),
        "the sort of one column",
    ),
]
