"""Gaussian naive Bayes: oracles, laws and corners."""

import warnings

import numpy as np
import pandas
import polars
import pytest
import sklearn.naive_bayes
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import clone

from pellucid import GaussianNB
from pellucid.compiled.counts.moments import class_moments, merge_class_moments
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, unit_weights
from pellucid.core.runtime.threads import limit_threads
from pellucid.naive_bayes import UnseenFeatureWarning, ZeroVarianceWarning
from pellucid.naive_bayes.gaussian import (
    check_priors,
    contributions,
    fit_gaussian_nb,
    joint_log_density,
    log_density,
    log_likelihood,
)

ONE_TO_EIGHT = np.array([[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]])
TWO = [0, 0, 0, 1, 1, 1]


def three_classes(n=300, p=4, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.choice(np.array(["ant", "bee", "cat"]), size=n, p=[0.5, 0.3, 0.2])
    centre = {"ant": 0.0, "bee": 1.0, "cat": -2.0}
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + np.array([[centre[k]] for k in y])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def brute_joint(X, y, query, priors=None):
    """log p(x, c) of each query row, one scipy density at a time, NaN left out."""
    classes = np.unique(y)
    joint = np.zeros((len(query), len(classes)))
    for k, label in enumerate(classes):
        joint[:, k] = np.log((y == label).mean() if priors is None else priors[k])
        for j in range(X.shape[1]):
            seen = X[(y == label) & ~np.isnan(X[:, j]), j]
            log_p = norm(seen.mean(), seen.std()).logpdf(query[:, j])
            joint[:, k] += np.where(np.isnan(query[:, j]), 0.0, log_p)
    return joint


# Oracle


@pytest.mark.parametrize("options", [{}, {"var_smoothing": 0.1}, {"priors": [0.2, 0.2, 0.6]}])
def test_same_as_scikit_learn(options):
    X, y = three_classes()
    query, _ = three_classes(seed=1)
    ours = GaussianNB(**options).fit(X, y)
    theirs = sklearn.naive_bayes.GaussianNB(**options).fit(X, y)
    for name in ("theta_", "var_", "class_count_", "class_prior_", "epsilon_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-11, atol=1e-13)
    assert_array_equal(ours.predict(query), theirs.predict(query))
    for name in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        assert_allclose(getattr(ours, name)(query), getattr(theirs, name)(query), rtol=1e-10)


def test_weights_as_scikit_learn():
    X, y = three_classes()
    w = np.random.default_rng(3).gamma(1.0, size=len(y))
    ours = GaussianNB(var_smoothing=0).fit(X, y, w)  # its epsilon ignores weights; ours does not
    theirs = sklearn.naive_bayes.GaussianNB(var_smoothing=0).fit(X, y, w)
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-10)
    assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("priors", [None, [0.1, 0.6, 0.3]])
def test_brute_force_with_missing_cells(priors):
    X, y = three_classes(missing=0.2)
    query, _ = three_classes(seed=1, missing=0.3)
    joint = brute_joint(X, y, query, priors)
    model = GaussianNB(var_smoothing=0, priors=priors).fit(X, y)
    assert_allclose(model.predict_joint_log_proba(query), joint, rtol=1e-10, atol=1e-14)
    assert_allclose(model.score_samples(query), logsumexp(joint, axis=1), rtol=1e-10, atol=1e-14)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(query), posterior, rtol=1e-9, atol=1e-300)
    assert_allclose(np.exp(model.predict_log_proba(query)), posterior, rtol=1e-9, atol=1e-300)
    assert_array_equal(model.predict(query), np.unique(y)[joint.argmax(axis=1)])


def test_catalogue_example():
    model = GaussianNB(var_smoothing=0).fit(ONE_TO_EIGHT, TWO)
    assert_allclose(model.var_, 2 / 3)
    assert_allclose(model.predict_proba([[4.4]])[0, 1], 0.3208213008, atol=1e-10)
    shared = GaussianNB(var_smoothing=0, shared_variance=True).fit(ONE_TO_EIGHT, TWO)
    assert_allclose(shared.coef_, [[7.5]])
    assert_allclose(shared.intercept_, [-33.75])


