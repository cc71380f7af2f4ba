r"""Linear programming: Bellman's equation as an optimisation problem of its own.

Given       P[s, a, t] = P(t | s, a),  R[s, a], discount g < 1
Minimise    sum_s U(s)  subject to  U(s) >= R[s, a] + g sum_t P[s, a, t] U(t) for all s, a
Step        a U that satisfies all inequalities is at least its own Bellman sweep, so at least every
            further one, so at least the optimum U*; U* satisfies them. The least sum is U* itself.
            The multiplier of (s, a) is how often, discounted, a best policy takes a in s.
Cost        a linear programme with |S| unknowns and |S| |A| inequalities.
The fast version hands the solver sparse rows, and weights the states as asked.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog


class Solution(NamedTuple):
    U: np.ndarray  # (S,)
    policy: np.ndarray  # (S,)
    occupancy: np.ndarray  # (S, A) for a start in every state, each with weight 1 / S


def linear_programming(P: np.ndarray, R: np.ndarray, g: float) -> Solution:
    S, A = R.shape
    rows = np.repeat(np.eye(S), A, axis=0) - g * P.reshape(S * A, S)  # rows @ U >= R
    found = linprog(np.full(S, 1 / S), A_ub=-rows, b_ub=-R.ravel(), bounds=(None, None))
    U = found.x
    occupancy = -found.ineqlin.marginals.reshape(S, A)
    return Solution(U, (R + g * P @ U).argmax(axis=1), occupancy)
