"""Bundled tables, networks and generators against the numbers printed for them."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets

from pellucid import data
from pellucid.data.catalog import DataInfo


def test_every_table_has_its_size():
    for item in data.list_data():
        assert isinstance(item, DataInfo)
        if item.kind == "table":
            assert data.load_table(item.name).shape == (item.rows, item.columns)
        elif item.kind == "generator" and item.name != "mixture":
            assert data.make(item.name).shape == (item.rows, item.columns)
        elif item.kind == "network":
            path = data.load_network(item.name)
            with open(path, encoding="utf-8") as file:
                assert sum(line.startswith("variable ") for line in file) == item.columns
    names = [item.name for item in data.list_data()]
    assert len(set(names)) == len(names)


def test_iris_is_fisher():
    X, y = data.load_iris()
    theirs = datasets.load_iris()
    np.testing.assert_array_equal(X.to_numpy(), theirs.data)
    assert y.to_list() == [theirs.target_names[code] for code in theirs.target]


def test_play_ball():
    X, y = data.load_play_ball()
    assert X.shape == (14, 4)
    share = (y == "Yes").mean()
    entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    assert entropy == pytest.approx(0.9402859587, abs=1e-10)
    gains = []
    for name in X.columns:
        left = 0.0
        for level in X[name].unique():
            inside = y.filter(X[name] == level)
            p = (inside == "Yes").mean()
            terms = [q * np.log2(q) for q in (p, 1 - p) if q > 0]
            left -= len(inside) / 14 * sum(terms)
        gains.append(entropy - left)
    assert_allclose(gains, [0.2467498198, 0.0292225657, 0.1518355014, 0.0481270304], atol=1e-10)


def test_food_and_points():
    X, people = data.load_food()
    Z = X.to_numpy().astype(float)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    singular = np.linalg.svd(Z, compute_uv=False)[:3]
    assert_allclose(singular, [3.7640325888, 1.2114803013, 0.6036341191], atol=1e-9)
    assert people.to_list() == ["Alice", "Bob", "Carolyn", "Dave"]
    points, nothing = data.load_points()
    assert nothing is None
    P = points.to_numpy()
    groups = np.array([2, 1, 0, 2, 0, 0, 1, 2])
    J = sum(((P[groups == g] - P[groups == g].mean(axis=0)) ** 2).sum() for g in range(3))
    assert pytest.approx(14.3333, abs=1e-4) == J


def test_nist_certified_values_fit():
    """The certified coefficients leave the certified residual variance."""
    for name in ("norris", "longley", "wampler1", "wampler2", "wampler3"):
        X, y = data.load_nist(name)
        values = data.nist_certified(name)
        n, p = values["n"], values["p"]
        D = X.to_numpy()
        if name.startswith("wampler"):
            D = D ** np.arange(1, 6)
        residual = y.to_numpy() - values["coef"][0] - D @ np.array(values["coef"][1:])
        assert len(y) == n
        variance = residual @ residual / (n - p)
        scale = y.to_numpy() @ y.to_numpy() / n
        assert variance == pytest.approx(values["residual_variance"], rel=1e-5, abs=1e-12 * scale)


def test_unknown_names():
    with pytest.raises(ValueError, match="did you mean 'iris'"):
        data.load_table("irs")
    with pytest.raises(ValueError, match="did you mean 'norris'"):
        data.load_nist("noris")
    with pytest.raises(ValueError, match="did you mean 'alarm'"):
        data.load_network("alarms")
    with pytest.raises(ValueError, match="did you mean 'rings'"):
        data.make("ring")
    with pytest.raises(ValueError, match="did you mean 'noise'"):
        data.make("rings", nois=1)
    with pytest.raises(ValueError, match="make_mixture needs n_samples, weights, means, variances"):
        data.make("mixture")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = data.nothing
    assert os.path.isfile(data.load_network("asia"))


def test_printed_numbers():
    X, y = data.make_noisy_line(random_state=0)
    assert_allclose(y[:3], [4.52810469, 1.95106819, 3.25898351], atol=5e-9)
    assert (X[0, 0], X[-1, 0], X.shape) == (0, 10, (200, 1))
    slope, intercept = np.polyfit(X[:, 0], y, 1)
    assert_allclose([intercept, slope], [1.32861661, 2.96264088], atol=5e-9)
    X, y = data.make_two_blobs(random_state=0)
    assert_allclose(X[0], [1.35281047, 0.82090669], atol=5e-9)
    assert y.tolist() == [0] * 50 + [1] * 50
    X, y = data.make_three_clusters(random_state=42)
    means = [X[y == k].mean(axis=0) for k in range(3)]
    printed = [(0.9537743, 1.01360893), (3.06412436, 2.02174382), (1.98648878, 3.9621182)]
    assert_allclose(means, printed, atol=5e-9)
    assert data.make_line_labels(random_state=5)[1].sum() == 35


def test_exponential_and_a_line():
    X, y = data.make_exponential()
    fitted = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    mse = ((y - fitted) ** 2).mean()
    assert mse == pytest.approx(384.325983, abs=1e-6)
    assert np.sqrt(mse) == pytest.approx(19.604234, abs=1e-6)
    assert abs(y - fitted).mean() == pytest.approx(16.223418, abs=1e-6)
    assert 1 - mse / y.var() == pytest.approx(0.790124, abs=1e-6)


def test_draw_order():
    """The numbers come from RandomState in the stated order."""
    rng = np.random.RandomState(3)
    X, y = data.make_step(20, random_state=3)
    np.testing.assert_array_equal(X, rng.randn(20, 1))
    np.testing.assert_array_equal(y, X[:, 0] > 0)
    rng = np.random.RandomState(3)
    X, y = data.make_line_labels(20, random_state=3)
    np.testing.assert_array_equal(X[:, 0], 1 + 2 * rng.rand(20))
    np.testing.assert_array_equal(X[:, 1], 3 * rng.rand(20))
    X, y = data.make_threshold_strip(20, cut=0.3, random_state=3)
    np.testing.assert_array_equal(X[:, 0], np.random.RandomState(3).rand(20))
    np.testing.assert_array_equal(y, np.where(X[:, 0] > 0.3, 1, -1))
    rng = np.random.RandomState(3)
    X, y = data.make_three_clusters(5, random_state=rng)
    again = np.random.RandomState(3)
    np.testing.assert_array_equal(X[5:10], [3, 2] + 0.5 * again.randn(10, 2)[5:])


def test_laws():
    """The draws have the moments of their law."""
    X, z = data.make_mixture(
        200_000, [0.2, 0.8], [[0, 1], [5, -1]], [[1, 4], [9, 0.25]], random_state=0
    )
    assert_allclose(np.bincount(z) / 200_000, [0.2, 0.8], atol=0.005)
    assert_allclose(X[z == 1].mean(axis=0), [5, -1], atol=0.05)
    assert_allclose(X[z == 0].var(axis=0), [1, 4], rtol=0.05)
    X, y = data.make_rings(10_000, radii=(2, 5), noise=0.1, random_state=0)
    radius = np.hypot(*X.T)
    assert_allclose([radius[y == 0].mean(), radius[y == 1].mean()], [2, 5], atol=0.02)
    assert_allclose(X.mean(axis=0), 0, atol=0.15)
    X, y = data.make_noisy_quadratic(
        100_000, curvature=2, slope=-1, intercept=3, noise=0.5, random_state=0
    )
    assert_allclose(np.polyfit(X[:, 0], y, 2), [2, -1, 3], atol=0.02)


def test_scikit_learns_own():
    for ours, theirs in (
        (data.make_moons, datasets.make_moons),
        (data.make_blobs, datasets.make_blobs),
    ):
        for mine, other in zip(ours(30, random_state=4), theirs(30, random_state=4), strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    "name", [item.name for item in data.list_data() if item.kind == "generator"]
)
def test_seeds(name):
    keywords = {"exponential": {}}.get(name, {"random_state": 1})
    if name == "mixture":
        keywords |= {"n_samples": 9, "weights": [1.0], "means": [0], "variances": [1]}
    first, again = data.make(name, **keywords), data.make(f"make_{name}", **keywords)
    assert first.equals(again)
    assert first.columns[-1] == "y"
    if name != "exponential":
        rng = np.random.default_rng(0)
        assert not data.make(name, **keywords | {"random_state": rng}).equals(first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: data.make_noisy_line(0), "n_samples must be a whole number >= 1"),
        (lambda: data.make_noisy_line(noise=-1), "noise must be >= 0"),
        (lambda: data.make_step(random_state="a"), "random_state must be"),
        (lambda: data.make_two_blobs(centers=[1, 2]), "centers must be 2 points"),
        (lambda: data.make_three_clusters(spread=(1, 2)), "spread must be 3 numbers"),
        (lambda: data.make_rings(radii=(3, 1)), "inner < outer"),
        (lambda: data.make_mixture(5, [0.5], [0], [1]), "sum to 1"),
        (lambda: data.make_mixture(5, [1.5, -0.5], [0, 1], [1, 1]), "numbers >= 0"),
        (lambda: data.make_mixture(5, [1.0], [0, 1], [1]), "one point per weight"),
        (lambda: data.make_mixture(5, [1.0], [0], [-1]), "variances must be numbers >= 0"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
