"""Pictures of regression: the numbers drawn are those of the definitions, and they draw."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.stats import f as f_distribution
from scipy.stats import norm, pearsonr
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from pellucid import (
    BayesianLinearRegression,
    BayesianRidge,
    BestSubsetRegression,
    BridgeRegression,
    ElasticNetCV,
    Lars,
    Lasso,
    LassoCV,
    LassoLars,
    LinearRegression,
    PLSRegression,
    PrincipalComponentRegression,
    Ridge,
    RidgeCV,
    StagewiseRegression,
    StepwiseRegression,
    plots,
)
from pellucid.core.loops.selection import gaussian_criteria
from pellucid.features import PolynomialFeatures, SequentialFeatureSelector
from pellucid.linear import Budget, InverseGamma, enet_path, lars_path, lasso_path, ridge_path

COLUMNS = ["tv", "radio", "print", "web", "age"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3)
    y = 2 + X[:, : min(p, 3)] @ np.array([3.0, -2.0, 1.0])[: min(p, 3)] + rng.normal(size=n)
    return X, y


@pytest.fixture
def data():
    X, y = make()
    return pd.DataFrame(X, columns=COLUMNS), pd.Series(y, name="sales")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    if type(picture) in REPEATED:
        (found if isinstance(found, Figure) else found.figure).draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return found


def texts(picture):
    found = picture.plot()
    figure = found if isinstance(found, Figure) else found.figure
    return " | ".join(text.get_text() for text in figure.findobj(Text))


# --- the fit and its residuals ------------------------------------------------------------------


def test_fit_with_bands_on_one_input():
    x, y = make(p=1)
    model = LinearRegression().fit(x, y)
    picture = plots.regression_fit(model, x, y, confidence=0.9)
    np.testing.assert_allclose(picture.height, y)
    np.testing.assert_allclose(picture.height - picture.fitted, y - model.predict(x))
    np.testing.assert_allclose(picture.surface, model.predict(picture.grid))
    for kind, band in (("mean", picture.mean_band), ("prediction", picture.new_band)):
        np.testing.assert_allclose(
            band, model.predict_interval(picture.grid, confidence=0.9, kind=kind)
        )
    assert picture.grid.min() < x.min()
    assert picture.grid.max() > x.max()
    drawn(picture)


def test_fit_of_a_pipeline_has_the_bands_of_its_last_step(data):
    X, y = data
    model = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression())
    model.fit(X[["tv"]], y)
    picture = plots.regression_fit(model, X[["tv"]], y)
    grid = pd.DataFrame(picture.grid, columns=["tv"])
    np.testing.assert_allclose(picture.surface, model.predict(grid))
    expected = model[-1].predict_interval(model[:-1].transform(grid), kind="mean")
    np.testing.assert_allclose(picture.mean_band, expected)
    assert picture.names == ("tv",)
    assert picture.target == "sales"
    drawn(picture)


def test_fit_without_intervals_says_why_or_nothing():
    x, y = make(n=20, p=1)
    lasso = plots.regression_fit(Lasso(0.1).fit(x, y), x, y)
    assert lasso.mean_band is None
    assert lasso.new_band is None
    positive = plots.regression_fit(LinearRegression(positive=True).fit(x, y), x, y)
    assert positive.mean_band is None
    assert "held at or above zero" in positive.note
    drawn(positive)


def test_plane_over_two_inputs(data):
    X, y = data
    X = X[["tv", "radio"]]
    model = LinearRegression().fit(X, y)
    picture = plots.regression_fit(model, X, y)
    np.testing.assert_allclose(picture.height, y)
    expected = model.intercept_ + picture.grid @ model.coef_
    np.testing.assert_allclose(picture.surface, expected)
    assert drawn(picture).name == "3d"
    assert all(word in texts(picture) for word in ("tv", "radio", "sales"))
    flat = plt.figure().add_subplot()
    with pytest.raises(ValueError, match="projection='3d'"):
        picture.plot(flat)


def test_fit_of_many_inputs(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    axes = plots.regression_fit(model, X, y)
    np.testing.assert_allclose(axes.height - axes.fitted, y - model.predict(X), atol=1e-9)
    C = X.to_numpy() - X.to_numpy().mean(axis=0)
    d = np.linalg.svd(C, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(axes.at, axis=0), d[:2])
    assert "principal axes of 5 columns" in axes.note
    drawn(axes)
    one = plots.regression_fit(model, X, y, columns="radio")
    middle = X.median().to_numpy()
    rows = np.tile(middle, (len(one.grid), 1))
    rows[:, 1] = one.grid[:, 0]
    np.testing.assert_allclose(one.surface, model.intercept_ + rows @ model.coef_)
    np.testing.assert_allclose(one.height - one.fitted, y - model.predict(X), atol=1e-9)
    assert "at the median" in one.note
    drawn(one)
    pair = plots.regression_fit(model, X, y, columns=("tv", "age"))
    assert pair.names == ("tv", "age")
    with pytest.raises(ValueError, match="one or two"):
        plots.regression_fit(model, X, y, columns=("tv", "age", "web"))


def test_fit_thins_many_points_and_takes_polars():
    x, y = make(n=6000, p=1)
    frame = pl.DataFrame({"speed": x[:, 0]})
    picture = plots.regression_fit(LinearRegression().fit(frame, y), frame, y)
    assert picture.at.shape == (5000, 1)
    assert picture.names == ("speed",)


def test_fit_refuses_with_a_sentence():
    x, y = make(p=1)
    model = LinearRegression().fit(x, y)
    with pytest.raises(ValueError, match="as many rows"):
        plots.regression_fit(model, x, y[:-1])
    with pytest.raises(ValueError, match="one target at a time"):
        plots.regression_fit(model, x, np.column_stack([y, y]))


def test_residual_health_numbers(data):
    X, y = data
    y = y.copy()
    y[7] += 12
    model = LinearRegression().fit(X, y)
    picture = plots.residual_health(model, X, y)
    D = np.column_stack([np.ones(len(X)), X])
    H = D @ np.linalg.solve(D.T @ D, D.T)
    h, e = np.diag(H), y - H @ y
    s2 = (e**2).sum() / (len(X) - 6)
    t = e / np.sqrt(s2 * (1 - h))
    np.testing.assert_allclose(picture.leverage, h)
    np.testing.assert_allclose(picture.standardised, t, atol=1e-9)
    np.testing.assert_allclose(picture.cooks_distance, t**2 * h / (1 - h) / 6, atol=1e-12)
    assert picture.worst == 7
    order = np.argsort(picture.standardised)
    quantiles = norm.ppf((np.arange(len(X)) + 0.5) / len(X))
    np.testing.assert_allclose(picture.quantiles[order], quantiles)
    others = np.arange(len(X)) != 7
    b = np.linalg.lstsq(D[others], y[others], rcond=None)[0]
    np.testing.assert_allclose(picture.without, D @ b)
    assert "outliers" in picture.problems
    assert "verdict: " in texts(picture)
    assert isinstance(drawn(picture), Figure)


def test_residual_health_of_one_input_and_of_many_rows():
    x = np.linspace(0, 3, 6000)[:, None]
    y = np.exp(x[:, 0])
    y[2] += 40
    picture = plots.residual_health(Ridge(1.0).fit(x, y), x, y)
    assert len(picture.rows) <= 5001
    assert picture.worst == 2
    assert 2 in picture.rows
    assert "nonlinear" in picture.problems
    assert picture.x is not None
    given = plt.figure().subplots(2, 2).ravel()
    assert picture.plot(given) is given[0].figure
    with pytest.raises(ValueError, match="four axes"):
        picture.plot(given[:2])
    with pytest.raises(TypeError, match="linear model"):
        plots.residual_health(Lasso(0.1).fit(x, y), x, y)


def test_predicted_actual():
    X, y = make()
    yhat = LinearRegression().fit(X, y).predict(X)
    picture = plots.predicted_actual(pd.Series(y, name="sales"), yhat)
    assert picture.r2 == pytest.approx(LinearRegression().fit(X, y).score(X, y))
    assert picture.rmse == pytest.approx(np.sqrt(np.mean((y - yhat) ** 2)))
    assert "actual sales" in texts(picture)
    drawn(picture)
    assert len(plots.predicted_actual(np.arange(9000.0), np.arange(9000.0)).actual) == 5000
    assert np.isnan(plots.predicted_actual([1.0, 1.0], [1.0, 2.0]).r2)
    with pytest.raises(ValueError, match="as many rows"):
        plots.predicted_actual([1.0, 2.0], [1.0])


# --- coefficients -------------------------------------------------------------------------------


def test_coefficients_are_those_of_the_summary(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    picture = plots.coefficients(model, confidence=0.9)
    summary = model.summary(confidence=0.9)
    assert picture.names == tuple(COLUMNS)
    np.testing.assert_allclose(picture.low, summary.low[1:])
    np.testing.assert_allclose(picture.high, summary.high[1:])
    assert picture.valid
    assert plots.coefficients(model, intercept=True).names[0] == "intercept"
    assert all(name in texts(picture) for name in COLUMNS)
    drawn(picture)


def test_coefficients_without_valid_inference_give_the_reason(data):
    X, y = data
    ridge = plots.coefficients(Ridge(1.0).fit(X, y))
    assert not ridge.valid
    assert "shrunk" in ridge.reason
    assert np.isfinite(ridge.low).all()
    lasso = Lasso(0.5).fit(X, y)
    picture = plots.coefficients(lasso, intercept=True)
    assert picture.estimate[0] == pytest.approx(lasso.intercept_)
    assert np.isnan(picture.low).all()
    assert "no standard errors" in picture.reason
    assert picture.reason in texts(picture).replace("\n", " ")
    doubled = np.column_stack([X.tv, X.tv])
    with pytest.warns(match="dependent"):
        model = LinearRegression().fit(doubled, y)
    assert "linearly dependent" in plots.coefficients(model).reason
    for found in (ridge, picture):
        drawn(found)
    with pytest.raises(ValueError, match="linear model"):
        plots.coefficients(PolynomialFeatures().fit(X))


def test_coefficients_of_one_of_several_targets_and_of_many_columns(data):
    X, y = data
    Y = np.column_stack([y, -y])
    model = LinearRegression().fit(X, Y)
    second = plots.coefficients(model, target=1)
    np.testing.assert_allclose(second.estimate, model.coef_[1])
    with pytest.raises(ValueError, match="below 2"):
        plots.coefficients(model, target=2)
    Z, v = make(n=100, p=45)
    many = plots.coefficients(LinearRegression().fit(Z, v))
    assert len(many.names) == 30
    assert "30 largest of 45" in many.title


def test_coefficient_ellipse(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    picture = plots.coefficient_ellipse(model, ("radio", "web"))
    C = model.covariance_[np.ix_([2, 4], [2, 4])]
    off = picture.boundary - model.coef_[[1, 3]]
    squared = np.einsum("ij,jk,ik->i", off, np.linalg.inv(C), off)
    radius = 2 * f_distribution.ppf(0.95, 2, len(X) - 6)
    np.testing.assert_allclose(squared, radius)
    summary = model.summary()
    np.testing.assert_allclose(picture.half, (summary.high - summary.low)[[2, 4]] / 2)
    # both 0 is inside iff the F test of both does not reject
    for pair in combinations(COLUMNS, 2):
        found = plots.coefficient_ellipse(model, pair)
        assert found.holds_zero == (model.f_test(list(pair)).p_value >= 0.05)
    assert "coefficient of radio" in texts(picture)
    drawn(picture)


@pytest.mark.parametrize("make", [BayesianLinearRegression, BayesianRidge])
def test_an_ellipse_has_the_intervals_of_the_summary(make, data):
    X, y = data
    model = make().fit(X, y)
    summary = model.summary()
    half = (summary.high - summary.low)[-len(model.coef_) :][:2] / 2
    picture = plots.coefficient_ellipse(model, ("tv", "radio"))
    np.testing.assert_allclose(picture.half, half, rtol=1e-9)


def test_coefficient_ellipse_of_a_posterior(data):
    X, y = data
    for noise in (1.0, InverseGamma(2.0, 1.0)):  # a normal and a Student-t posterior
        model = BayesianLinearRegression(noise_variance=noise).fit(X, y)
        picture = plots.coefficient_ellipse(model, ("tv", "radio"))
        summary = model.summary()
        np.testing.assert_allclose(picture.half, (summary.high - summary.low)[1:3] / 2)
        draws = model.sample_coefficients(20_000)[:, 1:3] - picture.centre
        inverse = np.linalg.inv(picture.covariance)
        squared = np.einsum("ij,jk,ik->i", draws, inverse, draws)
        off = picture.boundary - picture.centre
        edge = np.einsum("ij,jk,ik->i", off, inverse, off)[0]
        assert np.mean(squared <= edge) == pytest.approx(0.95, abs=0.006)
    with pytest.raises(ValueError, match="no covariance"):
        plots.coefficient_ellipse(Lasso(0.1).fit(X, y))
    with pytest.raises(ValueError, match="two columns"):
        plots.coefficient_ellipse(LinearRegression().fit(X, y), ("tv", "radio", "web"))


def test_target_bars(data):
    X, y = data
    picture = plots.target_bars(X, y)
    for name, r, low, high in zip(
        picture.names, picture.association, picture.low, picture.high, strict=True
    ):
        peer = pearsonr(X[name], y)
        assert r == pytest.approx(peer.statistic)
        interval = peer.confidence_interval(0.95)
        assert (low, high) == pytest.approx((interval.low, interval.high))
    assert (np.diff(np.abs(picture.association)) <= 0).all()
    assert "correlation with sales" in texts(picture)
    drawn(picture)


def test_target_bars_with_missing_cells_and_with_classes(data):
    X, y = data
    holed = X.copy()
    holed.loc[:9, "tv"] = np.nan
    found = plots.target_bars(holed, y)
    at = found.names.index("tv")
    assert found.association[at] == pytest.approx(pearsonr(X.tv[10:], y[10:]).statistic)
    assert found.rows[at] == 50
    labels = np.where(y > y.median(), "high", "low")
    classes = plots.target_bars(X, labels)
    at = classes.names.index("tv")
    groups = [X.tv[labels == label] for label in ("high", "low")]
    between = sum(len(g) * (g.mean() - X.tv.mean()) ** 2 for g in groups)
    total = ((X.tv - X.tv.mean()) ** 2).sum()
    assert classes.association[at] == pytest.approx(np.sqrt(between / total))
    assert np.isnan(classes.low).all()
    with pytest.raises(ValueError, match="encode text first"):
        plots.target_bars([["a"], ["b"]], [1, 2])
    constant = plots.target_bars(np.ones((5, 1)), np.arange(5.0))
    assert constant.association[0] == 0
    drawn(classes)


def test_coefficients_of_a_selection_mark_the_columns_left_out(data):
    X, y = data
    model = BestSubsetRegression(max_features=2).fit(X, y)
    picture = plots.coefficients(model)
    assert np.isnan(picture.low[picture.estimate == 0]).all()
    assert "exactly 0" in texts(picture)
    assert "same data" in picture.reason


def test_diagnostics_of_a_frame_do_not_lose_its_names(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    D = np.column_stack([np.ones(len(X)), X])
    h = np.diag(D @ np.linalg.solve(D.T @ D, D.T))
    np.testing.assert_allclose(model.loo_residuals(X, y), (y - model.predict(X)) / (1 - h))
    assert model.summary(covariance="HC3", X=X, y=y).valid
    assert model.gcv(X, y) > 0


# --- paths --------------------------------------------------------------------------------------


def test_path_of_ridge(data):
    X, y = data
    path = ridge_path(X, y, alphas=np.geomspace(1e-2, 1e3, 30))
    picture = plots.coefficient_path(path, names=COLUMNS)
    assert (np.diff(picture.at) < 0).all()
    for at, column in zip(picture.at[::10], picture.coefs.T[::10], strict=True):
        np.testing.assert_allclose(column, Ridge(at).fit(X, y).coef_, atol=1e-8)
    places = {round(place, 9) for place, _ in picture.marks}
    assert round(float(path.alphas[np.argmin(path.loocv)]), 9) in places
    by_df = plots.coefficient_path(path, x="df")
    np.testing.assert_allclose(by_df.at, np.sort(path.df))
    assert by_df.names[0] == "x0"
    assert "tv" in texts(picture)
    drawn(picture)


def test_path_of_a_search_marks_best_and_one_standard_error(data):
    X, y = data
    grid = np.geomspace(1e-2, 1e3, 25)
    best = RidgeCV(grid).fit(X, y)
    careful = RidgeCV(grid, rule="one_standard_error").fit(X, y)
    picture = plots.coefficient_path(best, X, y)
    assert [place for place, _ in picture.marks] == pytest.approx([best.alpha_, careful.alpha_])
    assert picture.names == tuple(COLUMNS)
    at = int(np.argmin(np.abs(picture.at - best.alpha_)))
    np.testing.assert_allclose(picture.coefs[:, at], best.coef_, atol=1e-8)
    drawn(picture)
    with pytest.raises(ValueError, match="training data"):
        plots.coefficient_path(best)
    single = LassoCV(alphas=[0.1]).fit(X, y)
    assert plots.coefficient_path(single, X, y).at.tolist() == [0.1]


@pytest.mark.parametrize("ratio", [None, 0.7, [0.5, 0.9]], ids=["lasso", "one", "two"])
def test_path_of_a_penalised_search(data, ratio):
    X, y = data
    options = {"tol": 1e-10, "alphas": 40}
    kind, more = (LassoCV, {}) if ratio is None else (ElasticNetCV, {"l1_ratio": ratio})
    model = kind(**options, **more).fit(X, y)
    careful = kind(**options, **more, rule="one_standard_error").fit(X, y)
    picture = plots.coefficient_path(model, X, y)
    assert {place for place, _ in picture.marks} == {model.alpha_, careful.alpha_}
    at = int(np.flatnonzero(picture.at == model.alpha_)[0])
    np.testing.assert_allclose(picture.coefs[:, at], model.coef_, atol=1e-5)


def test_path_of_the_path_functions(data):
    X, y = data
    A, c = (X - X.mean()).to_numpy(), (y - y.mean()).to_numpy()
    for path in (lasso_path(A, c), enet_path(A, c, l1_ratio=0.3)):
        picture = plots.coefficient_path(path)
        np.testing.assert_allclose(picture.at, path[0])
        np.testing.assert_allclose(picture.coefs, path[1])
    alphas, _, coefs = lars_path(A, c, method="lasso")
    picture = plots.coefficient_path((alphas, _, coefs))
    size = np.abs(coefs).sum(axis=0)
    np.testing.assert_allclose(picture.at, size / size[-1])
    assert plots.coefficient_path((alphas, _, coefs), x="lambda").at[-1] == 0
    drawn(plots.coefficient_path((alphas, _, coefs), x="lambda"))
    with pytest.raises(ValueError, match="one column of coefs per alpha"):
        plots.coefficient_path((alphas, coefs[:, :2], []))


def test_path_of_walkers(data):
    X, y = data
    for model in (Lars().fit(X, y), LassoLars(alpha=0.01).fit(X, y)):
        picture = plots.coefficient_path(model)
        np.testing.assert_allclose(picture.coefs, model.coef_path_)
        assert picture.axis == "t/t0"
        assert picture.names == tuple(COLUMNS)
        np.testing.assert_allclose(
            plots.coefficient_path(model, x="df").at, np.count_nonzero(model.coef_path_, axis=0)
        )
    steps = StagewiseRegression(epsilon=0.02).fit(X, y)
    arc = plots.coefficient_path(steps, x="arc")
    np.testing.assert_allclose(arc.at, 0.02 * np.arange(len(arc.at)))
    drawn(plots.coefficient_path(steps))
    with pytest.raises(ValueError, match="no penalty"):
        plots.coefficient_path(steps, x="lambda")
    with pytest.raises(ValueError, match="must be one of"):
        plots.coefficient_path(steps, x="lamda")
    with pytest.raises(ValueError, match="keeps no path"):
        plots.coefficient_path(LinearRegression().fit(X, y))


def test_path_of_components(data):
    X, y = data
    chosen = PrincipalComponentRegression("cv").fit(X, y)
    picture = plots.coefficient_path(chosen)
    np.testing.assert_allclose(picture.coefs[:, -1], LinearRegression().fit(X, y).coef_)
    assert int(np.argmin(chosen.criterion_)) in {place for place, _ in picture.marks}
    drawn(picture)
    pls = PLSRegression(3).fit(X, y)
    np.testing.assert_allclose(plots.coefficient_path(pls).coefs[:, -1], pls.coef_[0])
    two = PLSRegression(3).fit(X, np.column_stack([y, y**2]))
    second = plots.coefficient_path(two, target=1)
    np.testing.assert_allclose(second.coefs[:, -1], two.coef_[1])
    lars = Lars().fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(plots.coefficient_path(lars, target=1).coefs, lars.coef_path_[1])


def test_path_of_many_columns_names_the_largest():
    X, y = make(n=50, p=20)
    picture = plots.coefficient_path(lasso_path(X, y))
    labels = [text.get_text() for text in picture.plot().get_legend().get_texts()]
    assert len(labels) == 11
    assert "10 more" in labels


def test_ridge_curves(data):
    X, y = data
    path = ridge_path(X, y, alphas=[100.0, 10.0, 1.0, 0.1])
    picture = plots.ridge_curves(path)
    for alpha, rss, loo, gcv, df in zip(
        picture.lambdas, picture.rss, picture.loocv, picture.gcv, picture.df, strict=True
    ):
        model = Ridge(alpha).fit(X, y)
        assert rss == pytest.approx(((y - model.predict(X)) ** 2).sum())
        assert loo == pytest.approx(model.loocv(X, y))
        assert gcv == pytest.approx(model.gcv(X, y))
        assert df == pytest.approx(model.df_)
    assert picture.best_loocv == picture.lambdas[np.argmin(picture.loocv)]
    assert isinstance(drawn(picture), Figure)
    two = plots.ridge_curves(ridge_path(X, np.column_stack([y, -2 * y])), target=1)
    one = plots.ridge_curves(ridge_path(X, y))
    np.testing.assert_allclose(two.rss, 4 * one.rss)
    with pytest.raises(ValueError, match="ridge_path"):
        plots.ridge_curves(lasso_path(X, y))


def test_shrinkage(data):
    X, y = data
    model = Ridge(7.0).fit(X, y)
    picture = plots.shrinkage(model)
    d = np.linalg.svd(X.to_numpy() - X.to_numpy().mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(picture.factors, d**2 / (d**2 + 7))
    np.testing.assert_allclose(picture.factors, model.shrinkage_factors_)
    assert picture.df == pytest.approx(model.df_ - 1)
    drawn(picture)
    pcr = plots.shrinkage(PrincipalComponentRegression(2).fit(X, y))
    assert pcr.factors.tolist() == [1, 1, 0, 0, 0]
    assert plots.shrinkage(LinearRegression().fit(X, y)).df == 5
    assert plots.shrinkage(RidgeCV().fit(X, y)).penalty in (0.1, 1.0, 10.0)
    wide = plots.shrinkage(Ridge(1.0).fit(X[:3], y[:3]))
    assert wide.factors[-1] == 0
    drawn(wide)
    with pytest.raises(ValueError, match="singular_"):
        plots.shrinkage(Lasso(0.1).fit(X, y))


# --- geometry of penalties ----------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l1", "l2", 1.0, 4.0, 1.5, 0.5])
def test_geometry_touches_where_the_constrained_fit_is(data, penalty):
    X, y = data
    picture = plots.penalty_geometry(X, y, ("tv", "print"), penalty, fraction=0.4)
    Z = X[["tv", "print"]].to_numpy()
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    v = (y - y.mean()).to_numpy()
    q = {"l1": 1.0, "l2": 2.0}.get(penalty, penalty)
    assert (np.abs(picture.boundary) ** q).sum(axis=1) == pytest.approx(picture.t)
    assert (np.abs(picture.solution) ** q).sum() == pytest.approx(picture.t)

    def rss(w):
        return ((v - Z @ w) ** 2).sum()

    every = min(rss(w) for w in picture.boundary)
    assert rss(picture.solution) <= every * (1 + 1e-12)
    assert picture.rise == pytest.approx(rss(picture.solution) - rss(picture.least_squares))
    if q >= 1:
        budget = Budget(picture.t)
        peer = {1.0: Lasso, 2.0: Ridge}.get(q, BridgeRegression)
        more = {"q": q} if peer is BridgeRegression else {}
        found = peer(budget, **more).fit(Z, v).coef_
        np.testing.assert_allclose(picture.solution, found, atol=1e-4)
    drawn(picture)
    assert "coefficient of tv" in texts(picture)


def test_geometry_of_a_slack_budget_and_bad_input(data):
    X, y = data
    slack = plots.penalty_geometry(X, y, fraction=1.5)
    np.testing.assert_allclose(slack.solution, slack.least_squares)
    drawn(slack)
    raw = plots.penalty_geometry(X, y, standardise=False)
    expected = LinearRegression().fit(X.iloc[:, :2], y).coef_
    np.testing.assert_allclose(raw.least_squares, expected)
    with pytest.raises(ValueError, match="must be one of"):
        plots.penalty_geometry(X, y, penalty="l3")
    with pytest.raises(ValueError, match="dependent"):
        plots.penalty_geometry(np.column_stack([X.tv, X.tv]), y)
    with pytest.raises(ValueError, match="two columns"):
        plots.penalty_geometry(X[["tv"]], y)


def test_penalty_contours():
    picture = plots.penalty_contours()
    assert picture.q == (4, 2, 1, 0.5, 0.1)
    for q, curve in zip(picture.q, picture.curves, strict=True):
        np.testing.assert_allclose((np.abs(curve) ** q).sum(axis=1), 1)
        for corner in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            assert (curve == corner).all(axis=1).any()
    assert len(drawn(picture).axes) == 5
    assert "q = 1 (lasso)" in texts(picture)
    with pytest.raises(ValueError, match="> 0"):
        plots.penalty_contours((1, 0))


def test_kink(data):
    X, y = data
    for lam in (0.1, 0.8, 5.0):
        model = Lasso(lam, tol=1e-12).fit(X, y)
        for j, name in enumerate(COLUMNS):
            picture = plots.kink(X, y, name, lam)
            assert picture.minimum == pytest.approx(model.coef_[j], abs=1e-6)
            at = int(np.argmin(picture.objective))
            assert picture.at[at] == pytest.approx(picture.minimum, abs=1e-9)
            w = model.coef_.copy()
            w[j] = picture.at[3]
            r = y - y.mean() - (X - X.mean()) @ w
            expected = (r**2).mean() / 2 + lam * abs(w[j])
            assert picture.objective[3] == pytest.approx(expected)
            left, right = picture.slopes
            assert right - left == pytest.approx(2 * lam)
            assert (left <= 0 <= right) == (picture.minimum == 0)
    drawn(picture)
    assert "coefficient of age" in texts(picture)
    with pytest.raises(ValueError, match="constant"):
        plots.kink(np.ones((4, 1)), [1.0, 2.0, 3.0, 4.0], 0, 0.1)
    with pytest.raises(ValueError, match="lam"):
        plots.kink(X, y, 0, 0.0)


# --- selections ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["aic", "bic", "cp", "adjusted_r2"])
def test_subset_path_holds_every_subset(data, criterion):
    X, y = data
    model = BestSubsetRegression(criterion=criterion).fit(X, y)
    picture = plots.subset_path(model, X, y)
    np.testing.assert_allclose(picture.value, model.criterion_)
    assert picture.columns == tuple(np.array(COLUMNS)[model.support_])
    assert len(picture.dots) == 2**5
    best = max if criterion == "adjusted_r2" else min
    for size, value in zip(picture.size, picture.value, strict=True):
        among = picture.dots[picture.dots[:, 0] == size, 1]
        assert best(among) == pytest.approx(value)
    drawn(picture)


def test_subset_path_against_brute_force_rss(data):
    X, y = data
    model = BestSubsetRegression().fit(X, y)
    picture = plots.subset_path(model, X, y, criterion="rss")
    found = []
    for size in range(6):
        for chosen in combinations(range(5), size):
            D = np.column_stack([np.ones(len(X)), X.iloc[:, list(chosen)]])
            found.append(((y - D @ np.linalg.lstsq(D, y, rcond=None)[0]) ** 2).sum())
    np.testing.assert_allclose(np.sort(picture.dots[:, 1]), np.sort(found))
    with pytest.raises(ValueError, match="training data"):
        plots.subset_path(model, X, y + X.tv)


def test_subset_path_of_cross_validation_and_of_moves(data):
    X, y = data
    cv = plots.subset_path(BestSubsetRegression(criterion="cv").fit(X, y), X, y)
    assert cv.error is not None
    assert not len(cv.dots)
    drawn(cv)
    model = StepwiseRegression(direction="both", start=["age", "web"]).fit(X, y)
    moves = plots.subset_path(model, X, y)
    np.testing.assert_allclose(moves.value, [step.value for step in model.steps_])
    expected = gaussian_criteria(np.array([s.rss for s in model.steps_]), moves.size + 1, len(X))
    np.testing.assert_allclose(moves.value, expected.aic)
    np.testing.assert_allclose(plots.subset_path(model, criterion="bic").value, expected.bic)
    assert moves.labels[0] == "start"
    assert any(label.startswith("−") for label in moves.labels)
    assert moves.value[-1] >= moves.dots[:, 1].min() - 1e-9
    drawn(moves)
    tests = plots.subset_path(StepwiseRegression(criterion="f").fit(X, y))
    assert tests.quantity == "rss"
    with pytest.raises(ValueError, match="BestSubsetRegression"):
        plots.subset_path(LinearRegression().fit(X, y))


def test_components_path_of_the_models_own_search(data):
    X, y = data
    model = PrincipalComponentRegression("cv", rule="one_standard_error").fit(X, y)
    picture = plots.components_path(model)
    np.testing.assert_allclose(picture.validated, model.criterion_)
    assert picture.simplest == model.n_components_
    assert picture.training[0] == pytest.approx(y.var(ddof=0))
    assert (np.diff(picture.training) <= 1e-12).all()
    drawn(picture)


def test_components_path_cross_validates_from_the_data(data):
    X, y = data
    picture = plots.components_path(PLSRegression(4).fit(X, y), X, y, cv=4)
    A, v = X.to_numpy(), y.to_numpy()
    for m in (1, 3):
        scores = []
        for train, test in KFold(4, shuffle=True, random_state=0).split(A):
            guess = PLSRegression(m).fit(A[train], v[train]).predict(A[test])
            scores.append(((v[test] - np.ravel(guess)) ** 2).mean())
        assert picture.validated[m] == pytest.approx(np.mean(scores))
        assert picture.error[m] == pytest.approx(np.std(scores, ddof=1) / 2)
    assert picture.best == np.argmin(picture.validated)
    drawn(picture)
    assert plots.components_path(PLSRegression(2).fit(X, y)).validated is None
    with pytest.raises(ValueError, match="PLSRegression"):
        plots.components_path(Ridge().fit(X, y))


def test_selection_history(data):
    X, y = data
    model = SequentialFeatureSelector(LinearRegression(), n_features_to_select=3, cv=4).fit(X, y)
    picture = plots.selection_history(model)
    assert picture.score.tolist() == [step.score for step in model.steps_]
    assert picture.labels == tuple(COLUMNS[step.features[0]] for step in model.steps_)
    assert picture.best == np.argmax(picture.score)
    drawn(picture)
    step = StepwiseRegression(direction="backward").fit(X, y)
    moves = plots.selection_history(step)
    assert moves.moves[0] == "start"
    assert set(moves.moves[1:]) <= {"drop"}
    assert moves.score.tolist() == [s.value for s in step.steps_]
    assert "AIC" in texts(moves)
    drawn(moves)
    tests = plots.selection_history(StepwiseRegression(criterion="f").fit(X, y))
    assert tests.best is None
    assert "start" not in tests.moves
    with pytest.raises(ValueError, match="SequentialFeatureSelector"):
        plots.selection_history(LinearRegression().fit(X, y))


# --- missing cells ------------------------------------------------------------------------------


def holed():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    mask = rng.random((30, 3)) < 0.2
    frame = frame.mask(mask)
    frame["word"] = ["x", None, "z"] * 10
    return frame, np.column_stack([mask, [False, True, False] * 10])


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_missing_map(kind):
    frame, mask = holed()
    table = {"pandas": frame, "polars": pl.from_pandas(frame), "objects": frame.to_numpy()}[kind]
    picture = plots.missing_map(table)
    np.testing.assert_array_equal(picture.bands, mask)
    np.testing.assert_allclose(picture.share, mask.mean(axis=0))
    assert picture.complete == (~mask.any(axis=1)).sum()
    assert picture.names[3] == ("x3" if kind == "objects" else "word")
    drawn(picture)


def test_missing_map_of_many_rows_and_nothing():
    X = np.ones((100_001, 2))
    X[77_000, 1] = np.nan
    picture = plots.missing_map(X)
    assert picture.bands.shape == (400, 2)
    assert np.count_nonzero(picture.bands) == 1  # one cell is still to be seen
    assert picture.share[1] == pytest.approx(1 / 100_001)
    drawn(picture)
    assert plots.missing_map(np.ones((3, 1), dtype=int)).complete == 3
    with pytest.raises(ValueError, match="rows and columns"):
        plots.missing_map([1.0, 2.0])
