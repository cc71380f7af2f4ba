"""The formula door: statsmodels reads the same formulas."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose

from pellucid import Lasso, LinearRegression, Ridge
from pellucid.features import NaturalSplineBasis
from pellucid.linear import from_formula


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 80
    x, z = rng.normal(size=(2, n))
    g = rng.choice(["red", "green", "blue"], size=n)
    y = 1 + np.sin(x) + 2 * z + (g == "red") * z + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"y": y, "x": x, "g": g, "z": z})


@pytest.mark.parametrize(
    "formula", ["y ~ x + z", "y ~ x + C(g) * z", "y ~ x - 1", "np.exp(y / 9) ~ x:z + C(g)"]
)
def test_least_squares_equals_statsmodels(frame, formula):
    ours = from_formula(formula, frame)
    theirs = smf.ols(formula, frame).fit()
    summary = ours[-1].summary()
    order = [list(theirs.params.index).index(name) for name in theirs.params.index]
    assert_allclose(np.sort(summary.estimate), np.sort(theirs.params.iloc[order]), rtol=1e-8)
    assert_allclose(np.sort(summary.standard_error), np.sort(theirs.bse.iloc[order]), rtol=1e-8)
    assert_allclose(ours.predict(frame), theirs.fittedvalues, rtol=1e-8)


def test_splines_keep_their_knots(frame):
    model = from_formula("y ~ ns(x, 4) + C(g) * z", frame)
    assert model[-1].n_features_in_ == 4 + 2 + 1 + 2
    basis = NaturalSplineBasis(5).fit(frame[["x"]].to_numpy())
    columns = model[0].transform(frame.head(7)).to_numpy()[:, :4]
    rows = frame[["x"]].head(7).to_numpy()
    names = list(model[0].get_feature_names_out())
    spline = columns[:, [names.index(f"ns(x, 4)[{j}]") for j in range(1, 5)]]
    assert_allclose(np.sort(spline, axis=1), np.sort(basis.transform(rows), axis=1), rtol=1e-12)


def test_any_estimator_any_frame(frame):
    for estimator in (Ridge(2.0), Lasso(0.1), LinearRegression()):
        a = from_formula("y ~ x + C(g)", frame, estimator)
        b = from_formula("y ~ x + C(g)", pl.from_pandas(frame), estimator)
        assert type(a[-1]) is type(estimator)
        assert_allclose(a[-1].coef_, b[-1].coef_)
    w = np.arange(len(frame)) % 3
    weighted = from_formula("y ~ x", frame, sample_weight=w)
    repeated = from_formula("y ~ x", frame.loc[frame.index.repeat(w)])
    assert_allclose(weighted[-1].coef_, repeated[-1].coef_)


def test_refusals(frame, monkeypatch):
    with pytest.raises(ValueError, match="target ~ terms"):
        from_formula("x + z", frame)
    with pytest.raises(TypeError, match="frame with named columns"):
        from_formula("y ~ x", frame.to_numpy())
    frame.loc[3, "x"] = np.nan
    with pytest.raises(ValueError, match="null"):
        from_formula("y ~ x", frame)
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(ImportError, match=r"pellucid\[formula\]"):
        from_formula("y ~ z", frame)
