"""The norm-class bound: its formula from the measured complexity, and that it holds."""

import numpy as np
from numpy.testing import assert_allclose

from pellucid.evaluation import norm_class_bound
from pellucid.textbook.theory.norm_class_bound import complexity
from pellucid.textbook.theory.norm_class_bound import norm_class_bound as plain


def test_the_textbook():
    for n, B, R, L in ((50, 1.0, 1.0, 1.0), (4000, 3.0, 0.5, 2.0)):
        ours = norm_class_bound(0.2, n, norm=B, radius=R, lipschitz=L, delta=0.1)
        assert_allclose(ours.value, plain(0.2, n, B, R, L, 0.1))


def test_random_signs_are_followed_less_than_the_bound_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 500))
    measured, most = complexity(X, 1.0, rng.choice([-1.0, 1.0], size=(200, 100)))
    assert 0.5 * most < measured <= most


def test_the_promise_holds():
    """Ramp losses of fitted directions on new rows lie below the bound in every draw."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        X = rng.normal(size=(2100, 10))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y = np.sign(X[:, 0] + 0.2 * rng.normal(size=2100))
        w = X[:100].T @ y[:100]
        w /= np.linalg.norm(w)
        loss = np.clip((1 - y * (X @ w)) / 2, 0, 1)
        assert loss[100:].mean() <= norm_class_bound(float(loss[:100].mean()), 100, norm=1.0).value
