r"""t-SNE: a map on which neighbours stay neighbours.

Rows        p_j|i proportional to exp(-b_i |x_i - x_j|^2), with b_i such that exp(entropy) is the
            perplexity: so many neighbours count. P = (p_j|i + p_i|j)/2n
Map         q_ij = w_ij/Z,  w = 1/(1 + |y_i - y_j|^2),  Z the sum of all w
Minimise    KL(Y) = sum_ij p_ij log(p_ij/q_ij)
Gradient    4 sum_j (p_ij - q_ij) w_ij (y_i - y_j): neighbours pull, all push. The heavy tail of w
            lets points that are no neighbours stand far apart at little cost
Step        momentum, and a gain for each coordinate that grows while its gradient keeps its sign;
            at first P is multiplied by 12, so that groups find each other
Cost        n^2 a step.
The fast version looks at 3 perplexities of neighbours and sums the push on a grid or by a tree.
"""

import numpy as np


def neighbour_probabilities(X: np.ndarray, perplexity: float) -> np.ndarray:
    """P (n, n), by bisection of each b_i."""
    n = len(X)
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    C = np.zeros((n, n))
    for i in range(n):
        d = np.delete(D[i], i)
        d = (d - d.min()) / d.mean()
        low, high = 0.0, 1e6
        for _ in range(100):
            b = (low + high) / 2
            p = np.exp(-b * d)
            p /= p.sum()
            entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
            low, high = (b, high) if entropy > np.log(perplexity) else (low, b)
        C[i, np.arange(n) != i] = p
    return (C + C.T) / (2 * n)


def divergence(P: np.ndarray, Y: np.ndarray, factor: float = 1.0) -> tuple[float, np.ndarray]:
    """KL(P, Q), and the gradient with P multiplied by the factor."""
    gaps = Y[:, None] - Y
    w = 1 / (1 + (gaps**2).sum(axis=2))
    np.fill_diagonal(w, 0)
    Q = w / w.sum()
    some = P > 0
    kl = (P[some] * np.log(P[some] / Q[some])).sum()
    return float(kl), 4 * (((factor * P - Q) * w)[:, :, None] * gaps).sum(axis=1)


def tsne(
    P: np.ndarray, Y: np.ndarray, steps: int, rate: float = 50.0, exploring: int = 250
) -> np.ndarray:
    """Descent from the start Y (n, k)."""
    velocity, gain = np.zeros_like(Y), np.ones_like(Y)
    for t in range(steps):
        early = t < exploring
        if t == exploring:
            velocity, gain = np.zeros_like(Y), np.ones_like(Y)
        _, G = divergence(P, Y, 12.0 if early else 1.0)
        gain = np.maximum(np.where(velocity * G < 0, gain + 0.2, 0.8 * gain), 0.01)
        velocity = (0.5 if early else 0.8) * velocity - rate * gain * G
        Y = Y + velocity
    return Y
