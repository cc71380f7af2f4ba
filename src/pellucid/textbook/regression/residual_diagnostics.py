r"""Residual diagnostics: what the residuals of a line tell about its assumptions.

Given       e = (I - H) y,  H = D (D'D)^-1 D',  h_i = H_ii the pull of row i on its own fit
Solve       Var(e_i) = s^2 (1 - h_i): divide by its root to compare residuals (studentise);
            with s^2 from the other rows the quotient has a t distribution.
Step        Cook: how far the fit moves without row i, e_i^2 h_i / (s^2 (p + 1) (1 - h_i)^2).
            Breusch-Pagan: n R^2 of e^2 on D is chi^2(p) if the noise is the same everywhere.
            Durbin-Watson: sum (e_i - e_{i-1})^2 / sum e_i^2 is near 2 without memory.
Cost        n p^2.
The fast version says each finding in a sentence with its remedy, and tests for bends and outliers.
"""

from typing import NamedTuple

import numpy as np


class Diagnostics(NamedTuple):
    leverage: np.ndarray  # (n,)
    studentized: np.ndarray  # (n,), by the s^2 of the other rows
    cooks_distance: np.ndarray  # (n,)
    breusch_pagan: float
    durbin_watson: float


def residual_diagnostics(X: np.ndarray, y: np.ndarray) -> Diagnostics:
    """The numbers behind every picture of residuals."""
    D = np.column_stack([np.ones(len(X)), X])
    n, q = D.shape
    H = D @ np.linalg.solve(D.T @ D, D.T)
    e, h = y - H @ y, np.diag(H)
    rss = e @ e
    s2_without = (rss - e**2 / (1 - h)) / (n - q - 1)  # the RSS of the fit without row i
    cook = e**2 * h / (rss / (n - q) * q * (1 - h) ** 2)
    v = e**2 - (e**2).mean()
    return Diagnostics(
        h,
        e / np.sqrt(s2_without * (1 - h)),
        cook,
        n * (v @ H @ v) / (v @ v),
        (np.diff(e) ** 2).sum() / rss,
    )
