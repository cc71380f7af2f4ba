r"""One-hot encoding: a category becomes a column of zeros and ones for each of its values.

Model       a number of its own for each category: f(c) = w_c = w . e_c, e_c one-hot
Step        codes 0, 1, 2, .. would claim an order and equal steps; one-hot claims nothing: every
            two categories are equally far apart. The columns sum to 1, so beside an intercept one
            is superfluous: dropping it makes the others differences to that category.
Cost        n times the number of categories, almost all zeros.
The fast version stores only the ones, and lumps rare categories together.
"""

import numpy as np


def one_hot_encoding(column: np.ndarray, drop_first: bool = False) -> np.ndarray:
    """Columns in the sorted order of the categories."""
    values = np.unique(column)
    Z = (column[:, None] == values).astype(float)
    return Z[:, 1:] if drop_first else Z
