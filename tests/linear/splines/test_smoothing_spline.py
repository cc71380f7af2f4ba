"""SmoothingSpline: the example, oracles, laws, and every spacing of x."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.interpolate import CubicSpline, make_smoothing_spline
from sklearn.utils.estimator_checks import estimator_checks_generator

from pellucid import LinearRegression, SmoothingSpline
from pellucid.base import Estimator

N = np.arange(9.0), np.array([0, 2, 1, 3, 6, 5, 4, 7, 9.0])
ALPHAS = [1e-6, 0.01, 1.0, 50.0, 1e3]  # above, the oracles lose digits: see the exact one


def wave(n=60, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, size=n))
    return x, np.sin(x) + noise * rng.normal(size=n)


def dense_hat(x, w, alpha):
    """Reinsch's form of H, I - alpha W^-1 Q (R + alpha Q'W^-1 Q)^-1 Q', by dense algebra.

    The textbook's (W + alpha Q R^-1 Q')^-1 W is the same, but loses eight digits at alpha = 1000.
    """
    n, h = len(x), np.diff(x)
    Q, R = np.zeros((n, n - 2)), np.zeros((n - 2, n - 2))
    for j in range(n - 2):
        Q[j : j + 3, j] = [1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]]
        R[j, j] = (h[j] + h[j + 1]) / 3
        if j < n - 3:
            R[j, j + 1] = R[j + 1, j] = h[j + 1] / 6
    P = Q / w[:, None]  # W^-1 Q
    return np.eye(n) - alpha * P @ np.linalg.solve(R + alpha * Q.T @ P, Q.T)


# --- the example and the oracles -------------------------------------------------------------


def test_nine_points_example_17():
    model = SmoothingSpline(10.0).fit(N[0][:, None], N[1])
    assert_allclose(model.df_, 2.7634722, atol=1e-7)
    assert_allclose(model.rss_, 10.1682095, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_equals_scipy(alpha, weighted):
    x, y = wave()
    w = np.random.default_rng(1).uniform(0.5, 3, size=60) if weighted else None
    model = SmoothingSpline(alpha).fit(x[:, None], y, sample_weight=w)
    oracle = make_smoothing_spline(x, y, w, lam=alpha)
    q = np.linspace(0.5, 9.5, 201)
    for k in range(3):
        expected = oracle(q, k)
        size = np.abs(expected).max()
        assert_allclose(model.predict(q, derivative=k), expected, atol=2e-6 * max(size, 1e-2))
    assert_allclose(model.predict(q, derivative=3), oracle(q, 3), atol=1e-4 * max(1, size))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_hat_matrix_df_leverage_and_leave_one_out(alpha):
    x, y = wave(25)
    w = np.random.default_rng(2).integers(1, 4, size=25).astype(float)
    model = SmoothingSpline(alpha).fit(x[:, None], y, sample_weight=w)
    H = dense_hat(x, w, alpha)
    assert_allclose(model.hat_matrix(x) * w, H, atol=1e-8)
    assert_allclose(model.df_, np.trace(H), rtol=1e-8)
    assert_allclose(model.leverage(x), np.diag(H) / w, rtol=1e-6)
    assert_allclose(model.predict(x), H @ y, atol=1e-8)
    n, r = w.sum(), y - H @ y
    assert_allclose(model.gcv_, (w @ r**2 / n) / (1 - np.trace(H) / n) ** 2, rtol=1e-6)
    assert_allclose(model.gcv(x, y, sample_weight=w), model.gcv_, rtol=1e-8)
    assert_allclose(model.loocv(x, y, sample_weight=w), model.loocv_, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-4, 1.0, 100.0])
def test_leave_one_out_equals_refits(alpha):
    x, y = wave(20)
    model = SmoothingSpline(alpha).fit(x, y)
    refits = [
        y[i] - SmoothingSpline(alpha).fit(np.delete(x, i), np.delete(y, i)).predict(x[[i]])[0]
        for i in range(20)
    ]
    assert_allclose(model.loo_residuals(x, y), refits, rtol=1e-8)
    assert_allclose(model.loocv_, np.mean(np.square(refits)), rtol=1e-8)


def test_leverage_anywhere_is_that_of_a_row_of_vanishing_weight():
    x, y = wave(20)
    model = SmoothingSpline(0.7).fit(x, y)
    for q in (-1.0, 0.5 * (x[3] + x[4]), x[9] + 1e-3, 12.0):
        w = np.append(np.ones(20), 1e-9)
        more = SmoothingSpline(0.7).fit(np.append(x, q), np.append(y, 0.0), sample_weight=w)
        assert_allclose(model.leverage([q]), more.leverage([q]), rtol=1e-6)


def exact_fit(x, y, alpha):
    """f at the knots and tr H in rational arithmetic: (I + alpha Q R^-1 Q')^-1 y."""
    n, h = len(x), [b - a for a, b in pairwise(x)]
    Q = [[Fraction(0)] * n for _ in range(n - 2)]
    R = [[Fraction(0)] * (n - 2) for _ in range(n - 2)]
    for j in range(n - 2):
        Q[j][j : j + 3] = [1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]]
        R[j][j] = (h[j] + h[j + 1]) / 3
        if j < n - 3:
            R[j][j + 1] = R[j + 1][j] = h[j + 1] / 6
    E = eliminate(R, Q)  # R^-1 Q'
    A = [
        [(i == k) + alpha * sum(Q[j][i] * E[j][k] for j in range(n - 2)) for k in range(n)]
        for i in range(n)
    ]
    H = eliminate(A, [[Fraction(int(i == k)) for k in range(n)] for i in range(n)])
    return [sum(a * b for a, b in zip(row, y, strict=True)) for row in H], sum(
        H[i][i] for i in range(n)
    )


