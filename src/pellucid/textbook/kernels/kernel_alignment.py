r"""Kernel alignment: how well a kernel fits the labels, before anything is fitted.

Given       a Gram matrix K and labels y = -1 or +1
Solve       <Kc, Tc> / (|Kc| |Tc|),  T = y y',  <A, B> = sum_ij A_ij B_ij
Step        the ideal kernel says +1 for two rows of one class and -1 for two of different ones: T.
            The cosine between the matrices measures the likeness; centring, Kc = H K H with
            H = I - 1/n, takes out what is the same for all rows.
Cost        n^2.
The fast version is the same formula.
"""

import numpy as np


def kernel_alignment(K: np.ndarray, y: np.ndarray) -> float:
    """Between -1 and 1."""
    H = np.eye(len(y)) - 1 / len(y)
    Kc, Tc = H @ K @ H, H @ np.outer(y, y) @ H
    return float((Kc * Tc).sum() / np.sqrt((Kc**2).sum() * (Tc**2).sum()))
