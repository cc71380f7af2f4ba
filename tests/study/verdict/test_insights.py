"""What a study says of its model holds: bands hold their means, and nothing unseen is named."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from pellucid import LinearRegression, Plan, learn
from pellucid.study.saved.explanation import summary_of


def inputs(seed, n=120):
    return np.random.default_rng(seed).normal(size=(n, 2))


@pytest.fixture(scope="module", params=["rmse", "r2"])
def below_zero(request):
    """A target far below 0, of which no measure of errors knows the range."""
    X = inputs(0)
    y = 40 * X[:, 0] - 300
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y + 30 * X[:, 1] ** 2})
    plan = Plan(candidates=("ridge",))
    return learn(table, "y", effort="quick", plan=plan, metric=request.param).insight


def test_bands_of_predictions_hold_their_means(below_zero):
    curve = next(one for one in below_zero.dependence if one["name"] == "a")
    middle, low, high = (np.array(curve[key]) for key in ("mean", "low", "high"))
    assert middle.max() < -100
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert (high - low).max() < 200


def test_learning_curves_have_bands_of_one_standard_error(below_zero):
    curve = below_zero.learning_curve
    for part in ("train", "test"):
        middle, low, high = (np.array(curve[f"{part}{end}"]) for end in ("", "_low", "_high"))
        assert (low <= middle).all()
        assert (middle <= high).all()
    assert curve["test_high"][-1] - curve["test_low"][-1] < abs(curve["test"][-1])


def test_columns_that_the_model_does_not_see_are_not_looked_at():
    """Lags are columns of the study, but not of a model without them."""
    X = inputs(1, 150)
    day = np.datetime64("2021-01-01") + np.arange(150)
    y = np.where(X[:, 0] + 0.2 * X[:, 1] > 0, "up", "down")
    table = pl.DataFrame({"day": day, "a": X[:, 0], "b": X[:, 1], "y": y})
    record = learn(table, "y", effort="quick", plan=Plan(time="day", candidates=("tree",)))
    names = {column.name for column in record.features.columns}
    looked_at = {one["name"] for one in record.insight.importance}
    assert "lags" not in record.verdict.chosen
    assert any("before" in name for name in names)
    assert {"a", "b"} <= looked_at <= {"a", "b", "day"}
    idle = {name for f in record.findings if f.code == "PEL410" for name in f.where}
    assert idle <= looked_at


def test_coefficients_of_rows_that_hang_together_have_no_standard_errors():
    """Sixty people in eight rows each are no 480 rows: f is nothing, and looked significant."""
    rng = np.random.default_rng(7)
    who = np.repeat(np.arange(60), 8)
    near = rng.normal(size=60)[who] + 0.1 * rng.normal(size=480)
    state = rng.choice(["ill", "well"], 60)[who]
    table = {"who": [f"P{j}" for j in who], "f": near, "state": state}
    plan = Plan(groups="who", candidates=("lda",))
    found = learn(table, "state", effort="quick", plan=plan).insight.coefficients
    assert not found["valid"]
    assert found["reason"].startswith("rows of one group hang together")
    assert all(row["estimate"] is not None for row in found["rows"])
    assert {row[key] for row in found["rows"] for key in ("p_value", "low", "high")} == {None}


def test_coefficients_of_rows_in_time_say_what_they_assume():
    X = inputs(2)
    day = np.datetime64("2021-01-01") + np.arange(120)
    table = pl.DataFrame({"day": day, "a": X[:, 0], "y": X[:, 0] + 0.3 * X[:, 1]})
    plan = Plan(time="day", candidates=("ridge",))
    found = learn(table, "y", effort="quick", plan=plan).insight.coefficients
    assert found["valid"]
    assert found["notes"][-1].startswith("The rows follow each other in time")


@pytest.mark.parametrize(("about", "said"), [({"groups": "who", "time": None}, 1), ({}, 0)])
def test_a_saved_model_says_that_its_errors_count_rows_one_by_one(about, said):
    X = inputs(3)
    last = LinearRegression().fit(X, X @ [1.0, 2.0] + inputs(4)[:, 0])
    found = summary_of(SimpleNamespace(parts=SimpleNamespace(last=last, about=about), names="ab"))
    assert found["valid"]
    assert sum("by who they hang together" in note for note in found["notes"]) == said
