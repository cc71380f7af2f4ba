r"""The norm-class bound: linear functions of bounded norm cannot overfit far, in any dimension.

Given       functions x -> w.x with |w| <= B, on rows with |x| <= R
Solve       true loss <= training loss + 2 L B R/sqrt(n) + sqrt(ln(1/delta)/(2n)), with probability
            1 - delta, for losses in [0, 1] that change at most L times as fast as w.x
Step        how well the class can follow random signs s_i = +-1:
            E max_w (1/n) sum s_i w.x_i = (B/n) E |sum s_i x_i|
            <= (B/n) sqrt(sum |x_i|^2) <= B R/sqrt(n)
            (Cauchy-Schwarz, then the mean of the root is at most the root of the mean)
            No number of columns in it: the norm counts, so penalties on |w| work in wide tables.
Cost        none.
The fast version is the same formula in a record that says when it is vacuous.
"""

import numpy as np


def complexity(X: np.ndarray, B: float, signs: np.ndarray) -> tuple[float, float]:
    """The mean over rows of signs (m, n) of the largest correlation, and its bound B R/sqrt(n)."""
    n = len(X)
    measured = float(np.mean(B / n * np.linalg.norm(signs @ X, axis=1)))
    return measured, B * float(np.linalg.norm(X, axis=1).max()) / float(np.sqrt(n))


def norm_class_bound(
    train_loss: float, n: int, B: float, R: float, L: float = 1.0, delta: float = 0.05
) -> float:
    """Upper bound of the true loss."""
    return float(train_loss + 2 * L * B * R / np.sqrt(n) + np.sqrt(np.log(1 / delta) / (2 * n)))
