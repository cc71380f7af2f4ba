"""Gaussian-process regression: scikit-learn's answers, laws of the evidence, honest intervals."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as theirs
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import pellucid
from pellucid import GaussianProcessRegressor
from pellucid.kernel import (
    FunctionKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SigmoidKernel,
)
from pellucid.kernel.processes import hyperparameters, learned_numbers
from pellucid.kernel.processes.covariance import covariance, diagonal
from pellucid.kernel.processes.hyperparameters import theta_of, with_theta

rng = np.random.default_rng(0)

SKLEARN = [
    1.5 * RBF([0.7, 1.0, 2.0]) + WhiteKernel(0.1),
    theirs.Matern(1.2, nu=0.5) * ConstantKernel(2.0),
    theirs.Matern([1.2, 0.4, 3.0], nu=1.5),
    theirs.Matern(1.2, nu=2.5) + theirs.DotProduct(0.7),
    theirs.Matern(1.2, nu=np.inf) + RBF(0.3, "fixed"),
    theirs.Matern(1.2, nu=0.9),
    theirs.RationalQuadratic(1.2, 0.4) ** 2 + WhiteKernel(0.3),
    theirs.RationalQuadratic(1.2, 0.4, alpha_bounds="fixed"),
    theirs.ExpSineSquared(1.1, 9.0) * RBF(2.0) + ConstantKernel(0.1, "fixed") + WhiteKernel(0.3),
    theirs.PairwiseKernel(gamma=0.5, metric="rbf"),
]
OURS = [
    2.0 * GaussianKernel(1.5) + LinearKernel(),
    LaplacianKernel(0.8) * GaussianKernel(2.0),
    PolynomialKernel(2, 0.5, 0.3).normalized(),
    SigmoidKernel(0.1, 0.2) + 3.0 * GaussianKernel(1.0),
    GaussianKernel(1.0).on([0]) + LaplacianKernel(2.0).on([1, 2]),
    FunctionKernel(lambda x, z: float(x @ z)) + GaussianKernel(1.0),
]


def table(n=40, p=3):
    X = rng.normal(size=(n, p))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", SKLEARN, ids=str)
def test_oracle_evidence_gradient_and_posterior(kernel):
    """The same evidence, derivatives, mean and spread as scikit-learn's."""
    X, y = table()
    Y = np.column_stack([y, 2 * y**2])
    other = Theirs(kernel, alpha=0.01, optimizer=None, normalize_y=True).fit(X, Y)
    mine = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None, normalize_y=True).fit(X, Y)
    value, gradient = mine.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    expected, slope = other.log_marginal_likelihood(kernel.theta, eval_gradient=True)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    numeric = isinstance(kernel, theirs.Matern) and kernel.nu == 0.9  # their slope by differences
    np.testing.assert_allclose(gradient, slope, rtol=1e-5 if numeric else 1e-8, atol=1e-7)
    new = rng.normal(size=(7, 3))
    for options in ({"return_std": True}, {"return_cov": True}):
        pairs = zip(mine.predict(new, **options), other.predict(new, **options), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(mine.sample_y(new, 3), other.sample_y(new, 3), atol=1e-6)


@pytest.mark.parametrize("kernel", [*SKLEARN, *OURS], ids=lambda kernel: type(kernel).__name__)
def test_invariant_derivatives_are_differences(kernel):
    """What a weight pulls out of K and of its diagonal is the derivative of their sums."""
    X, Z = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    W, V, w = rng.normal(size=(6, 6)), rng.normal(size=(6, 4)), rng.normal(size=6)
    theta, h = theta_of(kernel), 1e-6
    built_in = not isinstance(kernel, theirs.PairwiseKernel)

    def sums(t):
        k = with_theta(kernel, t)
        found = [np.vdot(W, covariance(k, X).K), w @ diagonal(k, X).K]
        return np.array([*found, np.vdot(V, covariance(k, X, Z).K)])

    numeric = [(sums(theta + s) - sums(theta - s)) / (2 * h) for s in h * np.eye(len(theta))]
    pulled = [covariance(kernel, X).pull(W), diagonal(kernel, X).pull(w)]
    numeric = np.array(numeric)
    np.testing.assert_allclose(np.array(pulled).T, numeric[:, :2], atol=1e-6, rtol=1e-6)
    if built_in:
        cross = covariance(kernel, X, Z).pull(V)
        np.testing.assert_allclose(cross, numeric[:, 2], atol=1e-6)
    np.testing.assert_allclose(diagonal(kernel, X).K, np.diag(covariance(kernel, X).K), atol=1e-12)


def test_oracle_the_same_maximum_and_restarts():
    X, y = table(60, 2)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0]) + WhiteKernel(1.0)
    options = {"n_restarts_optimizer": 2, "random_state": 3, "normalize_y": True}
    mine = GaussianProcessRegressor(kernel, **options).fit(X, y)
    other = Theirs(kernel, **options).fit(X, y)
    assert mine.log_marginal_likelihood() >= other.log_marginal_likelihood() - 1e-6
    np.testing.assert_allclose(mine.kernel_.theta, other.kernel_.theta, rtol=1e-3)
    assert set(mine.history_["start"]) == {0, 1, 2}
    assert mine.history_["objective"].min() == pytest.approx(-mine.log_marginal_likelihood())


