"""MixtureDiscriminantAnalysis and SemiSupervisedMixture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from pellucid import (
    GaussianMixture,
    MixtureDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    SemiSupervisedMixture,
)
from pellucid.mixture.gaussian.gaussians import STRUCTURES


def two_sided(n=300, seed=0):
    """Class 1 lies on both sides of class 0: no single Gaussian fits it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    side = rng.choice([-4.0, 4.0], size=n)
    X = rng.normal(size=(n, 2)) + np.column_stack([y * side, np.zeros(n)])
    return X, y


def three_classes(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) * [1.0, 0.5] + np.array([[0, 0], [4, 1], [1, 4]])[y]
    return X, y


def test_one_component_is_qda():
    X, y = three_classes()
    ours = MixtureDiscriminantAnalysis(1, reg_covar=0).fit(X, y)
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.predict_proba(X), qda.predict_proba(X), atol=1e-9)
    for c, mixture in enumerate(ours.mixtures_):
        S = np.cov(X[y == c].T, bias=True)
        assert_allclose(mixture.covariances_[0], S, rtol=1e-10)


def test_bayes_rule_by_hand_and_given_priors():
    X, y = two_sided()
    model = MixtureDiscriminantAnalysis(priors=[0.9, 0.1], random_state=0).fit(X, y)
    density = np.column_stack([np.exp(m.score_samples(X)) for m in model.mixtures_])
    joint = density * [0.9, 0.1]
    assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-10)
    assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


def test_two_sides_need_two_components():
    X, y = two_sided(600)
    train, test = slice(0, 400), slice(400, None)
    two = MixtureDiscriminantAnalysis(2, random_state=0).fit(X[train], y[train])
    one = MixtureDiscriminantAnalysis(1).fit(X[train], y[train])
    assert two.score(X[test], y[test]) > one.score(X[test], y[test])
    assert two.score(X[test], y[test]) > 0.94
    drawn, labels = two.sample(4000, random_state=1)
    assert two.score(drawn, labels) > 0.94
    assert abs((labels == 1).mean() - two.priors_[1]) < 0.03


def test_small_classes_are_refused():
    X, y = two_sided(40)
    y[:] = 0
    y[:2] = 1
    with pytest.raises(ValueError, match=r"class 1 has 2 row.*n_components=3"):
        MixtureDiscriminantAnalysis(3).fit(X, y)
    w = np.ones(40)
    w[0] = 0
    with pytest.raises(ValueError, match=r"class 1 has 1 row"):
        MixtureDiscriminantAnalysis(2).fit(X, y, sample_weight=w)


# --- some labels ---------------------------------------------------------------------------


def objective(model, X, y, u):
    mixture = model.mixture_
    J = mixture.component_log_density(X) + np.log(mixture.weights_)
    known = y >= 0
    return J[known, y[known]].sum() + u * mixture.score_samples(X[~known]).sum()


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("u", [0.3, 1.0])
def test_objective_rises_and_is_what_it_says(kind, u):
    X, y = three_classes()
    y = np.where(np.arange(len(y)) % 6 == 0, y, -1)
    model = SemiSupervisedMixture(covariance_type=kind, unlabeled_weight=u, reg_covar=0).fit(X, y)
    values = model.history_["objective"]
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()
    assert len(values) > 2
    assert_allclose(values[-1], objective(model, X, y, u), rtol=1e-11)


def test_weight_zero_is_the_supervised_fit():
    X, y = three_classes()
    half = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    free = SemiSupervisedMixture(unlabeled_weight=0, reg_covar=0).fit(X, half)
    own = SemiSupervisedMixture(reg_covar=0).fit(X[half >= 0], half[half >= 0])
    qda = QuadraticDiscriminantAnalysis().fit(X[half >= 0], half[half >= 0])
    assert_allclose(free.predict_proba(X), own.predict_proba(X), atol=1e-12)
    assert_allclose(free.predict_proba(X), qda.predict_proba(X), atol=1e-9)
    assert_allclose(free.moved_, 0, atol=1e-12)


