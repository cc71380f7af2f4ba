"""BCa, DeLong, silhouettes and calibration: the hard parts against brute force and the peers."""

import numpy as np
import pytest
import sklearn.metrics as sm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import bootstrap, chisquare
from sklearn.calibration import CalibratedClassifierCV as Theirs
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from pellucid import CalibratedClassifierCV
from pellucid.core.runtime.threads import limit_threads
from pellucid.evaluation import metric_interval, reliability, resolve_metric
from pellucid.evaluation.calibration.calibrators import fit_isotonic, fit_sigmoid, fit_temperature
from pellucid.evaluation.intervals.bootstrap_intervals import acceleration, bca_limits, make_units
from pellucid.evaluation.intervals.kernels import CDF, TABLE, unit_counts
from pellucid.evaluation.intervals.metric_intervals import statistic_of
from pellucid.evaluation.metrics.delong import delong_variance, mean_auc_variance, ranking
from pellucid.evaluation.metrics.silhouette import silhouette_scores


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    s = np.round(rng.normal(size=n) + y, 1)
    numbers = rng.normal(size=n)
    return {
        "classes": (y, (s > 0.5).astype(int)),
        "scores": (y, s),
        "probabilities": (y, 1 / (1 + np.exp(-s))),
        "numbers": (numbers, numbers + rng.exponential(size=n) - 1),
    }


NAMES = {
    "roc_auc": "scores", "average_precision": "scores", "pr_area": "scores", "f1": "classes",
    "mcc": "classes", "kappa": "classes", "balanced_accuracy": "classes", "accuracy": "classes",
    "rmse": "numbers", "r2": "numbers", "nrmse": "numbers", "median_ae": "numbers",
    "max_error": "numbers", "mse": "numbers", "mae": "numbers", "brier": "probabilities",
    "log_loss": "probabilities",
}  # fmt: skip


def prepared(name, w=None, n=60, groups=None):
    y, p = sample(n)[NAMES[name]]
    metric = resolve_metric(name)
    data = metric.prepared(y, p, w, None, None)
    estimate = metric.definition.value(data)
    return metric, data, statistic_of(metric, data, make_units(data.n, data.w, groups), estimate)


@pytest.mark.parametrize("name", list(NAMES))
def test_jackknife_without_refits_equals_leaving_rows_out(name):
    metric, _, statistic = prepared(name)
    y, p = sample()[NAMES[name]]
    brute = np.array([metric.score(np.delete(y, i), np.delete(p, i)) for i in range(len(y))])
    values, multiplicity = statistic.jackknife()
    assert_allclose(multiplicity.sum(), len(y))
    assert_allclose(
        np.sort(np.repeat(values, multiplicity.astype(int))), np.sort(brute), atol=1e-12
    )


@pytest.mark.parametrize("name", list(NAMES))
def test_jackknife_weights_are_repetitions(name):
    w = np.random.default_rng(1).integers(0, 4, size=60)
    metric, _, statistic = prepared(name, w)
    y, p = (np.repeat(part, w) for part in sample()[NAMES[name]])
    brute = np.array([metric.score(np.delete(y, i), np.delete(p, i)) for i in range(len(y))])
    assert_allclose(
        acceleration(*statistic.jackknife()), acceleration(brute, np.ones(len(y))), atol=1e-9
    )


@pytest.mark.parametrize("name", list(NAMES))
def test_jackknife_of_groups_leaves_whole_groups_out(name):
    groups = np.random.default_rng(2).integers(0, 9, size=60)
    metric, _, statistic = prepared(name, groups=groups)
    y, p = sample()[NAMES[name]]
    brute = [metric.score(y[groups != g], p[groups != g]) for g in range(9)]
    assert_allclose(statistic.jackknife()[0], brute, atol=1e-12)


