"""BasisExpansion, GaussianBasis, TruncatedPowerBasis, NaturalSplineBasis."""

import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicSpline
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.features import (
    BasisExpansion,
    GaussianBasis,
    NaturalSplineBasis,
    SplineTransformer,
    TruncatedPowerBasis,
)

rng = np.random.default_rng(0)
x9 = np.arange(9.0)[:, None]
y9 = np.array([0.0, 2, 1, 3, 6, 5, 4, 7, 9])
KNOTS = [2.5, 5.5]


def fit(basis, x=x9, y=y9):
    return make_pipeline(basis, pellucid.LinearRegression()).fit(x, y)


def pieces(model):
    basis, line = model
    return basis.region_coefficients(line.coef_, line.intercept_)


# --- example 17 of the catalogue -----------------------------------------------------------


def test_example_17_piecewise_constant():
    model = fit(TruncatedPowerBasis(KNOTS, degree=0))
    assert_allclose(pieces(model).ravel(), [1, 4.6666667, 6.6666667], atol=1e-6)
    assert model[0].df_ == 3


def test_example_17_separate_lines():
    model = fit(TruncatedPowerBasis(KNOTS, degree=1, continuity=-1))
    expected = [[0.5, 0.5], [0.6666667, 1], [-10.8333333, 2.5]]
    assert_allclose(pieces(model), expected, atol=1e-6)
    assert model[0].df_ == 6


def test_example_17_linear_spline():
    model = fit(TruncatedPowerBasis(KNOTS, degree=1))
    line = model[-1]
    expected = [0.14547991, 1.13813615, -0.50892267, 0.86186385]
    assert_allclose([line.intercept_, *line.coef_], expected, atol=1e-6)
    assert_allclose(line.rss_, 9.9106999, atol=1e-6)


def test_example_17_cubic_spline():
    model = fit(TruncatedPowerBasis(KNOTS, degree=3))
    line = model[-1]
    expected = [0.18328140, 0.82615206, 0.10921311, -0.01103059, -0.03178255, 0.40678078]
    assert_allclose([line.intercept_, *line.coef_], expected, atol=1e-6)
    assert_allclose(line.rss_, 7.7846806, atol=1e-6)
    assert model[0].df_ == 6  # K + 4


# --- truncated powers ----------------------------------------------------------------------


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("include_bias", [True, False])
def test_regions_are_the_same_function(degree, include_bias):
    """Evaluating the polynomial of a row's region gives the basis times the coefficients."""
    X = rng.uniform(0, 10, size=(300, 2))
    for continuity in range(-1, degree):
        basis = TruncatedPowerBasis(
            [2.0, 5.0, 9.0], degree=degree, continuity=continuity, include_bias=include_bias
        ).fit(X)
        coef = rng.normal(size=basis.transform(X[:1]).shape[1])
        total = np.zeros(len(X))
        for j in range(2):
            region = np.searchsorted(basis.knots_[j], X[:, j], side="right")
            found = basis.region_coefficients(coef, 0.5, column=j)
            assert found.shape == (4, degree + 1)
            total += [polyval(v, found[r]) for v, r in zip(X[:, j], region, strict=True)]
        constant = 0.5 + (coef[0] if include_bias else 0.0)  # counted in both columns
        assert_allclose(total - constant, basis.transform(X) @ coef + 0.5, rtol=1e-9, atol=1e-7)
        K = 3 * (degree - continuity)
        assert basis.df_ == 1 + 2 * (degree + K)


@pytest.mark.parametrize(("degree", "continuity"), [(3, None), (3, 0), (2, 1), (1, -1), (3, 1)])
def test_pieces_agree_as_far_as_promised(degree, continuity):
    basis = TruncatedPowerBasis([3.0, 6.0], degree=degree, continuity=continuity).fit(x9)
    found = basis.region_coefficients(rng.normal(size=basis.df_ - 1), 1.0)
    agree = degree - 1 if continuity is None else continuity
    for k, knot in enumerate([3.0, 6.0]):
        left, right = (np.polynomial.Polynomial(found[k + s]) for s in (0, 1))
        for d in range(degree + 1):
            same = np.isclose(left.deriv(d)(knot), right.deriv(d)(knot), atol=1e-8)
            assert same == (d <= agree)


def test_same_span_as_b_splines():
    x = rng.uniform(-1, 1, size=(200, 1))
    y = np.sin(4 * x.ravel()) + 0.1 * rng.normal(size=200)
    inner = np.linspace(x.min(), x.max(), 7)[1:-1]
    ours = fit(TruncatedPowerBasis(inner), x, y).predict(x)
    b_splines = fit(SplineTransformer(n_knots=7, include_bias=False), x, y).predict(x)
    assert_allclose(ours, b_splines, atol=1e-8)


def test_the_right_region_owns_its_left_end():
    basis = TruncatedPowerBasis([1.0], degree=0).fit([[0.0], [2.0]])
    assert_array_equal(basis.transform([[0.999], [1.0], [2.0]]).ravel(), [0, 1, 1])