def eliminate(A, B):
    """A^-1 B by Gauss and Jordan, exactly."""
    rows = [a + b for a, b in zip(A, B, strict=True)]
    n = len(A)
    for j in range(n):
        pivot = next(i for i in range(j, n) if rows[i][j] != 0)
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [v / rows[j][j] for v in rows[j]]
        for i in range(n):
            if i != j and rows[i][j] != 0:
                factor = rows[i][j]
                rows[i] = [v - factor * u for v, u in zip(rows[i], rows[j], strict=True)]
    return [row[n:] for row in rows]


@pytest.mark.parametrize("first", [1.0, 1e-9])
@pytest.mark.parametrize("alpha", [1e-12, 1e-3, 1.0, 1e6, 1e12])
def test_equals_exact_arithmetic(alpha, first):
    """Twelve digits where solvers of the banded system have none left."""
    x = np.cumsum([0.0, first, 1.0, 1e-8, 3.0, 1e-3, 1.0, 1e-8, 2.0])
    y = N[1]
    f, df = exact_fit([Fraction(v) for v in x], [Fraction(v) for v in y], Fraction(alpha))
    model = SmoothingSpline(alpha).fit(x, y)
    assert_allclose(model.values_, [float(v) for v in f], rtol=1e-12, atol=1e-12)
    assert_allclose(model.df_, float(df), rtol=1e-12)


# --- laws --------------------------------------------------------------------------------------