def test_a_number_at_its_bound_is_named():
    X, y = table(20, 1)
    model = GaussianProcessRegressor(RBF(1.0, (0.9, 1.1)), alpha=0.01)
    with pytest.warns(ConvergenceWarning, match="dimension 0 of parameter length_scale .* bound"):
        model.fit(X, y)
    assert model.card().warnings
    assert not model.summary().valid


def test_recovery_of_the_numbers_that_made_the_data():
    """The truth lies within the intervals of the summary; our kernels learn the same width."""
    x = np.linspace(0, 30, 150)[:, None]
    truth = 4.0 * RBF(1.5) + WhiteKernel(0.04)
    y = rng.multivariate_normal(np.zeros(150), truth(x))
    model = GaussianProcessRegressor(1.0 * RBF() + WhiteKernel()).fit(x, y)
    summary = model.summary(confidence=0.99)
    assert summary.valid
    assert (summary.low < np.exp(truth.theta)).all()
    assert (summary.high > np.exp(truth.theta)).all()
    own = GaussianProcessRegressor(1.0 * GaussianKernel(1.0), alpha=model.kernel_.k2.noise_level)
    assert own.fit(x, y).kernel_.kernel.sigma == pytest.approx(
        model.kernel_.k1.k2.length_scale, 0.01
    )
    assert hyperparameters.names_of(own.kernel_) == [("scale", 0), ("kernel__sigma", 0)]


def coverage(kernel, draws, n, seed):
    """The share of new observations inside 95 % intervals whose kernel was learned from n rows."""
    own, inside = np.random.default_rng(seed), []
    for _ in range(draws):
        X = own.uniform(0, 10, size=(n + 50, 1))
        y = own.multivariate_normal(np.zeros(n + 50), kernel(X), method="cholesky")
        start = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(1.0)
        model = GaussianProcessRegressor(start).fit(X[:n], y[:n])
        low, high = model.predict_interval(X[n:]).T
        inside.append(np.mean((low < y[n:]) & (y[n:] < high)))
        low, high = model.predict_interval(X[n:], kind="mean").T
        assert (high - low < np.diff(model.predict_interval(X[n:]))[:, 0]).all()
    return float(np.mean(inside))


def test_intervals_cover():
    assert 0.92 < coverage(2.0 * RBF(1.0) + WhiteKernel(0.2), 6, 80, 0) < 0.98


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The optimal value found")
@pytest.mark.parametrize("kernel", [2.0 * RBF(1.0), 1.0 * RBF(0.5), 3.0 * RBF(3.0)], ids=str)
def test_intervals_cover_93_to_97_percent(kernel):
    assert 0.93 <= coverage(kernel + WhiteKernel(0.2), 200, 80, 1) <= 0.97


