"""Pictures of optimisation, bases and Bayes: the numbers of each record against its definition."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from pellucid import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    ElasticNet,
    GaussianBasis,
    HuberRegressor,
    Lasso,
    LinearRegression,
    NaturalSplineBasis,
    PolynomialFeatures,
    QuantileRegressor,
    Ridge,
    ScaledRegressor,
    SGDRegressor,
    SmoothingSpline,
    StandardScaler,
    TruncatedPowerBasis,
    plots,
)
from pellucid.linear import InverseGamma
from pellucid.plots import svg
from pellucid.solvers import (
    Constant,
    CoordinateDescent,
    Cosine,
    DivergenceWarning,
    GradientDescent,
    InverseScaling,
    LinearObjective,
    Newton,
    Objective,
    ProximalGradient,
)

T_X, T_Y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
N_X, N_Y = np.arange(9.0)[:, None], np.array([0.0, 2, 1, 3, 6, 5, 4, 7, 9])


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def table(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + 0.5 + 0.3 * rng.normal(size=n)


def wave(n=50, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 10, n))[:, None]
    return x, np.sin(x[:, 0]) + 0.2 * rng.normal(size=n)


def frame(n=40):
    X, y = table(n)
    return pd.DataFrame(X, columns=["age", "height", "weight"]), pd.Series(y, name="price")


def descent(rate=0.1, **options):
    return LinearRegression(solver=GradientDescent(rate, tol=None, **options))


def bayes(**options):
    return BayesianLinearRegression(**{"prior_covariance": 10.0, "noise_variance": 1.0, **options})


def cubic(knots=(3.0, 6.0)):
    return make_pipeline(TruncatedPowerBasis(knots), LinearRegression())


# Every picture on a one-column table, on many columns and on a frame.
def examples():
    x, y = wave()
    X, t = table()
    F, s = frame()
    disc = [lambda v: v @ v - 1]
    poly = make_pipeline(PolynomialFeatures(3, include_bias=False), LinearRegression())
    degree = "polynomialfeatures__degree"
    return {
        "loss_surface one": lambda: plots.loss_surface(x, y),
        "loss_surface many": lambda: plots.loss_surface(X, t, columns=(0, 2)),
        "loss_surface frame": lambda: plots.loss_surface(F, s, columns=("age", "weight")),
        "descent_path one": lambda: plots.descent_path(descent(0.01, max_iter=9).fit(x, y), x, y),
        "descent_path many": lambda: plots.descent_path(descent(max_iter=9).fit(X, t), X, t),
        "descent_path frame": lambda: plots.descent_path(
            {"raw": descent(max_iter=9).fit(F, s),
             "scaled": ScaledRegressor(descent(max_iter=9)).fit(F, s)}, F, s
        ),
        "objective_history": lambda: plots.objective_history(
            descent(max_iter=9).fit(X, t), Lasso(0.1).fit(X, t)
        ),
        "newton_steps": lambda: plots.newton_steps(lambda v: v**3 - 2 * v - 5, 4.0),
        "schedule": lambda: plots.schedule(Constant(0.1), Cosine(0.1, 0.0, 50)),
        "kkt": lambda: plots.kkt([1.0, 0.0], lambda v: (v[0] - 2) ** 2 + v[1] ** 2, n=41,
                                 inequality=disc, equality=[lambda v: v[1]]),
        "regression_projection three": lambda: plots.regression_projection(T_X, T_Y),
        "regression_projection many": lambda: plots.regression_projection(X, t),
        "regression_projection frame": lambda: plots.regression_projection(F, s),
        "basis one": lambda: plots.basis(cubic().fit(x, y), x, y),
        "basis frame": lambda: plots.basis(cubic(2).fit(F, s), F, s, column="height"),
        "basis spline": lambda: plots.basis(SmoothingSpline().fit(x, y), x, y),
        "pointwise_variance one": lambda: plots.pointwise_variance([cubic().fit(x, y)], x),
        "pointwise_variance frame": lambda: plots.pointwise_variance(
            [LinearRegression().fit(F, s), poly.fit(F, s)], F, column="age"
        ),
        "smoothing": lambda: plots.smoothing(x, y),
        "smoothing frame": lambda: plots.smoothing(F[["age"]], s, [1.0]),
        "extrapolation one": lambda: plots.extrapolation(poly, x, y),
        "extrapolation frame": lambda: plots.extrapolation(Ridge(), F, s, column="weight"),
        "fit_gallery one": lambda: plots.fit_gallery(poly, x, y, degree, [1, 4]),
        "fit_gallery frame": lambda: plots.fit_gallery(poly, F, s, degree, [1, 2], column="age"),
        "predictive_band one": lambda: plots.predictive_band(bayes().fit(x, y), x, y),
        "predictive_band frame": lambda: plots.predictive_band(
            BayesianRidge().fit(F, s), F, s, column="weight"
        ),
        "coefficient_posterior one": lambda: plots.coefficient_posterior(bayes().fit(x, y)),
        "coefficient_posterior frame": lambda: plots.coefficient_posterior(
            ARDRegression().fit(F, s), ("age", "intercept")
        ),
        "sampled_lines one": lambda: plots.sampled_lines(bayes().fit(x, y), x, y),
        "sampled_lines frame": lambda: plots.sampled_lines(bayes().fit(F, s), F, s, 5, column=1),
        "posterior_sequence one": lambda: plots.posterior_sequence(bayes(), x, y, 2),
        "posterior_sequence frame": lambda: plots.posterior_sequence(
            bayes(), F, s, [5, 5], columns=("age", "height"), column="height"
        ),
        "quantile_lines one": lambda: plots.quantile_lines(x, y),
        "quantile_lines frame": lambda: plots.quantile_lines(F, s, [0.5], column="height"),
        "absolute_sum": lambda: plots.absolute_sum(y),
        "absolute_sum frame": lambda: plots.absolute_sum(s),
    }  # fmt: skip


EXAMPLES = examples()


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_draws(name):
    """Headless, with alt text, and with the names of a frame's columns."""
    picture = EXAMPLES[name]()
    assert len(picture.alt) > 30
    assert type(picture).__name__.lower() == name.split()[0].replace("_", "")
    with pytest.raises(AttributeError):
        picture.alt = ""  # frozen
    drawn = picture.plot()
    figure = getattr(drawn, "figure", drawn)
    figure.canvas.draw()
    parts = [(ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) for ax in figure.axes]
    words = " ".join(text for part in parts for text in part)
    if name.endswith("frame") and "projection" not in name:  # whose axes are directions
        assert any(word in words for word in ("age", "height", "weight", "price")), words


