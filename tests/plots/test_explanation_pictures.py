"""Pictures that explain predictions: the numbers are those of the records, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text
from numpy.testing import assert_allclose

from pellucid import HistGradientBoostingRegressor, RandomForestClassifier, plots
from pellucid.evaluation import accumulated_effects, tree_shap


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def drawn(picture):
    found = picture.plot()
    assert isinstance(found, Axes)
    assert picture.alt.endswith(".")
    assert len(picture.alt) > 30
    assert plots.svg(picture) == plots.svg(picture)
    return " | ".join(text.get_text() for text in found.figure.findobj(Text))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["heat", "load", "noise"])
    frame["kind"] = pd.Categorical(rng.choice(["steel", "wood", "clay"], 300))
    y = 2 * frame["heat"] + frame["load"] ** 2 + 3 * (frame["kind"] == "wood")
    frame.loc[:20, "load"] = np.nan
    return frame, y.to_numpy()


@pytest.fixture(scope="module")
def boosted(table):
    return HistGradientBoostingRegressor(max_iter=40, min_samples_leaf=5).fit(*table)


def test_shap_summary(table, boosted):
    frame, _ = table
    found = tree_shap(boosted, frame)
    picture = plots.shap_summary(boosted, frame, most=3)
    order = np.argsort(-np.abs(found.values).mean(axis=0))[:3]
    assert picture.names == tuple(frame.columns[order])
    assert_allclose(picture.shares, found.values[:, order])
    assert picture.left_out == 1
    assert 0 <= np.nanmin(picture.ranks) <= np.nanmax(picture.ranks) <= 1
    text = drawn(picture)
    assert "heat" in text
    assert "1 inputs that move" in text
    assert plots.shap_summary(found).names[0] == picture.names[0]
    with pytest.raises(ValueError, match="rows X"):
        plots.shap_summary(boosted)


def test_shap_waterfall(table):
    frame, y = table
    numbers = frame[["heat", "load", "noise"]]
    model = RandomForestClassifier(20, random_state=0).fit(numbers, np.where(y > 1, "hot", "cold"))
    picture = plots.shap_waterfall(model, numbers, 7, output="hot", most=2)
    said = model.predict_proba(numbers.iloc[[7]])[0, 1]
    assert picture.prediction == pytest.approx(said)
    assert picture.base + picture.shares.sum() == pytest.approx(said)
    assert picture.labels[-1] == "1 other inputs"
    assert "probability of hot" in drawn(picture)
    with pytest.raises(ValueError, match="row must be"):
        plots.shap_waterfall(model, numbers, 300)


@pytest.mark.parametrize("column", ["heat", "kind"])
def test_accumulated(table, boosted, column):
    frame, _ = table
    picture = plots.accumulated(boosted, frame, column, n_bootstrap=30)
    found = accumulated_effects(boosted, frame, column, n_bootstrap=30, random_state=0)
    assert_allclose(picture.effect, found.effect)
    assert_allclose(picture.low, found.low)
    text = drawn(picture)
    assert f"Accumulated local effect of {column}" in text
    assert picture.categorical == (column == "kind")
