r"""Policy evaluation: what a fixed policy is worth in every state.

Given       P[s, a, t] = P(t | s, a),  R[s, a], discount g < 1, policy[s] = the action in s
Solve       U(s) = R[s, policy[s]] + g sum_t P[s, policy[s], t] U(t), linear in U
Step        with P_pi and R_pi the rows of the chosen actions, (I - g P_pi) U = R_pi: one system.
            Its solution is R_pi + g P_pi R_pi + g^2 P_pi^2 R_pi + .., the
            discounted sum of rewards.
Cost        |S|^3.
The fast version solves a sparse system, and takes policies that choose at random.
"""

import numpy as np


def policy_evaluation(P: np.ndarray, R: np.ndarray, g: float, policy: np.ndarray) -> np.ndarray:
    """U (S,)."""
    s = np.arange(len(P))
    return np.linalg.solve(np.eye(len(P)) - g * P[s, policy], R[s, policy])