def test_kernels_match_their_numpy_twins():
    X, y = three_classes(missing=0.1)
    c = np.unique(y, return_inverse=True)[1]
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    got = class_moments(Rows(X, c, w), 3)
    for k in range(3):
        inside = np.where(np.isnan(X[c == k]), 0.0, w[c == k, None])
        filled = np.nan_to_num(X[c == k])
        mean = (inside * filled).sum(axis=0) / inside.sum(axis=0)
        assert_allclose(got.total[k], w[c == k].sum())
        assert_allclose(got.weight[k], inside.sum(axis=0))
        assert_allclose(got.mean[k], mean, rtol=1e-12, atol=1e-14)
        assert_allclose(got.scatter[k], (inside * (filled - mean) ** 2).sum(axis=0), rtol=1e-12)
    density = log_density(np.full(3, 1 / 3), got.mean, got.scatter / got.weight)
    joint = density.log_prior + contributions(density, X).sum(axis=2)
    assert_allclose(joint_log_density(density, X), joint, rtol=1e-12)


def test_shared_variance_is_the_pooled_one():
    X, y = three_classes()
    model = GaussianNB(shared_variance=True, var_smoothing=0).fit(X, y)
    residual = X - model.theta_[np.searchsorted(model.classes_, y)]
    assert_allclose(model.var_, np.broadcast_to((residual**2).mean(axis=0), (3, 4)))
    logits = X @ model.coef_.T + model.intercept_  # softmax of the implied weights
    posterior = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(X), posterior, rtol=1e-9, atol=1e-14)
    two = y != "cat"
    binary = GaussianNB(shared_variance=True).fit(X[two], y[two])
    assert binary.coef_.shape == (1, 4)
    assert binary.intercept_.shape == (1,)
    log_odds = np.diff(binary.predict_log_proba(X), axis=1)
    assert_allclose(X @ binary.coef_.T + binary.intercept_, log_odds, rtol=1e-9, atol=1e-9)


def test_card_says_the_likelihood_of_the_training_rows():
    X, y = three_classes(missing=0.1)
    model = GaussianNB(priors=[0.5, 0.25, 0.25]).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    numbers = model.card().numbers
    value = joint[np.arange(len(y)), np.searchsorted(model.classes_, y)].sum()
    assert_allclose(numbers["log_likelihood"], value, rtol=1e-12)
    assert numbers["missing cells"] == np.isnan(X).sum()
    assert numbers["parameters"] == 24
    assert "closed form" in str(model.card())


