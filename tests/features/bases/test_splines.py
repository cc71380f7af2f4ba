"""B-spline features against scikit-learn and scipy."""

import numpy as np
import pytest
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import BSpline
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.features import SplineTransformer
from pellucid.features.bases.b_splines import end_values, extend_knots, nonzero_splines

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
WIDE = 2 * rng.normal(size=(200, 3))
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
GIVEN = np.sort(rng.uniform(-2, 2, size=(7, 3)), axis=0)
MODES = ["error", "constant", "linear", "continue", "periodic"]


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("knots", ["uniform", "quantile", "given"])
@pytest.mark.parametrize("extrapolation", MODES)
@pytest.mark.parametrize("include_bias", [True, False])
def test_oracle(degree, knots, extrapolation, include_bias):
    """One column at a time: scikit-learn's linear continuation of degree 1 mixes up several."""
    for j in range(3):
        options = {
            "n_knots": 6,
            "degree": degree,
            "knots": GIVEN[:, [j]] if knots == "given" else knots,
            "extrapolation": extrapolation,
            "include_bias": include_bias,
        }
        for data, missing in ((X, "error"), (HOLES, "zeros")):
            column = data[:, [j]]
            ours = SplineTransformer(**options, handle_missing=missing).fit(column)
            theirs = peer.SplineTransformer(**options, handle_missing=missing).fit(column)
            assert ours.n_features_out_ == theirs.n_features_out_
            assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
            assert_allclose(ours.bsplines_[0].t, theirs.bsplines_[0].t, atol=1e-14)
            for rows in (column, WIDE[:, [j]]):
                if extrapolation == "error" and outside(theirs, rows):
                    with pytest.raises(ValueError, match="beyond the limits"):
                        ours.transform(rows)
                    continue
                expected = theirs.transform(rows)
                assert_allclose(ours.transform(rows), expected, rtol=1e-9, atol=1e-10)


def outside(model, rows):
    knots = model.bsplines_[0].t[model.degree : -model.degree]
    return np.nanmin(rows) < knots[0] or np.nanmax(rows) > knots[-1]


@pytest.mark.parametrize("extrapolation", MODES)
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_sparse_columns_and_order_are_the_dense_ones(extrapolation, include_bias, degree):
    options = {"degree": degree, "extrapolation": extrapolation, "include_bias": include_bias}
    options["handle_missing"] = "zeros"
    dense = SplineTransformer(**options).fit(HOLES)
    rows = HOLES if extrapolation == "error" else np.vstack([HOLES, WIDE])
    out = dense.transform(rows)
    sparse = SplineTransformer(**options, sparse_output=True).fit(HOLES).transform(rows)
    assert issparse(sparse)
    assert_allclose(sparse.toarray(), out, atol=1e-14)
    by_columns = SplineTransformer(**options, order="F").fit(HOLES).transform(rows)
    assert by_columns.flags.f_contiguous
    assert_array_equal(by_columns, out)
    alone = [
        SplineTransformer(**options).fit(HOLES[:, [j]]).transform(rows[:, [j]]) for j in range(3)
    ]
    assert_array_equal(np.hstack(alone), out)


@pytest.mark.parametrize("degree", [0, 1, 2, 4])
def test_kernel_is_scipy_and_sums_to_one(degree):
    base = np.sort(rng.uniform(0, 1, size=(6, 1)), axis=0)
    T = extend_knots(base, degree, periodic=False)
    t, n = T[0], T.shape[1] - degree - 1
    ends = end_values(T, degree)[0]
    for side, x in ((0, t[degree]), (2, t[n])):
        whole = BSpline(t, np.eye(n), degree)
        first = 0 if side == 0 else n - degree - 1
        assert_allclose(ends[side], whole(x)[first : first + degree + 1], atol=1e-12)
        assert_allclose(ends[side + 1], whole(x, nu=1)[first : first + degree + 1], atol=1e-9)
    values = np.empty(degree + 1)
    for interval in range(degree, n):
        for x in rng.uniform(t[interval], t[interval + 1], 5):
            nonzero_splines(t, degree, interval, x, values)
            expected = BSpline(t, np.eye(n), degree)(x)[interval - degree : interval + 1]
            assert_allclose(values, expected, atol=1e-12)
            assert_allclose(values.sum(), 1)


def test_degree_zero_is_one_bin_each_and_constant_beyond():
    out = (
        SplineTransformer(n_knots=3, degree=0)
        .fit([[0.0], [2.0]])
        .transform([[-5.0], [0.0], [0.9], [1.0], [2.0], [9.0]])
    )
    assert_array_equal(out, [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])


def test_weights_are_repetitions_for_quantile_knots():
    w = rng.integers(0, 4, size=len(X))
    weighted = SplineTransformer(knots="quantile").fit(X, sample_weight=w)
    repeated = SplineTransformer(knots="quantile").fit(np.repeat(X, w, axis=0))
    assert_allclose(weighted.knots_, repeated.knots_)


def test_periodic_functions_join():
    model = SplineTransformer(extrapolation="periodic", knots=np.linspace(0, 1, 6)[:, None])
    model.fit([[0.0], [1.0]])
    at = rng.uniform(0, 1, size=(50, 1))
    assert_allclose(model.transform(at), model.transform(at + 3), atol=1e-12)


def test_recovers_a_spline():
    x = np.linspace(0, 1, 100)[:, None]
    t = SplineTransformer().fit(x).bsplines_[0].t
    c = rng.normal(size=7)
    y = BSpline(t, c, 3)(x.ravel())
    model = make_pipeline(SplineTransformer(), pellucid.LinearRegression(fit_intercept=False))
    assert_allclose(model.fit(x, y)[-1].coef_, c, atol=1e-9)


def test_one_distinct_value_warns():
    with pytest.warns(UserWarning, match="one distinct value"):
        out = SplineTransformer().fit(np.ones((4, 1))).transform(np.ones((2, 1)))
    assert np.isfinite(out).all()


@pytest.mark.parametrize(
    "given", [[[0.0, 0.0, 0.0]], [[0.0], [1.0]], [[1.0] * 3, [0.0] * 3], [[0.0] * 3, [0.0] * 3]]
)
def test_bad_knots(given):
    with pytest.raises(ValueError, match="knots"):
        SplineTransformer(knots=given).fit(X)


def test_bad_options():
    with pytest.raises(ValueError, match="degree < n_knots"):
        SplineTransformer(n_knots=3, extrapolation="periodic").fit(X)
    with pytest.raises(ValueError, match=r"column 1, row 2"):
        SplineTransformer(extrapolation="error").fit(X).transform(
            np.where(np.arange(9).reshape(3, 3) == 7, 99.0, 0.0)
        )
