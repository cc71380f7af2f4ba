"""Metropolis-Hastings: known targets, detailed balance on a grid, streams, corners; example 19."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pellucid.inference import GaussianWalk, LogNormalWalk, metropolis_hastings

x, y = np.arange(6.0), np.array([0, 0, 1, 0, 1, 1.0])
D = np.column_stack([np.ones(6), x])


def posterior(theta):
    """Log posterior of the logistic model of example 19, rows of theta."""
    A = theta @ D.T
    return A @ y - np.logaddexp(0, A).sum(axis=-1) - (theta**2).sum(axis=-1) / 20


def normal(theta):
    return -0.5 * (theta**2).sum(axis=-1)


def test_example_19_of_the_foundations():
    """4 x 20,000 draws, GaussianWalk(.8): mean within .25 of the grid's."""
    chains = metropolis_hastings(
        posterior, [0.0, 0.0], n_draws=20_000, proposal=GaussianWalk(0.8), vectorized=True,
        random_state=0,
    )  # fmt: skip
    assert_allclose(chains.mean, [-2.53633, 1.18523], atol=0.25)
    assert_allclose(chains.cov, [[3.2068, -1.0145], [-1.0145, 0.5176]], rtol=0.25)
    P = chains.predictive(lambda t: 1 / (1 + np.exp(-(t[0] + t[1] * np.array([2.5, 10, 30])))))
    assert_allclose(P, [0.57923, 0.95595, 0.96955], atol=0.02)


def test_moments_of_a_correlated_normal():
    S = np.array([[2.0, 1.2], [1.2, 1.0]])
    P = np.linalg.inv(S)
    chains = metropolis_hastings(
        lambda t: -0.5 * ((t @ P) * t).sum(axis=1), [0.0, 0.0], n_draws=20_000,
        proposal=GaussianWalk(2.8 * S), vectorized=True, random_state=1,
    )  # fmt: skip
    assert_allclose(chains.mean, 0, atol=5 * chains.mcse.max())
    assert_allclose(chains.cov, S, atol=0.15)
    assert chains.diagnose() == ["no sign of failure"]


def test_asymmetric_proposal_needs_its_ratio():
    """Gamma(3): with the ratio the mean is 3."""
    target = lambda t: 2 * np.log(t[0]) - t[0]  # noqa: E731
    chains = metropolis_hastings(
        target, [3.0], n_draws=10_000, proposal=LogNormalWalk(1.0), random_state=0
    )
    assert_allclose(chains.mean, 3, atol=5 * chains.mcse[0])
    assert_allclose(chains.cov, [[3]], rtol=0.1)
    assert (chains.draws > 0).all()


def test_detailed_balance_on_three_states():
    """A proposal of our own; the long-run shares are the target's."""

    class Ring:
        def sample(self, state, rng):
            return (state + rng.choice([1, 2], p=[0.8, 0.2])) % 3

        def log_ratio(self, new, old):
            up = (new - old) % 3 == 1
            return float(np.log(0.2 / 0.8) if up else np.log(0.8 / 0.2))

    p = np.array([0.2, 0.5, 0.3])
    chains = metropolis_hastings(
        lambda s: np.log(p[int(s[0])]), [0], n_draws=10_000, proposal=Ring(), random_state=0
    )
    shares = np.bincount(chains.flat[:, 0].astype(int), minlength=3) / len(chains.flat)
    assert_allclose(shares, p, atol=0.02)


SHORT = pytest.mark.filterwarnings("ignore:do not trust these draws")  # few draws, on purpose


@SHORT
@pytest.mark.parametrize("proposal", [GaussianWalk(0.7), LogNormalWalk()], ids=["normal", "log"])
def test_vectorized_changes_nothing(proposal):
    options = {"n_draws": 300, "n_burn": 50, "proposal": proposal, "random_state": 3}
    start = [1.0, 2.0]
    many = metropolis_hastings(normal, start, vectorized=True, **options)
    one = metropolis_hastings(lambda t: float(normal(t)), start, **options)
    assert_array_equal(many.draws, one.draws)


@SHORT
def test_chains_do_not_depend_on_those_beside_them():
    start = np.arange(6.0).reshape(3, 2)
    options = {"n_draws": 100, "vectorized": True, "random_state": 0}
    three = metropolis_hastings(normal, start, n_chains=3, **options)
    two = metropolis_hastings(normal, start[:2], n_chains=2, **options)
    assert_array_equal(three.draws[:2], two.draws)


