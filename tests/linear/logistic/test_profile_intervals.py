"""Profile intervals of LogisticRegression: numbers of R, and a direct constrained maximisation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp

from pellucid import LogisticRegression

# Venables & Ripley, Modern Applied Statistics with S, section 7.2: budworm moths of 20 each
DOSE, MALE = np.tile(np.arange(6.0), 2), np.repeat([1.0, 0.0], 6)
DEAD = np.array([1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16.0])


def budworm(columns):
    X = np.vstack([columns, columns])
    return X, np.repeat([1, 0], 12), np.concatenate([DEAD, 20 - DEAD])


def test_budworm_as_r():
    """confint(glm(SF ~ sex + ldose - 1, family = binomial)) of MASS: R joins points by a spline."""
    X, y, w = budworm(np.column_stack([1 - MALE, MALE, DOSE]))
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10)
    s = model.fit(X, y, sample_weight=w).summary(intervals="profile", X=X, y=y, sample_weight=w)
    published = [[-4.4581438, -3.1728745, 0.8228708], [-2.6137360, -1.6551170, 1.3390580]]
    assert_allclose([s.low, s.high], published, atol=3e-4)
    assert "profile of the likelihood" in str(s)


def test_the_intercept_has_its_own_profile():
    """With an intercept, the females' rate is the intercept of the same model."""
    X, y, w = budworm(np.column_stack([MALE, DOSE]))
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y, sample_weight=w)
    s = model.summary(intervals="profile", X=X, y=y, sample_weight=w)
    assert_allclose([s.low[0], s.high[0]], [-4.4581438, -2.6137360], atol=3e-4)


def direct_end(D, codes, K, j, best, sign):
    """Where the largest likelihood with parameter j held has fallen by 1.92."""
    q = D.shape[1]

    def loss(theta):
        eta = np.column_stack([np.zeros(len(D)), D @ theta.reshape(K - 1, q).T])
        return (logsumexp(eta, axis=1) - eta[np.arange(len(D)), codes]).sum()

    def held(value):
        def rest(free):
            return loss(np.insert(free, j, value))

        start = np.delete(best, j)
        return minimize(rest, start, method="BFGS", options={"gtol": 1e-9}).fun

    top, drop = loss(best), 3.841458820694124 / 2
    far = sign * 0.5
    while held(best[j] + far) - top < drop:
        far *= 2
    return brentq(lambda d: held(best[j] + d) - top - drop, 0.0, far, xtol=1e-8) + best[j]


@pytest.mark.parametrize("K", [2, 3])
def test_profile_is_the_constrained_maximum(K):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [1.0, 50.0] + [0.0, 200.0]
    eta = np.column_stack([np.zeros(60), X[:, :1], 0.02 * (X[:, 1:] - 200)])[:, :K]
    codes = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, codes)
    s = model.summary(intervals="profile", X=X, y=codes)
    D = np.column_stack([np.ones(60), X[:, 0], (X[:, 1] - 200) / 50])  # the oracle needs good units
    per_class = np.asarray(s.estimate).reshape(K - 1, 3)
    moved = [[b + 200 * w2, w1, 50 * w2] for b, w1, w2 in per_class]
    best = np.ravel(moved)
    for j, unit in ((1, 1.0), (2, 50.0)):
        assert_allclose(s.low[j] * unit, direct_end(D, codes, K, j, best, -1.0), atol=2e-5)
        assert_allclose(s.high[j] * unit, direct_end(D, codes, K, j, best, 1.0), atol=2e-5)


def test_refusals():
    X, y, w = budworm(np.column_stack([MALE, DOSE]))
    model = LogisticRegression(C=np.inf).fit(X, y, sample_weight=w)
    with pytest.raises(ValueError, match="intervals='profile' needs the training data"):
        model.summary(intervals="profile")
    with pytest.raises(ValueError, match="must be those of the fit"):
        model.summary(intervals="profile", X=X, y=y)
    with pytest.raises(ValueError, match="covariance='nonrobust'"):
        model.summary(intervals="profile", X=X, y=y, covariance="HC1")
    with pytest.raises(ValueError, match="intervals must be"):
        model.summary(intervals="score")


def test_few_clusters_are_said():
    X, y, w = budworm(np.column_stack([MALE, DOSE]))
    model = LogisticRegression(C=np.inf).fit(X, y, sample_weight=w)
    groups = np.tile(np.arange(12), 2)
    s = model.summary(covariance="cluster", X=X, y=y, sample_weight=w, groups=groups)
    assert "only 12 clusters" in str(s)
