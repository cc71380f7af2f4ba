r"""Numbers of normal-theory inference for y = D b + e, e ~ N(0, s^2 I).

    Cov(b) = s^2 (D'D)^-1 = s^2 T T',     t_j = b_j / se_j ~ t(n - df)
    F = b_S' (T_S T_S')^-1 b_S / (q s^2) ~ F(q, n - df)       for the hypothesis b_S = 0
    log L = -n/2 (ln(2 pi RSS/n) + 1),   AIC = -2 log L + 2 df,   BIC = -2 log L + df ln n

The distribution functions are those of scipy.special (scipy.stats takes long to import).

References: Seber & Lee, Linear Regression Analysis, ch. 4; ESL, section 3.2.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from pellucid.core.arrays.typing import Array


class FTest(NamedTuple):
    """The test that a set of coefficients is zero."""

    statistic: Any
    df_numerator: int
    df_denominator: float
    p_value: Any


def tail(statistic: float | Array, df: Any, distribution: str) -> Any:
    """Two-sided p-value.

    >>> round(float(tail(1.959963984540054, 10, "normal")), 6)
    0.05
    """
    size = -np.abs(statistic)
    return 2 * (
        scipy.special.ndtr(size) if distribution == "normal" else scipy.special.stdtr(df, size)
    )


def cut(confidence: float, df: float, distribution: str) -> float:
    """Half width of the central interval in standard errors."""
    q = (1 + confidence) / 2
    return float(
        scipy.special.ndtri(q) if distribution == "normal" else scipy.special.stdtrit(df, q)
    )


def cuts(confidence: float, df: Any, distribution: str) -> Any:
    """``cut`` for one or many degrees of freedom."""
    return np.vectorize(lambda one: cut(confidence, one, distribution))(df)


def estimate_table(b: Array, se: Array, statistic: Array, p: Array, half: Array) -> dict[str, Any]:
    """The columns of a summary: estimates, errors, tests, and the intervals ``b`` -+ ``half``."""
    test = {"statistic": statistic, "p_value": p}
    return {"estimate": b, "standard_error": se, **test, "low": b - half, "high": b + half}


def f_tail(statistic: float | Array, q: float | Array, df: float | Array) -> Any:
    """P(F(q, df) > statistic); 0 for an infinite statistic."""
    return np.where(np.isinf(statistic), 0.0, scipy.special.fdtrc(q, df, statistic))


def wald(b: Array, T: Array, sigma2: float | Array) -> Any:
    """F statistic of b = 0 where Cov(b) = sigma2 T T'; b is (q, k)."""
    R = np.asarray(np.linalg.qr(T.T, mode="r"))  # T T' = R'R
    Z = np.linalg.solve(R.T, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (Z**2).sum(axis=0) / (len(b) * np.asarray(sigma2))


def log_likelihood(rss: Array, n: float) -> Array:
    """The largest log-likelihood under equal normal noise; infinite for a perfect fit.

    >>> log_likelihood(np.array([2.0]), 2.0).round(6)
    array([-2.837877])
    """
    with np.errstate(divide="ignore"):
        return -n / 2 * (np.log(2 * np.pi * rss / n) + 1)


def shares(rss: Array, tss: Array) -> Array:
    """1 - RSS/TSS; NaN for a constant target."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(tss > 0, 1 - rss / tss, np.nan)


def read_aloud(names: tuple[str, ...], estimate: Array, T: Array, se: Array, n: float) -> list[str]:
    """Describe the covariance in sentences. T has one row per parameter, Cov = s^2 T T'."""
    notes = []
    near = np.abs(estimate) < 2 * np.asarray(se)
    loose = [name for name, is_near in zip(names, near, strict=True) if is_near]
    loose = [name for name in loose if name != "intercept"]
    if loose:
        which = ", ".join(loose)
        notes.append(f"loosely determined (estimate within two standard errors of 0): {which}")
    norms = np.linalg.norm(T, axis=1)
    live = norms > 0
    U = T / np.where(live, norms, 1.0)[:, None]
    correlation = U @ U.T
    start = 1 if names[0] == "intercept" else 0
    low = np.argwhere(np.triu(correlation < -0.5, 1))
    pairs = [(correlation[i, j], names[i], names[j]) for i, j in low if i >= start]
    for r, a, b in sorted(pairs)[:3]:
        notes.append(f"{a} and {b} trade off: their estimates have correlation {r:.2f}")
    alike = "a change of units of a column divides its estimate and standard error alike"
    notes.append(f"{alike} and leaves the statistic as it is")
    q = int(live.sum())
    notes.append(f"RSS/n underestimates the noise variance: its mean is s^2 (1 - {q}/{n:g})")
    return notes
