"""The formula door: statsmodels reads the same formulas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from sklearn.pipeline import Pipeline

from pellucid import Lasso, LinearRegression, Ridge, load, save
from pellucid.features import NaturalSplineBasis
from pellucid.linear import from_formula
from pellucid.linear.least_squares.formula import FormulaDesign


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


def test_refusals(frame):
    with pytest.raises(ValueError, match="target ~ terms"):
        from_formula("x + z", frame)
    with pytest.raises(TypeError, match="frame with named columns"):
        from_formula("y ~ x", frame.to_numpy())
    frame.loc[3, "x"] = np.nan
    with pytest.raises(ValueError, match="null"):
        from_formula("y ~ x", frame)


@pytest.mark.parametrize(
    "formula",
    ["y ~ ns(x, 4) + C(g) * z", "log(y**2 + 1) ~ poly(x, 3) + bs(z, df=5)", "y ~ scale(x):g - 1"],
)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_a_fitted_formula_is_saved(frame, formula, library, tmp_path):
    """The loaded model predicts the same bits, also for rows with fewer levels."""
    table = library(frame)
    model = from_formula(formula, table)
    save(model, tmp_path / "m.pellucid")
    again = load(tmp_path / "m.pellucid")
    assert np.array_equal(again.predict(table), model.predict(table))
    assert_allclose(again.predict(table[:3]), model.predict(table)[:3], rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "x + {__import__('os').system('touch ran')*x}",
        "x + __import__('os').system('touch ran')",
        "I(__import__('os').system('touch ran'))",
        "C(x, __import__('os').system('touch ran'))",
        "x.__class__.__mro__",
        "(lambda: x)()",
        "eval('x')",
        "np.load('ran')",
        "x if x else z",
        "[x for x in z]",
    ],
)
def test_no_formula_runs_python(frame, text, tmp_path, monkeypatch):
    """Neither at the fit, nor after a trip through a file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"formula|takes one column"):
        from_formula(f"y ~ {text}", frame)
    model = Pipeline([("design", FormulaDesign(text)), ("model", Ridge())])
    save(model, "m.pellucid")
    with pytest.raises(ValueError, match=r"formula|takes one column"):
        load("m.pellucid").fit(frame, frame["y"])
    assert not (tmp_path / "ran").exists()


def test_the_dot_is_every_column_but_the_target(frame):
    model = from_formula("log(y**2 + 1) ~ . + x:z", frame)
    assert model[0].terms_ == ("x", "g[T.green]", "g[T.red]", "z", "x:z")
    assert_allclose(
        model.predict(frame), from_formula("log(y**2+1) ~ x*z + g", frame).predict(frame)
    )


def test_new_rows_have_the_columns_and_levels_of_the_training_rows(frame):
    model = from_formula("y ~ bs(x, df=4) + g", frame)
    with pytest.raises(ValueError, match="level 'pink' in row 0, not seen in training"):
        model.predict(frame.assign(g="pink"))
    with pytest.raises(ValueError, match="lies outside of the training rows"):
        model.predict(frame.assign(x=99.0))
    with pytest.raises(ValueError, match="the formula needs the column 'x', the table lacks it"):
        model.predict(frame.drop(columns="x"))
    with pytest.raises(ValueError, match="column 'g' has a missing value"):
        model.predict(frame.assign(g=None).astype({"g": object}))
