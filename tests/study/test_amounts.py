"""Positive amounts whose spread grows with their size."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import pellucid
from pellucid.study import Plan, Study
from pellucid.study.candidates.log_scale import LogScaleRegressor
from pellucid.study.reading.amounts import spread_growth


def amounts(n=400, seed=0):
    """log y is a line and normal noise: the mean is exp(s^2/2) times the median."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    return {"x": x, "z": z, "cost": np.exp(2 + 0.8 * x + 0.6 * rng.normal(size=n))}


@pytest.mark.parametrize("seed", range(10))
def test_growth_is_seen_where_it_is(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    size = np.exp(1 + 0.7 * X[:, 0])
    share = size * rng.gamma(5.0, 0.2, 300)
    flat = 20 + 3 * X[:, 0] + rng.normal(size=300)
    curved = size + 30 + rng.normal(size=300)
    assert spread_growth(X, share).grows
    for y in (flat, curved):
        found = spread_growth(X, y)
        assert found is None or not found.grows


def test_growth_has_no_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.exp(X[:, 0]) * rng.gamma(5.0, 0.2, 200)
    one, two = spread_growth(X, y), spread_growth(X, 1e6 * y)
    assert_allclose(one, two, rtol=1e-9)
    assert spread_growth(X, y - y.min()) is None  # not positive
    assert spread_growth(X[:, :0], y) is None


@pytest.mark.parametrize("noise", [0.3, 0.8])
def test_smearing_predicts_the_mean(noise):
    """Of log-normal amounts the mean is exp(s^2 / 2) times the median."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 1))
    y = np.exp(X[:, 0] + noise * rng.normal(size=4000))
    model = LogScaleRegressor(pellucid.LinearRegression()).fit(X, y)
    assert_allclose(model.smearing_, np.exp(noise**2 / 2), rtol=0.05)
    assert_allclose(model.predict(X).mean(), y.mean(), rtol=0.05)
    assert model.card().numbers["mean over median"] == model.smearing_
    with pytest.raises(ValueError, match="positive targets"):
        model.fit(X, y - y.max())


def test_the_study_tries_the_log_scale():
    study = Study(amounts(), "cost", effort="standard")
    keys = {c.key for c in study.candidates()}
    assert {"gamma", "log_ridge", "gamma_boosting"} <= keys
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    plain = Study({"x": x, "y": 20 + x + rng.normal(size=200)}, "y", effort="standard")
    assert not {"gamma", "log_ridge", "gamma_boosting"} & {c.key for c in plain.candidates()}


def test_the_verdict_says_what_is_predicted(tmp_path):
    found = pellucid.learn(amounts(), "cost", plan=Plan(candidates=("log_ridge", "ridge")))
    assert found.verdict.chosen == "ridge regression on the log scale"
    assert found.verdict.kind == "shown"
    factor = found.model[-1].estimator_.smearing_
    said = [s for s in found.verdict.text if s.startswith("It is fitted to the logarithm")]
    assert said
    assert f"{factor:.3g} times" in said[0]
    assert 1.05 < factor < 1.4
    one = next(f for f in found.findings if f.code == "PEL417")
    assert one.evidence["slope"] > 0.5
    found.save(tmp_path / "m.pellucid")
    new = {"x": [0.0, 1.0], "z": [0.0, 0.0]}
    again = pellucid.load(tmp_path / "m.pellucid")
    assert_allclose(again.predict(pl.DataFrame(new)), found.predict(new))


def test_an_amount_judged_in_shares():
    found = pellucid.learn(
        amounts(), "cost", metric="gamma_deviance", plan=Plan(candidates=("gamma",))
    )
    assert found.verdict.kind == "shown"
    assert "Gamma deviance" in found.verdict.text[0]


def test_far_from_the_learning_rows_an_amount_stays_within_reach(tmp_path):
    """A log link makes an exponential of a line: a cell a thousand times too large is no inf."""
    rng = np.random.default_rng(8)
    size = rng.gamma(4.0, 1000.0, 200)
    price = np.exp(10 + size / 8000 + 0.2 * rng.normal(size=200))
    plan = Plan(candidates=("gamma", "log_ridge"))
    record = pellucid.learn(
        pl.DataFrame({"size": size, "price": price}), "price", effort="quick", plan=plan
    )
    pellucid.save(record.model, tmp_path / "m.pellucid")
    said = pellucid.load(tmp_path / "m.pellucid").predict(pl.DataFrame({"size": [4000.0, 4e7]}))
    assert price.min() < said[0] < price.max() < said[1] <= price.max() ** 2 / price.min() * 1.001
