"""Bayes' rule with any density."""

import numpy as np
import pytest
from discriminant_tables import mixed
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from pellucid import GenerativeClassifier, QuadraticDiscriminantAnalysis
from pellucid.discriminant import GaussianDensity


class Box(BaseEstimator):
    """Uniform on the range of the rows: density 0 outside."""

    def fit(self, X, y=None):
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        return self

    def score_samples(self, X):
        inside = ((self.low_ <= X) & (self.high_ >= X)).all(axis=1)
        return np.where(inside, -np.log(self.high_ - self.low_).sum(), -np.inf)


def test_gaussians_are_qda():
    X, y = mixed()
    ours = GenerativeClassifier(GaussianDensity(0.0)).fit(X, y)
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.predict_proba(X), qda.predict_proba(X), atol=1e-10)
    assert_allclose(ours.score_samples(X), qda.score_samples(X), rtol=1e-10)
    assert_allclose(ours.decision_function(X).shape, (len(X), 3))


def test_kernel_densities_by_brute_force():
    X, y = mixed()
    model = GenerativeClassifier(KernelDensity(bandwidth=0.7), priors=[0.2, 0.3, 0.5]).fit(X, y)
    joint = np.column_stack(
        [
            np.log(pi)
            + logsumexp(
                multivariate_normal(np.zeros(4), 0.49 * np.eye(4)).logpdf(X[:, None] - X[y == k]),
                axis=1,
            )
            - np.log((y == k).sum())
            for k, pi in enumerate([0.2, 0.3, 0.5])
        ]
    )
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-6)
    assert_array_equal(model.predict(X), joint.argmax(axis=1))


def test_a_density_for_each_label_and_samples():
    X, y = mixed(labels=["a", "b", "c"])
    given = {"a": GaussianMixture(2, random_state=0), "b": KernelDensity(), "c": GaussianDensity()}
    model = GenerativeClassifier(given).fit(X, y)
    assert [type(d) for d in model.densities_] == [GaussianMixture, KernelDensity, GaussianDensity]
    rows, labels = model.sample(2000, random_state=0)
    again = model.sample(2000, random_state=0)
    assert_array_equal(rows, again[0])
    shares = np.array([(labels == k).mean() for k in model.classes_])
    assert_allclose(shares, model.priors_, atol=0.05)
    with pytest.raises(ValueError, match="no estimator for class c"):
        GenerativeClassifier({"a": Box(), "b": Box()}).fit(X, y)


def test_nowhere_dense_rows_get_the_priors():
    X, y = mixed()
    model = GenerativeClassifier(Box()).fit(X, y)
    assert_allclose(model.predict_proba([[1e9] * 4]), model.priors_[None])
    assert model.score_samples([[1e9] * 4]) == -np.inf


def test_even_chance_goes_to_the_second_class():
    model = GenerativeClassifier(GaussianDensity()).fit([[-2.0], [-1], [1], [2]], [0, 0, 1, 1])
    assert model.predict([[0.0]]) == 1


def test_refusals():
    X, y = mixed()
    with pytest.raises(ValueError, match="fit and score_samples"):
        GenerativeClassifier(QuadraticDiscriminantAnalysis).fit(X, y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        GenerativeClassifier(Box()).fit(X, y, sample_weight=np.arange(len(X)))
    with pytest.raises(ValueError, match="no method sample"):
        GenerativeClassifier(Box()).fit(X, y).sample(3)
    with pytest.raises(LinAlgError, match="raise reg_covar"):
        GaussianDensity(0.0).fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="reg_covar"):
        GaussianDensity(-1.0).fit(X)
