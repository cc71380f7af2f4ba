r"""Polynomial regression: a linear model of products of the inputs.

Model       y = sum_a b_a x^a + e over all exponents a with |a| <= degree,
            x^a = x_1^a_1 ... x_p^a_p:  nonlinear in x, linear in b
Minimise    the squared residuals in b
Step        the products are new columns; nothing else changes. There are C(p + degree, degree).
Cost        n m^2 for m columns: m grows like p^degree.
The fast version makes the columns of a degree from those of the one before.
"""

from itertools import combinations_with_replacement

import numpy as np


def products(X: np.ndarray, degree: int) -> np.ndarray:
    """1, then all products of one column, of two, ..., in the order of the columns."""
    choices = [
        list(c)
        for k in range(degree + 1)
        for c in combinations_with_replacement(range(X.shape[1]), k)
    ]
    return np.column_stack([X[:, c].prod(axis=1) for c in choices])


def polynomial_regression(X: np.ndarray, y: np.ndarray, degree: int) -> np.ndarray:
    """The coefficients of the products, the constant first."""
    D = products(X, degree)
    return np.linalg.lstsq(D, y, rcond=None)[0]
