"""R-hat and effective sample size: arviz's numbers, known processes, corners."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.inference import effective_sample_size, rhat
from pellucid.inference.sampling.diagnostics import autocovariance, normal_ranks, split_chains


def autoregression(m, n, phi, seed=0):
    """x_t = phi x_(t-1) + noise from its stationary law."""
    noise = np.random.default_rng(seed).normal(size=(m, n))
    x = noise.copy()
    x[:, 0] /= np.sqrt(1 - phi**2)
    for t in range(1, n):
        x[:, t] += phi * x[:, t - 1]
    return x


CASES = [(4, 1000, 0.9), (3, 101, 0.99), (4, 1000, -0.5), (2, 9, 0.0), (4, 6, 0.0), (4, 500, 0.999)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("m", "n", "phi"), CASES)
def test_equals_arviz(m, n, phi):
    arviz = pytest.importorskip("arviz")
    x = autoregression(m, n, phi)
    for kind in ("mean", "bulk", "tail"):
        ours, theirs = effective_sample_size(x, kind), float(arviz.ess(x, method=kind))
        assert_allclose(ours, theirs, rtol=1e-9)
    assert_allclose(rhat(x), float(arviz.rhat(x, method="split")), rtol=1e-12)
    assert_allclose(rhat(x, split=False), float(arviz.rhat(x, method="identity")), rtol=1e-12)
    assert_allclose(rhat(x, rank=True), float(arviz.rhat(x)), rtol=1e-12)


def test_rhat_is_its_formula():
    x = np.random.default_rng(1).normal(size=(3, 50)) + np.array([[0.0], [1.0], [2.0]])
    W, B = x.var(axis=1, ddof=1).mean(), 50 * x.mean(axis=1).var(ddof=1)
    assert_allclose(rhat(x, split=False), np.sqrt((49 / 50 * W + B / 50) / W))


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_recovers_the_size_of_an_autoregression(phi):
    """N (1 - phi)/(1 + phi) for the mean."""
    x = autoregression(8, 20_000, phi)
    assert_allclose(effective_sample_size(x), x.size * (1 - phi) / (1 + phi), rtol=0.1)


def test_several_coordinates_are_taken_one_by_one():
    x = np.stack([autoregression(4, 200, 0.3), autoregression(4, 200, 0.9, seed=1)], axis=2)
    for function in (rhat, effective_sample_size):
        assert_allclose(function(x), [function(x[:, :, 0]), function(x[:, :, 1])])


def test_ranks_are_blind_to_monotone_changes():
    x = autoregression(4, 300, 0.5)
    assert_allclose(normal_ranks(np.exp(x)), normal_ranks(x))
    assert_allclose(effective_sample_size(np.exp(x), "bulk"), effective_sample_size(x, "bulk"))


def test_ties_share_their_mean_rank():
    z = normal_ranks(np.array([[1.0, 2.0, 2.0, 3.0]]))
    assert z[0, 1] == z[0, 2] == 0.0


def test_autocovariance_is_its_sum():
    x = autoregression(2, 37, 0.4)
    gap = x - x.mean(axis=1, keepdims=True)
    direct = [(gap[:, : 37 - t] * gap[:, t:]).sum(axis=1) / 37 for t in range(37)]
    assert_allclose(autocovariance(x), np.transpose(direct), atol=1e-12)


def test_stuck_chains():
    stuck = np.repeat([[0.0], [1.0]], 20, axis=1)
    assert rhat(stuck) == np.inf
    assert np.isnan(rhat(np.zeros((2, 20))))
    assert effective_sample_size(np.zeros((2, 20))) == 40


def test_drift_shows_only_in_halves():
    x = np.random.default_rng(0).normal(size=(4, 1000)) * 0.1 + np.linspace(0, 1, 1000)
    assert rhat(x, split=False) < 1.01
    assert rhat(x) > 1.5


@pytest.mark.parametrize(
    ("draws", "message"),
    [(np.zeros(5), "shape"), (np.zeros((2, 3)), "at least 4"), (np.full((2, 9), np.nan), "finite")],
)
def test_bad_draws_are_refused(draws, message):
    with pytest.raises(ValueError, match=message):
        rhat(draws)


def test_one_chain_needs_halves():
    with pytest.raises(ValueError, match="nothing to disagree"):
        rhat(np.random.default_rng(0).normal(size=(1, 50)), split=False)
    with pytest.raises(ValueError, match="kind"):
        effective_sample_size(np.zeros((2, 9)), "median")


def test_split_chains():
    assert split_chains(np.zeros((3, 7))).shape == (6, 3)