@pytest.mark.parametrize("name", list(NAMES))
@pytest.mark.parametrize("grouped", [False, True])
def test_replicates_are_the_metric_of_the_drawn_rows(name, grouped):
    """The kernels' short ways give the metric of the rows that the counts stand for."""
    groups = np.random.default_rng(2).integers(0, 12, size=60) if grouped else None
    metric, _, statistic = prepared(name, groups=groups)
    y, p = sample()[NAMES[name]]
    replicates = statistic.replicates(7, 60)
    assert len(np.unique(replicates)) > 1
    if metric.definition.input == "classes" and not grouped:
        return  # whole tables are drawn: there are no rows to list
    units = make_units(60, None, groups)
    counts = units.counts(7, 0, 50)[:, units.unit]
    if name == "roc_auc" and not grouped:  # drawn in the order of the sorted rows
        order = np.argsort(-p)
        counts[:, order] = counts.copy()
    for b in range(50):
        rows = np.repeat(np.arange(60), counts[b])
        assert_allclose(replicates[b], metric.score(y[rows], p[rows]), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "function"),
    [("roc_auc", sm.roc_auc_score), ("f1", sm.f1_score), ("rmse", sm.root_mean_squared_error),
     ("r2", sm.r2_score), ("median_ae", sm.median_absolute_error)],
)  # fmt: skip
def test_bca_limits_are_scipys(name, function):
    """The same replicates and our own acceleration give SciPy's limits exactly."""
    y, p = sample()[NAMES[name]]
    theirs = bootstrap(
        (y, p), function, paired=True, vectorized=False, n_resamples=400, method="BCa", rng=1
    )
    _, _, statistic = prepared(name)
    a = acceleration(*statistic.jackknife())
    limits = bca_limits(statistic.estimate, theirs.bootstrap_distribution, a, 0.95)
    assert_allclose(limits, theirs.confidence_interval, rtol=1e-9)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "f1", "rmse", "median_ae"])
def test_bca_agrees_with_scipy_up_to_chance(name):
    y, p = sample(200)[NAMES[name]]
    ours = metric_interval(name, y, p, method="bca", n_resamples=9999)
    metric = resolve_metric(name)
    theirs = bootstrap(
        (y, p), metric.score, paired=True, vectorized=False, n_resamples=600, method="BCa", rng=1
    )
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=0.15)
    tolerance = 0.5 * ours.standard_error
    assert_allclose([ours.low, ours.high], theirs.confidence_interval, atol=tolerance)


@pytest.mark.parametrize("name", list(NAMES))
def test_same_interval_for_any_number_of_threads(name):
    y, p = sample(200)[NAMES[name]]
    found = []
    for n in (1, 2, 3):
        with limit_threads(n):
            found.append(metric_interval(name, y, p, method="bca", n_resamples=300))
    assert found[0] == found[1] == found[2]


def test_counts_are_multinomial():
    """Exactly n draws, the right means, variances and covariances, and distribution."""
    n, B = 6, 200_000
    counts = np.empty((B, n), dtype=np.int32)
    unit_counts(np.uint64(3), 0, counts, CDF, TABLE, np.empty(0), np.empty(0, np.int64), n)
    assert (counts.sum(axis=1) == n).all()
    from math import comb

    expected = [comb(n, k) * (1 / n) ** k * (1 - 1 / n) ** (n - k) for k in range(n + 1)]
    for j in range(n):
        seen = np.bincount(counts[:, j], minlength=n + 1)
        seen, want = np.append(seen[:4], seen[4:].sum()), np.array(expected) * B
        want = np.append(want[:4], want[4:].sum())
        assert chisquare(seen, want).pvalue > 1e-5
    cov = np.cov(counts.T)
    assert_allclose(cov, np.eye(n) - 1 / n, atol=0.015)


def test_weighted_counts_have_the_right_chances():
    w = np.array([1.0, 3.0, 0.5, 5.5])
    counts = make_units(4, w).counts(5, 0, 100_000)
    assert (counts.sum(axis=1) == 10).all()
    assert_allclose(counts.mean(axis=0), w, atol=0.03)


