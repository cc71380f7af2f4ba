"""A sparse table whose pointers lie, and that says so when anything follows them.

SciPy reads memory that is not its own when it takes rows of such a table: the interpreter may die,
or go on with numbers from elsewhere. Which of the two is luck, so here every such step raises
``Followed`` instead, which no ``except Exception`` hides.
"""

import numpy as np
from scipy.sparse import csr_matrix


class Followed(BaseException):
    """A corrupt table was sliced, converted or multiplied before it was looked at."""


class Trapped(csr_matrix):
    """Rows whose third pointer leads far outside."""


FOLLOWS = [
    "__getitem__",
    "__iter__",
    "__matmul__",
    "__rmatmul__",
    "__mul__",
    "__rmul__",
    "__add__",
    "__sub__",
    "__truediv__",
    "__abs__",
    "__neg__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__gt__",
    "_getrow",
    "_getcol",
    "getrow",
    "getcol",
    "dot",
    "multiply",
    "power",
    "sum",
    "mean",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "argmax",
    "argmin",
    "tocsc",
    "tocoo",
    "tolil",
    "todok",
    "tobsr",
    "todia",
    "toarray",
    "todense",
    "transpose",
    "reshape",
    "resize",
    "diagonal",
    "nonzero",
    "count_nonzero",
    "eliminate_zeros",
    "sort_indices",
    "sum_duplicates",
    "minimum",
    "maximum",
]
LOOKS = ("has_canonical_format", "has_sorted_indices", "T")


def _spring(name):
    def followed(self, *given, **named):
        raise Followed(f"{name} followed the pointers of a corrupt table")

    return followed


for _name in FOLLOWS:
    setattr(Trapped, _name, _spring(_name))
for _name in LOOKS:
    setattr(Trapped, _name, property(_spring(_name)))


def trapped(X):
    """The numbers of X as a corrupt sparse table of the same shape."""
    whole = csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    table = Trapped(whole.shape)
    table.data, table.indices, table.indptr = whole.data, whole.indices, whole.indptr
    table.indptr[2] = 10**6
    return table