FIRST = {name.split()[0]: name for name in reversed(EXAMPLES)}


@pytest.mark.parametrize("name", list(FIRST.values()))
def test_same_input_same_svg(name):
    assert svg(EXAMPLES[name]()) == svg(EXAMPLES[name]())


@pytest.mark.parametrize("name", [name for name in EXAMPLES if " one" in name or " " not in name])
def test_draws_on_given_axes(name):
    if name.startswith(("fit_gallery", "posterior_sequence")):
        with pytest.raises(ValueError, match=r"call plot\(\)"):
            EXAMPLES[name]().plot(plt.figure().add_subplot())
        return
    ax = plt.figure().add_subplot()
    assert EXAMPLES[name]().plot(ax) is ax


# --- optimisation ---


def test_loss_surface_is_the_profile_of_the_residual_squares():
    X, y = table()
    picture = plots.loss_surface(X, y, columns=(0, 2), n=5)
    assert_allclose(picture.minimum, LinearRegression().fit(X, y).coef_[[0, 2]])
    assert_allclose(picture.rss_minimum, LinearRegression().fit(X, y).rss_)
    for i, b in enumerate(picture.second):  # the other coefficients fitted anew at every point
        for j, a in enumerate(picture.first):
            rest = y - a * X[:, 0] - b * X[:, 2]
            assert_allclose(picture.rss[i, j], LinearRegression().fit(X[:, [1]], rest).rss_)
    assert picture.trough is None
    assert picture.eigenvalues[0] > 0


def test_loss_surface_without_intercept_and_in_space():
    X, y = table(p=2)
    picture = plots.loss_surface(X, y, fit_intercept=False, n=3)
    w = np.array([picture.first[0], picture.second[2]])
    assert_allclose(picture.rss[2, 0], ((y - X @ w) ** 2).sum())
    ax = plt.figure().add_subplot(projection="3d")
    assert picture.plot(ax) is ax


def test_loss_surface_of_dependent_columns_is_a_trough():
    X = np.array([[1.0, 2], [2, 3], [3, 4]])  # example 4 of the part: least norm (.5, .5)
    picture = plots.loss_surface(X, [1.0, 2, 3])
    assert_allclose(picture.minimum, [0.5, 0.5])
    start, end = picture.trough
    for share in (0.0, 0.3, 1.0):
        w = start + share * (end - start)
        r = np.array([1.0, 2, 3]) - X @ w
        assert_allclose(((r - r.mean()) ** 2).sum(), picture.rss_minimum, atol=1e-12)
    assert "trough" in picture.title
    assert (start >= [picture.first[0] - 1e-9, picture.second[0] - 1e-9]).all()


def test_loss_surface_of_a_constant_column():
    picture = plots.loss_surface(np.column_stack([np.ones(5), np.arange(5.0)]), np.arange(5.0))
    assert picture.trough is not None
    assert_allclose(picture.minimum, [0, 1], atol=1e-12)


