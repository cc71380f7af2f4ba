"""Least squares, ridge, quantiles, splines: coefficients, curves and new rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pellucid as pl
from benchmarks.calibration.case import Case, Outcome, inside
from pellucid.core.arrays.typing import Array, Rng

B = np.array([1.0, 0.5, -1.0])  # intercept, slopes
Noise = Callable[[Rng, Array], Array]


def equal(rng: Rng, X: Array) -> Array:
    return rng.normal(size=len(X))


def unequal(rng: Rng, X: Array) -> Array:
    """The spread grows with |x0|."""
    return (0.2 + np.abs(X[:, 0])) * rng.normal(size=len(X))


def heavy(rng: Rng, X: Array) -> Array:
    """Student's t with 3 degrees of freedom."""
    return rng.standard_t(3, size=len(X))


def rows(rng: Rng, n: int, noise: Noise) -> tuple[Array, Array]:
    X = rng.normal(size=(n, 2))
    return X, B[0] + X @ B[1:] + noise(rng, X)


def slopes(n: int, noise: Noise, covariance: str, rng: Rng) -> Outcome:
    X, y = rows(rng, n, noise)
    again = {} if covariance == "nonrobust" else {"X": X, "y": y}
    s = pl.LinearRegression().fit(X, y).summary(covariance=covariance, **again)
    return Outcome(inside(s.low, s.high, B)[1:], str(s))


