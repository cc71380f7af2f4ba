"""Guards, limits and refusals of the linear models, each at its edge."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from pellucid import (
    ARDRegression,
    BayesianRidge,
    BestSubsetRegression,
    ElasticNet,
    FirthLogisticRegression,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    RANSACRegressor,
)
from pellucid.linear import Budget, ScaledRegressor, convert_penalty, lars_path, residual_health
from pellucid.linear.bayes.evidence import Prior, see
from pellucid.linear.glm.newton import positive_definite

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=30)


class Twice:
    """Says mean and scale, and does something else."""

    def fit(self, X):
        self.mean_, self.scale_ = X.mean(axis=0), X.std(axis=0)
        return self

    def transform(self, X):
        return 2 * (X - self.mean_) / self.scale_


class Narrow(Twice):
    def transform(self, X):
        return ((X - self.mean_) / self.scale_)[:, :1]


@pytest.mark.parametrize("scaler", [Twice(), Narrow()])
def test_a_scaler_that_does_not_do_what_it_says_is_refused(scaler):
    with pytest.raises(ValueError, match=r"must do \(x - mean_\) / scale_"):
        ScaledRegressor()._affine(scaler.fit(X), X, scaler.transform(X))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_note_on_more_columns_than_rows(n):
    card = ElasticNet(Budget((0.5, 0.5))).fit(X[:n], y[:n]).card()
    assert any("more columns than rows" in note for note in card.warnings) == (n <= 3)


def test_firths_tests_are_twice_the_fall_of_the_likelihood():
    """Beside its profile interval: p is 0.05 where 0 is an end of it."""
    label = (y + np.random.default_rng(2).normal(size=30) > 0).astype(int)
    found = FirthLogisticRegression().fit(X, label).summary()
    low, high, p = (found.arrays[name] for name in ("low", "high", "p_value"))
    assert np.array_equal((low > 0) | (high < 0), p < 0.05)
    model = FirthLogisticRegression(max_iter=1)
    with pytest.warns(ConvergenceWarning):
        cut = model.fit(X, label).summary()
    assert not cut.valid
    assert np.isnan(cut.arrays["low"]).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_subsets_that_leave_no_row_over_have_no_adjusted_r2():
    found = BestSubsetRegression().fit(X[:4], y[:4]).subsets_
    adjusted = {s.size: s.adjusted_r2 for s in found}
    assert np.isnan(adjusted[3])
    assert np.isfinite(adjusted[2])
    full = BestSubsetRegression().fit(X, y).subsets_[-1]
    r2 = LinearRegression().fit(X, y).score(X, y)
    assert_allclose(full.adjusted_r2, 1 - (1 - r2) * 29 / 26)


def test_refusals_of_functions():
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        residual_health(model, X, y, alpha=1.5)
    with pytest.raises(ValueError, match="alpha"):
        LassoLarsIC().fit(X, y).coef_at(-0.1)
    with pytest.raises(ValueError, match="alpha"):
        LassoLarsIC().fit(X, y).coef_at(np.nan)
    with pytest.raises(ValueError, match="max_iter"):
        lars_path(X, y, max_iter=-1)
    with pytest.raises(ValueError, match="max_iter"):
        lars_path(X, y, max_iter=2.5)
    with pytest.raises(ValueError, match="value"):
        convert_penalty(-1.0, penalty="l1", n_samples=5)


@pytest.mark.parametrize("cls", [BayesianRidge, ARDRegression])
@pytest.mark.parametrize("name", ["compute_score", "fit_intercept", "copy_X"])
def test_switches_are_true_or_false(cls, name):
    with pytest.raises(ValueError, match=name):
        cls(**{name: "yes"}).fit(X, y)


def test_likelihood_ratio_needs_the_same_rows_and_classes():
    label = (y > 0).astype(int)
    whole, part = LogisticRegression(C=np.inf), LogisticRegression(C=np.inf)
    noise = np.random.default_rng(1).random(30) < 0.3
    label = np.where(noise, 1 - label, label)
    whole.fit(X, label)
    assert whole.likelihood_ratio_test(part.fit(X[:, :1], label)).df == 2
    for rows, classes in ((slice(1, None), label[1:]), (slice(None), label + 1)):
        with pytest.raises(ValueError, match="same rows and classes"):
            whole.likelihood_ratio_test(LogisticRegression(C=np.inf).fit(X[rows, :1], classes))


def test_the_residual_of_a_nearly_exact_fit_keeps_its_digits():
    """|c|^2 - |U'c|^2 loses what is left; the rest is then summed itself."""
    w = np.array([1.0, -2.0, 0.5])
    c = X @ w + 1e-7 * rng.normal(size=30)
    prior = Prior(np.zeros(3), np.eye(3), np.zeros(3, dtype=bool))
    rest = see(np.column_stack([X, c]), prior, 30.0).rest
    assert_allclose(rest, np.linalg.lstsq(X, c)[1][0], rtol=1e-3)


@pytest.mark.parametrize(
    ("H", "says"),
    [
        (np.diag([1.0, 2.0]), True),
        (np.diag([1.0, 0.0]), False),
        (np.diag([-1.0, -2.0]), False),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), False),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), False),
    ],
)
def test_curvature_upwards_in_every_direction(H, says):
    assert positive_definite(H) is says


@pytest.mark.parametrize("limit", ["stop_n_inliers", "stop_score"])
def test_ransac_ends_where_it_was_told_to(limit):
    found = RANSACRegressor(random_state=0, stop_probability=1.0, **{limit: 0.0}).fit(X, y)
    assert found.n_trials_ == 1
    assert RANSACRegressor(random_state=0, stop_probability=1.0).fit(X, y).n_trials_ > 1


def test_the_variance_that_the_precision_of_a_column_adds():
    """By fine integration over u = s/(lambda + s), as the docstring has it."""
    model = ARDRegression().fit(X[:, :1], y)
    var, w, lam = model.sigma_[0, 0], model.coef_[0], model.lambda_[0]
    s, q = 1 / var - lam, w / var
    u = (np.arange(200_000) + 0.5) / 200_000
    weight = np.sqrt(1 - u) * np.exp((u - 1) * q**2 / (2 * s))
    square = (weight * (u / s + (u * q / s - w) ** 2)).sum() / weight.sum()
    assert_allclose(model._missing[0], square - var, rtol=0.02)
    assert model._missing[0] > 0
