"""Counts: recognised, judged and predicted as counts."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sm

import pellucid
from pellucid.evaluation.metrics.metrics import resolve_metric
from pellucid.study import Plan, Study, detect_task
from pellucid.study.candidates.candidates import REGISTRY
from pellucid.study.candidates.non_negative import NonNegativeRegressor
from pellucid.study.checks.dispersion import count_dispersion
from pellucid.study.saved.prediction import Application, Asked


def visits(n=300, seed=0, spread=0.0):
    """Counts whose mean is exp of a line; ``spread`` > 0 mixes the means by a gamma."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    mean = np.exp(0.4 + 0.9 * x)
    if spread:
        mean = mean * rng.gamma(1 / spread, spread, n)
    return {"x": x, "z": z, "visits": rng.poisson(mean)}


# --- what a count is ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("mean", "shape"), [(2, 0.5), (8, 1.0), (30, 0.6), (5, 1e9)])
def test_many_different_counts_are_counts(mean, shape, seed):
    rng = np.random.default_rng(seed)
    y = rng.poisson(mean * rng.gamma(shape, 1 / shape, 600))
    if y.min() == 0:
        assert detect_task(y).nature == "counts"


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_that_count_nothing(seed):
    rng = np.random.default_rng(seed)
    ages = np.abs(rng.normal(30, 14, 800)).astype(int)
    money = np.where(rng.random(800) < 0.9, 0, (rng.lognormal(8, 1, 800)).astype(int))
    hours = rng.integers(0, 24, 800)
    points = rng.binomial(40, 0.6, 800) - 8
    for y in (ages, money, hours, points, ages + 1900):
        assert detect_task(y).nature == ""


def test_the_reason_names_both_measures():
    task = detect_task(visits()["visits"])
    assert (task.nature, task.metric) == ("counts", "rmse")
    assert "the Poisson deviance stands beside it" in task.reason
    asked = detect_task(visits()["visits"], metric="poisson_deviance")
    assert asked.metric == "poisson_deviance"
    assert not asked.greater_is_better
    assert "beside" not in asked.reason


# --- the measures ------------------------------------------------------------------------------

TWINS = {
    "poisson_deviance": sm.mean_poisson_deviance,
    "gamma_deviance": sm.mean_gamma_deviance,
    "tweedie_deviance": lambda y, m, **w: sm.mean_tweedie_deviance(y, m, power=1.5, **w),
}


@pytest.mark.parametrize("name", list(TWINS))
@pytest.mark.parametrize("weighted", [False, True])
def test_deviances_agree_with_scikit_learn(name, weighted):
    rng = np.random.default_rng(0)
    y = rng.poisson(2.0, 50) + (name == "gamma_deviance")
    m, w = rng.gamma(2.0, 1.0, 50), rng.random(50) if weighted else None
    found = resolve_metric(name).score(y, m, w)
    assert_allclose(found, TWINS[name](y, m, sample_weight=w), rtol=1e-12)


@pytest.mark.parametrize("name", list(TWINS))
def test_a_deviance_is_least_at_the_mean(name):
    y = np.random.default_rng(1).gamma(2.0, 3.0, 200)
    at = [resolve_metric(name).score(y, np.full(200, y.mean() * f)) for f in (0.9, 1.0, 1.1)]
    assert at[1] < min(at[0], at[2])
    assert resolve_metric(name).score(y, y) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "y", "m", "said"),
    [
        ("poisson_deviance", [-1.0], [1.0], "at least 0"),
        ("gamma_deviance", [0.0], [1.0], "above 0"),
        ("tweedie_deviance", [1.0], [0.0], "predictions above 0"),
    ],
)
def test_a_deviance_refuses_what_it_cannot_judge(name, y, m, said):
    with pytest.raises(ValueError, match=said):
        resolve_metric(name).score(y, m)


# --- the study ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    plan = Plan(candidates=("ridge", "poisson_boosting"))
    return pellucid.learn(visits(400), "visits", plan=plan)


def test_no_prediction_of_a_count_is_negative(record):
    """The line goes below 0 for small x, the counts do not."""
    ridge = pellucid.learn(visits(400), "visits", plan=Plan(candidates=("ridge",)))
    far = {"x": [-9.0, -5.0, 0.0], "z": [0.0, 0.0, 0.0]}
    assert isinstance(ridge.model[-1], NonNegativeRegressor)
    assert (ridge.predict(far)[:2] == 0).all()
    assert ridge.predict(far)[2] > 0
    assert "at least 0" in ridge.card["representation"]
    assert min(row["prediction"] for row in ridge.final.predictions) >= 0
    answer = Application(ridge.model, Asked(interval=0.9)).answer(pl.DataFrame(far))
    assert answer["low"].min() == 0


def test_folds_judge_what_the_saved_model_says(record):
    """A prediction below 0 counts as 0 in every score."""
    study = Study(visits(400), "visits", plan=Plan(candidates=("ridge",)))
    study.train()
    shop, outcome = study._workshop, study._done["train"].outcomes[1]
    part = shop.outer_part(0, {})
    said = np.maximum(outcome.models[0].predict(part.Z_judge), 0)
    assert outcome.models[0].predict(part.Z_judge).min() < 0
    assert_allclose(outcome.scores[0], np.sqrt(np.mean((said - part.y_judge) ** 2)))