# --- DeLong ----------------------------------------------------------------------------------


def brute_delong(y, s):
    D = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
    v, u = D.mean(axis=1), D.mean(axis=0)
    return D.mean(), v.var(ddof=1) / len(v) + u.var(ddof=1) / len(u)


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_delong_by_brute_force(digits):
    rng = np.random.default_rng(digits)
    y = rng.integers(0, 2, size=200)
    s = np.round(rng.normal(size=200) + y, digits)
    assert_allclose(delong_variance(y, s)[:2], brute_delong(y, s), rtol=1e-12)
    w = rng.integers(0, 4, size=200)
    rows = np.repeat(np.arange(200), w)
    keep = w > 0
    weighted = delong_variance(y[keep], s[keep], w[keep].astype(float))
    assert_allclose(weighted[:2], brute_delong(y[rows], s[rows]), rtol=1e-12)


def test_mean_auc_variance_of_one_column_is_delongs_to_first_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=4000)
    s = rng.normal(size=4000) + y
    auc, variance = mean_auc_variance([ranking(y, s)])
    assert_allclose([auc, variance], delong_variance(y, s)[:2], rtol=2e-3)


def test_perfect_ranking_is_not_certain():
    found = metric_interval("roc_auc", [0] * 10 + [1] * 10, np.arange(20))
    assert found.estimate == found.high == 1
    assert 0.6 < found.low < 0.8


def test_auto_chooses():
    y, s = sample()["scores"]
    assert metric_interval("roc_auc", y, s).method == "delong"
    assert metric_interval("roc_auc", y, s, groups=np.arange(60) // 3).method == "bca"
    assert metric_interval("brier", *sample()["probabilities"]).method == "t"
    assert metric_interval("f1", *sample()["classes"]).method == "bca"
    assert metric_interval(sm.f1_score, *sample()["classes"], n_resamples=50).method == "bca"
    assert metric_interval("rmse", *sample()["numbers"], method="percentile").method == "percentile"
    with pytest.raises(ValueError, match="no share"):
        metric_interval("rmse", *sample()["numbers"], method="wilson")
    with pytest.raises(ValueError, match="no mean"):
        metric_interval("rmse", *sample()["numbers"], method="t")


def test_groups_widen_the_interval():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 20)
    y = rng.normal(size=30)[group]
    p = y + rng.normal(size=30)[group]  # errors shared by a group
    alone = metric_interval("rmse", y, p)
    whole = metric_interval("rmse", y, p, groups=group)
    assert whole.standard_error > 3 * alone.standard_error
    with pytest.raises(ValueError, match="one group"):
        metric_interval("rmse", y, p, groups=np.zeros(600))


# --- silhouettes -----------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 3, 30])
def test_silhouettes_by_brute_force(p):
    rng = np.random.default_rng(p)
    X, labels = rng.normal(size=(90, p)) + 1e3, rng.integers(0, 5, size=90)
    labels[0] = 5  # a cluster of one
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    expected = np.zeros(90)
    for i in range(1, 90):
        own = (labels == labels[i]) & (np.arange(90) != i)
        a = D[i, own].mean()
        b = min(D[i, labels == c].mean() for c in range(6) if c != labels[i])
        expected[i] = (b - a) / max(a, b)
    assert_allclose(silhouette_scores(X, labels), expected, atol=1e-10)


@pytest.mark.parametrize("p", [2, 30])
def test_silhouettes_of_blocks_and_threads(p):
    rng = np.random.default_rng(p)
    X, labels = rng.normal(size=(5000, p)), rng.integers(0, 3, size=5000)
    with limit_threads(1):
        one = silhouette_scores(X, labels)
    with limit_threads(3):
        assert_array_equal(silhouette_scores(X, labels), one)
    assert_allclose(one, sm.silhouette_samples(X, labels), atol=1e-9)


