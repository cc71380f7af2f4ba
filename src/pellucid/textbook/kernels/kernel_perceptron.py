r"""Kernel perceptron: the perceptron in the space of a kernel.

Solve       y_i f(x_i) > 0 for all rows, f(x) = sum_j a_j y_j k(x_j, x)
Step        the perceptron adds y_i phi(x_i) to w for every mistake, so w is always a combination of
            the rows; a_j counts the mistakes on row j. With these counts f needs no phi. If the
            kernel's space separates the rows with margin g within radius R, there are at most
            (R / g)^2 mistakes.
Cost        n per row: n^2 per epoch.
The fast version is the perceptron on the features of the kernel, where they are few.
"""

from collections.abc import Iterator

import numpy as np


def mistakes(K: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """(row, counts) after every mistake, until an epoch has none; y holds -1 and +1."""
    a = np.zeros(len(y))
    wrong = True
    while wrong:
        wrong = False
        for i in range(len(y)):
            if y[i] * (K[i] @ (a * y)) <= 0:
                a[i] += 1
                wrong = True
                yield i, a.copy()


def kernel_perceptron(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The counts a; does not end if the kernel's space does not separate the rows."""
    *_, (_, a) = mistakes(K, y)
    return a