def clusters(G: int, covariance: str, size: int, rng: Rng) -> Outcome:
    """One column that is constant in a cluster, one that is not; the sizes of clusters differ."""
    sizes = rng.integers(size // 2, 2 * size, G)
    g = np.repeat(np.arange(G), sizes)
    X = np.column_stack([rng.normal(size=G)[g], rng.normal(size=len(g))])
    y = B[0] + X @ B[1:] + rng.normal(size=G)[g] + rng.normal(size=len(g))
    again = {} if covariance == "nonrobust" else {"X": X, "y": y, "groups": g}
    s = pl.LinearRegression().fit(X, y).summary(covariance=covariance, **again)
    return Outcome(inside(s.low, s.high, B)[1:], str(s))


def line(n: int, noise: Noise, kind: str, rng: Rng) -> Outcome:
    X, y = rows(rng, n, noise)
    new, later = rows(rng, 20, noise)
    ends = pl.LinearRegression().fit(X, y).predict_interval(new, kind=kind)
    return Outcome(inside(*ends.T, B[0] + new @ B[1:] if kind == "mean" else later))


def jackknife(make: Callable[[], Any], n: int, noise: Noise, rng: Rng) -> Outcome:
    X, y = rows(rng, n, noise)
    new, later = rows(rng, 20, noise)
    ends = make().fit(X, y).jackknife_interval(new, X, y)
    return Outcome(inside(*ends.T, later))


def ridge(make: Callable[[], Any], n: int, rng: Rng) -> Outcome:
    """Slopes drawn from the prior w ~ N(0, sigma2/alpha), alpha = 5."""
    X, w = rng.normal(size=(n, 5)), rng.normal(size=5) / np.sqrt(5.0)
    s = make().fit(X, X @ w + rng.normal(size=n)).summary()
    return Outcome(inside(s.low, s.high, np.append(0.0, w))[1:], str(s))


def chosen(make: Callable[[], Any], rng: Rng) -> Outcome:
    """Ten columns, of which two matter a little; intervals of those that were chosen."""
    X, w = rng.normal(size=(60, 10)), np.append([0.3, -0.3], np.zeros(8))
    model = make().fit(X, X @ w + rng.normal(size=60))
    s = model.summary()
    kept = model.coef_ != 0
    hits = inside(s.low[1:], s.high[1:], w)[kept] if kept.any() else [True]
    return Outcome(hits, str(s))


def quantile(n: int, q: float, noise: str, covariance: str, rng: Rng) -> Outcome:
    x = rng.random(n)
    spread = 0.1 + 2 * x if noise == "unequal" else np.ones(n)
    e = rng.standard_t(3, size=n) if noise == "heavy" else rng.normal(size=n)
    y = 1 + x + spread * e
    truth = 1 + (2 * normal_quantile(q) if noise == "unequal" else 0.0)
    model = pl.QuantileRegressor(quantile=q, alpha=0).fit(x[:, None], y)
    again = {"X": x[:, None], "y": y} if covariance in ("rank", "bootstrap") else {}
    s = model.summary(covariance=covariance, **again)
    return Outcome([inside(s.low[1], s.high[1], truth)], str(s))


def normal_quantile(q: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(q))


def curve(n: int, kind: str, rng: Rng) -> Outcome:
    x = np.sort(rng.random(n))
    new = rng.random(20)

    def f(at: Array) -> Array:
        return np.sin(6 * at)

    model = pl.SmoothingSpline().fit(x[:, None], f(x) + 0.3 * rng.normal(size=n))
    ends = model.predict_interval(new[:, None], kind=kind)
    return Outcome(inside(*ends.T, f(new) + (0.3 * rng.normal(size=20) if kind != "mean" else 0)))


def canonical(n: int, rho: tuple[float, float], rng: Rng) -> Outcome:
    """Two columns of X have the correlations rho with two of y; all are mixed."""
    r = np.array(rho)
    X = rng.normal(size=(n, 4))
    Y = np.c_[r * X[:, :2] + np.sqrt(1 - r**2) * rng.normal(size=(n, 2)), rng.normal(size=n)]
    s = pl.CCA(2).fit(X @ rng.normal(size=(4, 4)), Y @ rng.normal(size=(3, 3))).summary()
    return Outcome(inside(s.low[:2], s.high[:2], r), str(s))


NOISES = (
    ("normal noise, n = 12", 12, equal, ""),
    ("noise t(3), n = 30", 30, heavy, ""),
    ("unequal noise, n = 100", 100, unequal, "independent noise of equal size"),
)
SUMMARY, PREDICT = "linear.LinearRegression.summary", "linear.LinearRegression.predict_interval"
JACKKNIFE = {
    "LinearRegression": pl.LinearRegression,
    "Ridge": pl.Ridge,
    "RidgeCV": pl.RidgeCV,
    "PrincipalComponentRegression": partial(pl.PrincipalComponentRegression, n_components=2),
}
INTERVALS = [
    *(
        Case(SUMMARY, f"nonrobust, {what}", partial(slopes, n, noise, "nonrobust"), caveat=said)
        for what, n, noise, said in NOISES
    ),
    *(
        Case(
            SUMMARY,
            f"{kind}, unequal noise, n = {n}",
            partial(slopes, n, unequal, kind),
            caveat="is too small for few rows" if n < 100 else "",
        )
        for kind in ("HC0", "HC1", "HC2", "HC3")
        for n in (20, 250)
    ),
    *(
        Case(
            SUMMARY,
            f"{kind}, {G} clusters",
            partial(clusters, G, kind, 8),
            caveat=f"only {G} clusters"
            if kind != "nonrobust"
            else "independent noise of equal size",
        )
        for kind, G in (
            ("cluster", 10),
            ("cluster", 60),
            ("CR2", 8),
            ("CR2", 30),
            ("nonrobust", 30),
        )
    ),
    *(
        Case(PREDICT, f"{kind}, {what}", partial(line, n, noise, kind))
        for kind in ("mean", "prediction")
        for what, n, noise, said in NOISES
        if not said and not (kind == "prediction" and noise is heavy)
    ),
    *(
        Case(
            f"linear.{name}.jackknife_interval",
            f"noise t(3), n = {n}",
            partial(jackknife, make, n, heavy),
        )
        for name, make in JACKKNIFE.items()
        for n in (40,)
    ),
    Case(
        "linear.Ridge.summary",
        "slopes from the prior, n = 15",
        partial(ridge, partial(pl.Ridge, 5.0), 15),
    ),
    Case(
        "linear.Ridge.summary",
        "slopes from the prior, n = 60",
        partial(ridge, partial(pl.Ridge, 5.0), 60),
    ),
    Case(
        "linear.RidgeCV.summary",
        "slopes from the prior, n = 30",
        partial(ridge, partial(pl.RidgeCV, alphas=np.logspace(-2, 3, 11)), 30),
        caveat="alpha was chosen on the same rows and is taken as known",
    ),
    Case(
        "linear.StepwiseRegression.summary",
        "10 columns, 2 matter",
        partial(chosen, pl.StepwiseRegression),
        caveat="chosen on the same data",
    ),
    Case(
        "linear.BestSubsetRegression.summary",
        "10 columns, 2 matter",
        partial(chosen, pl.BestSubsetRegression),
        caveat="chosen on the same data",
    ),
    *(
        Case(
            "linear.QuantileRegressor.summary",
            f"{kind}, quantile {q:g}, {noise} noise, n = {n}",
            partial(quantile, n, q, noise, kind),
            caveat={"iid": "the same in every row"}.get(kind, ""),
            share=0.1 if kind == "bootstrap" else 1.0,
        )
        for kind, q, noise, n in (
            ("robust", 0.5, "unequal", 200),
            ("robust", 0.9, "unequal", 200),
            ("robust", 0.5, "unequal", 1000),
            ("robust", 0.9, "unequal", 1000),
            ("robust", 0.5, "heavy", 60),
            ("rank", 0.5, "unequal", 100),
            ("powell", 0.5, "unequal", 500),
            ("iid", 0.5, "normal", 100),
            ("iid", 0.9, "unequal", 200),
            ("bootstrap", 0.5, "unequal", 100),
        )
    ),
    Case(
        "linear.SmoothingSpline.predict_interval",
        "curve, n = 60",
        partial(curve, 60, "mean"),
        share=0.5,
    ),
    Case(
        "linear.SmoothingSpline.predict_interval",
        "new rows, n = 60",
        partial(curve, 60, "prediction"),
        share=0.5,
    ),
    *(
        Case(
            "linear.CCA.summary",
            f"correlations {rho[0]} and {rho[1]}, n = {n}",
            partial(canonical, n, rho),
            caveat="with few rows correlations come out too large",
        )
        for n, rho in ((2000, (0.8, 0.4)), (50, (0.8, 0.4)))
    ),
]
