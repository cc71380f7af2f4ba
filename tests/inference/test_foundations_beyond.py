"""Beyond the course: NormalInverseWishart, stated quantiles, ArviZ, learning chains, checks."""

import sys

import numpy as np
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import dblquad, quad

from pellucid.inference import (
    AdaptiveWalk,
    Beta,
    BetaBernoulli,
    Chains,
    Gamma,
    GammaPoisson,
    Hamiltonian,
    InverseGamma,
    MultivariateStudentT,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    StudentT,
    hpd_interval,
    metropolis_hastings,
    predictive_check,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + [1.0, -1.0]
S = np.array([[2.0, 0.3], [0.3, 1.0]])


# --- moments that do not exist -------------------------------------------------------------------


def test_moments_that_do_not_exist():
    """A t with df <= 1 has no mean; infinite ones say so, and SciPy agrees where they exist."""
    assert np.isnan(StudentT(1.0, 3.0).mean)
    assert np.isnan(StudentT(1.0, 3.0).variance)
    assert StudentT(1.0, 3.0).mode == 3.0
    assert StudentT(1.0, 3.0).quantile(0.5) == 3.0
    assert StudentT(1.0, 3.0).parameters == {"df": 1.0, "mean": 3.0, "scale": 1.0}
    assert repr(StudentT(1.0, 3.0)) == "StudentT(df=1.0, mean=3.0, scale=1.0)"
    assert StudentT(1.0, 3.0) == StudentT(1.0, 3.0)
    assert StudentT(1.5, 3.0).mean == 3.0
    assert StudentT(1.5).variance == np.inf
    assert InverseGamma(1.0, 2.0).mean == np.inf
    assert InverseGamma(2.0, 2.0).variance == np.inf
    assert np.isnan(MultivariateStudentT(0.5, [1.0], [[1.0]]).mean).all()
    for df in (1.2, 2.5, 7.0):
        assert StudentT(df, 1.0, 2.0).mean == st.t(df, 1.0, 2.0).mean()
        assert_allclose(StudentT(df, 1.0, 2.0).variance, st.t(df, 1.0, 2.0).var())


# --- NormalInverseWishart ------------------------------------------------------------------------


def test_wishart_of_one_dimension_is_the_inverse_gamma():
    x, w = rng.normal(size=9), rng.integers(1, 4, 9).astype(float)
    one = NormalInverseGamma(0.5, 2.0, 1.5, 0.7)
    same = NormalInverseWishart([0.5], 2.0, 3.0, [[1.4]])
    a, b = one.update(x, w), same.update(x[:, None], w)
    assert_allclose(b.mean, a.mean)
    assert_allclose([b.kappa, b.df / 2, b.scale[0, 0] / 2], [a.kappa, a.shape, a.scale])
    assert_allclose(same.log_evidence(x[:, None], w), one.log_evidence(x, w))
    assert_allclose(b.interval(), a.interval())
    assert_allclose(b.mode, a.mode)
    grid = np.linspace(-2, 3, 5)
    assert_allclose(b.predictive().log_density(grid[:, None]), a.predictive().log_density(grid))


def test_wishart_laws():
    """Batches in any order; evidence adds up and is the product of predictives."""
    prior = NormalInverseWishart([0.0, 1.0], 0.5, 4.5, S)
    whole, parts = prior.update(X), prior.update(X[5:]).update(X[:5])
    for name in ("mean", "kappa", "df", "scale"):
        assert_allclose(getattr(whole, name), getattr(parts, name))
    belief, total = prior, 0.0
    for row in X:
        total += belief.predictive().log_density(row)
        belief = belief.update(row[None])
    assert_allclose(prior.log_evidence(X), total)
    assert_allclose(prior.log_evidence(X[:2], [2.0, 1.0]), prior.log_evidence(X[[0, 0, 1]]))
    assert "worth 16.5" in str(whole)


def test_wishart_draws_and_density():
    law = NormalInverseWishart([0.0, 1.0], 2.0, 9.0, S).posterior
    rows = law.sample(40_000, random_state=0)
    _, covs = law.split(rows)
    assert_allclose(rows.mean(axis=0), law.mean, atol=0.02)
    assert_allclose(rows.var(axis=0), law.variance, rtol=0.15)
    assert_array_equal(covs[0], covs[0].T)
    at = law.split(rows[:3])
    exact = [
        st.invwishart(9.0, S).logpdf(C) + st.multivariate_normal([0.0, 1.0], C / 2).logpdf(m)
        for m, C in zip(*at, strict=True)
    ]
    assert_allclose(law.log_density(rows[:3]), exact)
    assert law.log_density([0.0, 0.0, 1.0, 2.0, 1.0]) == -np.inf  # not positive definite
    low, high = law.marginal(2).interval()
    assert abs(np.mean((covs[:, 0, 0] > low) & (covs[:, 0, 0] < high)) - 0.95) < 0.01
    with pytest.raises(ValueError, match="no closed form"):
        law.marginal(3)
    t = MultivariateStudentT(5.0, [0.0, 1.0], S)
    assert_allclose(t.log_density(X), st.multivariate_t([0.0, 1.0], S, 5.0).logpdf(X))
    assert_allclose(np.cov(t.sample(200_000, random_state=0).T), t.cov, rtol=0.08, atol=0.05)


def test_wishart_doors():
    with pytest.raises(ValueError, match="df must be > d - 1"):
        NormalInverseWishart([0.0, 0.0], df=1.0)
    with pytest.raises(ValueError, match="positive definite"):
        NormalInverseWishart([0.0, 0.0], scale=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="2 columns"):
        NormalInverseWishart([0.0, 0.0]).update(np.ones((3, 3)))


# --- conjugate posteriors against quadrature -----------------------------------------------------


def test_posteriors_by_quadrature():
    """GammaPoisson and NormalInverseGamma: evidence and mean as integrals."""
    counts = [2, 4, 3, 0]
    joint = lambda r: np.exp(st.poisson(r).logpmf(counts).sum()) * st.gamma(1.5).pdf(r)  # noqa: E731
    evidence = quad(joint, 0, 40)[0]
    prior = GammaPoisson(1.5, 1.0)
    assert_allclose(prior.log_evidence(counts), np.log(evidence))
    mean = quad(lambda r: r * joint(r), 0, 40)[0] / evidence
    assert_allclose(prior.update(counts).mean, mean, rtol=1e-6)
    x = np.array([0.3, 1.0, -0.4])
    both = NormalInverseGamma(0.0, 1.0, 3.0, 2.0)

    def density(m, v):
        likelihood = np.exp(-((x - m) ** 2).sum() / (2 * v)) / (2 * np.pi * v) ** 1.5
        return likelihood * both.posterior.density([m, v])

    value = dblquad(density, 0.02, 40, -6, 6, epsabs=1e-8)[0]
    assert_allclose(both.log_evidence(x), np.log(value), atol=1e-3)


# --- stated quantiles and shortest regions -------------------------------------------------------


@pytest.mark.parametrize("family", [Normal, Gamma, Beta])
@pytest.mark.parametrize(
    ("low", "high", "probability"),
    [(0.1, 0.6, 0.9), (0.02, 0.021, (0.25, 0.5)), (0.3, 0.999, (0.01, 0.9))],
)
def test_stated_quantiles_are_met(family, low, high, probability):
    law = family.from_quantiles(low, high, probability)
    q = probability if np.ndim(probability) else ((1 - probability) / 2, (1 + probability) / 2)
    assert_allclose(law.quantile(list(q)), [low, high], rtol=1e-8)


def test_stated_quantiles_refuse_nonsense():
    for bad, words in (
        ((0.6, 0.2), "low must be < high"), ((0.2, 0.6, 1.5), "probability"),
        ((0.2, 0.6, (0.9, 0.1)), "must rise"), ((0.2, 1.5), "between 0 and 1"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Beta.from_quantiles(*bad)


def test_shortest_region():
    """No interval of this probability is shorter; equal densities at both ends."""
    law = Gamma(3.0, 2.0)
    low, high = hpd_interval(law, 0.9)
    assert_allclose(law.cdf(high) - law.cdf(low), 0.9)
    assert_allclose(law.density(low), law.density(high), rtol=1e-5)
    ends = law.quantile(np.linspace(0, 0.0999, 50))
    assert (law.quantile(law.cdf(ends) + 0.9) - ends >= high - low - 1e-9).all()


# --- chains that learn, and that follow the gradient ---------------------------------------------

C = np.array([[100.0, 9.0, 0.0], [9.0, 1.0, 0.0], [0.0, 0.0, 0.01]])
P = np.linalg.inv(C)


def thin(x):
    return -0.5 * ((x @ P) * x).sum(axis=-1)


def thin_slope(x):
    return -x @ P


def test_adaptive_walk_learns_a_thin_target():
    """R-hat and effective size where a round walk fails; exact moments."""
    options = {"n_draws": 4000, "n_burn": 2000, "vectorized": True, "random_state": 0}
    chains = metropolis_hastings(thin, np.zeros(3), proposal=AdaptiveWalk(0.1), **options)
    assert chains.rhat.max() < 1.02
    assert chains.ess.min() > 500
    assert ((chains.acceptance_rate > 0.15) & (chains.acceptance_rate < 0.5)).all()
    assert (np.abs(chains.mean) < 5 * chains.mcse).all()
    size = np.sqrt(np.diag(C))
    assert_allclose(chains.cov / np.outer(size, size), C / np.outer(size, size), atol=0.2)
    alone = metropolis_hastings(
        thin, np.zeros((1, 3)), proposal=AdaptiveWalk(0.1), n_chains=1, **options
    )
    many = metropolis_hastings(
        thin, np.zeros((4, 3)), proposal=AdaptiveWalk(0.1), n_chains=4, **options
    )
    assert_array_equal(alone.draws[0], many.draws[0])  # a chain does not know the others
    with pytest.raises(ValueError, match="n_burn must be >= 100"):
        metropolis_hastings(thin, np.zeros(3), proposal=AdaptiveWalk(), n_burn=10, vectorized=True)


def test_hamiltonian_moves():
    chains = metropolis_hastings(
        thin, np.zeros(3), gradient=thin_slope, vectorized=True, n_draws=1500, n_burn=800,
        random_state=0, keep_proposals=True,
    )  # fmt: skip
    assert chains.rhat.max() < 1.03
    assert (np.abs(chains.mean) < 5 * chains.mcse).all()
    assert_allclose(np.diag(chains.cov), np.diag(C), rtol=0.25)
    assert chains.acceptance_rate.min() > 0.6
    assert_array_equal(chains.proposals[chains.accepted], chains.draws[chains.accepted])


@pytest.mark.filterwarnings("ignore:do not trust these draws")  # few draws, on purpose
def test_hamiltonian_one_row_at_a_time_is_the_same():
    options = {"n_draws": 50, "n_burn": 0, "n_chains": 2, "random_state": 1,
               "proposal": Hamiltonian(0.1, 5)}  # fmt: skip
    a = metropolis_hastings(thin, np.zeros(3), gradient=thin_slope, vectorized=True, **options)
    b = metropolis_hastings(thin, np.zeros(3), gradient=thin_slope, **options)
    assert_allclose(a.draws, b.draws, rtol=1e-12, atol=1e-12)
    tiny = metropolis_hastings(
        thin, np.zeros(3), gradient=thin_slope, n_draws=50, n_burn=0, random_state=1,
        proposal=Hamiltonian(1e-4, 5),
    )  # fmt: skip
    assert tiny.accepted.all()  # the energy is kept
    with pytest.raises(ValueError, match="needs gradient="):
        metropolis_hastings(thin, np.zeros(3), proposal=Hamiltonian())
    with pytest.raises(ValueError, match="gradient must have the shape"):
        metropolis_hastings(thin, np.zeros(3), gradient=thin, vectorized=True)


def test_to_arviz(monkeypatch):
    chains = Chains(
        rng.normal(size=(4, 200, 2)), warmup=np.zeros((4, 3, 2)),
        accepted=np.ones((4, 200), bool), log_density=np.zeros((4, 200)),
    )  # fmt: skip
    with pytest.raises(ValueError, match="names must be 2"):
        monkeypatch.setitem(sys.modules, "arviz", type(sys)("arviz")) or chains.to_arviz(["a"])
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="pip install arviz"):
        chains.to_arviz()


# --- predictive checks ---------------------------------------------------------------------------


def test_predictive_check():
    coin = np.array([0, 1] * 15)  # never two alike in a row
    belief = BetaBernoulli().update(coin)

    def flip(p, rng):
        return rng.random(30) < p

    def switches(x):
        return float(np.abs(np.diff(np.asarray(x, float))).sum())

    mean = predictive_check(coin, belief, flip, random_state=0)
    assert 0.3 < mean.p_value < 0.7
    assert "nothing unusual" in str(mean)
    found = predictive_check(coin, belief, flip, switches, random_state=0)
    assert found.p_value < 0.01
    assert "larger than the model explains" in str(found)
    low, high = found.interval()
    assert low < 15 < high < found.observed
    prior = predictive_check([3.0], np.zeros(10), lambda m, rng: rng.normal(m, 1.0, 1),
                             n_draws=4000, random_state=0)  # fmt: skip
    assert_allclose(prior.p_value, st.norm.sf(3.0), atol=0.002)
    with pytest.raises(ValueError, match="one finite number"):
        predictive_check(coin, belief, flip, np.diff)
