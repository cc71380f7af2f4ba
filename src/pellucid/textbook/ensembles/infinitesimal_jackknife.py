r"""Infinitesimal jackknife: the standard error of a bagged mean, from its own members.

Given       N_bi how often member b drew row i, and t_b what it answers
Solve       Var(mean of t) ~ sum_i c_i^2, c_i the covariance of N_bi and t_b over b
Step        give row i a little more weight: the mean over infinitely many draws moves by c_i per
            unit (Efron). The sum of squared influences estimates the variance over training sets.
            B members add noise of their own, on average n (1 - 1/n) / B^2 sum_b (t_b - mean t)^2:
            take it off.
Cost        n B per question.
The fast version does it in blocks of questions.
"""

import numpy as np


def infinitesimal_jackknife(N: np.ndarray, t: np.ndarray) -> float:
    """Standard error from counts N (B, n) and answers t (B,)."""
    B, n = N.shape
    c = (N - N.mean(axis=0)).T @ (t - t.mean()) / B
    noise = n * (1 - 1 / n) * ((t - t.mean()) ** 2).sum() / B**2
    return float(np.sqrt(max((c**2).sum() - noise, 0.0)))