# Invariants


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("cuts", [[1, 2, 3, 150], [299], [100, 200]])
def test_partial_fit_equals_one_fit(missing, cuts):
    X, y = three_classes(missing=missing)
    w = np.random.default_rng(4).random(len(y))
    whole = GaussianNB(var_smoothing=1e-3).fit(X, y, w)
    parts = GaussianNB(var_smoothing=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # after one row every variance is 0
        for part in np.split(np.arange(len(y)), cuts):
            parts.partial_fit(X[part], y[part], ["cat", "bee", "ant"], w[part])
    for name in ("theta_", "var_", "class_prior_", "epsilon_", "moments_"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=1e-14)
    assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


def test_partial_fit_continues_a_fit():
    X, y = three_classes()
    continued = GaussianNB().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert_allclose(continued.var_, GaussianNB().fit(X, y).var_, rtol=1e-12)


def test_weights_equal_repetition():
    X, y = three_classes(missing=0.1)
    w = np.random.default_rng(5).integers(0, 4, len(y))
    weighted = GaussianNB().fit(X, y, w)
    repeated = GaussianNB().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    for name in ("theta_", "var_", "class_count_", "class_prior_", "epsilon_"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)


def test_rows_in_any_order_and_any_number_of_threads():
    X, y = three_classes(n=3 * LEAF_ROWS + 7, missing=0.05)
    model = GaussianNB().fit(X, y)
    with limit_threads(1):
        alone = GaussianNB().fit(X, y)
        assert_array_equal(alone.predict_proba(X), model.predict_proba(X))
    assert_array_equal(alone.moments_, model.moments_)
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(GaussianNB().fit(X[order], y[order]).var_, model.var_, rtol=1e-12)


def test_merging_is_fitting_together():
    X, y = three_classes(missing=0.1)
    c = np.unique(y, return_inverse=True)[1]
    rows = Rows(X, c, unit_weights(len(c)))
    merged = merge_class_moments(
        class_moments(rows.slice(0, 10), 4), class_moments(rows.slice(10, 300), 4)
    )
    for got, expected in zip(merged, class_moments(rows, 4), strict=True):  # class 3 is empty
        assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_far_from_the_origin():
    """At 1e9 a mean is known to 1e-7: squares of rows would lose every digit, these lose few."""
    X, y = three_classes(n=2 * LEAF_ROWS)
    X = np.round(X * 64) / 64  # exact after the shift
    near, far = (GaussianNB(var_smoothing=0).fit(Z, y) for Z in (X, X + 1e9))
    assert_allclose(far.var_, near.var_, rtol=1e-8)
    assert_allclose(far.predict_proba(X + 1e9), near.predict_proba(X), rtol=1e-5)


def test_explain_adds_up():
    X, y = three_classes(missing=0.2)
    model = GaussianNB().fit(X, y)
    terms = model.explain(X)
    assert terms.shape == (300, 3, 4)
    assert_array_equal(terms[np.isnan(X)[:, None, :].repeat(3, axis=1)], 0.0)
    joint = np.log(model.class_prior_) + terms.sum(axis=2)
    assert_allclose(joint, model.predict_joint_log_proba(X), rtol=1e-11)


def test_probabilities_far_away_are_finite_and_sum_to_one():
    X, y = three_classes()
    model = GaussianNB().fit(X, y)
    far = np.array([[1e9] * 4, [-1e150] * 4, [1e200] * 4])
    proba = model.predict_proba(far)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_allclose(proba[2], model.class_prior_)  # density 0 everywhere: the prior decides
    assert model.predict(far)[2] == "ant"
    assert_allclose(model.predict_log_proba(far)[2], np.log(model.class_prior_))
    assert model.score_samples(far)[2] == -np.inf
    assert not np.isnan(model.explain(far)).any()


def test_an_all_missing_row_gets_the_prior():
    X, y = three_classes()
    model = GaussianNB().fit(X, y)
    blank = np.full((1, 4), np.nan)
    assert_allclose(model.predict_proba(blank)[0], model.class_prior_)
    assert_allclose(model.score_samples(blank), 0.0, atol=1e-15)


# Recovery


def test_recovers_its_own_sample():
    X, y = three_classes()
    truth = GaussianNB().fit(X, y)
    Z, labels = truth.sample(100_000, random_state=0)
    again = GaussianNB().fit(Z, labels)
    assert_allclose(again.class_prior_, truth.class_prior_, atol=0.01)
    assert_allclose(again.theta_, truth.theta_, atol=0.1)
    assert_allclose(again.var_, truth.var_, rtol=0.05)
    same, same_labels = truth.sample(100_000, random_state=0)
    assert_array_equal(same, Z)
    assert_array_equal(same_labels, labels)


# Corners


def test_one_class_and_one_row():
    model = GaussianNB().fit([[1.0], [2.0]], ["only", "only"])
    assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    with pytest.warns(ZeroVarianceWarning, match=r"column 0 is constant in class 'only'"):
        model = GaussianNB().fit([[1.0]], ["only"])
    assert_array_equal(model.predict([[1.0], [9.0]]), ["only", "only"])


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9, 1e-200])
def test_a_constant_feature_is_a_point_mass(constant):
    rng = np.random.default_rng(0)
    spread = constant if constant > 1e-9 else 1.0
    X = np.r_[np.full(1000, constant), constant + spread * rng.normal(size=1000)]
    y = np.repeat([0, 1], 1000)
    with pytest.warns(ZeroVarianceWarning, match="constant in class 0"):
        model = GaussianNB(var_smoothing=0).fit(X[:, None], y, np.full(2000, 0.3))
    query = np.r_[constant, X[1000:1010]][:, None]
    proba = model.predict_proba(query)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.predict(query), [0] + [1] * 10)
    assert np.isfinite(model.predict_joint_log_proba(query[:1])).all()


