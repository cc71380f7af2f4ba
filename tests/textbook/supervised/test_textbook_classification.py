"""Each textbook method of classification against the fast estimator, on random problems."""

import numpy as np
import pytest
from agreement import same
from scipy.special import softmax as exact_softmax

import pellucid
from pellucid.discriminant import GaussianDensity
from pellucid.linear import linear_separability as fast_linear_separability
from pellucid.textbook.classification import (
    bayesian_logistic_regression as laplace,
)
from pellucid.textbook.classification import (
    categorical_naive_bayes as categorical,
)
from pellucid.textbook.classification.bayesian_logistic_regression import (
    bayesian_logistic_regression,
)
from pellucid.textbook.classification.bernoulli_naive_bayes import bernoulli_naive_bayes
from pellucid.textbook.classification.bernoulli_naive_bayes import log_joint as bernoulli_joint
from pellucid.textbook.classification.categorical_naive_bayes import categorical_naive_bayes
from pellucid.textbook.classification.complement_naive_bayes import complement_naive_bayes
from pellucid.textbook.classification.firth_logistic_regression import firth_logistic_regression
from pellucid.textbook.classification.fisher_projection import fisher_projection
from pellucid.textbook.classification.gaussian_naive_bayes import gaussian_naive_bayes
from pellucid.textbook.classification.gaussian_naive_bayes import log_joint as gaussian_joint
from pellucid.textbook.classification.least_squares_classifier import (
    least_squares_classifier,
    predict,
)
from pellucid.textbook.classification.linear_discriminant_analysis import (
    discriminants as linear_discriminants,
)
from pellucid.textbook.classification.linear_discriminant_analysis import (
    linear_discriminant_analysis,
)
from pellucid.textbook.classification.linear_separability import linear_separability
from pellucid.textbook.classification.logistic_regression import logistic_regression, newton_steps
from pellucid.textbook.classification.multinomial_naive_bayes import log_joint as multinomial_joint
from pellucid.textbook.classification.multinomial_naive_bayes import multinomial_naive_bayes
from pellucid.textbook.classification.ordinal_logistic_regression import (
    ordinal_logistic_regression,
)
from pellucid.textbook.classification.perceptron import corrections, perceptron
from pellucid.textbook.classification.quadratic_discriminant_analysis import (
    discriminants as quadratic_discriminants,
)
from pellucid.textbook.classification.quadratic_discriminant_analysis import (
    quadratic_discriminant_analysis,
)
from pellucid.textbook.classification.regularised_discriminant_analysis import (
    regularised_discriminant_analysis,
)
from pellucid.textbook.classification.softmax_regression import softmax_regression
from pellucid.textbook.classification.sparse_logistic_regression import sparse_logistic_regression
from pellucid.textbook.classification.stochastic_svm import stochastic_svm
from pellucid.textbook.shrinkage.stepwise import stepwise


