"""Log densities on a million values, fits of families, linear-Gaussian updates, grids."""

import numpy as np

from benchmarks.harness import Case

N = 1_000_000


def normal_values():
    return np.random.default_rng(0).normal(1.0, 2.0, N)


def gamma_values():
    return np.random.default_rng(0).gamma(2.5, 1.5, N)


def beta_values():
    return np.random.default_rng(0).beta(2.0, 3.0, N)


def counts():
    return np.random.default_rng(0).poisson(7.5, N).astype(np.float64)


def successes():
    return np.random.default_rng(0).binomial(30, 0.3, N).astype(np.float64)


def ours(name, *parameters):
    def run(x):
        import pellucid.inference

        return getattr(pellucid.inference, name)(*parameters).log_density(x)

    return run


def theirs(name, *arguments, **keywords):
    def run(x):
        import scipy.stats

        law = getattr(scipy.stats, name)(*arguments, **keywords)
        return law.logpmf(x) if hasattr(law.dist, "logpmf") else law.logpdf(x)

    return run


def fit(name):
    def run(x):
        from pellucid.inference import fit_distribution

        return fit_distribution(x[:100_000], name).log_likelihood

    return run


def fit_scipy(name, **fixed):
    def run(x):
        import scipy.stats

        family = getattr(scipy.stats, name)
        x = x[:100_000]
        return family(*family.fit(x, **fixed)).logpdf(x).sum()

    return run


def vectors():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(8, 8))
    return rng.normal(size=(200_000, 8)), B @ B.T + np.eye(8)


def many_normal(data):
    from pellucid.inference import MultivariateNormal

    return MultivariateNormal(np.zeros(8), data[1]).log_density(data[0])


def many_normal_scipy(data):
    from scipy.stats import multivariate_normal

    return multivariate_normal(np.zeros(8), data[1]).logpdf(data[0])


def regression():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20_000, 20))
    return A, A @ rng.normal(size=20) + rng.normal(size=20_000)


def linear_gaussian(data):
    from pellucid.inference import LinearGaussian

    after = LinearGaussian(1.0, np.zeros(20), 10.0).update(*data)
    return np.append(after.mean, np.diag(after.cov))


def linear_gaussian_numpy(data):
    """The textbook's formulas, each once."""
    A, y = data
    V = np.linalg.inv(np.eye(20) / 10 + A.T @ A)
    return np.append(V @ (A.T @ y), np.diag(V))


def close(rtol=1e-9, atol=1e-10):
    return lambda a, b: bool(np.allclose(a, b, rtol=rtol, atol=atol))


def no_worse(a, b):
    return bool(a >= b - 1e-6 * abs(b))


READ = "one read of x, one write, and the function's own cost"
CASES = [
    Case(
        f"log density of {label}, {N} values",
        data,
        {"pellucid": ours(*mine), "scipy.stats": peer},
        close(),
        READ,
    )
    for label, data, mine, peer in [
        ("Normal", normal_values, ("Normal", 1.0, 2.0), theirs("norm", 1.0, 2.0)),
        ("Laplace", normal_values, ("Laplace", 1.0, 2.0), theirs("laplace", 1.0, 2.0)),
        ("Logistic", normal_values, ("Logistic", 1.0, 2.0), theirs("logistic", 1.0, 2.0)),
        ("StudentT", normal_values, ("StudentT", 4.0, 1.0, 2.0), theirs("t", 4.0, 1.0, 2.0)),
        ("Uniform", beta_values, ("Uniform", 0.0, 1.0), theirs("uniform")),
        ("Exponential", gamma_values, ("Exponential", 2.0), theirs("expon", scale=2.0)),
        ("Gamma", gamma_values, ("Gamma", 2.5, 1.5), theirs("gamma", 2.5, scale=1.5)),
        ("InverseGamma", gamma_values, ("InverseGamma", 2.5, 1.5),
         theirs("invgamma", 2.5, scale=1.5)),
        ("Beta", beta_values, ("Beta", 2.0, 3.0), theirs("beta", 2.0, 3.0)),
        ("Poisson", counts, ("Poisson", 7.5), theirs("poisson", 7.5)),
        ("Binomial", successes, ("Binomial", 30, 0.3), theirs("binom", 30, 0.3)),
    ]
] + [
    Case(
        f"fit_distribution, {name}, 100000 values",
        data,
        {"pellucid": fit(name), "scipy.stats.fit": fit_scipy(peer, **fixed)},
        no_worse,
        "one pass for sufficient statistics, or a few Newton steps",
        rounds=2,
        repeats=1,
    )
    for name, data, peer, fixed in [
        ("gamma", gamma_values, "gamma", {"floc": 0}),
        ("beta", beta_values, "beta", {"floc": 0, "fscale": 1}),
        ("logistic", normal_values, "logistic", {}),
    ]
] + [
    Case(
        "log density of MultivariateNormal, 200000 rows of 8",
        vectors,
        {"pellucid": many_normal, "scipy.stats": many_normal_scipy},
        close(),
        "one triangular solve",
    ),
    Case(
        "LinearGaussian, posterior, 20000 x 20",
        regression,
        {"pellucid": linear_gaussian, "NumPy": linear_gaussian_numpy},
        close(1e-7, 1e-6),
        "one product A'A",
        note="Ours also checks the data, finds the evidence and takes any prior, even singular.",
    ),
]  # fmt: skip
