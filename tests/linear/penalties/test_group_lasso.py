"""Group lasso and multi-task lasso: one problem, its optimality conditions, its peers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import linear_model

from pellucid import GroupLasso, MultiTaskLasso

R = np.array(
    [(1, 2, 1), (2, 1, 0), (3, 4, 1), (4, 3, 1), (5, 6, 0), (6, 5, 2), (7, 8, 1), (8, 6, 3)], float
)
Y = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)
SHAPES = pytest.mark.parametrize(("n", "p"), [(120, 12), (30, 90)])


def data(n, p, k=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    W = np.zeros((p, k))
    W[:4] = rng.normal(size=(4, k))
    y = X @ W + 0.5 * rng.normal(size=(n, k)) + 2
    return X, y if k > 1 else y[:, 0]


def test_example_15():
    model = GroupLasso(1, groups=[0, 0, 1], tol=1e-12).fit(R, Y)
    assert_allclose(model.coef_, [0.76147379, 0.71853520, 0], atol=1e-7)
    assert model.active_groups_ == (0,)


@SHAPES
def test_optimality_conditions(n, p):
    X, y = data(n, p)
    labels = np.arange(p) // 3
    model = GroupLasso(0.15, groups=labels, tol=1e-13).fit(X, y)
    c = (X - X.mean(axis=0)).T @ (y - model.predict(X)) / n
    for label in np.unique(labels):
        w, pull, t = model.coef_[labels == label], c[labels == label], 0.15 * np.sqrt(3)
        if label in model.active_groups_:
            assert_allclose(pull, t * w / np.linalg.norm(w), atol=1e-6)
        else:
            assert not w.any()
            assert np.linalg.norm(pull) <= t * (1 + 1e-9)
    assert 0 < len(model.active_groups_) < len(np.unique(labels))


@SHAPES
def test_groups_of_one_are_the_lasso(n, p):
    X, y = data(n, p)
    lasso = linear_model.Lasso(0.1, tol=1e-13, max_iter=100_000).fit(X, y)
    for labels in (None, list("abcdefghijklmnopqrstuvwxyz")[:p] if p < 26 else range(p)):
        model = GroupLasso(0.1, groups=labels, tol=1e-13).fit(X, y)
        assert_allclose(model.coef_, lasso.coef_, atol=1e-7)


def test_all_groups_vanish_at_alpha_max():
    X, y = data(120, 12)
    groups = np.arange(12) // 4
    edge = GroupLasso(1.0, groups=groups).fit(X, y).alpha_max_
    assert not GroupLasso(edge * 1.0001, groups=groups).fit(X, y).coef_.any()
    assert GroupLasso(edge * 0.99, groups=groups).fit(X, y).coef_.any()


def test_a_group_does_not_notice_a_rotation_of_its_columns():
    X, y = data(120, 6)
    groups = [0, 0, 0, 1, 1, 1]
    V = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    turned = X.copy()
    turned[:, :3] = X[:, :3] @ V
    a = GroupLasso(0.1, groups=groups, tol=1e-13).fit(X, y)
    b = GroupLasso(0.1, groups=groups, tol=1e-13).fit(turned, y)
    assert_allclose(a.predict(X), b.predict(turned), atol=1e-7)


def test_recovers_the_active_groups():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 40))
    y = X[:, 8:12] @ [1.0, -1, 2, 1] + X[:, 20:24] @ [1.0, 1, -1, 2] + 0.5 * rng.normal(size=300)
    model = GroupLasso(0.2, groups=np.arange(40) // 4).fit(X, y)
    assert model.active_groups_ == (2, 5)


def test_weights_and_objective_fall():
    X, y = data(60, 30)
    groups = np.arange(30) // 5
    own = GroupLasso(0.1, groups=groups, group_weights=np.full(6, np.sqrt(5)), tol=1e-12).fit(X, y)
    assert_allclose(own.coef_, GroupLasso(0.1, groups=groups, tol=1e-12).fit(X, y).coef_)
    assert (np.diff(own.history_["objective"]) <= 1e-12).all()
    plain = GroupLasso(0.1 * np.sqrt(5), groups=groups, group_weights="none", tol=1e-12).fit(X, y)
    assert_allclose(plain.coef_, own.coef_, atol=1e-9)


def test_refusals():
    X, y = data(40, 6)
    with pytest.raises(ValueError, match=r"one label per column \(6\), got 2"):
        GroupLasso(groups=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match=r"group_weights.*2 numbers > 0"):
        GroupLasso(groups=[0, 0, 0, 1, 1, 1], group_weights=[1, -1]).fit(X, y)


@SHAPES
def test_multi_task_equals_scikit_learn(n, p):
    X, y = data(n, p, k=3)
    theirs = linear_model.MultiTaskLasso(0.2, tol=1e-13, max_iter=100_000).fit(X, y)
    ours = MultiTaskLasso(0.2, tol=1e-13).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    rows = ours.coef_.any(axis=0)
    assert ((ours.coef_ != 0).all(axis=0) == rows).all()
    assert 0 < rows.sum() < p


def test_multi_task_warm_start_and_one_target():
    X, y = data(120, 12, k=3)
    model = MultiTaskLasso(0.2, warm_start=True, tol=1e-10).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first
    with pytest.raises(ValueError, match="use Lasso"):
        MultiTaskLasso().fit(X, y[:, 0])


def test_constant_columns_get_nothing():
    X, y = data(120, 12, k=2)
    X[:, 3] = 5.0
    assert not MultiTaskLasso(0.1).fit(X, y).coef_[:, 3].any()
    assert GroupLasso(0.1, groups=np.arange(12) // 2).fit(X, y[:, 0]).coef_[3] == 0
