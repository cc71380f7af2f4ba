"""Regularised discriminant analysis: the ladder's rungs, the grid, singular covariances."""

import numpy as np
import pytest
import sklearn.naive_bayes
from discriminant_tables import TWO_X, TWO_Y, mixed
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit, cross_val_score

from pellucid import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RegularizedDiscriminantAnalysisCV,
)

# Examples and rungs


@pytest.mark.parametrize(
    ("alpha", "gamma", "target", "expected"),
    [
        (0, 0, "class", -4.3889942306),
        (0.5, 0, "class", -3.9058946492),
        (1, 0, "class", -2.4909815694),
        (0.5, 0.5, "class", -4.4051745622),
        (0.5, 0.5, "pooled", -4.0797495304),
    ],
)
def test_example_12(alpha, gamma, target, expected):
    how = {"target": target, "divisor": "unbiased"}
    model = RegularizedDiscriminantAnalysis(alpha, gamma, **how).fit(TWO_X, TWO_Y)
    assert_allclose(model.decision_function([[2, 1]]), expected, rtol=1e-9)


@pytest.mark.parametrize("divisor", ["default", "unbiased"])
@pytest.mark.parametrize("table", ["mixed", "iris"])
def test_ends_are_qda_and_lda(table, divisor):
    X, y = mixed() if table == "mixed" else load_iris(return_X_y=True)
    ours = {} if divisor == "default" else {"divisor": divisor}
    theirs = {} if divisor == "default" else {"covariance_estimator": divisor}
    qda = QuadraticDiscriminantAnalysis(**theirs).fit(X, y)
    lda = LinearDiscriminantAnalysis(**theirs).fit(X, y)
    one, zero = (RegularizedDiscriminantAnalysis(a, **ours).fit(X, y) for a in (1, 0))
    assert_allclose(one.predict_proba(X), qda.predict_proba(X), rtol=1e-9, atol=1e-14)
    assert_allclose(zero.predict_proba(X), lda.predict_proba(X), rtol=1e-9, atol=1e-14)
    assert_allclose(one.decision_function(X), qda.decision_function(X), rtol=1e-9)
    assert (one.n_parameters_, zero.n_parameters_) == (qda.n_parameters_, lda.n_parameters_)
    course = "divisor='unbiased'" if divisor == "default" else "divisor='mle'"
    assert course in " ".join(one.card().scales)


def test_the_grid_judges_the_default_model():
    """The scores of the grid are those of the model it chooses from, divisors too."""
    X, y = mixed()
    found = RegularizedDiscriminantAnalysisCV(alphas=[0.0, 1.0], gammas=[0.0], cv=4).fit(X, y)
    for k, model in enumerate((LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis())):
        assert_allclose(found.scores_[k, 0], cross_val_score(model, X, y, cv=4))


def test_diagonal_is_naive_bayes():
    X, y = mixed()
    ours = RegularizedDiscriminantAnalysis(1, covariance_type="diag").fit(X, y)
    theirs = sklearn.naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["spherical", "full"])
def test_spheres_are_the_nearest_mean(kind):
    X, y = mixed()
    gamma = 1.0 if kind == "full" else 0.0
    model = RegularizedDiscriminantAnalysis(0, gamma, covariance_type=kind, priors=[1 / 3] * 3).fit(
        X, y
    )
    distance = ((X[:, None] - model.means_) ** 2).sum(axis=2)
    assert_array_equal(model.predict(X), distance.argmin(axis=1))


def test_weighted_euclidean():
    X, y = mixed()
    model = RegularizedDiscriminantAnalysis(0, covariance_type="diag").fit(X, y)
    within = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in range(3))
    v = within / len(X)
    distance = ((X[:, None] - model.means_) ** 2 / v).sum(axis=2)
    assert_allclose(model.mahalanobis(X), distance, rtol=1e-10)


