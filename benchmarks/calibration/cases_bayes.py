"""Bayesian models and beliefs: parameters drawn from the prior, or fixed where there is none."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.gaussian_process import kernels

import pellucid as pl
from benchmarks.calibration.case import Case, Outcome, inside
from pellucid import graphical, inference
from pellucid.core.arrays.typing import Array, Rng

FIXED = np.array([1.0, -0.5, 0.2, 1.0, -0.5])
Make = Callable[[], Any]


def line(rng: Rng, n: int, w: Array, noise: str) -> tuple[Array, Array]:
    X = rng.normal(size=(n, len(w)))
    e = rng.normal(size=n)
    if noise == "heavy":
        e = rng.standard_t(3, size=n)
    if noise == "unequal":
        e = e * (0.2 + np.abs(X[:, 0]))
    return X, 1 + X @ w + e


def slopes(make: Make, n: int, drawn: bool, noise: str, rng: Rng) -> Outcome:
    w = rng.normal(size=5) if drawn else FIXED
    s = make().fit(*line(rng, n, w, noise)).summary()
    return Outcome(inside(s.low[-5:], s.high[-5:], w), str(s))


def new_rows(make: Make, n: int, kind: str, rng: Rng) -> Outcome:
    w = rng.normal(size=5)
    model = make().fit(*line(rng, n, w, "normal"))
    X, y = line(rng, 20, w, "normal")
    ends = model.predict_interval(X, kind=kind)
    return Outcome(inside(*ends.T, 1 + X @ w if kind == "mean" else y), str(model.card()))


def many_rows(kind: str, rng: Rng) -> Outcome:
    """A curve of 500 places through 30 points."""
    x = rng.uniform(0, 20, size=(520, 1))
    f = np.sin(x[:, 0]) + 0.3 * np.cos(2.3 * x[:, 0])
    y = f + 0.5 * rng.normal(size=520)
    model = pl.SparseGaussianProcessRegressor(n_inducing=30, random_state=0).fit(x[:500], y[:500])
    ends = model.predict_interval(x[500:], kind=kind)
    return Outcome(inside(*ends.T, (f if kind == "mean" else y)[500:]))


def process(n: int, kind: str, rng: Rng) -> Outcome:
    """A curve drawn from a process whose numbers are learned from n of its places."""
    X = rng.uniform(0, 20, size=(n + 20, 1))
    kernel = 2.0 * kernels.RBF(1.0)
    f = rng.multivariate_normal(np.zeros(n + 20), kernel(X), method="svd")
    y = f + 0.5 * rng.normal(size=n + 20)
    start = 1.0 * kernels.RBF(1.0) + kernels.WhiteKernel(1.0)
    model = pl.GaussianProcessRegressor(start).fit(X[:n], y[:n])
    if kind == "numbers":
        s = model.summary()
        return Outcome(inside(s.low, s.high, np.array([2.0, 1.0, 0.25])), str(s))
    ends = model.predict_interval(X[n:], kind=kind)
    return Outcome(inside(*ends.T, (f if kind == "mean" else y)[n:]), str(model.card()))


def logistic(make: Make, n: int, rng: Rng) -> Outcome:
    """Parameters from the prior N(0, I) of the default."""
    model, y = make(), np.zeros(n, dtype=int)
    while len(np.unique(y)) < 2:
        theta = rng.normal(size=3)
        X = rng.normal(size=(n, 2))
        y = (rng.random(n) < expit(theta[0] + X @ theta[1:])).astype(int)
    s = model.fit(X, y).summary()
    return Outcome(inside(s.low, s.high, theta), str(s))


def logistic_chance(n: int, rng: Rng) -> Outcome:
    y = np.zeros(n, dtype=int)
    while len(np.unique(y)) < 2:
        theta = rng.normal(size=3)
        X = rng.normal(size=(n, 2))
        y = (rng.random(n) < expit(theta[0] + X @ theta[1:])).astype(int)
    new = rng.normal(size=(10, 2))
    ends = pl.BayesianLogisticRegression().fit(X, y).predict_interval(new)
    return Outcome(inside(*ends.T, expit(theta[0] + new @ theta[1:])))


def coin(kind: str, rng: Rng) -> Outcome:
    p = rng.beta(2, 3)
    belief = inference.BetaBernoulli(2, 3).update((rng.random(12) < p).astype(int))
    return Outcome([inside(*belief.interval(kind=kind), p)])


def dice(rng: Rng) -> Outcome:
    p = rng.dirichlet([1.0, 2.0, 3.0])
    belief = inference.DirichletCategorical([1.0, 2.0, 3.0])
    return Outcome(inside(*belief.update(rng.choice(3, size=15, p=p)).interval().T, p))


def arrivals(rng: Rng) -> Outcome:
    rate = 2.0 * rng.gamma(3.0)
    belief = inference.GammaPoisson(3.0, 2.0).update(rng.poisson(rate, size=8))
    return Outcome([inside(*belief.interval(), rate)])


def network(rng: Rng) -> Outcome:
    """Two binary variables; the tables drawn from the prior of one imaginary row in each cell."""
    a = rng.dirichlet([1.0, 1.0])
    b = rng.dirichlet([1.0, 1.0], size=2)
    x = rng.choice(2, size=40, p=a)
    y = (rng.random(40) < b[x, 1]).astype(int)
    import polars

    both = polars.Enum(["0", "1"])  # a value may have no row
    rows = polars.DataFrame({"a": x.astype(str), "b": y.astype(str)}, schema={"a": both, "b": both})
    model = graphical.BayesianNetwork([("a", "b")]).fit(rows)
    low, high = model.intervals("a")
    return Outcome(inside(low, high, a))


def exact_law(rng: Rng) -> Outcome:
    laws = (inference.Normal(1.0, 2.0), inference.Gamma(2.0, 1.5), inference.StudentT(4.0))
    return Outcome([inside(*law.interval(), law.sample(1, random_state=rng)[0]) for law in laws])


def densest(rng: Rng) -> Outcome:
    law = inference.Gamma(2.0, 1.5)
    ends = inference.hpd_interval(law, 0.95)
    return Outcome([inside(*ends, law.sample(1, random_state=rng)[0])])


def grid_mean(rng: Rng) -> Outcome:
    m = rng.normal()
    x = rng.normal(m, 1.0, size=5)
    grid = inference.GridPosterior(
        lambda t: -0.5 * t[:, 0] ** 2 - 0.5 * ((x - t) ** 2).sum(axis=1), -6, 6, vectorized=True
    )
    return Outcome([inside(*grid.interval(0), m)])


def chains(rng: Rng) -> Outcome:
    m = rng.normal()
    x = rng.normal(m, 1.0, size=5)

    def log_density(t: Array) -> Array:
        return -0.5 * t[:, 0] ** 2 - 0.5 * ((x - t) ** 2).sum(axis=1)

    walk = inference.GaussianWalk(1.0)
    found = inference.metropolis_hastings(
        log_density, [0.0], proposal=walk, vectorized=True, random_state=rng, n_draws=2000
    )
    s = found.summary()
    return Outcome(inside(s.low, s.high, m), str(s))


def both_moments(rng: Rng) -> Outcome:
    """mean and variance from the normal inverse-gamma prior."""
    s2 = 1 / rng.gamma(3.0, 1 / 2.0)
    m = rng.normal() * np.sqrt(s2 / 2.0)
    belief = inference.NormalInverseGamma(0.0, 2.0, 3.0, 2.0)
    found = belief.update(rng.normal(m, np.sqrt(s2), size=8)).interval()
    return Outcome(inside(*np.atleast_2d(found).T, np.array([m, s2])[: len(np.atleast_2d(found))]))


both = pl.BayesianLinearRegression
noise_only = partial(both, prior_covariance=1.0)
prior_only = partial(both, noise_variance=1.0)
flat = partial(both, prior_covariance=[np.inf] * 6)
known = partial(both, prior_covariance=1.0, noise_variance=1.0)
MODELS: dict[str, Make] = {
    "BayesianLinearRegression": both,
    "BayesianRidge": pl.BayesianRidge,
    "ARDRegression": pl.ARDRegression,
}
NARROW = "still too narrow for few rows"
EQUAL = "independent normal noise of equal size"
INTERVALS = [
    *(
        Case(
            f"linear.{name}.summary",
            f"{'slopes from the prior' if drawn else 'fixed slopes'}, {noise} noise, n = {n}",
            partial(slopes, make, n, drawn, noise),
            caveat=EQUAL if noise == "unequal" else NARROW if name == "ARDRegression" else "",
        )
        for name, make in MODELS.items()
        for n, drawn, noise in (
            (15, True, "normal"),
            (25, True, "normal"),
            (15, False, "normal"),
            (60, False, "normal"),
            (30, True, "heavy"),
            (100, False, "unequal"),
        )
    ),
    *(
        Case(
            "linear.BayesianLinearRegression.summary",
            f"{what}, n = {n}",
            partial(slopes, make, n, True, "normal"),
        )
        for what, make in (
            ("prior given, noise estimated", noise_only),
            ("noise given, prior estimated", prior_only),
            ("flat prior", flat),
            ("both given", known),
        )
        for n in (15,)
    ),
    *(
        Case(
            f"linear.{name}.predict_interval",
            f"{kind}, n = {n}",
            partial(new_rows, make, n, kind),
            caveat="too narrow for few rows" if name == "ARDRegression" else "",
        )
        for name, make in MODELS.items()
        for kind, n in (("prediction", 15), ("prediction", 25), ("mean", 25))
    ),
    Case(
        "linear.BayesianLogisticRegression.summary",
        "parameters from the prior, n = 30",
        partial(logistic, pl.BayesianLogisticRegression, 30),
    ),
    Case(
        "linear.BayesianLogisticRegression.predict_interval",
        "parameters from the prior, n = 30",
        partial(logistic_chance, 30),
    ),
    Case(
        "inference.BetaBernoulli.interval",
        "from the prior, 12 tosses",
        partial(coin, "equal_tailed"),
    ),
    Case(
        "inference.BetaBernoulli.interval",
        "densest, from the prior, 12 tosses",
        partial(coin, "hpd"),
    ),
    Case("inference.DirichletCategorical.interval", "from the prior, 15 throws", dice),
    Case("inference.GammaPoisson.interval", "from the prior, 8 counts", arrivals),
    Case("inference.NormalInverseGamma.interval", "from the prior, 8 values", both_moments),
    Case("graphical.BayesianNetwork.intervals", "from the prior, 40 rows", network),
    Case("inference.Normal.interval", "draws of the law itself", exact_law),
    Case("inference.hpd_interval", "draws of the law itself", densest),
    Case("inference.GridPosterior.interval", "from the prior, 5 values", grid_mean),
    *(
        Case(
            f"kernel.GaussianProcessRegressor.{method}",
            f"{kind}, n = {n}",
            partial(process, n, kind),
            caveat="too narrow for few" if kind == "numbers" else "",
        )
        for n in (30, 60, 100, 200)
        for method, kind in (
            ("predict_interval", "prediction"),
            ("predict_interval", "mean"),
            ("summary", "numbers"),
        )
    ),
    *(
        Case(
            "kernel.SparseGaussianProcessRegressor.predict_interval",
            f"{kind}, n = 500",
            partial(many_rows, kind),
        )
        for kind in ("prediction", "mean")
    ),
    Case("inference.Chains.summary", "from the prior, 5 values", chains, share=0.3),
]
