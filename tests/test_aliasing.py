"""A fitted model is its own: what the caller does to X and y afterwards changes no answer."""

import numpy as np
import pytest
from estimators import data, fit, make, names, outputs, public_classes, reads_tables

CLASSES = public_classes()


@pytest.mark.parametrize("name", names(reads_tables))
def test_changing_the_table_after_the_fit_changes_nothing(name):
    """Two models of the same rows; the table of one is overwritten before anything is asked."""
    X, y = data(CLASSES[name], 40)
    mine = np.ascontiguousarray(X)
    target = None if y is None else np.array(y)
    model = fit(make(CLASSES[name]), mine, target)
    other = fit(make(CLASSES[name]), X.copy(), None if y is None else np.array(y))
    rows = X.copy()
    mine *= -3.7
    mine += 11.0
    if target is not None:
        target[:] = target[::-1].copy()
    left, right = outputs(model, rows), outputs(other, rows)
    for method, values in left.items():
        np.testing.assert_array_equal(values, right[method], err_msg=method)