@pytest.mark.parametrize("target", ["class", "pooled"])
def test_brute_force_densities(target):
    X, y = mixed()
    a, g = 0.3, 0.4
    each = [np.cov(X[y == k].T) for k in range(3)]
    n = np.bincount(y)
    S = sum((n[k] - 1) * each[k] for k in range(3)) / (n.sum() - 3)
    eye = np.eye(4) / 4
    if target == "class":
        blends = [a * C + (1 - a) * S for C in each]
        C = [(1 - g) * B + g * np.trace(B) * eye for B in blends]
    else:
        C = [a * B + (1 - a) * ((1 - g) * S + g * np.trace(S) * eye) for B in each]
    model = RegularizedDiscriminantAnalysis(a, g, target=target, divisor="unbiased").fit(X, y)
    assert_allclose(model.covariance_, C, rtol=1e-10, atol=1e-12)
    logs = np.column_stack(
        [
            np.log(n[k] / n.sum()) + multivariate_normal(X[y == k].mean(axis=0), C[k]).logpdf(X)
            for k in range(3)
        ]
    )
    assert_allclose(model.score_samples(X), logsumexp(logs, axis=1), rtol=1e-9)


def test_partial_fit_is_exact():
    X, y = mixed(600)
    whole = RegularizedDiscriminantAnalysis(0.4, 0.2).fit(X, y)
    parts = RegularizedDiscriminantAnalysis(0.4, 0.2).partial_fit(X[:3], y[:3], [0, 1, 2])
    parts.partial_fit(X[3:200], y[3:200]).partial_fit(X[200:], y[200:])
    assert_allclose(parts.discriminants(X), whole.discriminants(X), rtol=1e-9, atol=1e-9)


def test_recovers_what_it_draws():
    model = RegularizedDiscriminantAnalysis(0.5, 0.3).fit(*mixed())
    X, y = model.sample(150_000, random_state=0)
    again = RegularizedDiscriminantAnalysis(1.0).fit(X, y)
    assert_allclose(again.means_, model.means_, atol=0.06)
    assert_allclose(again.covariance_, model.covariance_, rtol=0.06, atol=0.1)


def test_card_explains_the_other_gamma():
    card = RegularizedDiscriminantAnalysis(0.5, 0.25).fit(*mixed()).card()
    assert "0.75" in card.scales[0]


# Singular covariances: which way out


def small(n_last=3, p=4):
    X, y = mixed(p=p)
    keep = (y != 2) | (np.cumsum(y == 2) <= n_last)
    return X[keep], y[keep]


def test_singular_sentences():
    X, y = small()
    with pytest.raises(
        LinAlgError, match=r"class 2 \(3 rows.*lower alpha \(now 1\) or raise gamma"
    ):
        RegularizedDiscriminantAnalysis(1.0).fit(X, y)
    with pytest.raises(LinAlgError, match=r"lower alpha \(now 1\): with target='pooled'"):
        RegularizedDiscriminantAnalysis(1.0, 0.5, target="pooled").fit(X, y)
    RegularizedDiscriminantAnalysis(0.9).fit(X, y)
    RegularizedDiscriminantAnalysis(1.0, 0.1).fit(X, y)
    doubled = np.column_stack([X, X[:, 0]])
    with pytest.raises(LinAlgError, match=r"x0, x4: raise gamma \(now 0\); alpha cannot help"):
        RegularizedDiscriminantAnalysis(0.5).fit(doubled, y)
    with pytest.raises(LinAlgError, match="no column varies"):
        RegularizedDiscriminantAnalysis(0.5, 0.5).fit(np.outer(y, [1.0, 2.0]), y)


def test_a_class_of_one_row():
    X, y = small(1)
    with pytest.raises(LinAlgError, match=r"class 2 has one row.*alpha to 0"):
        RegularizedDiscriminantAnalysis(0.5).fit(X, y)
    assert set(RegularizedDiscriminantAnalysis(0.0).fit(X, y).classes_) == {0, 1, 2}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": 1.5}, "alpha"),
        ({"gamma": 2}, "gamma"),
        ({"target": "x"}, "target"),
        ({"covariance_type": "tied"}, "covariance_type"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match):
        RegularizedDiscriminantAnalysis(**options).fit(*mixed())


# Cross-validation


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
@pytest.mark.parametrize("target", ["class", "pooled"])
def test_grid_is_that_of_refits(kind, target):
    X, y = mixed(150)
    options = {"covariance_type": kind, "target": target}
    model = RegularizedDiscriminantAnalysisCV(alphas=3, gammas=[0, 0.3, 1], **options).fit(X, y)
    for i, alpha in enumerate(model.alphas_):
        for j, gamma in enumerate(model.gammas_):
            one = RegularizedDiscriminantAnalysis(alpha, gamma, **options)
            assert_allclose(model.scores_[i, j], cross_val_score(one, X, y, cv=5))
    best = model.scores_.mean(axis=2)
    chosen = best[model.alphas_ == model.alpha_, model.gammas_ == model.gamma_]
    assert_allclose(chosen, best.max())
    one = RegularizedDiscriminantAnalysis(model.alpha_, model.gamma_, **options).fit(X, y)
    assert_array_equal(model.predict_proba(X), one.predict_proba(X))