def test_loss_surface_refuses():
    with pytest.raises(ValueError, match="two are needed"):
        plots.loss_surface(T_X, T_Y, fit_intercept=False)
    with pytest.raises(ValueError, match="no column 'z'"):
        plots.loss_surface(*frame(), columns=("age", "z"))
    with pytest.raises(ValueError, match="as many rows"):
        plots.loss_surface(T_X, [1.0])


def test_descent_path_holds_the_textbook_iterates():
    """Example 5 of the part: three points, rate 0.1."""
    model = descent(0.1, max_iter=10).fit(T_X, T_Y)
    panel = plots.descent_path(model, T_X, T_Y).panels[0]
    assert_allclose(
        panel.paths[0][[1, 2, -1]],
        [[0.2333333, 0.3333333], [0.41, 0.5877778], [0.8910679307, 1.3210888629]],
        atol=1e-6,
    )
    assert_allclose(panel.minimum, [5 / 6, 1.5])
    assert panel.names == ("intercept", "coefficient of x0")
    f = LinearObjective(T_X, T_Y, scale="half_mean", intercept=True)
    assert_allclose(panel.values[3, 7], f.value(np.array([panel.first[7], panel.second[3]])))


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(solver=GradientDescent(0.1, max_iter=5, tol=None)),
        LinearRegression(fit_intercept=False, solver=GradientDescent(0.1, max_iter=5, tol=None)),
        Ridge(3.0, solver=GradientDescent(0.1, max_iter=5, tol=None)),
        Ridge(3.0, shrink_intercept=True, solver=GradientDescent(0.1, max_iter=5, tol=None)),
        Lasso(0.3, solver=ProximalGradient()),
        ElasticNet(0.3, l1_ratio=0.4, solver=CoordinateDescent()),
        SGDRegressor(alpha=0.1, solver=GradientDescent(0.1, max_iter=5, tol=None)),
        SGDRegressor("absolute", alpha=0.1, solver=GradientDescent(0.1, max_iter=5, tol=None)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_descent_path_contours_are_what_the_fit_minimises(model):
    from pellucid.plots.pictures.descent.descent_path import fitted_objective, slice_values

    X, y = table(30, 2)
    model.fit(X, y)
    f = fitted_objective(model, X, y)
    for row in model.history_:
        assert_allclose(f.value(row["parameters"]), row["objective"], rtol=1e-10)
    panel = plots.descent_path(model, X, y, n=5).panels[0]
    j = int(model.fit_intercept)
    centre = model.history_["parameters"][-1].copy()
    values = slice_values(f, centre, (j, j + 1), panel.first, panel.second)
    centre[[j, j + 1]] = panel.first[2], panel.second[4]
    assert_allclose(values[4, 2], f.value(centre))


def test_descent_path_of_coordinates_turns_square_corners():
    X, y = table(30, 2)
    path = (
        plots.descent_path(LinearRegression(solver=CoordinateDescent()).fit(X, y), X, y)
        .panels[0]
        .paths[0]
    )
    assert ((np.diff(path, axis=0) == 0).any(axis=1)).all()
    f = LinearObjective(X, y, scale="half_mean")
    found = CoordinateDescent().minimise(f, "zeros")
    path = plots.descent_path(found, X, y).panels[0].paths[0]
    assert_allclose(path[1, 0], X[:, 0] @ y / (X[:, 0] @ X[:, 0]))
    assert path[1, 1] == 0


def test_descent_path_shares_contours_and_separates_scalings():
    X, y = table(30, 2)
    f = LinearObjective(X, y, scale="half_mean", intercept=True)
    sgd = GradientDescent(0.05, batch_size=1, max_iter=2, tol=None, random_state=0)
    fits = {
        "batch": descent(0.1, max_iter=5).fit(X, y),
        "stochastic": sgd.minimise(f, "zeros", record="update"),
        "newton": Newton().minimise(f, "zeros"),
        "scaled": make_pipeline(StandardScaler(), descent(0.1, max_iter=5)).fit(X, y),
    }
    first, second = plots.descent_path(fits, X, y).panels
    assert first.labels == ("batch", "stochastic", "newton")
    assert len(first.paths[1]) == 61  # every one of the 60 updates, and the start
    assert second.labels == ("scaled",)
    Z = StandardScaler().fit_transform(X)
    assert_allclose(second.minimum, LinearRegression().fit(Z, y).coef_)
    figure = plots.descent_path(fits, X, y).plot()
    assert len(figure.axes) == 4  # two panels with their colour bars


def test_descent_path_of_any_function_and_of_a_run_that_diverges():
    bowl = Objective(lambda v: float(v[0] ** 2 + 10 * v[1] ** 2), convex=True)
    found = GradientDescent(0.05, max_iter=20, tol=None).minimise(bowl, [3.0, 1.0])
    panel = plots.descent_path(found, objective=bowl, n=5).panels[0]
    assert panel.names == ("x0", "x1")
    assert_allclose(panel.values[0, 0], panel.first[0] ** 2 + 10 * panel.second[0] ** 2)
    with pytest.warns(DivergenceWarning):
        wild = descent(3.0, max_iter=50).fit(T_X, T_Y)
    panel = plots.descent_path(wild, T_X, T_Y).panels[0]
    assert np.ptp(panel.first) < 100  # the runaway is cut, not followed


def test_descent_path_refuses():
    with pytest.raises(ValueError, match="keeps no path"):
        plots.descent_path(LinearRegression().fit(T_X, T_Y), T_X, T_Y)
    with pytest.raises(ValueError, match="needs the X and y"):
        plots.descent_path(descent(max_iter=2).fit(T_X, T_Y))
    found = GradientDescent(0.1, max_iter=2, tol=None).minimise(
        Objective(lambda v: v @ v), [1.0, 1]
    )
    with pytest.raises(ValueError, match="or the objective"):
        plots.descent_path(found)
    with pytest.raises(ValueError, match="give objective="):
        plots.descent_path(HuberRegressor().fit(*table()), *table())


def test_objective_history_holds_the_history_and_marks_divergence():
    slow, good = (descent(rate, max_iter=10).fit(T_X, T_Y) for rate in (0.01, 0.1))
    f = LinearObjective(T_X, T_Y, scale="half_mean", intercept=True)
    with pytest.warns(DivergenceWarning):
        wild = GradientDescent(5.0, max_iter=100, tol=None).minimise(f, "zeros")
    with pytest.warns(DivergenceWarning):
        rising = descent(0.9, max_iter=30).fit(T_X, T_Y)
    picture = plots.objective_history(
        {"slow": slow, "good": good, "wild": wild, "rising": rising, "rows": good.history_}
    )
    assert_array_equal(picture.objectives[1], good.history_["objective"])
    assert_allclose(picture.objectives[1][[0, 1, -1]], [3.5, 2.0420370, 0.0457893863], atol=1e-6)
    assert picture.diverged == (False, False, True, True, False)
    assert_array_equal(picture.steps[0], np.arange(11))
    assert picture.log
    labels = [text.get_text() for text in picture.plot().get_legend().get_texts()]
    assert "wild: diverged" in labels


def test_objective_history_refuses():
    with pytest.raises(ValueError, match="does not iterate"):
        plots.objective_history(LinearRegression().fit(T_X, T_Y))
    with pytest.raises(ValueError, match="one per fit"):
        plots.objective_history(descent(max_iter=2).fit(T_X, T_Y), labels=["a", "b"])
    with pytest.raises(ValueError, match="at least one"):
        plots.objective_history()


def test_newton_steps_are_tangents():
    f, slope = (lambda x: x**3 - 2 * x - 5), (lambda x: 3 * x**2 - 2)
    picture = plots.newton_steps(f, 4.0, derivative=slope, steps=4)
    x = picture.x
    assert len(x) == 5
    assert_allclose(x[1:], x[:-1] - f(x[:-1]) / slope(x[:-1]))
    assert_allclose(picture.values, f(x))
    assert_allclose(f(picture.root), 0, atol=1e-12)
    assert_allclose(picture.curve, f(picture.grid))
    with pytest.raises(ValueError, match="finite"):
        plots.newton_steps(f, np.nan)


def test_schedule_is_the_rate_of_every_update():
    rules = Constant(0.2), InverseScaling(0.1, 0.75), lambda t: 1 / (t + 1)
    picture = plots.schedule(*rules, steps=6)
    assert_allclose(picture.rates, [[rule(t) for t in range(6)] for rule in rules])
    assert picture.robbins_monro == (False, True, False)
    with pytest.raises(ValueError, match="schedules or functions"):
        plots.schedule(0.1)
    with pytest.raises(ValueError, match="rate must be > 0"):
        plots.schedule(Constant(-1.0))


def test_kkt_balances_the_pull():
    def f(v):
        return (v[0] - 3) ** 2 + (v[1] - 2) ** 2

    constraints = [lambda v: v[0] + v[1] - 2, lambda v: v[0] - 1]
    picture = plots.kkt([1.0, 1.0], f, inequality=constraints, box=((-1, 4), (-2, 4)), n=11)
    assert_allclose(picture.pull, [4, 2], atol=1e-8)
    assert_allclose(picture.normals.sum(axis=0), picture.pull, atol=1e-8)
    assert_allclose(picture.report.multipliers, [2, 2], atol=1e-8)
    A, B = np.meshgrid(picture.first, picture.second)
    assert_array_equal(picture.feasible, (A + B <= 2) & (A <= 1))
    assert_allclose(picture.values, (A - 3) ** 2 + (B - 2) ** 2)
    off = plots.kkt([0.0, 0.0], f, inequality=constraints, n=11)
    assert not off.report.satisfied
    off.plot()


def test_kkt_refuses():
    with pytest.raises(ValueError, match="two variables"):
        plots.kkt([1.0], lambda v: v @ v, inequality=[lambda v: v @ v])
    with pytest.raises(ValueError, match="at least one constraint"):
        plots.kkt([1.0, 1.0], lambda v: v @ v)
    with pytest.raises(ValueError, match="box must be"):
        plots.kkt([1.0, 1.0], lambda v: v @ v, equality=[lambda v: v[0]], box=((1, 0), (0, 1)))


def test_regression_projection_is_orthogonal():
    X, y = table()
    picture = plots.regression_projection(X, y)
    model = LinearRegression().fit(X, y)
    assert_allclose(picture.fitted, model.predict(X) - y.mean())
    assert_allclose(X.T @ picture.residual, 0, atol=1e-10)
    whole, base, height = picture.lengths
    assert_allclose(whole**2, base**2 + height**2)
    assert_allclose(np.cos(np.radians(picture.angle)) ** 2, model.score(X, y))
    assert not picture.spatial


def test_regression_projection_of_dependent_columns_and_edges():
    X, y = table(p=2)
    twice = np.column_stack([X, X.sum(axis=1)])
    assert_allclose(
        plots.regression_projection(twice, y).fitted, plots.regression_projection(X, y).fitted
    )
    exact = plots.regression_projection(T_X, 1 + 2 * T_X[:, 0])
    assert_allclose(exact.lengths[2], 0, atol=1e-12)
    exact.plot()
    plots.regression_projection(T_X, T_Y).plot(plt.figure().add_subplot())  # flat on flat axes
    flat = plots.regression_projection(X, np.ones(len(X)))
    assert flat.lengths[0] == pytest.approx(0)
    flat.plot()
    with pytest.raises(ValueError, match="fit_intercept=True"):
        plots.regression_projection(X, y, fit_intercept=False, centred=True)


# --- curves ---


def test_basis_sums_to_the_fit():
    """Example 17 of the part: cubic spline with knots 2.5 and 5.5."""
    model = make_pipeline(TruncatedPowerBasis([2.5, 5.5]), LinearRegression()).fit(N_X, N_Y)
    picture = plots.basis(model, N_X, N_Y)
    assert_allclose(picture.total, model.predict(picture.grid[:, None]))
    assert_allclose(picture.constant, 0.18328140, atol=1e-6)
    assert_allclose(
        picture.weights, [0.82615206, 0.10921311, -0.01103059, -0.03178255, 0.40678078], atol=1e-6
    )
    assert_array_equal(picture.knots, [2.5, 5.5])
    assert_array_equal(picture.points, np.column_stack([N_X, N_Y]))
    pieces = model[0].region_coefficients(model[1].coef_, model[1].intercept_)
    here = picture.grid < 2.5
    assert_allclose(picture.total[here], np.polyval(pieces[0][::-1], picture.grid[here]))


def test_basis_without_data_and_behind_a_scaler():
    x, y = wave()
    plain = make_pipeline(NaturalSplineBasis(5), LinearRegression()).fit(x, y)
    picture = plots.basis(plain)
    assert picture.grid[0] < x.min()
    assert_allclose(picture.total, plain.predict(picture.grid[:, None]))
    scaled = make_pipeline(StandardScaler(), TruncatedPowerBasis(2), LinearRegression()).fit(x, y)
    knots = plots.basis(scaled, x, y).knots
    assert_allclose(knots, np.quantile(x, [1 / 3, 2 / 3]))
    with pytest.raises(ValueError, match="needs X"):
        plots.basis(scaled)
    gauss = make_pipeline(GaussianBasis(4), Ridge()).fit(x, y)
    assert len(plots.basis(gauss, x).knots) == 0


def test_basis_of_one_of_several_columns_keeps_the_others_in_the_constant():
    F, s = frame()
    model = cubic(2).fit(F, s)
    picture = plots.basis(model, F, column="height")
    rows = pd.DataFrame(np.tile(F.median(), (len(picture.grid), 1)), columns=F.columns)
    rows["height"] = picture.grid
    assert_allclose(picture.total, model.predict(rows))
    assert all("height" in label for label in picture.labels)


def test_basis_of_a_smoothing_spline_is_made_of_its_kernels():
    model = SmoothingSpline(10.0).fit(N_X, N_Y)
    picture = plots.basis(model, N_X, N_Y)
    assert_allclose(picture.weights @ picture.functions, model.predict(picture.grid[:, None]))
    with pytest.raises(ValueError, match="needs the X and y"):
        plots.basis(model)
    with pytest.raises(ValueError, match="pipeline of a basis"):
        plots.basis(LinearRegression().fit(N_X, N_Y), N_X)


def test_pointwise_variance_is_that_of_the_fit():
    x, y = wave(30)
    models = {"cubic": cubic().fit(x, y), "smooth": SmoothingSpline(5.0).fit(x, y)}
    picture = plots.pointwise_variance(models, x, n=7)
    D = TruncatedPowerBasis([3.0, 6.0], include_bias=True).fit(x)
    Z, g = D.transform(x), D.transform(picture.grid[:, None])
    assert_allclose(picture.variance[0], (g @ np.linalg.pinv(Z.T @ Z) * g).sum(axis=1), rtol=1e-6)
    assert picture.df[0] == pytest.approx(6)
    assert picture.labels == ("cubic", "smooth")
    with pytest.raises(ValueError, match="not a linear smoother"):
        plots.pointwise_variance(Lasso().fit(x, y), x)


def test_natural_spline_is_tamer_at_the_ends():
    """Same degrees of freedom: the natural spline has the smaller variance at the boundary."""
    x, y = np.linspace(0, 1, 50)[:, None], np.zeros(50)
    models = [
        make_pipeline(TruncatedPowerBasis(2), LinearRegression()).fit(x, y),
        make_pipeline(NaturalSplineBasis(6), LinearRegression()).fit(x, y),
    ]
    cube, natural = plots.pointwise_variance(models, x).variance[:, [0, -1]]
    assert (natural < cube).all()


def test_smoothing_curves_and_degrees_of_freedom():
    picture = plots.smoothing(N_X, N_Y, [10.0, "gcv", np.inf])
    assert_allclose(picture.df[0], 2.7634722, atol=1e-6)
    chosen = SmoothingSpline().fit(N_X, N_Y)
    assert picture.alphas[1] == chosen.alpha_
    assert_allclose(picture.curves[1], chosen.predict(picture.grid[:, None]))
    line = LinearRegression().fit(N_X, N_Y)
    assert_allclose(picture.curves[2], line.predict(picture.grid[:, None]))
    assert picture.chosen == ("", "gcv", "")
    with pytest.raises(ValueError, match="one input"):
        plots.smoothing(*table())


def test_extrapolation_never_sees_the_second_half():
    x, y = wave(40)
    order = np.random.default_rng(1).permutation(40)
    picture = plots.extrapolation(LinearRegression(), x[order], y[order])
    model = LinearRegression().fit(x[:20], y[:20])  # x is sorted
    assert_allclose(picture.mse_first, np.mean((y[:20] - model.predict(x[:20])) ** 2))
    assert_allclose(picture.mse_second, np.mean((y[20:] - model.predict(x[20:])) ** 2))
    assert x[19, 0] < picture.cut < x[20, 0]
    with pytest.raises(ValueError, match="leaves none"):
        plots.extrapolation(LinearRegression(), x[:2], y[:2], share=0.01)


def test_fit_gallery_judges_by_held_out_rows():
    x, y = wave(30)
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(1, include_bias=False), LinearRegression()
    )
    degree = "polynomialfeatures__degree"
    picture = plots.fit_gallery(model, x, y, degree, [1, 6, 14])
    assert picture.verdicts == ("underfitted", "well fitted", "overfitted")
    assert (np.diff(picture.training_error) < 0).all()
    fitted = model.set_params(**{degree: 6}).fit(x, y)
    assert_allclose(picture.curves[1], fitted.predict(picture.grid[:, None]))
    assert_allclose(picture.training_error[1], np.mean((y - fitted.predict(x)) ** 2))
    linear = LinearRegression()  # held-out error with one row per fold is the LOO shortcut
    one = plots.fit_gallery(linear, x, y, "fit_intercept", [True], cv=len(x))
    assert_allclose(one.validation_error[0], linear.fit(x, y).loocv(x, y))
    with pytest.raises(ValueError, match="no parameter 'depth'"):
        plots.fit_gallery(linear, x, y, "depth", [1])
    with pytest.raises(ValueError, match="got none"):
        plots.fit_gallery(linear, x, y, "fit_intercept", [])


