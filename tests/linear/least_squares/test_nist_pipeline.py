"""NIST's certified values through a pipeline of polynomial features and least squares."""

import numpy as np
import pytest
import sklearn.preprocessing
from linear_tables import digits
from sklearn.pipeline import make_pipeline

from pellucid.data import load_nist, nist_certified
from pellucid.features import PolynomialFeatures
from pellucid.linear import LinearRegression

CASES = [("norris", 1, 11), ("longley", 1, 11), ("wampler1", 5, 9), ("wampler2", 5, 9),
         ("wampler3", 5, 9)]  # fmt: skip


@pytest.mark.parametrize("features", [PolynomialFeatures, sklearn.preprocessing.PolynomialFeatures])
@pytest.mark.parametrize(("name", "degree", "bar"), CASES)
def test_nist(name, degree, bar, features):
    X, y = load_nist(name)
    X, y = X.to_numpy(), y.to_numpy()
    X = X[:, :1] if degree > 1 else X
    certified = nist_certified(name)
    pipe = make_pipeline(features(degree, include_bias=False), LinearRegression()).fit(X, y)
    model = pipe[-1]
    assert digits(np.append(model.intercept_, model.coef_), certified["coef"]) >= bar
    if any(certified["std_err"]):
        assert digits(model.standard_errors_, certified["std_err"]) >= 8