def test_folds_that_are_no_partition():
    X, y = mixed(150)
    cv = ShuffleSplit(4, test_size=0.3, random_state=0)
    model = RegularizedDiscriminantAnalysisCV(alphas=[0.5], gammas=[0.1], cv=cv).fit(X, y)
    one = RegularizedDiscriminantAnalysis(0.5, 0.1)
    assert_allclose(model.scores_[0, 0], cross_val_score(one, X, y, cv=cv))


def test_one_standard_error_is_simpler():
    X, y = mixed(150)
    best = RegularizedDiscriminantAnalysisCV().fit(X, y)
    simple = RegularizedDiscriminantAnalysisCV(rule="one_standard_error").fit(X, y)
    assert_array_equal(simple.scores_, best.scores_)
    assert simple.alpha_ <= best.alpha_


def test_singular_candidates_are_passed_over():
    X, y = small(5, p=6)
    with pytest.warns(UserWarning, match="singular"):
        model = RegularizedDiscriminantAnalysisCV(alphas=[0, 1], gammas=[0, 0.5]).fit(X, y)
    assert np.isnan(model.scores_[1, 0]).all()
    assert np.isfinite(model.scores_[0]).all()
    with pytest.raises(LinAlgError, match="smaller alpha or a larger gamma"):
        RegularizedDiscriminantAnalysisCV(alphas=[1], gammas=[0]).fit(X, y)


@pytest.mark.parametrize("options", [{"alphas": 0}, {"gammas": [2.0]}, {"alphas": "many"}])
def test_bad_candidates(options):
    with pytest.raises(ValueError, match=r"alphas|gammas"):
        RegularizedDiscriminantAnalysisCV(**options).fit(*mixed())


def test_finds_the_truth():
    """Equal covariances: little of the classes' own; very different ones: much."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 8)) + 0.5 * y[:, None]
    equal = RegularizedDiscriminantAnalysisCV(rule="one_standard_error").fit(X, y)
    X[y == 1, :4] *= 4
    unequal = RegularizedDiscriminantAnalysisCV().fit(X, y)
    assert equal.alpha_ < unequal.alpha_


def test_weights_are_repetitions():
    X, y = mixed()
    w = np.random.default_rng(5).integers(0, 4, size=len(y))
    weighted = RegularizedDiscriminantAnalysis(0.3, 0.1).fit(X, y, sample_weight=w)
    repeated = RegularizedDiscriminantAnalysis(0.3, 0.1).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(weighted.discriminants(X), repeated.discriminants(X), rtol=1e-9, atol=1e-9)
    with pytest.raises(TypeError, match="weights"):
        RegularizedDiscriminantAnalysis(0.3, 0.1).fit(X, y, weights=w)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_a_class_absent_from_a_training_set_does_not_spoil_the_fold(kind):
    """The other classes are scored; the absent one is never answered, which costs its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 6 * (np.arange(60) % 3)[:, None]
    y = np.arange(60) % 3
    third = np.flatnonzero(y == 2)
    rows = np.arange(60)
    folds = [(np.setdiff1d(rows, third), third[:10]), (rows[rows % 2 == 0], rows[rows % 2 == 1])]
    model = RegularizedDiscriminantAnalysisCV(
        alphas=[0.0, 0.5], gammas=[0.0, 0.5], cv=folds, covariance_type=kind
    ).fit(X, y)
    assert np.isfinite(model.scores_).all()
    assert_allclose(model.scores_[..., 0], 0)
    assert (model.scores_[..., 1] > 0.9).all()


@pytest.mark.parametrize("priors", [[np.inf, 1.0], [0.0, 0.0], [-0.1, 1.1], [0.5]])
def test_priors_that_are_no_shares_are_refused(priors):
    with pytest.raises(ValueError, match="priors"):
        RegularizedDiscriminantAnalysis(priors=priors).fit(TWO_X, TWO_Y)