# --- Bayes and medians ---


def test_predictive_band_widens_away_from_the_data():
    """Example 16 of the part: 1.11530374 at 3.5."""
    x = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]])
    model = bayes(prior_covariance=1e6).fit(x, [3.0, 5, 7, 9, 10])
    picture = plots.predictive_band(model, x, widen=0.0, n=8)
    assert_allclose(picture.grid[5], 3.5)
    assert_allclose([picture.mean[5], picture.sd[5]], [7.99999987, 1.11530374], atol=1e-6)
    assert picture.plug_in == 1.0
    wide = plots.predictive_band(model, x, widen=2.0)
    middle = np.argmin(wide.sd)
    assert (np.diff(wide.sd[: middle + 1]) < 0).all()
    assert (np.diff(wide.sd[middle:]) > 0).all()
    assert (wide.sd > wide.plug_in).all()


def test_predictive_band_of_other_models():
    F, s = frame()
    ridge = BayesianRidge().fit(F, s)
    picture = plots.predictive_band(ridge, F, s, column="age", n=3)
    assert_allclose(picture.plug_in, 1 / np.sqrt(ridge.alpha_))
    by_array = plots.predictive_band(ridge, F.to_numpy(), column="age", n=3)  # names are known
    assert_allclose(by_array.sd, picture.sd)
    with pytest.raises(ValueError, match="no noise variance"):
        plots.predictive_band(LinearRegression().fit(F, s), F)