def test_a_feature_unseen_in_a_class_borrows_from_all():
    X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 9.0], [6.0, np.nan], [7.0, np.nan]])
    with pytest.warns(UnseenFeatureWarning, match=r"column 1 has no value in class 1"):
        model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1])
    assert_allclose(model.theta_[1, 1], 20 / 3)
    assert_allclose(model.var_[1, 1], np.var([5, 6, 9]))
    without = GaussianNB(var_smoothing=0).fit(X[:, :1], [0, 0, 0, 1, 1])
    assert_allclose(model.predict_proba(X), without.predict_proba(X[:, :1]))


def test_a_feature_seen_nowhere_says_nothing():
    X = np.c_[ONE_TO_EIGHT, np.full(6, np.nan)]
    frame = pandas.DataFrame(X, columns=["size", "ghost"])
    with pytest.warns(UnseenFeatureWarning, match="column 'ghost' has no value at all"):
        model = GaussianNB().fit(frame, TWO)
    alone = GaussianNB().fit(ONE_TO_EIGHT, TWO)
    assert model.epsilon_ == alone.epsilon_
    for ghost in (np.nan, 0.0, 1e300):
        query = pandas.DataFrame({"size": [4.4], "ghost": [ghost]})
        assert_allclose(model.predict_proba(query), alone.predict_proba([[4.4]]))
        assert_array_equal(model.explain(query)[0, :, 1], 0.0)
    assert np.isnan(model.sample(3, random_state=0)[0][:, 1]).all()


def test_a_class_of_weight_zero_is_never_predicted():
    X, y = three_classes()
    w = (y != "bee").astype(float)
    model = GaussianNB().fit(X, y, w)
    assert_array_equal(model.classes_, ["ant", "bee", "cat"])
    proba = model.predict_proba(X)
    assert_array_equal(proba[:, 1], 0.0)
    absent = GaussianNB().fit(X[w > 0], y[w > 0])
    assert_allclose(proba[:, [0, 2]], absent.predict_proba(X), rtol=1e-10)
    assert np.isfinite(model.theta_).all()
    assert np.isfinite(model.card().numbers["log_likelihood"])


def test_a_prior_of_zero():
    model = GaussianNB(priors=[1.0, 0.0]).fit(ONE_TO_EIGHT, TWO)
    assert_array_equal(model.predict_proba([[100.0]]), [[1.0, 0.0]])
    assert_array_equal(model.predict_log_proba([[100.0]]), [[0.0, -np.inf]])


def test_coefficients_exist_only_with_shared_variance():
    model = GaussianNB().fit(ONE_TO_EIGHT, TWO)
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="quadratic"):
        _ = model.intercept_
    assert not hasattr(GaussianNB(shared_variance=True), "coef_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priors": [0.5]}, "Number of priors must match number of classes: 2 needed, got 1"),
        ({"priors": [[0.5, 0.5]]}, "Number of priors must match"),
        ({"priors": [0.5, 0.6]}, "sum of the priors should be 1, got 1.1"),
        ({"priors": [np.nan, 0.6]}, "sum of the priors should be 1"),
        ({"priors": [1.5, -0.5]}, "Priors must be non-negative, got -0.5"),
        ({"priors": ["a", "b"]}, "priors must be numbers"),
        ({"var_smoothing": -1.0}, "var_smoothing must be >= 0, got -1"),
        ({"var_smoothing": "big"}, "var_smoothing must be a number"),
        ({"var_smoothing": np.inf}, "not a finite number"),
        ({"shared_variance": "yes"}, "shared_variance must be True or False"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianNB(**options).fit(ONE_TO_EIGHT, TWO)
    with pytest.raises(ValueError, match=message):
        GaussianNB(**options).partial_fit(ONE_TO_EIGHT, TWO, [0, 1])


@pytest.mark.parametrize("weight", [1.0, 0.0])
@pytest.mark.parametrize("beside", [0.0, np.nan])
def test_infinite_cells_are_refused(weight, beside):
    X, y = three_classes()
    model = GaussianNB().fit(X, y)
    X[7] = [1.0, np.inf, beside, 2.0]
    w = np.ones(len(y))
    w[7] = weight
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 1, row 7"):
        GaussianNB().fit(X, y, w)
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 1, row 7"):
        clone(model).partial_fit(X, y, np.unique(y), w)
    methods = ("predict", "predict_proba", "predict_log_proba", "score_samples", "explain")
    for name in (*methods, "predict_joint_log_proba"):
        with pytest.raises(ValueError, match=r"infinity \(inf\) in column 1, row 7"):
            getattr(model, name)(X)


def test_infinity_in_a_cell_of_its_own_class_is_refused():
    X = np.array([[np.inf], [1.0], [2.0]])
    with pytest.raises(ValueError, match="column 0, row 0"):
        GaussianNB().fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match="column 0, row 0"):
        GaussianNB().fit(X, [0, 1, 1], [0.0, 1.0, 1.0])