def test_names():
    basis = TruncatedPowerBasis([1.5], degree=2, continuity=-1, include_bias=True)
    names = basis.fit([[0.0], [3.0]]).get_feature_names_out(["t"])
    assert list(names) == ["1", "t", "t^2", "[t >= 1.5]", "(t - 1.5)_+", "(t - 1.5)_+^2"]


# --- natural splines -----------------------------------------------------------------------


def test_example_18_third_function():
    basis = NaturalSplineBasis([1.0, 2.0, 3.0], include_bias=True).fit([[1.0], [3.0]])
    at = np.array([0.5, 1, 1.5, 2, 2.5, 3, 4])[:, None]
    assert_allclose(basis.transform(at)[:, 2], [0, 0, 0.0625, 0.5, 1.5625, 3, 6], atol=1e-12)
    assert basis.df_ == 3


def test_natural_spline_interpolates_like_scipy():
    """K points and K functions: the natural interpolant, straight beyond the ends."""
    x, y = np.sort(rng.uniform(0, 10, 8)), rng.normal(size=8)
    basis = NaturalSplineBasis(x).fit(x[:, None])
    D = np.column_stack([np.ones(8), basis.transform(x[:, None])])
    b = np.linalg.solve(D, y)
    peer = CubicSpline(x, y, bc_type="natural")
    grid = np.linspace(x[0], x[-1], 200)
    assert_allclose(b[0] + basis.transform(grid[:, None]) @ b[1:], peer(grid), atol=1e-8)
    beyond = x[-1] + np.array([1.0, 2.0, 3.0])
    values = b[0] + basis.transform(beyond[:, None]) @ b[1:]
    assert_allclose(np.diff(values), peer(x[-1], 1), atol=1e-8)
    found = basis.region_coefficients(b[1:], b[0])
    assert found.shape == (9, 4)
    assert_array_equal(found[[0, -1], 2:], 0)
    for piece, point in zip(found, [x[0] - 1, *(x[:-1] + x[1:]) / 2, x[-1] + 1], strict=True):
        assert_allclose(polyval(point, piece), b[0] + basis.transform([[point]])[0] @ b[1:],
                        rtol=1e-7, atol=1e-7)  # fmt: skip


def test_natural_spline_far_beyond_the_ends_stays_straight():
    basis = NaturalSplineBasis([0.0, 1.0, 2.0, 3.0]).fit([[0.0], [3.0]])
    far = basis.transform(1e9 + np.arange(3.0)[:, None])
    assert_allclose(np.diff(far, axis=0)[0], [1, 6, 3])


@pytest.mark.parametrize("K", [1, 2])
def test_fewer_than_three_knots_is_a_straight_line(K):
    basis = NaturalSplineBasis(K).fit(x9)
    assert_array_equal(basis.transform(x9), x9)
    assert basis.region_coefficients([2.0], 1.0).shape == (K + 1, 4)


def test_int_knots_are_quantiles():
    assert_allclose(NaturalSplineBasis(5).fit(x9).knots_[0], [0, 2, 4, 6, 8])
    assert_allclose(TruncatedPowerBasis(3).fit(x9).knots_[0], [2, 4, 6])
    assert_allclose(GaussianBasis(3).fit(x9).centers_[0], [0, 4, 8])


# --- Gaussian bumps ------------------------------------------------------------------------


def test_example_19_gaussian():
    basis = GaussianBasis([0.0], width=1).fit([[0.0], [1.0]])
    assert_allclose(basis.transform([[1.0]]), 0.60653066, atol=1e-8)


def test_gaussian_basis_formula():
    X = rng.normal(size=(50, 2))
    basis = GaussianBasis(4, include_bias=True).fit(X)
    out = basis.transform(X)
    expected = [np.ones(50)]
    for j in range(2):
        b = np.quantile(X[:, j], np.linspace(0, 1, 4))
        c = np.diff(b).mean()
        expected += [np.exp(-((X[:, j] - m) ** 2) / (2 * c**2)) for m in b]
    assert_allclose(out.T, expected, rtol=1e-12)
    assert basis.df_ == out.shape[1] == 9


# --- knots ---------------------------------------------------------------------------------

BASES = [TruncatedPowerBasis, NaturalSplineBasis, GaussianBasis]


@pytest.mark.parametrize("cls", BASES)
def test_repeated_positions_are_merged_with_a_warning(cls):
    with pytest.warns(UserWarning, match="distinct"):
        basis = cls([1.0, 1.0, 2.0]).fit(x9)
    assert len(getattr(basis, "centers_", None) or basis.knots_) == 1
    ties = np.repeat([0.0, 1.0], [90, 10])[:, None]
    with pytest.warns(UserWarning, match="distinct"):
        basis = cls(6).fit(ties)
    assert np.isfinite(basis.transform(ties)).all()


@pytest.mark.parametrize("cls", BASES)
def test_one_distinct_value(cls):
    with pytest.warns(UserWarning, match="merged"):
        basis = cls(4).fit(np.full((5, 1), 2.0))
    assert np.isfinite(basis.transform([[2.0], [3.0]])).all()


