"""What leaves an estimator is looked at: sparse matrices that point outside do not leave."""

import warnings
from types import FunctionType

import numpy as np
import pytest
from estimators import every_class
from scipy.sparse import coo_array, csc_array, csr_array

from pellucid.base import Transformer
from pellucid.core.arrays.answers import MATRICES, METHODS, check_matrix

SHAPES = {"csr": csr_array, "csc": csc_array}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize(
    ("part", "value"), [("indices", 5), ("indices", -1), ("indptr", 9), ("indptr", -1)]
)
def test_a_matrix_that_points_outside(kind, part, value):
    matrix = SHAPES[kind](np.eye(3))
    getattr(matrix, part)[1] = value
    with pytest.raises(ValueError, match="made a sparse matrix that is not one"):
        check_matrix(matrix, "Model.transform")


@pytest.mark.parametrize("value", [3, -1])
def test_triples_that_point_outside(value):
    matrix = coo_array(np.eye(3))
    matrix.coords[1][0] = value
    with pytest.raises(ValueError, match=r"outside of 0\.\.2"):
        check_matrix(matrix, "Model.transform")


class Pointer(Transformer):
    """Gives a matrix with an index of its own choice."""

    def __init__(self, index=0):
        self.index = index

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        matrix = csr_array(np.eye(2))
        matrix.indices[1] = self.index
        return matrix

    def card(self):
        raise NotImplementedError

    def decision_path(self, X):
        return self.transform(X), np.zeros(1)


def test_it_does_not_leave():
    X = np.ones((2, 2))
    assert Pointer(1).fit(X).transform(X).shape == (2, 2)
    assert Pointer(1).fit(X).decision_path(X)[0].shape == (2, 2)
    for method in ("transform", "decision_path"):
        with pytest.raises(ValueError, match="made a sparse matrix that is not one"):
            getattr(Pointer(2).fit(X), method)(X)


def test_every_method_that_may_answer_sparse_is_watched():
    unwatched = [
        f"{name}.{method}"
        for name, cls in every_class().items()
        for method in (*METHODS, *MATRICES)
        if isinstance(found := getattr(cls, method, None), FunctionType)
        and found.__module__.startswith("pellucid.")
        and not hasattr(found, "watched")
    ]
    assert unwatched == []


class Shift(Transformer):
    """Gives infinity where a number is above 1."""

    _accepts_nan = True

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return csr_array(np.where(X > 1, np.inf, X)) if self.sparse else np.where(X > 1, np.inf, X)

    def card(self):
        raise NotImplementedError


@pytest.mark.parametrize("sparse", [False, True])
def test_a_gap_in_one_row_does_not_excuse_another(sparse):
    """NaN may stand for a missing cell of its own row only."""
    model = Shift()
    model.sparse = sparse
    X = np.array([[np.nan, 2.0], [0.5, 0.2], [0.5, 2.0]])
    model.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(X[:2])
    with pytest.warns(UserWarning, match=r"Shift.transform: 1 of 4 numbers are not finite"):
        model.transform(X)