def test_coefficient_posterior_ellipse_holds_its_probability():
    x, y = wave(30)
    model = bayes().fit(x, y)
    picture = plots.coefficient_posterior(model, draws=20_000)
    assert_allclose(picture.covariance, model.covariance_)
    assert_allclose(picture.mean, model.mean_)
    assert_allclose(picture.inside, (0.5, 0.95), atol=0.015)
    d = picture.ellipses[1] - model.mean_
    size = np.einsum("ni,ij,nj->n", d, model.precision_, d)
    assert_allclose(size, -2 * np.log(0.05))
    assert_allclose(np.cov(picture.draws.T), model.covariance_, rtol=0.05)


def test_coefficient_posterior_of_unknown_noise_is_student():
    x, y = wave(12)
    model = bayes(noise_variance=InverseGamma(1.0, 1.0)).fit(x, y)
    picture = plots.coefficient_posterior(model, draws=40_000)
    assert_allclose(picture.inside, (0.5, 0.95), atol=0.01)
    ours = model.sample_coefficients(40_000, random_state=1)
    distance = np.einsum(
        "ni,ij,nj->n", ours - model.mean_, np.linalg.inv(picture.covariance), ours - model.mean_
    )
    d = picture.ellipses[1][0] - picture.mean
    radius = d @ np.linalg.inv(picture.covariance) @ d
    assert np.mean(distance <= radius) == pytest.approx(0.95, abs=0.01)  # the model's own draws