@pytest.mark.parametrize("cls", BASES)
def test_positions_outside_the_data_are_named(cls):
    with pytest.warns(UserWarning, match=r"20 lies outside.*\[0, 8\]"):
        cls([4.0, 20.0]).fit(x9)


@pytest.mark.parametrize("cls", BASES)
@pytest.mark.parametrize("given", [0, "three", [[1.0, 2.0]], [np.nan], None])
def test_bad_positions(cls, given):
    with pytest.raises(ValueError, match=r"knots|centers"):
        cls(given).fit(x9)


@pytest.mark.parametrize("cls", BASES)
def test_columns_may_have_their_own_positions(cls):
    X = rng.uniform(0, 10, size=(30, 2))
    X[:2] = [[0, 0], [10, 10]]
    basis = cls(np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])).fit(X)
    alone = cls([4.0, 5.0, 6.0]).fit(X[:, 1:])
    out = basis.transform(X)
    assert_array_equal(out[:, out.shape[1] // 2 :], alone.transform(X[:, 1:]))


def test_bad_options():
    for options in ({"continuity": 3}, {"continuity": -2}, {"degree": 1.5}):
        with pytest.raises(ValueError, match=next(iter(options))):
            TruncatedPowerBasis(**options).fit(x9)
    with pytest.raises(ValueError, match="no columns"):
        TruncatedPowerBasis([], degree=0).fit(x9)
    basis = TruncatedPowerBasis([2.0]).fit(x9)
    with pytest.raises(ValueError, match="coef needs 4"):
        basis.region_coefficients([1.0])
    with pytest.raises(ValueError, match="column"):
        basis.region_coefficients(np.ones(4), column=1)


# --- any functions -------------------------------------------------------------------------


def test_named_functions():
    X = rng.uniform(0.5, 2, size=(40, 2))
    names = ["identity", "square", "sqrt", "log", "exp", "sin", "cos", "reciprocal"]
    out = BasisExpansion(names, include_bias=True).fit_transform(X)
    functions = [lambda v: v, np.square, np.sqrt, np.log, np.exp, np.sin, np.cos, lambda v: 1 / v]
    expected = np.hstack([np.ones((40, 1)), *(f(X) for f in functions)])
    assert_allclose(out, expected, rtol=1e-14)


def test_own_functions_and_their_names():
    def product(X):
        return X[:, 0] * X[:, 1]

    def three(X):
        return np.column_stack([X, X[:, 0]])

    X = rng.normal(size=(10, 2))
    model = BasisExpansion(["square", product, three, np.tanh]).fit(X)
    out = model.transform(X)
    assert_allclose(out, np.column_stack([X**2, product(X), three(X), np.tanh(X)]))
    assert list(model.get_feature_names_out(["a", "b"])) == [
        "square(a)", "square(b)", "product", "three_0", "three_1", "three_2", "tanh(a)", "tanh(b)",
    ]  # fmt: skip


def test_example_9_exponential():
    x = np.linspace(1, 5, 15)[:, None]
    model = fit(BasisExpansion(["identity", "exp"]), x, np.exp(x.ravel()))
    assert_allclose([model[-1].intercept_, *model[-1].coef_], [0, 0, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("function", "value"), [("log", -1.0), ("log", 0.0), ("reciprocal", 0.0), ("exp", 1000.0)]
)
def test_a_result_that_is_not_finite_names_function_and_column(function, value):
    X = np.array([[1.0, 1.0], [1.0, value]])
    with pytest.raises(ValueError, match=rf"{function} of column 1 is not finite in row 1"):
        BasisExpansion(["identity", function]).fit(X).transform(X)


def test_own_functions_cannot_be_saved(tmp_path):
    model = BasisExpansion([np.tanh]).fit(x9)
    with pytest.raises(pellucid.ModelFileError, match=r"(?i)function"):
        pellucid.save(model, tmp_path / "model.pellucid")


def test_own_functions_cannot_change_the_data():
    def careless(X):
        X[:] = 0
        return X

    with pytest.raises(ValueError, match="read-only"):
        BasisExpansion([careless]).fit(x9)


@pytest.mark.parametrize("given", ["log", [], None, ["lug"], [3]])
def test_bad_functions(given):
    with pytest.raises(ValueError, match="functions"):
        BasisExpansion(given).fit(x9)


@pytest.mark.parametrize("knots", [[0.0, 3.0], [0.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.0]])
def test_regions_of_a_natural_spline_are_the_spline(knots):
    """Also with two knots, a line, and with three, one bend: the polynomials are the columns."""
    basis = NaturalSplineBasis(knots).fit([[0.0], [3.0]])
    x = np.linspace(-1, 4, 41)
    Z = basis.transform(x[:, None])
    coef = np.arange(1.0, Z.shape[1] + 1)
    pieces = basis.region_coefficients(coef, 0.5)
    region = np.searchsorted(knots, x)
    want = (pieces[region] * x[:, None] ** np.arange(4)).sum(axis=1)
    assert_allclose(Z @ coef + 0.5, want, atol=1e-9)
