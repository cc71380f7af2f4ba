"""Tests and conformal prediction against MAPIE, mlxtend, statsmodels and SciPy."""

import numpy as np

from benchmarks.harness import Case


def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((22_000, 20))
    return X, X @ rng.standard_normal(20) + rng.standard_normal(22_000)


def few_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 10))
    return X, X @ rng.standard_normal(10) + rng.standard_normal(600)


def labelled():
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=60_000)
    return rng.standard_normal((60_000, 20)) + 0.7 * np.eye(10, 20)[y], y


def ours_cv_plus(data):
    from pellucid import ConformalRegressor, LinearRegression

    X, y = data
    model = ConformalRegressor(LinearRegression(), method="cv+", confidence=0.9)
    return model.fit(X[:20_000], y[:20_000]).predict_interval(X[20_000:])


def mapie_cv_plus(data):
    from mapie.regression import CrossConformalRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold

    X, y = data
    model = CrossConformalRegressor(
        LinearRegression(), confidence_level=0.9, method="plus", cv=KFold(5)
    )
    return model.fit_conformalize(X[:20_000], y[:20_000]).predict_interval(X[20_000:])[1][:, :, 0]


def ours_jackknife(data):
    from pellucid import ConformalRegressor, LinearRegression

    X, y = data
    model = ConformalRegressor(LinearRegression(), method="jackknife+", confidence=0.9)
    return model.fit(X[:400], y[:400]).predict_interval(X[400:])


def mapie_jackknife(data):
    from mapie.regression import CrossConformalRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import LeaveOneOut

    X, y = data
    model = CrossConformalRegressor(
        LinearRegression(), confidence_level=0.9, method="plus", cv=LeaveOneOut()
    )
    return model.fit_conformalize(X[:400], y[:400]).predict_interval(X[400:])[1][:, :, 0]


def ours_sets(data):
    from pellucid import ConformalClassifier, GaussianNB

    X, y = data
    model = ConformalClassifier(GaussianNB(), confidence=0.9, random_state=0).fit(X, y)
    return model.predict_set(X).sum(axis=1).mean()


def mapie_sets(data):
    from mapie.classification import SplitConformalClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB

    X, y = data
    Xf, Xc, yf, yc = train_test_split(X, y, test_size=0.25, random_state=0)
    model = SplitConformalClassifier(GaussianNB(), confidence_level=0.9, prefit=False)
    model.fit(Xf, yf).conformalize(Xc, yc)
    return model.predict_set(X)[1][:, :, 0].sum(axis=1).mean()


def curve():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(3_000, 40))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(3_000)


def ours_decomposition(data):
    from pellucid import Ridge
    from pellucid.evaluation import BootstrapDraw, bias_variance

    X, y = data
    parts = bias_variance(
        Ridge(), BootstrapDraw(X[:2_000], y[:2_000]), X[2_000:], y_test=y[2_000:], n_models=200
    )
    return parts.total, parts.bias2


def mlxtend_decomposition(data):
    from mlxtend.evaluate import bias_variance_decomp
    from sklearn.linear_model import Ridge

    X, y = data
    total, bias, _ = bias_variance_decomp(
        Ridge(),
        X[:2_000],
        y[:2_000],
        X[2_000:],
        y[2_000:],
        loss="mse",
        num_rounds=200,
        random_seed=0,
    )
    return total, bias


def truths():
    rng = np.random.default_rng(0)
    return rng.random((200_000, 8)) < np.linspace(0.80, 0.82, 8)


def ours_cochran(data):
    from pellucid.evaluation import cochran_q_test

    return cochran_q_test(data).statistic


def statsmodels_cochran(data):
    from statsmodels.stats.contingency_tables import cochrans_q

    return cochrans_q(data.astype(int)).statistic


def table():
    return np.random.default_rng(0).normal(size=(100_000, 6))


def ours_friedman(data):
    from pellucid.evaluation import friedman_test

    return friedman_test(data).statistic


def scipy_friedman(data):
    from scipy.stats import friedmanchisquare

    return friedmanchisquare(*data.T).statistic


def close(a, b):
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


def near(a, b):
    return bool(np.allclose(a, b, rtol=0.05))


CASES = [
    Case(
        "CV+ intervals: 20,000 rows, 2,000 new",
        rows,
        {"pellucid": ours_cv_plus, "MAPIE": mapie_cv_plus},
        close,
        "two selections in a 2,000 x 20,000 table",
    ),
    Case(
        "Jackknife+ intervals of least squares: 400 rows, 200 new",
        few_rows,
        {"pellucid": ours_jackknife, "MAPIE": mapie_jackknife},
        close,
        "one fit, against 401",
    ),
    Case(
        "Conformal label sets: 60,000 rows, 10 classes (ConformalClassifier)",
        labelled,
        {"pellucid": ours_sets, "MAPIE": mapie_sets},
        near,
        "one fit and one pass of probabilities; the mean size of the sets is compared",
    ),
    Case(
        "Bias and variance of 200 models",
        curve,
        {"pellucid": ours_decomposition, "mlxtend": mlxtend_decomposition},
        near,
        "200 fits of 2,000 rows x 40; other bootstrap draws, so equal up to chance",
        "Every model gets a random stream of its own and is checked like any task, so that the "
        "numbers are the same for any n_jobs; on one worker that costs more than mlxtend's loop.",
    ),
    Case(
        "Cochran's Q: 200,000 rows, 8 models",
        truths,
        {"pellucid": ours_cochran, "statsmodels": statsmodels_cochran},
        close,
        "one pass",
    ),
    Case(
        "Friedman's test: 100,000 data sets, 6 models",
        table,
        {"pellucid": ours_friedman, "SciPy": scipy_friedman},
        close,
        "sorting rows of 6",
    ),
]
