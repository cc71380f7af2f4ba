"""Power transforms: scikit-learn, the likelihood's derivatives, the way back."""

import numpy as np
import pytest
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose
from scipy.special import boxcox

from pellucid.features import PowerTransformer
from pellucid.features.scaling.power import power_cells
from pellucid.features.scaling.power_kernels import likelihood

rng = np.random.default_rng(0)
n = 2000
X = np.column_stack([
    rng.normal(size=n),
    rng.exponential(size=n),
    -rng.exponential(size=n),
    rng.lognormal(1, 1, n),
    rng.uniform(1, 2, n),
    rng.normal(size=n) ** 3,
    100 + rng.normal(size=n),
])  # fmt: skip
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)


@pytest.mark.parametrize("data", [X, HOLES], ids=["whole", "missing"])
@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
@pytest.mark.parametrize("standardize", [True, False])
def test_oracle(data, method, standardize):
    A = np.abs(data) + 0.1 if method == "box-cox" else data
    ours = PowerTransformer(method, standardize=standardize).fit(A)
    theirs = peer.PowerTransformer(method, standardize=standardize).fit(A)
    assert_allclose(ours.lambdas_, theirs.lambdas_, rtol=1e-5)  # Brent stops at sqrt(eps)
    theirs.lambdas_ = ours.lambdas_
    if not standardize:
        assert_allclose(ours.transform(A), theirs.transform(A), rtol=1e-9, atol=1e-9)
    else:
        Z = ours.transform(A)
        assert_allclose(np.nanmean(Z, axis=0), 0, atol=1e-9)
        assert_allclose(np.nanstd(Z, axis=0), 1, rtol=1e-9)
    assert_allclose(ours.inverse_transform(ours.transform(A)), A, rtol=1e-7, atol=1e-9)


def test_the_likelihood_is_at_its_maximum():
    model = PowerTransformer(standardize=False).fit(X)
    jacobian = (np.sign(X) * np.log1p(np.abs(X))).mean(axis=0)

    def value(lambdas):
        T = power_cells(X, lambdas, "yeo-johnson")
        return -0.5 * np.log(T.var(axis=0)) + (lambdas - 1) * jacobian

    best = value(model.lambdas_)
    for step in (-1e-3, 1e-3):
        assert (value(model.lambdas_ + step) < best).all()


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("m", [-1.5, -1e-4, 0.0, 1e-3, 0.7, 2.0, 3.1])
def test_derivatives(m, mixed):
    L = rng.normal(size=(500, 1)) + 0.2
    flags, mean = np.array([mixed]), L.mean(axis=0)

    def at(v):
        return likelihood(L, np.array([v]), flags, mean)

    h = 1e-5
    low, high = at(m - h), at(m + h)
    assert_allclose((high.value - low.value) / (2 * h), at(m).slope, rtol=1e-5, atol=1e-8)
    assert_allclose((high.slope - low.slope) / (2 * h), at(m).curvature, rtol=1e-5, atol=1e-8)


def test_history_falls():
    history = PowerTransformer().fit(X).history_
    assert (np.diff(history["objective"]) <= 1e-9).all()
    assert len(history) < 20


def test_formula():
    x = np.array([[0.5], [2.0], [7.0]])
    for value in (-1.0, 0.0, 0.3, 2.0):
        assert_allclose(power_cells(x, np.array([value]), "box-cox"), boxcox(x, value), rtol=1e-12)


def test_units_of_a_positive_column_do_not_matter():
    a = PowerTransformer("box-cox").fit(X[:, 3:5])
    b = PowerTransformer("box-cox").fit(1e6 * X[:, 3:5])
    assert_allclose(a.lambdas_, b.lambdas_, rtol=1e-7, atol=1e-8)
    assert_allclose(a.transform(X[:, 3:5]), b.transform(1e6 * X[:, 3:5]), atol=1e-6)


def test_recovers_a_normal():
    z = rng.normal(size=(5000, 1)) * 0.3
    assert abs(PowerTransformer("box-cox").fit(np.exp(z)).lambdas_[0]) < 0.1


def test_constant_column_and_signs():
    A = np.column_stack([np.full(20, 3.0), rng.exponential(size=20)])
    with pytest.warns(UserWarning, match="'x0'"):
        model = PowerTransformer().fit(A)
    assert model.lambdas_[0] == 1
    assert np.isfinite(model.transform(A)).all()
    with pytest.raises(ValueError, match=r"strictly positive.*column 1, row 2"):
        PowerTransformer("box-cox").fit([[1.0, 1.0], [2.0, 1.0], [3.0, 0.0]])


def test_no_way_back_warns():
    model = PowerTransformer("box-cox", standardize=False).fit(1 / X[:, [4]])
    assert model.lambdas_[0] < 0  # T stays below -1 / lambda
    with pytest.warns(UserWarning, match="NaN"):
        assert np.isnan(model.inverse_transform([[1e3]])).all()


def test_lambdas_may_be_set_by_hand():
    model = PowerTransformer(standardize=False).fit([[1.0], [2.0], [4.0]])
    model.lambdas_ = [0.5]
    assert_allclose(model.inverse_transform(model.transform([[3.0]])), [[3.0]])
    assert_allclose(model.transform([[3.0]]), [[2.0]])