def test_step_by_brute_force():
    """One round, every sum written out."""
    X, y = three_classes(60)
    y = np.where(np.arange(60) % 3 == 0, y, -1)
    u = 0.5
    model = SemiSupervisedMixture(unlabeled_weight=u, reg_covar=0, max_iter=1, tol=0).fit(X, y)
    known = y >= 0
    R = np.zeros((60, 3))
    R[known] = np.eye(3)[y[known]]
    N = R.sum(axis=0)
    density = np.column_stack(
        [
            N[c] / N.sum() * multivariate_normal(
                X[y == c].mean(axis=0), np.cov(X[y == c].T, bias=True)
            ).pdf(X)
            for c in range(3)
        ]
    )  # fmt: skip
    R[~known] = u * (density / density.sum(axis=1, keepdims=True))[~known]
    mean = (R.T @ X) / R.sum(axis=0)[:, None]
    assert_allclose(model.mixture_.means_, mean, rtol=1e-10)
    assert_allclose(model.mixture_.weights_, R.sum(axis=0) / R.sum(), rtol=1e-10)
    D = X - mean[1]
    S = (D.T * R[:, 1]) @ D / R[:, 1].sum()
    assert_allclose(model.mixture_.covariances_[1], S, rtol=1e-9)


def test_unlabelled_rows_help():
    better = 0
    for seed in range(10):
        X, y = three_classes(400, seed)
        half = np.full(400, -1)
        for c in range(3):
            half[np.flatnonzero(y == c)[:4]] = c
        model = SemiSupervisedMixture(covariance_type="tied").fit(X, half)
        alone = SemiSupervisedMixture(covariance_type="tied", unlabeled_weight=0).fit(X, half)
        better += model.score(X, y) >= alone.score(X, y)
    assert better >= 8


def test_far_moves_are_said():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (6, 1)), rng.normal(3, 1, (6, 1)), rng.normal(40, 1, (300, 1))])
    y = np.r_[np.zeros(6, int), np.ones(6, int), np.full(300, -1)]
    with pytest.warns(UserWarning, match="moved the mean of class 1"):
        SemiSupervisedMixture().fit(X, y)


def test_labels_of_other_kinds():
    X, y = three_classes()
    names = np.array(["ant", "bee", "cat"])[y]
    some = np.where(np.arange(len(y)) % 2 == 0, names, "-1")
    model = SemiSupervisedMixture().fit(X, some)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    codes = SemiSupervisedMixture().fit(X, np.where(some == "-1", -1, y))
    assert_array_equal(codes.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="every row is -1"):
        SemiSupervisedMixture().fit(X, np.full(len(X), -1))
    with pytest.warns(UserWarning, match="-1 is taken as a class"):
        SemiSupervisedMixture().fit(X, np.where(y == 0, -1, 1))
    with pytest.raises(ValueError, match="collapsed"):
        SemiSupervisedMixture(reg_covar=0).fit(X[:3], [0, 1, 0])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(STRUCTURES))
def test_weights_are_repetitions(seed, kind):
    rng = np.random.default_rng(seed)
    X, y = three_classes(60, seed)
    y = np.where(rng.random(60) < 0.5, y, -1)
    y[:9] = np.arange(9) % 3
    w = rng.integers(0, 3, 60)
    w[:9] += 1
    model = SemiSupervisedMixture(covariance_type=kind, max_iter=4, tol=0)
    p = model.fit(X, y, sample_weight=w).predict_proba(X)
    q = model.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_proba(X)
    assert_allclose(p, q, atol=1e-7)


def test_mixture_is_a_gaussian_mixture():
    X, y = three_classes()
    model = SemiSupervisedMixture().fit(X, y)
    assert isinstance(model.mixture_, GaussianMixture)
    assert_array_equal(model.classes_[model.mixture_.predict(X)], model.predict(X))