def problem(seed, n=90, p=3, K=2, gap=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + gap * rng.normal(size=(K, p))[y]
    return X, y


def parameters(model):
    return np.concatenate([model.intercept_, model.coef_[0]])


def test_logistic_regression():
    X, y = problem(0)
    fit = logistic_regression(X, y, 0.5)
    same(fit.b, parameters(pellucid.LogisticRegression(C=2.0, tol=1e-8).fit(X, y)))
    likely = logistic_regression(X, y, 0.0)
    fast = pellucid.LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    same(likely.b, parameters(fast), atol=1e-8)
    same(np.sqrt(np.diag(likely.covariance)), fast.standard_errors_, atol=1e-8)
    same(-likely.L, fast.log_likelihood_)
    gradients = [np.abs(state.gradient).max() for state in newton_steps(X, y, 0.0)]
    assert gradients[-1] < 1e-8 < gradients[0]


def test_softmax_regression():
    X, y = problem(1, K=3)
    fit = softmax_regression(X, y, 0.5)
    fast = pellucid.LogisticRegression(C=2.0, tol=1e-9).fit(X, y)
    same(fit.B[1:].T, fast.coef_, atol=1e-8)
    same(fit.B[0] - fit.B[0].mean(), fast.intercept_ - fast.intercept_.mean(), atol=1e-8)


def test_sparse_logistic_regression():
    X, y = problem(2, p=5, gap=0.6)
    fit = sparse_logistic_regression(X, y, 6.0)
    fast = pellucid.LogisticRegression(C=1 / 6, l1_ratio=1.0, tol=1e-9, max_iter=1000).fit(X, y)
    assert (fit.b == 0).any()
    same(fit.b, parameters(fast))


def test_firth_logistic_regression():
    X, y = problem(3, n=30)
    fast = pellucid.FirthLogisticRegression(tol=1e-12).fit(X, y)
    same(firth_logistic_regression(X, y), parameters(fast), atol=1e-8)
    apart = np.arange(6.0)[:, None]  # separable: maximum likelihood does not exist
    fast = pellucid.FirthLogisticRegression(tol=1e-12).fit(apart, [0, 0, 0, 1, 1, 1])
    ours = firth_logistic_regression(apart, np.array([0, 0, 0, 1, 1, 1]))
    same(ours, parameters(fast), atol=1e-8)


def test_ordinal_logistic_regression():
    X, _ = problem(4, n=120)
    rng = np.random.default_rng(4)
    y = np.digitize(X @ [1.0, -0.5, 0.2] + rng.logistic(size=120), [-1.0, 0.5, 2.0])
    fit = ordinal_logistic_regression(X, y)
    fast = pellucid.OrdinalLogisticRegression(tol=1e-10).fit(X, y)
    same(fit.w, fast.coef_, atol=1e-8)
    same(fit.t, fast.thresholds_, atol=1e-8)
    same(fit.log_likelihood, fast.log_likelihood_)


def test_bayesian_logistic_regression():
    X, y = problem(5, n=30)
    ours = bayesian_logistic_regression(X, y, 4.0)
    fast = pellucid.BayesianLogisticRegression(prior=4.0).fit(X, y)
    same(ours.mean, fast.map_, atol=1e-8)
    same(ours.covariance, fast.posterior_covariance_, atol=1e-8)
    same(ours.log_evidence, fast.log_evidence_, atol=1e-8)
    same(laplace.predict(ours, X), fast.predict_proba(X)[:, 1], atol=1e-8)


def test_stepwise_logistic_regression():
    X, y = problem(6, p=5, gap=0.1)

    def aic(X, y, columns):
        return 2 * logistic_regression(X[:, sorted(columns)], y, 0.0).L + 2 * (len(columns) + 1)

    fast = pellucid.StepwiseLogisticRegression().fit(X, y)
    assert stepwise(X, y, aic).columns == set(np.flatnonzero(fast.support_))


def test_least_squares_classifier():
    X, y = problem(7, K=3)
    B = least_squares_classifier(X, y)
    fast = pellucid.LeastSquaresClassifier().fit(X, y)
    same(B, fast.indicator_coef_, atol=1e-10)
    assert (predict(B, X) == fast.predict(X)).all()


def test_perceptron():
    X, y = problem(8, n=30, gap=4.0)
    sign = 2 * y - 1
    fast = pellucid.Perceptron(shuffle=False, tol=None).fit(X, y)
    same(perceptron(X, sign).w, fast.coef_[0])
    same(perceptron(X, sign).b, fast.intercept_[0])
    assert len(list(corrections(X, sign))) == fast.n_updates_ <= fast.mistake_bound_


@pytest.mark.parametrize(
    ("x", "status"),
    [([0, 1, 2, 3], "separable"), ([0, 1, 1, 2], "quasi"), ([0, 2, 1, 3], "overlapping")],
)
def test_linear_separability(x, status):
    X, y = np.array(x, dtype=float)[:, None], np.array([0, 0, 1, 1])
    assert linear_separability(X, 2 * y - 1) == status == fast_linear_separability(X, y).status


@pytest.mark.parametrize("gap", [0.5, 4.0])
def test_linear_separability_of_random_rows(gap):
    for seed in range(5):
        X, y = problem(seed, n=14, p=2, gap=gap)
        assert linear_separability(X, 2 * y - 1) == fast_linear_separability(X, y).status


def test_stochastic_svm():
    X, y = problem(9)
    fast = pellucid.SGDClassifier(
        shuffle=False, max_iter=3, tol=None, learning_rate="invscaling", alpha=0.01
    ).fit(X, y)
    fit = stochastic_svm(X, 2 * y - 1, epochs=3, alpha=0.01)
    same(fit.w, fast.coef_[0], atol=1e-10)
    same(fit.b, fast.intercept_[0], atol=1e-10)


def test_linear_discriminant_analysis():
    X, y = problem(10, K=3)
    fit = linear_discriminant_analysis(X, y)
    fast = pellucid.LinearDiscriminantAnalysis().fit(X, y)
    same(fit.S, fast.covariance_, atol=1e-10)
    same(linear_discriminants(fit, X), fast.discriminants(X), atol=1e-8)
    same(exact_softmax(linear_discriminants(fit, X), axis=1), fast.predict_proba(X))


def test_quadratic_discriminant_analysis():
    X, y = problem(11, K=3)
    delta = quadratic_discriminants(quadratic_discriminant_analysis(X, y), X)
    fast = pellucid.QuadraticDiscriminantAnalysis().fit(X, y)
    same(delta, fast.discriminants(X), atol=1e-8)
    general = pellucid.GenerativeClassifier(GaussianDensity(reg_covar=0)).fit(X, y)
    same(exact_softmax(delta, axis=1), general.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(("a", "g"), [(0.5, 0.0), (0.3, 0.4), (0.0, 0.0), (1.0, 0.0)])
def test_regularised_discriminant_analysis(a, g):
    X, y = problem(12, K=3)
    fast = pellucid.RegularizedDiscriminantAnalysis(a, g).fit(X, y)
    S = regularised_discriminant_analysis(X, y, a, g)
    same(S, fast.covariance_, atol=1e-10)
    fit = quadratic_discriminant_analysis(X, y)._replace(S=S)
    expected = fast.predict_proba(X)
    same(exact_softmax(quadratic_discriminants(fit, X), axis=1), expected, atol=1e-8)


def test_fisher_projection():
    X, y = problem(13, K=3)
    ours = fisher_projection(X, y)
    fast = pellucid.LinearDiscriminantAnalysis().fit(X, y)
    same(ours.eigenvalues, fast.eigenvalues_)
    signs = np.sign((ours.A * fast.scalings_).sum(axis=0))
    same((X - ours.centre) @ ours.A * signs, fast.transform(X), atol=1e-8)


def test_gaussian_naive_bayes():
    X, y = problem(14, K=3)
    fast = pellucid.GaussianNB(var_smoothing=0).fit(X, y)
    ours = gaussian_joint(gaussian_naive_bayes(X, y), X)
    same(ours, fast.predict_joint_log_proba(X), atol=1e-9)


def test_bernoulli_naive_bayes():
    X, y = problem(15, K=3)
    X = (X > 0).astype(float)
    fast = pellucid.BernoulliNB().fit(X, y)
    ours = bernoulli_joint(bernoulli_naive_bayes(X, y), X)
    same(ours, fast.predict_joint_log_proba(X), atol=1e-10)


def test_counts_of_words():
    rng = np.random.default_rng(16)
    y = np.arange(40) % 3
    X = rng.poisson(1.0, size=(40, 8)) + (np.arange(8) % 3 == y[:, None])
    fast = pellucid.MultinomialNB().fit(X, y)
    ours = multinomial_joint(multinomial_naive_bayes(X, y), X)
    same(ours, fast.predict_joint_log_proba(X), atol=1e-10)
    words = np.array(["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"])
    texts = [" ".join(np.repeat(words, row)) for row in X]
    text = pellucid.TextNB().fit(texts, y)
    same(ours, text.model_.predict_joint_log_proba(X), atol=1e-10)
    weights = complement_naive_bayes(X, y)
    same(weights, pellucid.ComplementNB().fit(X, y).feature_log_prob_, atol=1e-10)


def test_categorical_naive_bayes():
    rng = np.random.default_rng(17)
    y = np.arange(60) % 2
    X = np.column_stack([rng.integers(3, size=60), (y + rng.integers(2, size=60)) % 4])
    X[:4] = [[0, 0], [1, 1], [2, 2], [0, 2]]
    fast = pellucid.CategoricalNB().fit(X, y)
    ours = categorical.log_joint(categorical_naive_bayes(X, y), X)
    same(ours, fast.predict_joint_log_proba(X), atol=1e-10)


def test_mixed_naive_bayes_adds_up_its_columns():
    X, y = problem(18)
    c = np.random.default_rng(18).integers(3, size=(len(y), 1))
    kinds = {0: "gaussian", 1: "gaussian", 2: "gaussian", 3: "categorical"}
    mixed = pellucid.MixedNB(kinds, var_smoothing=0).fit(np.hstack([X, c]), y)
    fit = categorical_naive_bayes(c, y)
    ours = gaussian_joint(gaussian_naive_bayes(X, y), X) + categorical.log_joint(fit, c)
    both = mixed.predict_joint_log_proba(np.hstack([X, c]))
    same(ours - fit.log_prior, both, atol=1e-9)