def test_coefficient_posterior_of_evidence_models():
    F, s = frame()
    ridge = BayesianRidge().fit(F, s)
    picture = plots.coefficient_posterior(ridge, ("age", "weight"))
    assert_allclose(picture.covariance, ridge.sigma_[np.ix_([0, 2], [0, 2])])
    assert_allclose(picture.mean, ridge.coef_[[0, 2]])
    both = plots.coefficient_posterior(ridge, ("intercept", "age"))
    m = ridge.X_offset_
    assert_allclose(both.covariance[0, 0], m @ ridge.sigma_ @ m)
    with pytest.raises(ValueError, match="has no posterior"):
        plots.coefficient_posterior(LinearRegression().fit(F, s))
    with pytest.raises(ValueError, match="two columns"):
        plots.coefficient_posterior(ridge, ("age",))


def test_sampled_lines_come_from_the_posterior():
    x, y = wave(20)
    for model in (bayes().fit(x, y), make_pipeline(GaussianBasis(4), bayes()).fit(x, y)):
        picture = plots.sampled_lines(model, x, y, 20_000)
        rows = picture.grid[:, None]
        assert_allclose(picture.mean, model.predict(rows))
        mean, sd = model.predict(rows, return_std=True)
        spread = np.sqrt(sd**2 - 1.0)  # of the line: without the noise
        assert_allclose(picture.lines.mean(axis=0), mean, atol=5 * spread.max() / np.sqrt(20_000))
        assert_allclose(picture.lines.std(axis=0), spread, rtol=0.05)


