"""Each textbook method of evaluation against the fast one, on random scores and models."""

import numpy as np
import pytest
from agreement import same, same_mean
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

import pellucid
from pellucid import evaluation as fast
from pellucid.evaluation.intervals.bootstrap_intervals import acceleration, bca_limits
from pellucid.textbook.evaluation import bca_interval as bca
from pellucid.textbook.evaluation.bca_interval import bca_interval
from pellucid.textbook.evaluation.bootstrap_632 import bootstrap_632
from pellucid.textbook.evaluation.conformal_sets import conformal_sets
from pellucid.textbook.evaluation.confusion_rates import confusion_rates
from pellucid.textbook.evaluation.cross_validation import cross_validation
from pellucid.textbook.evaluation.delong import delong
from pellucid.textbook.evaluation.isotonic_regression import isotonic_regression
from pellucid.textbook.evaluation.jackknife_plus import jackknife_plus
from pellucid.textbook.evaluation.learning_curve import learning_curve
from pellucid.textbook.evaluation.leave_one_out import leave_one_out
from pellucid.textbook.evaluation.nested_cross_validation import nested_cross_validation
from pellucid.textbook.evaluation.one_standard_error import one_standard_error
from pellucid.textbook.evaluation.platt_scaling import platt_scaling
from pellucid.textbook.evaluation.proportion_interval import clopper_pearson, proportion_interval
from pellucid.textbook.evaluation.reliability import reliability
from pellucid.textbook.evaluation.roc_curve import roc_curve
from pellucid.textbook.evaluation.split_conformal import conformal_quantile, split_conformal
from pellucid.textbook.evaluation.temperature_scaling import temperature_scaling
from pellucid.textbook.shrinkage.lasso import lasso


