"""Binomial components: SciPy's density, weighted maximum likelihood, recovery in a mixture."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

import pellucid.mixture
from pellucid import Mixture, load, save
from pellucid.mixture import BernoulliComponent, BinomialComponent


def test_density_is_scipys():
    X = np.array([[0.0, 3.0], [4.0, 1.0], [2.0, 2.0]])
    for p in ([0.3, 0.9], [0.0, 1.0]):
        with np.errstate(divide="ignore"):
            expected = binom.logpmf(X, [4, 3], p).sum(axis=1)
        assert_allclose(BinomialComponent([4, 3], p).log_density(X), expected, atol=1e-12)


def test_one_trial_is_bernoulli():
    X, w = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 0.5])
    a, b = BinomialComponent(1, prior=1.0).fit(X, w), BernoulliComponent(prior=1.0).fit(X, w)
    assert_allclose(a.probabilities, b.probabilities)
    assert_allclose(a.log_density(X), b.log_density(X))


def test_recovery_and_file(tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([BinomialComponent(10, [p]).sample(600, rng) for p in (0.2, 0.7)])
    model = Mixture([BinomialComponent(10, [0.3]), BinomialComponent(10, [0.6])]).fit(X)
    found = sorted(float(part.probabilities[0]) for part in model.components_)
    assert_allclose(found, [0.2, 0.7], atol=0.02)
    save(model, tmp_path / "model.pellucid")
    again = load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))


def test_the_page_names_every_component():
    page = Path(__file__).parents[2] / "docs/algorithms/mixture/gaussian_mixture.md"
    words = page.read_text(encoding="utf-8")
    names = [name for name in pellucid.mixture.__all__ if name.endswith("Component")]
    assert "BinomialComponent" in names
    assert [name for name in names if f"`{name}`" not in words] == []


def test_refusals():
    with pytest.raises(ValueError, match=r"counts 0 \.\. trials"):
        BinomialComponent(2).fit(np.array([[3.0]]), np.ones(1))
    with pytest.raises(ValueError, match="trials must be whole"):
        BinomialComponent(1.5).fit(np.array([[1.0]]), np.ones(1))