def test_sampled_lines_of_evidence_models_turn_about_the_mean():
    F, s = frame()
    model = BayesianRidge().fit(F, s)
    one = model.fit(F[["age"]], s)
    picture = plots.sampled_lines(one, F[["age"]], s, 50)
    at = np.array([np.interp(F["age"].mean(), picture.grid, line) for line in picture.lines])
    assert_allclose(at, s.mean(), atol=1e-2)


def test_posterior_sequence_is_the_posterior_of_the_rows_so_far():
    x, y = wave(12)
    picture = plots.posterior_sequence(bayes(prior_mean=1.0), x, y, [1, 3, 8])
    assert [stage.rows for stage in picture.stages] == [0, 1, 4, 12]
    assert_allclose(picture.stages[0].mean, [1, 1])
    assert_allclose(picture.stages[0].covariance, 10 * np.eye(2))
    for stage in picture.stages[1:]:
        whole = bayes(prior_mean=1.0).fit(x[: stage.rows], y[: stage.rows])
        assert_allclose(stage.mean, whole.mean_, rtol=1e-7)
        assert_allclose(stage.covariance, whole.covariance_, rtol=1e-7)
    D = np.column_stack([np.ones(12), x])
    assert_allclose(picture.stages[-1].covariance, np.linalg.inv(np.eye(2) / 10 + D.T @ D))


