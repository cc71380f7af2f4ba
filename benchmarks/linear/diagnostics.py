"""Robust fits and diagnostics: HuberRegressor, ScaledRegressor, HC3 errors, influence."""

import numpy as np

from benchmarks.harness import Case

N, P = 100_000, 50


def heavy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    return X, X @ rng.standard_normal(P) + rng.standard_t(2, size=N)


def ours_huber(data):
    from pellucid import HuberRegressor

    return HuberRegressor().fit(*data).coef_


def sklearn_huber(data):
    from sklearn.linear_model import HuberRegressor

    return HuberRegressor().fit(*data).coef_


def ours_scaled(data):
    from pellucid import ScaledRegressor

    return ScaledRegressor().fit(*data).predict(data[0][:100])


def sklearn_scaled(data):
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge()).fit(*data).predict(data[0][:100])


def ours_robust(data):
    from pellucid import LinearRegression

    X, y = data
    return LinearRegression().fit(X, y).summary(covariance="HC3", X=X, y=y).standard_error


def statsmodels_robust(data):
    import statsmodels.api as sm

    X, y = data
    return sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC3").bse


def ours_influence(data):
    from pellucid import LinearRegression
    from pellucid.linear import residual_health

    X, y = data
    return residual_health(LinearRegression().fit(X, y), X, y).cooks_distance


def statsmodels_influence(data):
    import statsmodels.api as sm
    from statsmodels.stats.outliers_influence import OLSInfluence

    X, y = data
    return OLSInfluence(sm.OLS(y, sm.add_constant(X)).fit()).cooks_distance[0]


def near(a, b):
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-4))


def close(a, b):
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


CASES = [
    Case(
        f"HuberRegressor {N:,} x {P}", heavy,
        {"pellucid": ours_huber, "scikit-learn": sklearn_huber}, near,
        "about five steps of two reads of X (40 MB)",
    ),
    Case(
        f"ScaledRegressor(Ridge) {N:,} x {P}", heavy,
        {"pellucid": ours_scaled, "scikit-learn pipeline": sklearn_scaled}, close,
        "scaling reads X twice and writes it once; the fit reads it once",
    ),
    Case(
        f"summary(covariance='HC3') {N:,} x {P}", heavy,
        {"pellucid": ours_robust, "statsmodels": statsmodels_robust}, close,
        "two passes of n p^2 multiply-adds: scores, sandwich",
    ),
    Case(
        f"residual_health {N:,} x {P}: influence and six tests", heavy,
        {"pellucid": ours_influence, "statsmodels (influence alone)": statsmodels_influence}, close,
        "an orthonormal basis of the design, n p^2",
    ),
]  # fmt: skip