def problem(seed, n=60, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


def scored(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return np.round(rng.normal(size=n) + y, 1), y  # with ties


def ridge(alpha):
    return lambda X, y: pellucid.Ridge(alpha).fit(X, y).predict


def test_cross_validation():
    X, y = problem(0)
    ours = cross_validation(ridge(0.5), X, y)
    theirs = fast.cross_validated(pellucid.Ridge(0.5), X, y, metric="mse")
    same(ours.folds, theirs.scores)
    same(ours.predictions, theirs.predictions)
    same(ours.standard_error, theirs.summary.standard_error)
    same(ours.corrected, theirs.corrected.standard_error)


def test_cross_validation_of_a_lasso_path():
    X, y = problem(1)

    def learn(alpha):
        def fit(X, y):
            state = lasso(X, y, alpha)
            return lambda Q: state.b + Q @ state.w

        return fit

    alphas = [0.5, 0.1, 0.02]
    ours = [cross_validation(learn(alpha), X, y).folds for alpha in alphas]
    theirs = pellucid.LassoCV(alphas=alphas, tol=1e-12).fit(X, y)
    same(ours, theirs.mse_path_, atol=1e-8)
    assert alphas[int(np.mean(ours, axis=1).argmin())] == theirs.alpha_


def test_nested_cross_validation():
    X, y = problem(2)
    alphas = [100.0, 10.0, 0.1]
    ours = nested_cross_validation([ridge(a) for a in alphas], X, y, outer=4, inner=3)
    tuned = pellucid.TunedEstimator(
        pellucid.Ridge(), {"alpha": alphas}, metric="mse", cv=3, rule="best"
    )
    theirs = fast.nested_cross_validation(tuned, X, y, metric="mse", outer_cv=4)
    same(ours.losses, theirs.scores)
    assert [alphas[j] for j in ours.chosen] == [c["alpha"] for c in theirs.chosen]


def test_one_standard_error():
    rng = np.random.default_rng(3)
    for _ in range(20):
        m, s, size = rng.normal(size=6), rng.uniform(0.1, 1, size=6), rng.integers(4, size=6)
        expected = fast.one_standard_error(m, s, size, greater_is_better=False)
        assert one_standard_error(m, s, size) == expected


def test_leave_one_out():
    X, y = problem(4)
    model = pellucid.Ridge(2.0).fit(X, y)
    H = model.hat_matrix(X)
    ours = leave_one_out(H, y)
    same(ours.loo, fast.leave_one_out(y, model.predict(X), np.diag(H)))
    same(ours.gcv, fast.generalised_cross_validation(y, model.predict(X), np.trace(H)))


def test_bootstrap_632():
    X, y = problem(5)
    label = (y > 0).astype(int)
    splits = fast.BootstrapSplit(15, stratify=True, random_state=0).split(X, label)
    theirs = fast.bootstrap_estimate(
        pellucid.GaussianNB(), X, label, metric="error", n_resamples=15, random_state=0
    )
    ours = bootstrap_632(
        lambda X, y: pellucid.GaussianNB().fit(X, y).predict, X, label, [s[0] for s in splits]
    )
    same(ours.out_of_bag, theirs.out_of_bag)
    same(ours.no_information, theirs.no_information)
    same(ours.value, theirs.value)


def test_bca_interval():
    X, y = problem(6, n=40)
    said = X[:, 0] - X[:, 1]

    def rmse(rows):
        return float(np.sqrt(((y[rows] - said[rows]) ** 2).mean()))

    rng = np.random.default_rng(0)
    ours = [bca_interval(rmse, 40, 400, rng) for _ in range(20)]
    theirs = [
        fast.metric_interval("rmse", y, said, n_resamples=400, random_state=i) for i in range(20)
    ]
    same(ours[0].estimate, theirs[0].estimate)
    same_mean([[o.low, o.high] for o in ours], [[t.low, t.high] for t in theirs])
    values, jackknife = rng.gamma(3.0, size=200), rng.gamma(3.0, size=40)
    a = acceleration(jackknife, np.ones(40))
    same(bca.limits(2.7, values, jackknife, 0.9)[1:], bca_limits(2.7, values, a, 0.9))


@pytest.mark.parametrize(("k", "n"), [(0, 10), (68, 100), (7, 7)])
def test_proportion_interval(k, n):
    theirs = fast.proportion_interval(k, n)
    same(proportion_interval(k, n), [theirs.low, theirs.high], atol=1e-12)
    theirs = fast.proportion_interval(k, n, method="exact")
    same(clopper_pearson(k, n), [theirs.low, theirs.high], atol=1e-10)


def test_confusion_rates():
    ours, theirs = confusion_rates(30, 10, 5, 55), fast.rates(30, 10, 5, 55)
    for name in ours._fields:
        same(getattr(ours, name), getattr(theirs, {"f1": "f_beta"}.get(name, name)))


def test_roc_curve():
    s, y = scored(7)
    ours, theirs = roc_curve(s, y), fast.threshold_curve(y, s)
    same(ours.thresholds, theirs.threshold)
    same(ours.true_rate, theirs.recall)
    same(ours.false_rate, 1 - theirs.specificity)
    same(ours.area, theirs.roc_auc)
    same(ours.average_precision, theirs.average_precision)


def test_delong():
    s, y = scored(8)
    theirs = fast.metric_interval("roc_auc", y, s)
    assert theirs.method == "delong"
    same(delong(s, y), [theirs.estimate, theirs.standard_error])


def test_reliability():
    s, y = scored(9)
    p = np.round(1 / (1 + np.exp(-s)), 1)
    ours, theirs = reliability(p, y), fast.reliability(y, p, strategy="distinct")
    for name in ours._fields:
        same(getattr(ours, name), getattr(theirs, name), atol=1e-12)
    same(ours.reliability - ours.resolution + ours.uncertainty, ours.brier)


def test_calibration():
    X, y = problem(10, n=90)
    label = (y > 0).astype(int)
    model = pellucid.LogisticRegression().fit(X, label)
    score = model.decision_function(X)

    def calibrated(method):
        return pellucid.CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(X, label)

    a, b = platt_scaling(score, label)
    sigmoid = calibrated("sigmoid").predict_proba(X)[:, 1]
    same(1 / (1 + np.exp(a * score + b)), sigmoid)
    order = np.argsort(score)
    isotonic = calibrated("isotonic").predict_proba(X)[:, 1]
    same(isotonic_regression(label[order]), isotonic[order], atol=1e-9)
    Z = np.column_stack([np.zeros(90), score])
    beta = temperature_scaling(Z, label)
    warm = calibrated("temperature").predict_proba(X)[:, 1]
    same(1 / (1 + np.exp(-beta * score)), warm)


def test_split_conformal():
    X, y = problem(11, n=100)
    model = pellucid.ConformalRegressor(pellucid.Ridge(), random_state=0, confidence=0.9).fit(X, y)
    q = conformal_quantile(model.scores_, 0.9)
    same(q, fast.conformal_quantile(model.scores_, 0.9))
    said = model.predict(X)
    ours = split_conformal(np.zeros(len(model.scores_)), model.scores_, said, 0.9)
    same(ours, model.predict_interval(X))


def test_jackknife_plus():
    X, y = problem(12, n=40)
    ours = jackknife_plus(ridge(1.0), X, y, X[:10] + 0.1, 0.9)
    model = pellucid.ConformalRegressor(pellucid.Ridge(1.0), method="jackknife+", confidence=0.9)
    same(ours, model.fit(X, y).predict_interval(X[:10] + 0.1), atol=1e-9)


@pytest.mark.parametrize("method", ["lac", "aps"])
def test_conformal_sets(method):
    rng = np.random.default_rng(13)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 2)) + rng.normal(size=(3, 2))[y]
    model = pellucid.ConformalClassifier(
        pellucid.GaussianNB(), method=method, random_state=0, confidence=0.8
    ).fit(X, y)
    P = model.estimator_.predict_proba(X)
    if method == "lac":  # the calibration rows are those with these scores
        kept = [int(np.argmin(np.abs(1 - P[np.arange(120), y] - s))) for s in model.scores_]
        ours = conformal_sets(P[kept], y[kept], P, 0.8)
    else:
        scores = np.array([P[i][P[i] >= P[i, y[i]]].sum() for i in range(120)])
        kept = [int(np.argmin(np.abs(scores - s))) for s in model.scores_]
        ours = conformal_sets(P[kept], y[kept], P, 0.8, aps=True)
    assert (ours == model.predict_set(X)).all()


def test_learning_curve():
    """All rows of the other folds give the same curve; fewer, which are drawn, the same law."""
    X, y = problem(15)
    theirs = [
        fast.size_curve(
            pellucid.Ridge(), X, y, sizes=[10, 48], metric="mse", cv=KFold(5), random_state=i
        )
        for i in range(12)
    ]
    rng = np.random.default_rng(0)
    ours = [learning_curve(ridge(1.0), X, y, [10, 48], 5, rng) for _ in range(12)]
    same(ours[0].test[1], theirs[0].test[1])
    same(ours[0].train[1], theirs[0].train[1])
    same_mean([curve.test[0] for curve in ours], [curve.test[0] for curve in theirs])
    same_mean([curve.train[0] for curve in ours], [curve.train[0] for curve in theirs])
