"""The lab's pages on least squares, descent, polynomials, linear classifiers and judging.

What the frames show is what the estimators give, and the presets that should break do.
"""

import functools
import re

import numpy as np
import pytest

from pellucid import (
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from pellucid.evaluation import validation_bound
from pellucid.lab.page import LabData, make_trace
from pellucid.lab.pages import folder_of as page_of
from pellucid.lab.pages.judging.page import clouds


@functools.cache
def trace_of(name, preset):
    page = page_of(name)
    names = [one.name for one in page.presets]
    return make_trace(page, names.index(preset))


def rows_of(trace):
    """Training and held-out rows of a trace."""
    X, y = np.array(trace.data["X"]), np.array(trace.data["y"])
    held = np.array(trace.data["held_out"])
    return X[~held], y[~held], X[held], y[held]


def column(trace, name):
    return np.array([frame.numbers[name] for frame in trace.frames])


def objectives(trace):
    return np.array([frame.objective for frame in trace.frames])


def held_out(trace):
    return np.array([frame.held_out for frame in trace.frames])


def run(name, preset, **params):
    """A preset with other settings."""
    page = page_of(name)
    chosen = next(one for one in page.presets if one.name == preset)
    data = chosen.data(np.random.default_rng(0))
    return page.run(data, page.settings({**chosen.params, **params}), 0)


# --- least squares ---


def standardised(trace):
    X, y, _, _ = rows_of(trace)
    x = X[:, 0]
    Z = np.column_stack([x, x**2])
    return (Z - Z.mean(axis=0)) / Z.std(axis=0), y


def test_least_squares_ends_at_the_fit():
    trace = trace_of("least_squares", "A line")
    X, y, _, _ = rows_of(trace)
    model = LinearRegression().fit(X, y)
    last = trace.frames[-1]
    assert last.numbers["w"] == pytest.approx(model.coef_[0], rel=1e-9)
    assert last.numbers["b"] == pytest.approx(model.intercept_, rel=1e-9)
    assert objectives(trace).min() == last.objective  # no other line on the way is better
    assert f"{last.numbers['w']:.3g}" in last.formula


@pytest.mark.parametrize(("preset", "make"), [("Ridge", Ridge), ("Lasso", Lasso)])
def test_penalties_end_at_the_fit(preset, make):
    trace = trace_of("least_squares", preset)
    Z, y = standardised(trace)
    w = make(alpha=trace.params["alpha"]).fit(Z, y).coef_
    assert np.allclose([column(trace, "w₁")[-1], column(trace, "w₂")[-1]], w, atol=1e-4)
    assert (np.diff(column(trace, "size of w")) >= -1e-9).all()  # the ball only grows
    assert (column(trace, "zeros")[-1] == 1) == (preset == "Lasso")


def test_collinear_columns_break_and_ridge_mends():
    wild, tame = (
        trace_of("least_squares", name)
        for name in ("Collinear columns", "Collinear columns with ridge")
    )
    assert np.abs(column(wild, "w₁")).max() > 20 * np.abs(column(tame, "w₁")).max()
    assert column(wild, "w₁")[-1] * column(wild, "w₂")[-1] < 0 < column(tame, "w₁")[-1]


def test_an_outlier_breaks_the_line():
    trace = trace_of("least_squares", "An outlier")
    assert held_out(trace)[-1] > 10 * held_out(trace)[-2]


# --- descent ---


def test_gradient_descent_walks_down_to_least_squares():
    trace = run("descent", "A rate below the limit", steps=120, rate=0.8)
    X, y, _, _ = rows_of(trace)
    model = LinearRegression().fit(X, y)
    assert (np.diff(objectives(trace)) <= 1e-12).all()
    last = trace.frames[-1].numbers
    assert [last["b"], last["w"]] == pytest.approx([model.intercept_, *model.coef_], abs=1e-3)


def test_the_formula_of_a_step_adds_up():
    frame = trace_of("descent", "A rate below the limit").frames[1]
    numbers = [float(v.replace("−", "-")) for v in re.findall(r"−?\d+\.?\d*", frame.formula)]
    b, w, rate, g0, g1, b1, w1 = numbers
    assert [b - rate * g0, w - rate * g1] == pytest.approx([b1, w1], abs=0.01)


def test_the_critical_rate():
    """Just below 2/lambda_max the cost falls, just above it rises."""
    limit = trace_of("descent", "A rate below the limit").frames[0].numbers["limit 2/λmax"]
    below = objectives(run("descent", "A rate below the limit", rate=0.98 * limit, steps=100))
    above = objectives(run("descent", "A rate below the limit", rate=1.02 * limit, steps=100))
    assert below[-1] < 0.1 * below[0]
    assert above[-1] > above[30] > above[15]
    broken = objectives(trace_of("descent", "Rate too large"))
    assert broken[-1] > 1000 * broken[0]
    assert (np.diff(broken[1:]) > 0).all()


def test_the_critical_rate_of_the_heavy_ball():
    """With momentum it is 2 (1 + beta) / lambda_max, and the page says so wherever it says it."""
    shown = trace_of("descent", "Momentum")
    plain = trace_of("descent", "A rate below the limit").frames[0].numbers["limit 2/λmax"]
    limit = shown.frames[0].numbers["limit 2(1+β)/λmax"]
    assert limit == pytest.approx(1.8 * plain)
    assert shown.card["numbers"]["limit 2(1+β)/λmax"] == limit
    rules = [m for m in shown.data["panels"][-1]["marks"] if m.get("label") == "2(1+β)/λmax"]
    assert rules[0]["x"] == pytest.approx(limit, rel=1e-4)
    below = objectives(run("descent", "Momentum", rate=0.95 * limit, steps=100))
    above = objectives(run("descent", "Momentum", rate=1.05 * limit, steps=100))
    assert below[-1] < 0.5 * below[0]
    assert above[-1] > above[20] > above[10] > above[0]


def test_a_damped_newton_step_says_so():
    trace = run("descent", "Newton's method", damping=0.7)
    X, y, _, _ = rows_of(trace)
    A = np.column_stack([np.ones(len(y)), X[:, 0]])
    first, second = (np.array([f.numbers[k] for k in "bw"]) for f in trace.frames[:2])
    H, g = A.T @ A / len(y), A.T @ (A @ first - y) / len(y)
    assert second == pytest.approx(first - np.linalg.solve(H + 0.7 * np.eye(2), g))
    assert "(H + 0.7 I)⁻¹ g" in trace.frames[1].formula
    assert "H⁻¹ g" in trace_of("descent", "Newton's method").frames[1].formula


def test_newton_needs_one_step_and_unscaled_inputs_many():
    newton = trace_of("descent", "Newton's method")
    assert len(newton.frames) == 2
    assert newton.frames[-1].gap < 1e-9
    trace = trace_of("descent", "Unscaled inputs")
    X, y, _, _ = rows_of(trace)
    assert abs(column(trace, "b")[-1]) < 0.01 * abs(LinearRegression().fit(X, y).intercept_)
    scaled = run("descent", "Unscaled inputs", scaled=True, rate=0.4)
    assert objectives(scaled)[-1] < 0.6 * objectives(trace)[-1]


def test_stochastic_steps_use_one_row():
    trace = trace_of("descent", "One row at a time")
    X, y, _, _ = rows_of(trace)
    frames = trace.frames
    for i in (1, 7, 30):
        before = np.array([frames[i - 1].numbers[k] for k in "bw"])
        now = np.array([frames[i].numbers[k] for k in "bw"])
        row = (i - 1) % len(y)
        g = (before[0] + before[1] * X[row, 0] - y[row]) * np.array([1.0, X[row, 0]])
        assert now == pytest.approx(before - frames[i].numbers["rate η"] * g, abs=1e-12)


# --- polynomials ---


@pytest.mark.parametrize("preset", ["A wave", "Natural spline", "Smoothing spline", "Degree 15"])
def test_training_error_falls_and_the_parts_add_up(preset):
    trace = trace_of("polynomials", preset)
    assert (np.diff(objectives(trace)) <= 1e-9).all()
    bias, variance, total = (column(trace, name) for name in ("bias²", "variance", "total"))
    assert total == pytest.approx(bias + variance + trace.params["noise"] ** 2, rel=1e-9)
    assert bias[0] > 20 * bias.min()
    assert variance[-1] > 5 * variance[0]


def test_degree_15_breaks():
    trace = trace_of("polynomials", "Degree 15")
    assert objectives(trace)[-1] < 0.5 * objectives(trace)[3]
    assert held_out(trace)[-1] > 3 * held_out(trace)[3]
    assert column(trace, "total").argmin() <= 6 < 15 == column(trace, "degree")[-1]


def test_extrapolation_breaks_the_polynomial_but_not_the_natural_spline():
    spread = "spread at the right edge"
    wild = column(trace_of("polynomials", "Extrapolate"), spread)[-1]
    calm = column(run("polynomials", "Extrapolate", method="natural spline"), spread)[-1]
    assert wild > 20
    assert wild > 10 * calm


# --- linear classifiers ---


def test_logistic_regression_ends_at_the_fit():
    trace = trace_of("linear_classifiers", "Logistic regression")
    X, y, _, _ = rows_of(trace)
    model = LogisticRegression(C=np.inf).fit(X, y)
    last = trace.frames[-1].numbers
    assert [last["w₁"], last["w₂"]] == pytest.approx(model.coef_[0], rel=1e-5)
    assert last["log-likelihood"] == pytest.approx(model.log_likelihood_, rel=1e-6)
    assert (np.diff(objectives(trace)) <= 1e-12).all()


def test_the_perceptron_is_the_perceptron():
    trace = trace_of("linear_classifiers", "Perceptron")
    X, y, _, _ = rows_of(trace)
    model = Perceptron(shuffle=False, tol=None).fit(X, y)
    last = trace.frames[-1]
    assert model.converged_
    assert last.objective == 0
    assert [last.numbers[k] for k in ("b", "w₁", "w₂")] == pytest.approx(
        [*model.intercept_, *model.coef_[0]]
    )
    assert last.numbers["updates"] == model.n_updates_ <= model.mistake_bound_


@pytest.mark.parametrize(
    ("method", "make"),
    [("LDA", LinearDiscriminantAnalysis), ("QDA", QuadraticDiscriminantAnalysis)],
)
def test_the_ladder_ends_at_lda_and_qda(method, make):
    trace = run("linear_classifiers", "QDA", method=method)
    X, y, X_test, y_test = rows_of(trace)
    model = make().fit(X, y)
    last = trace.frames[-1].numbers
    assert last["wrong rows"] == int((model.predict(X) != y).sum())
    assert last["held-out accuracy"] == pytest.approx(model.score(X_test, y_test))


def test_words_name_what_was_measured():
    """The verdict's loss has no penalty in it; with no rows held out accuracy is training's."""
    trace = run("linear_classifiers", "Logistic regression", penalty=5.0)
    X, _, _, _ = rows_of(trace)
    loss = -trace.frames[-1].numbers["log-likelihood"] / len(X)
    assert loss < 0.99 * trace.frames[-1].objective
    assert trace.verdict.startswith(f"Mean loss {loss:.3g} ")
    page = page_of("linear_classifiers")
    rng = np.random.default_rng(0)
    data = LabData(rng.normal(size=(12, 2)), np.arange(12) % 2)
    numbers = page.run(data, page.settings({"method": "LDA"}), 0).frames[-1].numbers
    assert numbers["training accuracy"] == pytest.approx(1 - numbers["wrong rows"] / 12)
    assert "held-out accuracy" not in numbers


def test_what_breaks_the_classifiers():
    separable = trace_of("linear_classifiers", "Separable data")
    size = np.hypot(column(separable, "w₁"), column(separable, "w₂"))
    assert (np.diff(size) > 0).all()
    assert size[-1] > 10
    assert "no maximum" in separable.verdict
    cycling = trace_of("linear_classifiers", "XOR, perceptron")
    assert objectives(cycling)[-20:].min() > 0.2
    assert "for ever" in cycling.verdict
    flat = trace_of("linear_classifiers", "XOR, logistic regression")
    assert objectives(flat)[-1] > 0.98 * np.log(2)
    line, curve = (trace_of("linear_classifiers", n) for n in ("Unequal covariances", "QDA"))
    assert objectives(line)[-1] > 5 * objectives(curve)[-1]


def test_three_classes():
    page = page_of("linear_classifiers")
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = rng.normal(size=(45, 2)) + 3 * np.column_stack([y == 1, y == 2])
    data = LabData(X, y, np.arange(45) % 4 == 3)
    trace = page.run(data, page.settings({"method": "LDA"}), 0)
    assert trace.frames[-1].numbers["held-out accuracy"] > 0.7
    with pytest.raises(ValueError, match="shown for 2 classes, the rows have 3"):
        page.run(data, page.settings(), 0)


# --- judging ---


def test_a_lower_threshold_finds_more():
    trace = trace_of("judging", "Move the threshold")
    assert (np.diff(column(trace, "recall")) >= 0).all()
    X, y, X_test, y_test = rows_of(trace)
    p = LogisticRegression().fit(X, y).predict_proba(X_test)[:, 1]
    frame = trace.frames[12]
    called, cost = p >= frame.numbers["threshold"], trace.params["cost"]
    missed, alarms = (~called & (y_test == 1)).sum(), (called & (y_test == 0)).sum()
    assert frame.held_out == pytest.approx((cost * missed + alarms) / len(y_test))


def test_every_row_is_held_out_once():
    trace = trace_of("judging", "Fold wheel")
    k = trace.params["folds"]
    errors = [frame.held_out for frame in trace.frames[1 : k + 1]]
    assert trace.frames[-1].held_out == pytest.approx(np.mean(errors))
    sizes = [int(re.search(r"of (\d+) held out", f.formula)[1]) for f in trace.frames[1 : k + 1]]
    assert sum(sizes) == len(trace.data["y"])


def test_false_alarms_of_t_tests():
    """Nothing differs: the plain test alarms far more often than 5 %, the corrected one not."""
    trace = trace_of("judging", "t-tests under H0")
    last, n = trace.frames[-1].numbers, len(trace.frames)
    assert last["alarms, paired"] >= 0.2 * n > 0.15 * n >= last["alarms, corrected"]
    assert (column(trace, "p, corrected") >= column(trace, "p, paired")).all()


def test_coin_flips_favour_no_learner():
    """Also where one class is rare: labels are drawn, so neither learner is better."""
    page = page_of("judging")
    data = clouds(60, 0.0, 0.2)(np.random.default_rng(0))
    trace = page.run(data, page.settings({"method": "t-tests"}), 0)
    d = column(trace, "mean difference")
    assert abs(d.mean()) < 2.5 * d.std() / len(d) ** 0.5
    groups = [frame.state["panels"][0]["marks"][0]["group"] for frame in trace.frames]
    assert np.mean(groups) == pytest.approx(0.5, abs=0.04)


def test_only_lines_have_the_dimension_of_lines():
    for learner in ("logistic regression", "LDA", "nearest neighbour"):
        trace = run("judging", "Bound against n", learner=learner)
        labels = {m.get("label") for m in trace.frames[-1].state["panels"][1]["marks"]}
        drawn = learner != "nearest neighbour"
        assert ("VC bound" in trace.frames[-1].numbers) == drawn
        assert ("training error + VC, lines" in labels) == drawn


def test_a_sorted_table_has_both_classes_among_those_that_choose():
    page = page_of("judging")
    data = clouds(48, 1.0)(np.random.default_rng(0))
    order = np.argsort(data.y, kind="stable")
    data = LabData(data.X[order], data.y[order], data.held_out[order])
    for method in ("tune on the test rows", "random lines"):
        trace = page.run(data, page.settings({"method": method, "candidates": 20}), 0)
        group = trace.frames[-1].state["panels"][0]["marks"][1]["group"]
        assert np.mean(group) == pytest.approx(0.5, abs=0.1)
        scope: dict = {}
        exec(trace.code, scope)
        assert scope["objective"] == pytest.approx(trace.frames[-1].objective)


def test_the_bound_is_the_bound():
    trace = trace_of("judging", "Bound against n")
    X, y, X_test, y_test = rows_of(trace)
    error = 1 - LogisticRegression().fit(X, y).score(X_test, y_test)
    for frame in trace.frames[::6]:
        assert frame.objective == pytest.approx(
            validation_bound(error, frame.numbers["rows n"]).value
        )


@pytest.mark.parametrize("preset", ["Tune on test", "1000 candidates"])
def test_choosing_on_test_rows_breaks(preset):
    """There is nothing to learn, yet the winner looks good on the rows that chose it."""
    page = page_of("judging")
    chosen = next(one for one in page.presets if one.name == preset)
    shown = trace_of("judging", preset)
    assert (np.diff(objectives(shown)) <= 0).all()
    assert held_out(shown)[-1] > objectives(shown)[-1] + 0.2
    gaps = []
    for seed in range(1, 7):
        data = chosen.data(np.random.default_rng(seed))
        last = page.run(data, page.settings(chosen.params), seed).frames[-1]
        gaps.append(last.held_out - last.objective)
    assert np.mean(gaps) > 0.1  # whatever the rows, not only those of the preset