@pytest.mark.parametrize("y", [[0, 0, 1], [0, 1, 1], [0, 1, 2]])
@pytest.mark.parametrize("large", [1e160, 1e308])
def test_numbers_too_large_are_refused(y, large):
    with pytest.raises(ValueError, match="column 0 holds numbers too large to be squared"):
        GaussianNB().fit([[large], [-large], [0.0]], y)


def test_partial_fit_refusals():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        GaussianNB().partial_fit(ONE_TO_EIGHT, TWO)
    model = GaussianNB().partial_fit(ONE_TO_EIGHT, TWO, [0, 1])
    with pytest.raises(ValueError, match=r"label\(s\) \[5\] in y do not exist"):
        model.partial_fit([[1.0]], [5])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit([[1.0]], [1], classes=[0, 1, 2])


def test_a_class_not_seen_yet():
    model = GaussianNB().partial_fit(ONE_TO_EIGHT, TWO, classes=[0, 1, 2])
    assert_array_equal(model.predict_proba(ONE_TO_EIGHT)[:, 2], 0.0)
    model.partial_fit([[100.0], [101.0]], [2, 2])
    assert_array_equal(model.predict([[100.5], [2.0]]), [2, 0])


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_frames(frame):
    table = frame({"a": [1.0, 2.0, 3.0, 6.0, 7.0, None], "b": [0, 1, 0, 1, 1, 0]})
    model = GaussianNB().fit(table, list("xxxyyy"))
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_allclose(model.theta_, [[2.0, 1 / 3], [6.5, 2 / 3]])
    assert_array_equal(model.predict(table), list("xxxyyx"))


def test_read_only_rows():
    X, y = three_classes(missing=0.1)
    expected = GaussianNB().fit(X, y).predict_proba(X)
    X.flags.writeable = False
    assert_array_equal(GaussianNB().fit(X, y).predict_proba(X), expected)


def test_callbacks():
    class Recorder:
        def __init__(self):
            self.seen = []

        def setup(self, estimator, context):
            self.seen.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.seen.append("begin")

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            self.seen.append(fitted_estimator.predict([[2.0], [7.0]]).tolist())

        def teardown(self, estimator, context):
            self.seen.append("teardown")

    recorder = Recorder()
    GaussianNB().set_callbacks(recorder).fit(ONE_TO_EIGHT, TWO)
    assert recorder.seen == ["setup", "begin", [0, 1], "teardown"]


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GaussianNB().fit([[1.0]], [0])
        GaussianNB().partial_fit([[1.0]], [0], [0])
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_check_priors_copies():
    given = np.array([0.5, 0.5])
    assert check_priors(given, 2) is not given
    assert check_priors(None, 2) is None


def test_likelihood_is_the_maximum():
    """No other means and variances give the training rows a higher likelihood."""
    X, y = three_classes(missing=0.1)
    c = np.unique(y, return_inverse=True)[1]
    moments = class_moments(Rows(X, c, unit_weights(len(c))), 3)
    fit = fit_gaussian_nb(moments, None, 0.0, False)
    best = log_likelihood(log_density(fit.prior, fit.theta, fit.var), moments)
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = fit.theta + 0.1 * rng.normal(size=fit.theta.shape)
        var = fit.var * np.exp(0.1 * rng.normal(size=fit.var.shape))
        assert log_likelihood(log_density(fit.prior, theta, var), moments) < best