def test_the_deviance_stands_beside_rmse(record):
    table, guess = record.final.table, record.final.baseline
    rows = record.final.predictions
    y, m = (np.array([row[k] for row in rows]) for k in ("actual", "prediction"))
    if (m > 0).all():
        assert_allclose(table["poisson_deviance"].estimate, sm.mean_poisson_deviance(y, m))
    assert "poisson_deviance" in guess
    assert record.verdict.metric == "rmse"
    json.dumps(record.to_dict())


def test_a_study_by_deviance(record):
    found = pellucid.learn(
        visits(400),
        "visits",
        metric="poisson_deviance",
        plan=Plan(candidates=("poisson_boosting",)),
    )
    assert found.verdict.kind == "shown"
    assert "Poisson deviance" in found.verdict.text[0]
    chosen = next(row for row in found.leaderboard if row.chosen)
    assert chosen.name == "Poisson boosting"


def test_a_model_that_says_0_has_no_deviance():
    """It is named with its reason, and the study goes on without it."""
    found = pellucid.learn(
        visits(400),
        "visits",
        metric="poisson_deviance",
        plan=Plan(candidates=("ridge", "poisson_boosting")),
    )
    lost = found.reproduction["not_scored"]
    assert [one["key"] for one in lost] == ["ridge"]
    assert "predictions above 0" in lost[0]["why"]


def test_count_models_are_tried_for_counts_alone():
    own = [e.key for e in REGISTRY if "poisson" in e.key or e.key == "negative_binomial"]
    counts = Study(visits(), "visits", effort="standard")
    keys = [c.key for c in counts.candidates()]
    made = [k for k in own if k in keys]
    assert "poisson_boosting" in made
    t = visits()
    number = Study(t | {"visits": t["visits"] + t["z"]}, "visits", effort="standard")
    assert not set(own) & {c.key for c in number.candidates()}


# --- overdispersion ----------------------------------------------------------------------------


def test_dispersion_is_that_of_statsmodels_by_hand():
    """An oracle: the auxiliary regression of Cameron and Trivedi, by least squares."""
    rng = np.random.default_rng(0)
    mean = rng.gamma(2.0, 2.0, 200)
    y = rng.negative_binomial(2, 2 / (2 + mean))
    found = count_dispersion(y, mean, 3)
    z = ((y - mean) ** 2 - y) / mean
    slope = np.linalg.lstsq(mean[:, None], z, rcond=None)[0][0]
    assert_allclose(found.alpha, slope)
    assert_allclose(found.dispersion, np.sum((y - mean) ** 2 / mean) / 197)
    assert 0.2 < found.alpha < 1.2


def test_counts_that_spread_more_are_a_finding():
    plan = Plan(candidates=("poisson",))
    found = pellucid.learn(visits(400, spread=1.0), "visits", plan=plan)
    one = next(f for f in found.findings if f.code == "PEL416")
    assert one.where == ("visits",)
    assert one.evidence["dispersion"] > 1.3
    assert 0.5 < one.evidence["alpha"] < 2.0
    plain = pellucid.learn(visits(400), "visits", plan=plan)
    assert "PEL416" not in {f.code for f in plain.findings}


def test_poisson_counts_are_seldom_called_overdispersed():
    """The test at 1 % on 40 tables of Poisson counts; the mean dispersion is 1."""
    rng = np.random.default_rng(0)
    called, sizes = 0, []
    for _ in range(40):
        X = rng.normal(size=(200, 3))
        y = rng.poisson(np.exp(0.5 + X @ [0.5, 0.3, 0.0]))
        mean = pellucid.PoissonRegressor(alpha=0.0).fit(X, y).predict(X)
        one = count_dispersion(y, mean, 4)
        called += one.p_value < 0.01
        sizes.append(one.dispersion)
    assert called <= 2
    assert_allclose(np.mean(sizes), 1.0, atol=0.05)


def test_poisson_regression_finds_the_rates():
    plan = Plan(candidates=("poisson", "ridge"))
    found = pellucid.learn(visits(600), "visits", plan=plan)
    assert found.verdict.kind == "shown"
    assert found.verdict.chosen == "Poisson regression"
    wide = {"x": [0.0, 1.0, 2.0], "z": [0.0, 0.0, 0.0]}
    assert_allclose(np.diff(np.log(found.predict(wide))), 0.9, atol=0.15)


def test_negative_binomial_regression_is_tried_for_counts():
    plan = Plan(candidates=("negative_binomial",))
    found = pellucid.learn(visits(300, spread=0.5), "visits", plan=plan)
    assert found.reproduction["not_scored"] == []
    assert found.verdict.chosen == "negative binomial regression"
    assert (found.predict({"x": [-8.0, 0.0], "z": [0.0, 0.0]}) > 0).all()
