"""ScaledRegressor: the example, units, conventions."""

import numpy as np
import pytest
import sklearn.preprocessing
from linear_tables import R, Y, data
from numpy.testing import assert_allclose

from pellucid.features import StandardScaler, UnitNormScaler
from pellucid.linear import LinearRegression, Ridge, ScaledRegressor


@pytest.mark.parametrize(
    ("alpha", "coef", "df"),
    [
        (1.0, (1.42837938, 1.86688561, 0.52474965), 2.1809559),
        (10.0, (1.01911225, 1.09550472, 0.49427907), 1.0530411),
    ],
)
def test_example_10(alpha, coef, df):
    model = ScaledRegressor(Ridge(alpha)).fit(R, Y)
    assert_allclose(model.scaled_coef_, coef, atol=1e-8)
    assert_allclose(model.regressor_.df_, 1 + df, atol=1e-7)
    singular = [4.23821586, 2.32340749, 0.79956486]
    assert_allclose(model.regressor_.singular_, singular, atol=1e-8)
    if alpha == 1.0:
        assert_allclose(model.intercept_, 0.05416139, atol=1e-8)
        assert_allclose(model.coef_, [0.62339587, 0.85799821, 0.56605782], atol=1e-8)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize(
    "scaler",
    [None, StandardScaler(ddof=1), UnitNormScaler(), StandardScaler(with_mean=False),
     sklearn.preprocessing.StandardScaler()],
    ids=str,
)  # fmt: skip
def test_predicts_what_the_parts_predict(scaler, k):
    X, y = data(40, 3, k)
    model = ScaledRegressor(Ridge(3.0), scaler=scaler).fit(X, y)
    inner = model.regressor_.predict(model.scaler_.transform(X))
    assert_allclose(model.predict(X), inner, rtol=1e-10)
    assert model.predict(X).shape == y.shape
    assert model.coef_.shape == model.scaled_coef_.shape


def test_penalised_fits_follow_any_units():
    X, y = data(40, 3)
    units = np.array([1e3, 1e-2, 7.0])
    a, b = ScaledRegressor().fit(X, y), ScaledRegressor().fit(X * units - 5, y)
    assert_allclose(a.coef_, b.coef_ * units, rtol=1e-9)
    assert_allclose(a.predict(X), b.predict(X * units - 5), rtol=1e-9)
    plain = ScaledRegressor(LinearRegression()).fit(X, y)
    assert_allclose(plain.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-10)


def test_weights_are_repetitions():
    X, y = data(40, 3)
    w = np.random.default_rng(0).integers(0, 3, size=40)
    a = ScaledRegressor().fit(X, y, sample_weight=w)
    b = ScaledRegressor().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(a.coef_, b.coef_, rtol=1e-9)


def test_a_column_of_ones_is_warned_of():
    X, y = data(40, 3)
    X = np.column_stack([np.ones(40), X])
    with pytest.warns(UserWarning, match="constant"):
        model = ScaledRegressor().fit(X, y)
    assert model.coef_[0] == 0
    with pytest.warns(UserWarning, match="scaled to 0: x0"):
        ScaledRegressor(scaler=sklearn.preprocessing.StandardScaler()).fit(X, y)


def test_refusals():
    X, y = data(40, 3)
    with pytest.raises(ValueError, match="mean_ and scale_"):
        ScaledRegressor(scaler=sklearn.preprocessing.Normalizer()).fit(X, y)
    from sklearn.neighbors import KNeighborsRegressor

    with pytest.raises(ValueError, match="coef_ and intercept_"):
        ScaledRegressor(KNeighborsRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        ScaledRegressor(KNeighborsRegressor()).fit(X, y, np.arange(40))