def test_posterior_sequence_without_a_proper_prior_and_with_unknown_noise():
    x, y = wave(20)
    assert plots.posterior_sequence(BayesianLinearRegression(), x, y, 2).stages[0].rows == 10
    flat = bayes(prior_covariance=[np.inf, 1.0])
    assert plots.posterior_sequence(flat, x, y, 2).stages[0].rows == 10
    unknown = bayes(noise_variance=InverseGamma(2.0, 3.0))
    stage = plots.posterior_sequence(unknown, x, y, 2).stages[0]
    assert_allclose(stage.covariance, 15 * np.eye(2))  # V b/a


def test_posterior_sequence_refuses():
    x, y = wave(5)
    with pytest.raises(ValueError, match="needs a BayesianLinearRegression"):
        plots.posterior_sequence(LinearRegression(), x, y)
    with pytest.raises(ValueError, match="do not make 9 batches"):
        plots.posterior_sequence(bayes(), x, y, 9)
    with pytest.raises(ValueError, match="add up to at most 5"):
        plots.posterior_sequence(bayes(), x, y, [3, 3])
    with pytest.raises(ValueError, match="two parameters"):
        plots.posterior_sequence(bayes(fit_intercept=False), x, y)


def test_quantile_lines_are_those_of_the_regressor():
    X, y = table(60)
    picture = plots.quantile_lines(X, y, [0.25, 0.75], column=1, n=5)
    model = QuantileRegressor(quantile=0.25, alpha=0.0).fit(X, y)
    rows = np.tile(np.median(X, axis=0), (5, 1))
    rows[:, 1] = picture.grid
    assert_allclose(picture.lines[0], model.predict(rows))
    r = y - model.predict(X)
    assert picture.below[0] == np.mean(r < -1e-8)
    assert picture.below[0] <= 0.25 <= np.mean(r <= 1e-8)
    assert "median" in picture.title
    with pytest.raises(ValueError, match="quantile"):
        plots.quantile_lines(X, y, [1.5])


def test_absolute_sum_is_the_definition():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, 31) + 1e6
    picture = plots.absolute_sum(x)
    assert_allclose(picture.total, np.abs(x - picture.m[:, None]).sum(axis=1))
    assert picture.interval == (np.median(x), np.median(x))
    assert_allclose(picture.minimum, np.abs(x - np.median(x)).sum())
    assert picture.minimum == picture.total.min()


@pytest.mark.parametrize("n", [2, 4, 10])
def test_absolute_sum_of_an_even_number_is_flat_between_the_middle_values(n):
    x = np.sort(np.random.default_rng(n).normal(size=n))
    picture = plots.absolute_sum(x)
    assert picture.interval == (x[n // 2 - 1], x[n // 2])
    for m in np.linspace(*picture.interval, 5):
        assert_allclose(np.abs(x - m).sum(), picture.minimum)


def test_absolute_sum_weights_are_repetitions_and_edges():
    a = plots.absolute_sum([3.0, 1.0, 7.0], sample_weight=[1, 2, 3])
    b = plots.absolute_sum([3.0, 1.0, 1.0, 7.0, 7.0, 7.0])
    assert a.interval == b.interval == (3.0, 7.0)
    assert_allclose(a.total, b.total)
    one = plots.absolute_sum([5.0])
    assert one.interval == (5.0, 5.0)
    one.plot()
    with pytest.raises(ValueError, match="at least one"):
        plots.absolute_sum([])
    with pytest.raises(ValueError, match=">= 0"):
        plots.absolute_sum([1.0, 2.0], sample_weight=[-1, 1])


# --- any table ---


def test_polars_frames_and_large_tables():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 8000)
    y = x + rng.normal(size=8000)
    F = polars.DataFrame({"speed": x})
    picture = plots.predictive_band(bayes().fit(F, y), F, y)
    assert picture.names[0] == "speed"
    assert len(picture.points) == 5000
    assert len(plots.smoothing(F, y, [1.0]).points) == 5000
    assert plots.quantile_lines(polars.Series("speed", x), y, [0.5]).names[0] == "speed"
