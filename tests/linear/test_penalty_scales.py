"""convert_penalty: the table, the examples, round trips."""

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose

from pellucid.linear import Ridge, convert_penalty

SCALES = ["sklearn", "rss", "half_rss", "mse"]


def test_example_7_of_the_course():
    assert_allclose(convert_penalty(1, penalty="l1", n_samples=3, source="half_rss"), 1 / 6)
    pair = convert_penalty(1, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5)
    assert_allclose(pair, (0.25, 1 / 3))
    pair = convert_penalty(10, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5)
    assert_allclose(pair, (2.5, 1 / 3))


@pytest.mark.parametrize("lam", [1.0, 2.0])
def test_example_7_lasso_of_intercept_and_slope(lam):
    """RSS/2 + (lambda/2) sum |.| over both parameters is the lasso on D without intercept."""
    D = np.array([[1.0, 0], [1, 1], [1, 2]])
    alpha = convert_penalty(lam, penalty="l1", n_samples=3, source="half_rss")
    model = sklearn.linear_model.Lasso(alpha, fit_intercept=False, tol=1e-14, max_iter=10**6)
    expected = {1.0: (2 / 3, 1.5), 2.0: (0.5, 1.5)}[lam]
    assert_allclose(model.fit(D, [1, 2, 4]).coef_, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [(1.0, (0.7682926829, 1.3536585366)), (10.0, (0.3169014085, 0.6549295775))],
)
def test_example_7_elastic_net(lam, expected):
    D = np.array([[1.0, 0], [1, 1], [1, 2]])
    alpha, ratio = convert_penalty(
        lam, penalty="elastic_net", n_samples=3, source="half_rss", mix=0.5
    )
    model = sklearn.linear_model.ElasticNet(
        alpha, l1_ratio=ratio, fit_intercept=False, tol=1e-14, max_iter=10**6
    )
    assert_allclose(model.fit(D, [1, 2, 4]).coef_, expected, atol=1e-6)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_the_table_of_the_part(penalty):
    n, alpha = 7, 0.3
    found = [convert_penalty(alpha, penalty=penalty, n_samples=n, target=t) for t in SCALES]
    factor = 1 if penalty == "l2" else 2 * n
    assert_allclose(found, [alpha, factor * alpha, factor * alpha, factor * alpha / n])


@pytest.mark.parametrize("source", SCALES)
@pytest.mark.parametrize("target", SCALES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic_net"])
def test_there_and_back(penalty, source, target):
    options = {"penalty": penalty, "n_samples": 11}
    if penalty != "elastic_net":
        there = convert_penalty(0.7, **options, source=source, target=target)
        assert_allclose(convert_penalty(there, **options, source=target, target=source), 0.7)
        return
    start, mix = ((0.7, 0.4), None) if source == "sklearn" else (0.7, 0.4)
    there = convert_penalty(start, **options, source=source, target=target, mix=mix)
    if target == "sklearn":
        back = convert_penalty(there, **options, target=source)
    else:
        back = convert_penalty(there[0], **options, source=target, target=source, mix=there[1])
    assert_allclose(back, (0.7, 0.4))


def test_ridge_in_the_scale_of_the_mean():
    g = np.random.default_rng(0)
    X, y = g.normal(size=(20, 3)), g.normal(size=20)
    alpha = convert_penalty(0.1, penalty="l2", n_samples=20, source="mse")
    w = Ridge(alpha, fit_intercept=False).fit(X, y).coef_
    assert_allclose(X.T @ (y - X @ w) / 20, 0.1 * w, atol=1e-12)  # gradient of RSS/n + .1 |w|^2


def test_refusals():
    cases = [
        ({"value": -1, "penalty": "l1"}, ">= 0"),
        ({"value": 1, "penalty": "l3"}, "penalty must be one of"),
        ({"value": 1, "penalty": "l1", "source": "book"}, "source must be one of"),
        ({"value": 1, "penalty": "l1", "mix": 0.5}, "mix belongs"),
        ({"value": 1, "penalty": "elastic_net"}, r"\(alpha, l1_ratio\)"),
        ({"value": 1, "penalty": "elastic_net", "source": "rss"}, "needs mix"),
        ({"value": 1, "penalty": "elastic_net", "source": "rss", "mix": 2}, "between 0 and 1"),
        ({"value": (1, 0.5), "penalty": "elastic_net", "mix": 0.5}, "not mix"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            convert_penalty(**arguments, n_samples=3)
    with pytest.raises(ValueError, match="n_samples"):
        convert_penalty(1, penalty="l1", n_samples=0)
