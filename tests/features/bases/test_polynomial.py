"""Polynomial features against scikit-learn, brute force and the number of terms."""

from itertools import product
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.features import PolynomialFeatures

rng = np.random.default_rng(0)
DEGREES = [0, 1, 2, 3, 4, (2, 2), (2, 4), (0, 3), (1, 2)]


@pytest.mark.parametrize("degree", DEGREES, ids=str)
@pytest.mark.parametrize("interaction_only", [True, False])
@pytest.mark.parametrize("include_bias", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_oracle(degree, interaction_only, include_bias, order):
    if degree == 0 and not include_bias:  # no columns: both refuse
        for cls in (PolynomialFeatures, peer.PolynomialFeatures):
            with pytest.raises(ValueError, match="degree"):
                cls(degree=0, include_bias=False).fit(rng.normal(size=(5, 2)))
        return
    options = {
        "degree": degree,
        "interaction_only": interaction_only,
        "include_bias": include_bias,
        "order": order,
    }
    for p in (1, 2, 5):
        X = rng.normal(size=(300, p))
        S = sp.random(60, p, 0.5, format="csr", random_state=0)
        ours, theirs = PolynomialFeatures(**options).fit(X), peer.PolynomialFeatures(**options)
        theirs.fit(X)
        assert ours.n_output_features_ == theirs.n_output_features_
        if theirs.n_output_features_ == 0:
            continue
        assert_array_equal(ours.powers_, theirs.powers_)
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
        out = ours.transform(X)
        assert out.flags.c_contiguous if order == "C" else out.flags.f_contiguous
        assert_allclose(out, theirs.transform(X), rtol=1e-14)
        assert_allclose(ours.transform(S).toarray(), theirs.transform(S).toarray(), rtol=1e-14)
        assert_array_equal(ours.transform(S).indices, ours.transform(S.sorted_indices()).indices)


@pytest.mark.parametrize(("p", "k"), [(2, 3), (4, 2), (3, 5)])
def test_number_of_terms_and_values(p, k):
    X = rng.normal(size=(20, p))
    model = PolynomialFeatures(k).fit(X)
    assert model.n_output_features_ == comb(p + k, k) == len(model.powers_)
    assert_allclose(model.transform(X), (X[:, None, :] ** model.powers_).prod(axis=2), rtol=1e-12)


def test_example_19_two_columns():
    X = np.array([[2.0, 3.0]])
    assert PolynomialFeatures(2).fit(X).n_output_features_ == 6
    names = PolynomialFeatures((2, 2), include_bias=False).fit(X).get_feature_names_out()
    assert list(names) == ["x0^2", "x0 x1", "x1^2"]


@pytest.mark.parametrize("kind", ["array", "sparse", "F"])
def test_powers_only_and_powers_first(kind):
    X = rng.normal(size=(40, 2))
    data = sp.csr_matrix(X) if kind == "sparse" else X
    order = "F" if kind == "F" else "C"
    a, b = X.T

    def columns(**options):
        out = PolynomialFeatures(order=order, **options).fit_transform(data)
        return (out.toarray() if kind == "sparse" else out).T

    assert_allclose(columns(degree=3, powers_only=True), [a**0, a, b, a**2, b**2, a**3, b**3])
    assert_allclose(columns(degree=2, arrangement="powers_first"), [a**0, a, b, a**2, b**2, a * b])
    first = columns(degree=(2, 3), arrangement="powers_first", include_bias=False)
    assert_allclose(first, [a**2, b**2, a * b, a**3, b**3, a**2 * b, a * b**2])
    assert_allclose(columns(degree=(2, 2), powers_only=True, include_bias=False), [a**2, b**2])


def test_every_option_agrees_with_its_own_powers():
    X = rng.normal(size=(15, 3))
    for powers_only, arrangement, bias, degree in product(
        [True, False], ["degree", "powers_first"], [True, False], [1, 3, (2, 3)]
    ):
        model = PolynomialFeatures(
            degree, powers_only=powers_only, arrangement=arrangement, include_bias=bias
        ).fit(X)
        expected = (X[:, None, :] ** model.powers_).prod(axis=2)
        assert_allclose(model.transform(X), expected, rtol=1e-12)
        assert model.n_output_features_ == len(model.powers_)


def test_too_large_is_refused_before_allocating():
    X = np.zeros((10_000, 60))
    with pytest.raises(ValueError, match=r"5955379248 cells"):
        PolynomialFeatures(4).fit(X[:2]).transform(X[:9_373])
    with pytest.raises(ValueError, match=r"features which is too large"):
        PolynomialFeatures(12).fit(X)


@pytest.mark.parametrize("degree", [-1, 1.5, "two", (3, 2), (1, 2, 3), (1, 2.5), True])
def test_bad_degrees(degree):
    with pytest.raises(ValueError, match="degree"):
        PolynomialFeatures(degree).fit(np.ones((2, 2)))


def test_contradictions_are_refused():
    with pytest.raises(ValueError, match="exclude"):
        PolynomialFeatures(interaction_only=True, powers_only=True).fit(np.ones((2, 2)))
    with pytest.raises(ValueError, match="empty output array"):
        PolynomialFeatures(0, include_bias=False).fit(np.ones((2, 2)))


def test_recovers_a_polynomial():
    x = np.linspace(-1, 1, 50)[:, None]
    model = make_pipeline(
        PolynomialFeatures(3, include_bias=False), pellucid.LinearRegression()
    ).fit(x, 1 - 2 * x.ravel() + 3 * x.ravel() ** 3)
    assert_allclose(model[-1].coef_, [-2, 0, 3], atol=1e-10)
    assert_allclose(model[-1].intercept_, 1)