def test_no_other_function_is_better():
    """The objective, by numerical integration, rises along any perturbation."""
    x, y = wave(12)
    model = SmoothingSpline(0.5).fit(x, y)

    def objective(e):
        def bend(t):
            wiggle = -e * np.sin(1.3 * t + 1) * 1.69
            return (model.predict([t], derivative=2)[0] + wiggle) ** 2

        rss = ((y - model.predict(x) - e * np.sin(1.3 * x + 1)) ** 2).sum()
        pieces = [quad(bend, a, b)[0] for a, b in pairwise(x)]
        return rss + 0.5 * sum(pieces)

    middle = objective(0.0)
    assert objective(1e-2) > middle
    assert objective(-1e-2) > middle
    assert abs(objective(1e-4) - objective(-1e-4)) < 1e-7 * middle  # the gradient is zero


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("alpha", [1e-9, 1.0, 1e9])
def test_optimality_on_wild_spacings(alpha, seed):
    """alpha times the jump of f''' at a knot is w (y - f), whatever the gaps."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(10 ** rng.uniform(-7, 1, size=3000))
    y = np.cos(x / x[-1] * 9) + rng.normal(size=3000)
    model = SmoothingSpline(alpha).fit(x, y)
    residual = y - model.values_
    scale = np.abs(residual).sum()
    assert abs(residual.sum()) < 1e-9 * scale
    assert abs(residual @ (x - x.mean())) < 1e-9 * scale * x[-1]
    bend = np.cumsum(np.cumsum(residual)[:-1] * np.diff(x)) / alpha  # f'' at knots 1..
    error = np.abs(bend - model.curvatures_[1:]).max()
    assert error < 1e-7 * np.abs(model.curvatures_).max() + 1e-12 * scale * x[-1] / alpha
    assert 2 <= model.df_ <= 3000
    assert (model.leverage(x) > 0).all()


def test_many_points_in_any_spacing():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(200_000))
    y = np.sin(6 * x) + rng.normal(size=len(x))
    model = SmoothingSpline(df=12).fit(x, y)
    assert_allclose(model.df_, 12, rtol=1e-9)
    assert np.abs(model.predict(x) - np.sin(6 * x)).max() < 0.1
    assert_allclose(model.leverage(x).sum(), 12, rtol=1e-7)


def test_limits():
    x, y = wave()
    line = LinearRegression().fit(x[:, None], y)
    for alpha in (np.inf, 1e14):
        model = SmoothingSpline(alpha).fit(x, y)
        assert_allclose(model.predict(x), line.predict(x[:, None]), atol=1e-7)
        assert_allclose(model.df_, 2, atol=1e-7)
        assert_allclose(model.leverage([20.0]), line.leverage([[20.0]]), rtol=1e-5)
    natural = CubicSpline(x, y, bc_type="natural")
    q = np.linspace(x[0], x[-1], 301)
    for alpha in (0.0, 1e-14):
        model = SmoothingSpline(alpha).fit(x, y)
        assert_allclose(model.predict(x), y, atol=1e-7)
        assert_allclose(model.predict(q), natural(q), atol=1e-5)
        assert_allclose(model.df_, 60, rtol=1e-6)
    exact = SmoothingSpline(0.0).fit(x, y)
    assert exact.rss_ == 0
    assert np.isnan(exact.sigma2_)
    with pytest.raises(ValueError, match="no interval"):
        exact.predict_interval(x)
    with pytest.raises(ValueError, match="row 0 has leverage 1"):
        exact.loo_residuals(x, y)


def test_linear_outside_and_smooth_inside():
    x, y = wave()
    model = SmoothingSpline(0.3).fit(x, y)
    for end, out in ((x[0], [-3.0, -1.0]), (x[-1], [11.0, 15.0])):
        slope = model.predict([end], derivative=1)
        assert_allclose(model.predict(out), model.predict([end]) + slope * (np.array(out) - end))
        assert_allclose(model.predict(out, derivative=1), slope.repeat(2))
        assert_array_equal(model.predict(out, derivative=2), 0)
    for k in range(3):
        for side in (-1e-9, 1e-9):
            inner = x[1:-1]
            assert_allclose(
                model.predict(inner + side, derivative=k), model.predict(inner, derivative=k),
                atol=1e-6,
            )  # fmt: skip
    assert_allclose(model.curvatures_[[0, -1]], 0)


def test_repeated_x_are_pooled():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 12, size=80).astype(float)
    y = np.sin(x) + rng.normal(size=80)
    model = SmoothingSpline(2.0).fit(x, y)
    assert_array_equal(model.knots_, np.unique(x))
    w = np.array([(x == k).sum() for k in model.knots_], dtype=float)
    means = np.array([y[x == k].mean() for k in model.knots_])
    assert_allclose(model.values_, dense_hat(model.knots_, w, 2.0) @ means, atol=1e-10)
    assert_allclose(model.rss_, ((y - model.predict(x)) ** 2).sum(), rtol=1e-10)
    assert_allclose(model.loocv(x, y), model.loocv_, rtol=1e-10)
    H = model.hat_matrix(x)
    assert_allclose(H @ y, model.predict(x), atol=1e-10)
    assert_allclose(np.trace(H), model.df_, rtol=1e-10)
    alone = SmoothingSpline(2.0).fit(np.delete(x, 7), np.delete(y, 7))
    assert_allclose(model.loo_residuals(x, y)[7], y[7] - alone.predict(x[[7]])[0], rtol=1e-9)


@pytest.mark.parametrize("rule", ["gcv", "loo", 0.4])
def test_weights_are_repetitions(rule):
    x, y = wave(40)
    w = np.random.default_rng(3).integers(0, 4, size=40)
    a = SmoothingSpline(rule).fit(x, y, sample_weight=w)
    b = SmoothingSpline(rule).fit(np.repeat(x, w), np.repeat(y, w))
    assert_allclose(a.predict(x), b.predict(x), rtol=1e-4 if rule != 0.4 else 1e-10, atol=1e-6)
    for name in ("df_", "rss_", "sigma2_", "gcv_", "loocv_"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-4)


def test_units_do_not_matter():
    x, y = wave()
    base = SmoothingSpline(0.3).fit(x, y)
    for scale, shift in ((1e-8, 0.0), (1e6, 3e7)):
        other = SmoothingSpline(0.3 * scale**3).fit(x * scale + shift, 5 * y + 2)
        assert_allclose(other.values_, 5 * base.values_ + 2, rtol=1e-7, atol=1e-7)
        assert_allclose(other.df_, base.df_, rtol=1e-7)


def test_order_of_rows_does_not_matter():
    x, y = wave()
    order = np.random.default_rng(0).permutation(60)
    a, b = SmoothingSpline().fit(x, y), SmoothingSpline().fit(x[order], y[order])
    assert_array_equal(a.values_, b.values_)


# --- choosing alpha ----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["gcv", "loo"])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_global_minimum(rule, seed):
    rng = np.random.default_rng(seed)
    n = 15 + 10 * seed
    x = np.sort(rng.uniform(0, 10, size=n))
    y = np.sin((1 + seed) * x) + rng.normal(size=n)
    model = SmoothingSpline(rule).fit(x, y)
    fits = [SmoothingSpline(a).fit(x, y) for a in np.geomspace(1e-9, 1e9, 700)]
    least = min(getattr(f, {"gcv": "gcv_", "loo": "loocv_"}[rule]) for f in fits)
    found = getattr(model, {"gcv": "gcv_", "loo": "loocv_"}[rule])
    assert found <= least * (1 + 1e-6)
    assert_allclose(found, model.criterion_.min(), rtol=1e-9)
    assert (np.diff(model.alphas_) >= 0).all()


def test_gcv_equals_scipy():
    x, y = wave(100, noise=0.5)
    model = SmoothingSpline().fit(x, y)
    oracle = make_smoothing_spline(x, y)
    assert_allclose(model.predict(x), oracle(x), atol=2e-3)


@pytest.mark.parametrize("df", [2.0001, 2.5, 7, 30, 59.9, 60])
def test_df_is_met(df):
    x, y = wave()
    assert_allclose(SmoothingSpline(df=df).fit(x, y).df_, df, rtol=1e-7)


def test_a_line_is_recovered():
    x = np.linspace(0, 1, 30)
    for rule in ("gcv", "loo"):
        model = SmoothingSpline(rule).fit(x, 2 * x + 1)
        assert_allclose(model.predict([3.0]), 7, rtol=1e-9)
        constant = SmoothingSpline(rule).fit(x, np.full(30, 4.0))
        assert_allclose(constant.predict([0.3, 9.0]), 4.0)


def test_recovers_a_curve():
    x, y = wave(2000)
    model = SmoothingSpline().fit(x, y)
    q = np.linspace(0.5, 9.5, 100)
    assert np.abs(model.predict(q) - np.sin(q)).max() < 0.08
    assert np.abs(model.predict(q, derivative=1) - np.cos(q)).max() < 0.3
    assert 0.08 < model.sigma2_ < 0.1


def test_intervals_cover_on_average():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, 100)
    mean, new = [], []
    for _ in range(60):
        y = np.sin(x) + 0.3 * rng.normal(size=100)
        model = SmoothingSpline().fit(x, y)
        low, high = model.predict_interval(x, kind="mean").T
        mean.append(np.mean((low <= np.sin(x)) & (np.sin(x) <= high)))
        low, high = model.predict_interval(x).T
        again = np.sin(x) + 0.3 * rng.normal(size=100)
        new.append(np.mean((low <= again) & (again <= high)))
    assert 0.91 < np.mean(mean) < 0.98
    assert 0.93 < np.mean(new) < 0.97


# --- degenerate and bad input ------------------------------------------------------------------


@pytest.mark.parametrize(("m", "what"), [(1, "mean of y"), (2, "line"), (3, "line")])
def test_too_few_distinct_x(m, what):
    x = np.repeat(np.arange(m, dtype=float), 3)
    y = np.random.default_rng(0).normal(size=3 * m)
    with pytest.warns(UserWarning, match=f"at least 4 distinct x, got {m}: the fit is the.*{what}"):
        model = SmoothingSpline(0.1).fit(x, y)
    expected = LinearRegression().fit(x[:, None], y) if m > 1 else None
    assert_allclose(model.predict(x), expected.predict(x[:, None]) if m > 1 else y.mean())
    assert_allclose(model.df_, min(m, 2))
    assert_allclose(model.leverage(x), expected.leverage(x[:, None]) if m > 1 else 1 / 3)
    assert_allclose(model.hat_matrix(x) @ y, model.predict(x))
    assert_allclose(model.loocv(x, y), model.loocv_)
    assert model.predict_interval(x).shape == (3 * m, 2)
    assert "distinct x" in str(model.card())
    assert model.predict(x, derivative=3).shape == x.shape


def test_one_row():
    with pytest.warns(UserWarning, match="mean of y"):
        model = SmoothingSpline().fit([[2.0]], [3.0])
    assert_allclose(model.predict([[5.0]]), 3.0)


def test_refusals():
    x, y = wave()
    for alpha in (-1.0, "aic", None, np.nan):
        with pytest.raises(ValueError, match="alpha"):
            SmoothingSpline(alpha).fit(x, y)
    for df in (2.0, 1, -3, "five", 61):
        with pytest.raises(ValueError, match="df"):
            SmoothingSpline(df=df).fit(x, y)
    with pytest.raises(ValueError, match=r"1 column.*got 2"):
        SmoothingSpline().fit(np.ones((5, 2)), np.ones(5))
    model = SmoothingSpline().fit(x, y)
    with pytest.raises(ValueError, match="derivative must be"):
        model.predict(x, derivative=4)
    with pytest.raises(ValueError, match="not a knot"):
        model.hat_matrix(x + 0.01)
    with pytest.raises(ValueError, match=r"NaN.*row 3"):
        SmoothingSpline().fit(np.where(np.arange(60) == 3, np.nan, x), y)
    with pytest.raises(ValueError, match="fewer observations"):
        SmoothingSpline("loo").fit(x, y, sample_weight=np.full(60, 1e-3))


def test_frames_and_vectors():
    x, y = wave()
    base = SmoothingSpline().fit(x[:, None], y)
    for frame in (pd.DataFrame({"t": x}), pl.DataFrame({"t": x})):
        model = SmoothingSpline().fit(frame, y)
        assert list(model.feature_names_in_) == ["t"]
        assert_array_equal(model.predict(frame), base.predict(x))
    assert_array_equal(SmoothingSpline().fit(x, y).predict(x), base.predict(x[:, None]))
    assert "gcv" in str(base.card())


class OfTheFirstColumn(SmoothingSpline):
    """scikit-learn's checks come with several columns: use the first."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        tags.regressor_tags.poor_score = True
        return tags

    def _check_matrix(self, X, *, reset, finite):
        return Estimator._check_matrix(self, X, reset=reset, finite=finite)[:, :1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(e, c, id=getattr(c, "func", c).__name__)
        for e, c in estimator_checks_generator(OfTheFirstColumn())
        if not getattr(c, "func", c).__name__.startswith("check_array_api")
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