@pytest.mark.parametrize("kind", ["prediction", "mean"])
def test_intervals_with_known_numbers_are_normal(kind):
    """Numbers that are given have no uncertainty: the spread of scikit-learn times 1.96."""
    X, y = table(30, 1)
    kernel = 1.0 * RBF(1.0) + WhiteKernel(0.2)
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, y)
    mean, sd = model.predict(X, return_std=True)
    spread = y.std()
    noise = 0.0 if kind == "prediction" else 0.2 * spread**2
    known = 1e-10 * spread**2 if kind == "prediction" else 0.0
    half = 1.959963985 * np.sqrt(sd**2 - noise + known)
    expected = np.column_stack([mean - half, mean + half])
    np.testing.assert_allclose(model.predict_interval(X, kind=kind), expected, atol=1e-8)


@pytest.mark.parametrize(("pairs", "error", "short"), [(4, 0.07, 0.04), (500, 0.01, 0.005)])
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_oracle_intervals_average_over_one_number(monkeypatch, seed, pairs, error, short):
    """One learned width: a fine grid over it; more points come nearer to it."""
    monkeypatch.setattr(learned_numbers, "PAIRS", pairs)
    own = np.random.default_rng(seed)
    X = own.uniform(0, 8, size=(30, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * own.normal(size=30)
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.09).fit(X, y)
    centre, new = model.kernel_.theta[0], np.linspace(-1, 9, 40)[:, None]
    grid = np.linspace(centre - 9, centre + 9, 900)
    log_p = np.array([model.log_marginal_likelihood([t]) - (t - centre) ** 2 / 18 for t in grid])
    live = log_p > log_p.max() - 20
    weight = np.exp(log_p[live] - log_p.max())
    fixed = [
        GaussianProcessRegressor(RBF(np.exp(t)), alpha=0.09, optimizer=None).fit(X, y)
        for t in grid[live]
    ]
    mean, sd = np.moveaxis([m.predict(new, return_std=True) for m in fixed], 1, 0)
    ends = [
        learned_numbers.mixture_quantile(weight / weight.sum(), mean, np.sqrt(sd**2 + 0.09), p)
        for p in (0.025, 0.975)
    ]
    found, length = model.predict_interval(new), ends[1] - ends[0]
    assert np.abs(found - np.column_stack(ends)).max() < error * length.max()
    assert abs((np.diff(found)[:, 0] / length).mean() - 1) < short


def test_points_keep_to_the_bounds_and_honour_flat_directions():
    """No curvature: the weak prior's spread; a number at its bound moves to one side only."""
    bounds = np.array([[-20.0, 20.0], [0.0, 20.0], [0.0, 0.2]])
    flat = learned_numbers.plausible(np.zeros_like, np.array([0.0, 0.0, 0.1]), bounds)
    spread = flat.theta.std(axis=0)
    assert (spread[:2] > 2.0).all()
    assert spread[2] < 0.3
    inside = np.isfinite(flat.log_weight)
    assert inside[0]
    assert inside.sum() > 5
    assert ((flat.theta >= bounds[:, 0]) & (flat.theta <= bounds[:, 1]))[inside].all()
    steep = learned_numbers.plausible(lambda t: -1e4 * t, np.zeros(3), bounds - 0.1)
    assert steep.theta.std(axis=0).max() < 0.05


def plug_in(model, X, kind="prediction"):
    kernel = model.kernel_
    given = GaussianProcessRegressor(kernel, alpha=model.alpha, optimizer=None)
    return given.fit(model.X_train_, model.y_train_).predict_interval(X, kind=kind)


@pytest.mark.parametrize("kind", ["prediction", "mean"])
def test_learned_numbers_widen_the_intervals_of_few_rows(kind):
    own, new = np.random.default_rng(2), np.linspace(0, 20, 50)[:, None]
    wider = []
    for n in (30, 200):
        X = own.uniform(0, 20, size=(n, 1))
        y = np.sin(X[:, 0]) + 0.5 * own.normal(size=n)
        model = GaussianProcessRegressor(1.0 * RBF() + WhiteKernel()).fit(X, y)
        widths = [
            np.diff(f).mean()
            for f in (model.predict_interval(new, kind=kind), plug_in(model, new, kind))
        ]
        wider.append(widths[0] / widths[1])
    assert wider[0] > 1.03
    assert 0.99 < wider[1] < wider[0]


def test_invariant_units_of_the_columns_and_of_y():
    """Other units, with the kernel's start and bounds in them: the same intervals."""
    own = np.random.default_rng(3)
    X, y = own.uniform(0, 10, size=(25, 1)), own.normal(size=25)
    y += 2 * np.sin(X[:, 0])

    def ends(x_unit, y_unit):
        level, low = y_unit**2, np.array([1e-5, 1e5])
        kernel = ConstantKernel(level, low * level) * RBF(x_unit, low * x_unit)
        kernel += WhiteKernel(level, low * level)
        model = GaussianProcessRegressor(kernel, alpha=1e-10 * level).fit(X * x_unit, y * y_unit)
        return model.predict_interval(X * x_unit + 0.3 * x_unit) / y_unit

    np.testing.assert_allclose(ends(1e3, 1e-4), ends(1.0, 1.0), atol=1e-3)  # of the search


@pytest.mark.filterwarnings("ignore:The optimal value found", "ignore:lbfgs failed to converge")
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.0, (0.9, 1.1)),
        1.0 * RBF() + WhiteKernel(1e-3),
        1.0 * RBF([1.0, 1.0]) + 1.0 * theirs.Matern() + WhiteKernel(),
        2.0 * GaussianKernel(1.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("target", ["line", "noise", "constant"])
def test_intervals_are_finite_where_the_evidence_is_flat_or_ends(kernel, target):
    """Numbers at their bounds, without a maximum, or more of them than the rows can tell."""
    own = np.random.default_rng(4)
    X = own.normal(size=(12, 2))
    y = {"line": X[:, 0], "noise": own.normal(size=12), "constant": np.zeros(12)}[target]
    model = GaussianProcessRegressor(kernel, alpha=1e-6).fit(X, y)
    for kind in ("prediction", "mean"):
        low, high = model.predict_interval(np.vstack([X, 50 + X]), kind=kind).T
        assert np.isfinite([low, high]).all()
        assert (low <= high).all()


def test_the_card_says_what_is_taken_as_known():
    X, y = table(20, 1)
    kernel = 1.0 * RBF() + WhiteKernel()
    learned = GaussianProcessRegressor(kernel).fit(X, y).card()
    assert "averages over them" in " ".join(learned.warnings)
    assert not GaussianProcessRegressor(kernel, optimizer=None).fit(X, y).card().warnings


def test_several_targets_and_noise_by_row():
    X, y = table(30, 1)
    noise = np.linspace(0.01, 0.5, 30)
    mine = GaussianProcessRegressor(RBF(1.0), alpha=noise, optimizer=None).fit(X, y)
    other = Theirs(RBF(1.0), alpha=noise, optimizer=None).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), other.predict(X), atol=1e-9)
    both = GaussianProcessRegressor(RBF(1.0), alpha=0.1).fit(X, np.column_stack([y, -y]))
    ends = both.predict_interval(X)
    assert ends.shape == (30, 2, 2)
    np.testing.assert_allclose(ends[:, ::-1, 1], -ends[:, :, 0], atol=1e-9)
    assert both.sample_y(X, 4).shape == (30, 2, 4)
    with pytest.raises(ValueError, match="same number of entries"):
        GaussianProcessRegressor(RBF(), alpha=noise[:5]).fit(X, y)


def test_refusals():
    X, y = table(10)
    with pytest.raises(ValueError, match="kernel must be None"):
        GaussianProcessRegressor("rbf").fit(X, y)
    with pytest.raises(ValueError, match="kernel must be None"):
        GaussianProcessRegressor(PrecomputedKernel()).fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        GaussianProcessRegressor(LinearKernel(), alpha=0.0).fit(X, y)


def test_kernels_are_stored(tmp_path):
    X, y = table(20)
    kernel = (RBF([1.0, 2.0, 3.0]) * ConstantKernel(2.0, "fixed")) ** 2 + theirs.Matern(nu=1.5)
    kernel = kernel + theirs.RationalQuadratic() + theirs.DotProduct() + WhiteKernel()
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, y)
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    own = GaussianProcessRegressor(2.0 * GaussianKernel(1.0), alpha=0.1).fit(X, y)
    pellucid.save(own, tmp_path / "o.pellucid")
    assert pellucid.load(tmp_path / "o.pellucid").kernel_ == own.kernel_
