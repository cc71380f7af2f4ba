"""The textbook's robust fits against the fast ones."""

import numpy as np
from agreement import same
from numpy.testing import assert_array_equal

import pellucid
from pellucid.textbook.robust.ransac import ransac
from pellucid.textbook.robust.theil_sen import theil_sen


def problem(n=18, p=2, bad=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = 1 + X @ np.arange(1.0, p + 1) + 0.1 * rng.normal(size=n)
    y[:bad] += 40
    return X, y


def test_theil_sen():
    X, y = problem()
    *_, theta = theil_sen(X, y, 2000)
    fast = pellucid.TheilSenRegressor(tol=1e-9).fit(X, y)
    same(theta, [fast.intercept_, *fast.coef_], atol=1e-8)


def test_ransac():
    X, y = problem(60, 2, 15)
    rng = np.random.default_rng(1)
    sets = [rng.permutation(60)[:3] for _ in range(100)]
    ours = ransac(X, y, sets, 1.0)
    fast = pellucid.RANSACRegressor(residual_threshold=1.0, random_state=0).fit(X, y)
    assert_array_equal(ours.inliers, fast.inlier_mask_)
    same(ours.theta, [fast.estimator_.intercept_, *fast.estimator_.coef_], atol=1e-9)
