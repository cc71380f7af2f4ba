"""Generalised linear models, logistic and ordinal regression, fitted distributions, PCA."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

import pellucid as pl
from benchmarks.calibration.case import Case, Outcome, inside
from pellucid import inference
from pellucid.core.arrays.typing import Array, Rng

B = np.array([0.3, 0.8, -0.5])


def counts(rng: Rng, n: int) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 2))
    return X, rng.poisson(np.exp(B[0] + X @ B[1:])).astype(float)


def positive(rng: Rng, n: int) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 2))
    mean = np.exp(B[0] + X @ B[1:])
    return X, rng.gamma(2.0, mean / 2.0)


def spread_counts(rng: Rng, n: int) -> tuple[Array, Array]:
    """Negative binomial, variance mu + mu^2/2."""
    X = rng.normal(size=(n, 2))
    mean = np.exp(B[0] + X @ B[1:])
    return X, rng.poisson(rng.gamma(2.0, mean / 2.0)).astype(float)


def labels(rng: Rng, n: int) -> tuple[Array, Array]:
    """Two classes; drawn again until no hyperplane is likely to part them."""
    while True:
        X = rng.normal(size=(n, 2))
        y = (rng.random(n) < expit(B[0] + X @ B[1:])).astype(float)
        if 4 <= y.sum() <= n - 4:
            return X, y


def model_slopes(make: Callable[[], Any], data: Any, n: int, profile: bool, rng: Rng) -> Outcome:
    X, y = data(rng, n)
    model = make().fit(X, y)
    s = model.summary(intervals="profile", X=X, y=y) if profile else model.summary()
    return Outcome(inside(s.low, s.high, B)[1:], str(s))


def probability(n: int, rng: Rng) -> Outcome:
    X, y = labels(rng, n)
    new = rng.normal(size=(10, 2))
    ends = logistic().fit(X, y).predict_interval(new)
    return Outcome(inside(*ends.T, expit(B[0] + new @ B[1:])))


def effects(n: int, rng: Rng) -> Outcome:
    X, y = labels(rng, n)
    p = expit(B[0] + X @ B[1:])
    found = logistic().fit(X, y).marginal_effects(X)
    return Outcome(inside(found.low, found.high, (p * (1 - p)).mean() * B[1:]))


def logistic() -> Any:
    return pl.LogisticRegression(C=np.inf)


def ordered(n: int, rng: Rng) -> Outcome:
    X, w, cuts = rng.normal(size=(n, 2)), np.array([0.8, -0.5]), np.array([-0.7, 0.8])
    y = np.searchsorted(cuts, X @ w + rng.logistic(size=n))
    s = pl.OrdinalLogisticRegression().fit(X, y).summary()
    return Outcome(inside(s.low, s.high, np.append(cuts, w)), str(s))


def clustered(G: int, rng: Rng) -> Outcome:
    """Rows of a cluster share a part of their log-odds; slopes of columns inside clusters."""
    g = np.repeat(np.arange(G), 12)
    X = rng.normal(size=(len(g), 2))
    eta = X @ [0.8, -0.5] + 0.3 * rng.normal(size=G)[g]
    y = (rng.random(len(g)) < expit(eta)).astype(int)
    s = logistic().fit(X, y).summary(covariance="cluster", X=X, y=y, groups=g)
    return Outcome(inside(s.low[1:], s.high[1:], [0.8, -0.5]), str(s))


def stepwise_logistic(rng: Rng) -> Outcome:
    X, w = rng.normal(size=(120, 8)), np.append([0.5, -0.5], np.zeros(6))
    y = (rng.random(120) < expit(X @ w)).astype(int)
    s = pl.StepwiseLogisticRegression().fit(X, y).summary()
    truth = np.array([0.0 if name == "intercept" else w[int(name[1:])] for name in s.names])
    hits = inside(s.low, s.high, truth)[1:]
    return Outcome(hits if len(hits) else [True], str(s))


def law(family: str, draw: Callable[[Rng], Array], truth: dict[str, float], rng: Rng) -> Outcome:
    fit = inference.fit_distribution(draw(rng), family)
    ends = fit.interval()
    return Outcome([inside(*ends[name], value) for name, value in truth.items()], str(fit))


def eigenvalues(n: int, heavy: bool, rng: Rng) -> Outcome:
    truth = np.array([9.0, 4.0, 1.0])
    Z = rng.standard_t(5, size=(n, 3)) / np.sqrt(5 / 3) if heavy else rng.normal(size=(n, 3))
    model = pl.PCA().fit(Z * np.sqrt(truth))
    return Outcome(
        inside(*model.eigenvalue_intervals().T, truth), str(pl.PCA.eigenvalue_intervals.__doc__)
    )


POISSON, GAMMA = "linear.PoissonRegressor.summary", "linear.GammaRegressor.summary"
LOGISTIC = "linear.LogisticRegression.summary"
poisson = partial(pl.PoissonRegressor, alpha=0)
gamma = partial(pl.GammaRegressor, alpha=0)
negative = partial(pl.NegativeBinomialRegressor, alpha=0)
tweedie = partial(pl.TweedieRegressor, power=2, alpha=0, link="log")
INTERVALS = [
    *(
        Case(
            thing,
            f"{'profile' if p or 'Firth' in thing else 'Wald'}, {what}, n = {n}",
            partial(model_slopes, make, data, n, p),
            caveat=said,
        )
        for thing, make, data, what, n, p, said in (
            (POISSON, poisson, counts, "Poisson counts", 25, False, ""),
            (POISSON, poisson, counts, "Poisson counts", 25, True, ""),
            (
                POISSON,
                poisson,
                spread_counts,
                "counts spread twice as wide",
                200,
                False,
                "varies more than the family says",
            ),
            (GAMMA, gamma, positive, "gamma responses", 30, False, ""),
            (GAMMA, gamma, positive, "gamma responses", 30, True, ""),
            (
                "linear.NegativeBinomialRegressor.summary",
                negative,
                spread_counts,
                "negative binomial counts",
                150,
                False,
                "",
            ),
            (
                "linear.TweedieRegressor.summary",
                tweedie,
                positive,
                "gamma responses",
                60,
                False,
                "",
            ),
            (LOGISTIC, logistic, labels, "two classes", 40, False, "normal for many rows"),
            (LOGISTIC, logistic, labels, "two classes", 40, True, "too narrow for few rows"),
            (LOGISTIC, logistic, labels, "two classes", 300, False, ""),
            (
                "linear.FirthLogisticRegression.summary",
                pl.FirthLogisticRegression,
                labels,
                "two classes",
                40,
                False,
                "",
            ),
        )
    ),
    Case(
        "linear.LogisticRegression.predict_interval",
        "two classes, n = 100",
        partial(probability, 100),
    ),
    Case(
        "linear.LogisticRegression.marginal_effects", "two classes, n = 100", partial(effects, 100)
    ),
    Case(
        "linear.OrdinalLogisticRegression.summary", "three levels, n = 100", partial(ordered, 100)
    ),
    Case(LOGISTIC, "cluster, 8 clusters", partial(clustered, 8), caveat="only 8 clusters"),
    Case(
        "linear.StepwiseLogisticRegression.summary",
        "8 columns, 2 matter",
        stepwise_logistic,
        caveat="selected on the same data",
        share=0.5,
    ),
    Case(
        "inference.DistributionFit.interval",
        "normal, n = 15",
        partial(law, "normal", lambda r: r.normal(2, 3, size=15), {"mean": 2.0, "std": 3.0}),
    ),
    Case(
        "inference.DistributionFit.interval",
        "Poisson, n = 15",
        partial(law, "poisson", lambda r: r.poisson(2.0, size=15), {"rate": 2.0}),
    ),
    Case(
        "inference.DistributionFit.interval",
        "gamma, n = 60",
        partial(law, "gamma", lambda r: r.gamma(2.0, 1.5, size=60), {"shape": 2.0, "scale": 1.5}),
    ),
    Case(
        "decomposition.PCA.eigenvalue_intervals",
        "normal rows, n = 60",
        partial(eigenvalues, 60, False),
    ),
    Case(
        "decomposition.PCA.eigenvalue_intervals",
        "rows t(5), n = 300",
        partial(eigenvalues, 300, True),
        caveat="for many normal rows",
    ),
]