# --- reliability and calibration -------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_agrees_with_calibration_curve(strategy):
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p**2).astype(int)
    found = reliability(y, p, n_bins=7, strategy=strategy)
    observed, predicted = calibration_curve(y, p, n_bins=7, strategy=strategy)
    assert_allclose(found.observed, observed)
    assert_allclose(found.probability, predicted)
    assert_allclose(found.brier, sm.brier_score_loss(y, p))
    w = rng.integers(0, 3, size=500)
    weighted = reliability(y, p, strategy=strategy, sample_weight=w)
    again = reliability(np.repeat(y, w), np.repeat(p, w), strategy=strategy)
    assert_allclose(weighted.counts, again.counts)
    assert_allclose(weighted.ece, again.ece)


def test_brier_parts_are_exact_for_distinct_probabilities():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 11, size=400) / 10
    y = (rng.random(400) < p).astype(int)
    r = reliability(y, p, strategy="distinct")
    assert len(r.counts) == 11
    assert r.counts.sum() == 400
    assert_allclose(r.brier, r.reliability - r.resolution + r.uncertainty, atol=1e-12)
    assert (r.low <= r.observed).all()
    assert (r.observed <= r.high).all()
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        reliability(y, p + 0.5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("model", [GaussianNB(), LinearSVC(random_state=0)], ids=["nb", "svm"])
def test_calibration_agrees_with_scikit_learn(classes, method, ensemble, model):
    X, y = make_classification(
        300, 6, n_informative=5, n_redundant=0, n_classes=classes, class_sep=0.5, random_state=0
    )
    y = np.array(["ant", "bee", "cat"])[y]
    w = np.random.default_rng(0).integers(1, 4, size=300)
    options = {"method": method, "ensemble": ensemble, "cv": 3}
    ours = CalibratedClassifierCV(model, **options).fit(X, y, sample_weight=w)
    theirs = Theirs(model, **options).fit(X, y, sample_weight=w)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)
    assert_allclose(ours.predict_proba(X).sum(axis=1), 1)


def test_frozen_and_refusals():
    X, y = make_classification(200, 5, random_state=0)
    base = GaussianNB().fit(X[:100], y[:100])
    ours = CalibratedClassifierCV(FrozenEstimator(base)).fit(X[100:], y[100:])
    theirs = Theirs(FrozenEstimator(base)).fit(X[100:], y[100:])
    assert len(ours.calibrated_classifiers_) == 1
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    with pytest.raises(ValueError, match="less than 300"):
        CalibratedClassifierCV(GaussianNB(), cv=300).fit(X, y)
    with pytest.raises(ValueError, match="sigmoid"):
        CalibratedClassifierCV(GaussianNB(), method="sigmoide").fit(X, y)


def test_sigmoid_gradient_is_zero():
    rng = np.random.default_rng(0)
    f, w = rng.normal(size=300) * 50 + 20, rng.random(300)
    y = (rng.random(300) < 1 / (1 + np.exp(-f / 20))).astype(float)
    a, b = fit_sigmoid(f, y, w)
    P, N = w @ y, w @ (1 - y)
    t = np.where(y > 0, (P + 1) / (P + 2), 1 / (N + 2))
    slope = w * (1 / (1 + np.exp(a * f + b)) - t)
    assert_allclose([slope @ f / 50, slope.sum()], 0, atol=1e-9)


def test_isotonic_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    f, w = np.round(rng.normal(size=400), 1), rng.random(400)
    y = (rng.random(400) < 1 / (1 + np.exp(-f))).astype(float)
    ours = fit_isotonic(f, y, w)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(f, y, sample_weight=w)
    x = np.linspace(-5, 5, 1001)
    assert_allclose(ours.predict(x), theirs.predict(x), atol=1e-12)


def test_temperature_recovers_a_known_scale():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 3)) * 2
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    code = (P.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    found = fit_temperature(3 * z, code, np.ones(20_000))
    assert_allclose(found.beta_, 1 / 3, rtol=0.05)
