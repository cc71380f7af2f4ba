r"""Nystroem: a kernel by its values at a few landmarks.

Given       m landmark rows B with Gram matrix K_B
Solve       features phi(x) = K_B^(-1/2) k(B, x), so that phi(x)'phi(z) = k(x, B) K_B^-1 k(B, z)
Step        in the kernel's space, project every row onto the span of the landmarks: the best
            approximation from there. It is exact on the landmarks, and everywhere if the kernel's
            Gram matrix has no more than m directions.
Cost        m^3 once, m^2 per row: a linear machine then does the kernel machine's work.
The fast version maps rows in blocks.
"""

import numpy as np


def nystroem(K_B: np.ndarray, K_xB: np.ndarray) -> np.ndarray:
    """Features (n, m) from the landmarks' Gram matrix and the kernel between rows and landmarks."""
    d, U = np.linalg.eigh(K_B)
    return K_xB @ U / np.sqrt(np.maximum(d, 1e-12)) @ U.T