def test_records():
    chains = metropolis_hastings(
        normal, np.zeros(2), n_draws=1100, n_burn=30, vectorized=True, keep_proposals=True,
        random_state=0,
    )  # fmt: skip
    assert chains.warmup.shape == (4, 30, 2)
    before = np.concatenate([chains.warmup[:, -1:], chains.draws[:, :-1]], axis=1)
    moved = (chains.draws != before).any(axis=2)
    assert_array_equal(chains.accepted, moved)
    assert_array_equal(chains.draws, np.where(moved[..., None], chains.proposals, before))
    assert_allclose(chains.log_density, normal(chains.draws))
    assert_allclose(chains.acceptance_rate, moved.mean(axis=1))
    assert_allclose(chains.cov, np.cov(chains.flat.T, bias=True))
    assert_array_equal(chains.marginal(1), chains.flat[:, 1])
    assert {"estimate", "rhat", "ess", "mcse"} <= set(chains.summary().columns)


@SHORT
def test_starts_are_dispersed_within_the_support():
    target = lambda t: -t[0] if t[0] > 0 else -np.inf  # noqa: E731
    chains = metropolis_hastings(target, 0.5, n_draws=5, n_burn=0, n_chains=8, random_state=0)
    assert len(np.unique(chains.draws[:, 0, 0])) > 4
    assert (chains.draws > 0).all()


def test_bad_starts_and_shapes_are_refused():
    half = lambda t: 0.0 if t[0] > 0 else -np.inf  # noqa: E731
    with pytest.raises(ValueError, match="positive where a chain starts"):
        metropolis_hastings(half, [-1.0])
    with pytest.raises(ValueError, match="one row for each"):
        metropolis_hastings(normal, np.zeros((3, 2)), n_chains=4)
    with pytest.raises(ValueError, match="vectorized=True must map"):
        metropolis_hastings(lambda t: 0.0, [0.0], vectorized=True)
    with pytest.raises(ValueError, match=r"sample\(x, rng\)"):
        metropolis_hastings(normal, [0.0], proposal="walk")
    with pytest.raises(ValueError, match="scale must be"):
        metropolis_hastings(normal, [0.0, 0.0], proposal=GaussianWalk([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=r"\+inf"):
        metropolis_hastings(lambda t: np.inf if t[0] > 1 else 0.0, [0.0], random_state=0)


@SHORT
def test_nan_is_a_rejection_and_reported():
    target = lambda t: np.nan if t[0] > 1 else -0.5 * float(t[0] ** 2)  # noqa: E731
    with pytest.warns(UserWarning, match="NaN for"):
        chains = metropolis_hastings(target, [0.0], random_state=0)
    assert (chains.draws <= 1).all()
    assert any("NaN" in line for line in chains.diagnose())


def test_diagnose_names_separate_modes_and_bad_steps():
    two = lambda t: np.logaddexp(-0.5 * (t[:, 0] - 20) ** 2, -0.5 * (t[:, 0] + 20) ** 2)  # noqa: E731
    with pytest.warns(
        ConvergenceWarning, match="do not trust these draws yet: the chains disagree"
    ):
        chains = metropolis_hastings(
            two, [[-20.0], [20.0], [-20.0], [20.0]], vectorized=True, random_state=0
        )
    text = " ".join(chains.diagnose())
    assert "disagree" in text
    assert "separate modes" in text
    with pytest.warns(ConvergenceWarning, match="few effective draws"):
        steep = metropolis_hastings(
            normal, [0.0], proposal=GaussianWalk(100.0), vectorized=True, random_state=0
        )
    assert "< 0.1" in " ".join(steep.diagnose())
    with pytest.warns(ConvergenceWarning, match="few effective draws"):
        short = metropolis_hastings(
            normal, [0.0], proposal=GaussianWalk(0.05), vectorized=True, random_state=0
        )
    assert "> 0.7" in " ".join(short.diagnose())
    P = np.linalg.inv([[1.0, 0.99], [0.99, 1.0]])
    with pytest.warns(ConvergenceWarning, match="covariance as scale"):
        thin = metropolis_hastings(
            lambda t: -0.5 * ((t @ P) * t).sum(axis=1),
            [0.0, 0.0],
            n_draws=5000,
            proposal=GaussianWalk(0.3),
            vectorized=True,
            random_state=0,
        )
    assert "covariance as scale" in " ".join(thin.diagnose())
