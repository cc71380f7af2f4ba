"""Stepwise regression: examples, naive refits, statsmodels' tests, laws."""

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from linear_tables import Blocks, R, Y
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear import BestSubsetRegression, LinearRegression, StepwiseRegression


def make(n=80, p=8, seed=0, rho=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X + 3, X[:, ::3].sum(axis=1) + rng.normal(size=n)


def rss_of(X, y, columns):
    D = np.column_stack([np.ones(len(X)), X[:, sorted(columns)]])
    r = y - D @ np.linalg.lstsq(D, y, rcond=None)[0]
    return r @ r


def value_of(name, rss, size, n, sigma2):
    k = size + 1
    return {
        "aic": n * np.log(rss / n) + 2 * k,
        "bic": n * np.log(rss / n) + k * np.log(n),
        "cp": rss / sigma2 - n + 2 * k,
    }[name]


def naive(X, y, direction, criterion, start):
    """Refit every candidate at every step."""
    n, p = X.shape
    sigma2 = rss_of(X, y, range(p)) / (n - p - 1)

    def value(S):
        return value_of(criterion, rss_of(X, y, S), len(S), n, sigma2)

    S, moves = set(start), []
    while True:
        candidates = [("add", j) for j in range(p) if j not in S and direction != "backward"]
        candidates += [("drop", j) for j in S if direction != "forward"]
        scores = [value(S ^ {j}) for _, j in candidates]
        if not scores or min(scores) >= value(S) - 1e-10:
            return moves, S
        moves.append(candidates[int(np.argmin(scores))])
        S = S ^ {moves[-1][1]}


def moves(model):
    return [(step.move, step.feature) for step in model.steps_[1:]]


# --- the examples ----------------------------------------------------------------------------


def test_example_11_both_directions_by_aic():
    model = StepwiseRegression(direction="both").fit(R, Y)
    assert moves(model) == [("add", 0), ("add", 1), ("add", 2)]
    assert model.steps_[0].move == "start"
    assert_allclose(
        [s.rss for s in model.steps_], [111.5, 10.904762, 4.430712, 3.254602], atol=1e-6
    )
    expected = [23.076664, 6.478064, 1.272949, 0.805028]
    assert_allclose([s.value for s in model.steps_], expected, atol=1e-6)
    assert [s.support for s in model.steps_] == [(), (0,), (0, 1), (0, 1, 2)]
    assert_allclose(model.coef_, LinearRegression().fit(R, Y).coef_, rtol=1e-9)


def test_z_drops_what_the_course_drops():
    """Example 1: only x1 is beyond 2; x2 goes first, then x0 stays (its z is now large)."""
    model = StepwiseRegression(direction="backward", criterion="z").fit(R, Y)
    assert moves(model) == [("drop", 2)]
    assert_allclose(model.steps_[1].statistic, 1.20227808, atol=1e-8)
    assert_allclose(model.steps_[1].value, 1.20227808, atol=1e-8)


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["aic", "bic", "cp"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equals_naive_refits(direction, criterion, seed):
    X, y = make(seed=seed)
    model = StepwiseRegression(direction=direction, criterion=criterion).fit(X, y)
    expected, support = naive(
        X, y, direction, criterion, range(8) if direction == "backward" else ()
    )
    assert moves(model) == expected
    assert set(np.flatnonzero(model.support_)) == support
    for step in model.steps_:
        assert_allclose(step.rss, rss_of(X, y, step.support), rtol=1e-10)


def test_both_drops_what_it_added():
    """x0 = x1 + x2 + noise enters first and leaves once x1 and x2 are in."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 6))
    X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=100)
    y = X[:, 1] + X[:, 2] + 0.05 * rng.normal(size=100)
    for criterion in ("bic", "f"):
        model = StepwiseRegression(direction="both", criterion=criterion).fit(X, y)
        assert moves(model)[0] == ("add", 0)
        assert ("drop", 0) in moves(model)
        assert {1, 2} <= set(model.get_support(indices=True))


@pytest.mark.parametrize("start", [[1, 4], ["x1", "x4"], np.arange(8) % 3 == 1])
def test_start(start):
    X, y = make()
    columns = {1, 4} if not isinstance(start, np.ndarray) else {1, 4, 7}
    model = StepwiseRegression(direction="both", criterion="bic", start=start).fit(X, y)
    assert set(model.steps_[0].support) == columns
    assert moves(model) == naive(X, y, "both", "bic", columns)[0]


def test_f_and_z_statistics_are_those_of_statsmodels():
    X, y = make()
    for step, before in zip(
        *[(s := StepwiseRegression(criterion="rss").fit(X, y).steps_)[1:], s[:-1]], strict=True
    ):
        large = sm.OLS(y, sm.add_constant(X[:, step.support])).fit()
        small = sm.OLS(y, sm.add_constant(X[:, before.support]) if before.support else np.ones(80))
        F, p, _ = large.compare_f_test(small.fit())
        assert_allclose([step.statistic, step.p_value], [F, p], rtol=1e-6)
    steps = StepwiseRegression(direction="backward", criterion="z").fit(X, y).steps_
    assert len(steps) > 1
    for step, before in zip(steps[1:], steps[:-1], strict=True):
        fit = sm.OLS(y, sm.add_constant(X[:, before.support])).fit()
        j = 1 + before.support.index(step.feature)
        assert abs(fit.tvalues[j]) == np.abs(fit.tvalues[1:]).min() <= 2
        assert_allclose([step.statistic, step.p_value], [fit.tvalues[j], fit.pvalues[j]], rtol=1e-8)


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize(("criterion", "threshold"), [("f", None), ("f", 0.2), ("z", 1.0)])
def test_thresholds_hold_at_the_end(direction, criterion, threshold):
    X, y = make(p=10)
    rule = StepwiseRegression(direction=direction, criterion=criterion, threshold=threshold)
    model = rule.fit(X, y)
    fit = sm.OLS(y, sm.add_constant(X[:, model.support_])).fit()
    cut = threshold or 0.05
    if direction != "forward":
        kept = fit.pvalues[1:] <= cut if criterion == "f" else np.abs(fit.tvalues[1:]) > cut
        assert kept.all()
    if direction != "backward":
        for j in np.flatnonzero(~model.support_):
            wider = sm.OLS(y, sm.add_constant(X[:, [*np.flatnonzero(model.support_), j]])).fit()
            out = wider.pvalues[-1] >= cut if criterion == "f" else abs(wider.tvalues[-1]) <= cut
            assert out


# --- laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["aic", "bic", "cp", "f", "z"])
def test_never_visits_a_model_twice(criterion):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(25, 8)) @ rng.normal(size=(8, 8))
        y = X @ rng.normal(size=8) * (rng.random() < 0.5) + 3 * rng.normal(size=25)
        threshold = {"f": 0.5, "z": 0.7}.get(criterion)
        start = list(np.flatnonzero(rng.random(8) < 0.5))
        model = StepwiseRegression(
            direction="both", criterion=criterion, threshold=threshold, start=start
        ).fit(X, y)
        seen = [step.support for step in model.steps_]
        assert len(set(seen)) == len(seen)
        if threshold is None:
            assert (np.diff([step.value for step in model.steps_]) < 0).all()


def test_full_forward_run_ends_at_least_squares():
    X, y = make(200, 30)
    model = StepwiseRegression(criterion="rss").fit(X, y)
    assert len(model.steps_) == 31
    assert (np.diff([s.rss for s in model.steps_]) <= 0).all()
    assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-7)


def test_backward_then_forward_returns_to_the_same_residuals():
    """Long runs of updates keep their digits: 60 columns dropped, ill-conditioned."""
    X, y = make(120, 60, rho=0.99)
    model = StepwiseRegression(direction="backward", criterion="rss", max_features=1).fit(X, y)
    assert len(model.steps_) == 60
    for step in model.steps_[::7]:
        assert_allclose(step.rss, rss_of(X, y, step.support), rtol=1e-9)


def test_max_features():
    X, y = make()
    assert StepwiseRegression(criterion="rss", max_features=3).fit(X, y).support_.sum() == 3
    model = StepwiseRegression(direction="backward", max_features=2).fit(X, y)
    assert model.support_.sum() == 2
    assert not StepwiseRegression(max_features=0).fit(X, y).support_.any()


def test_greedy_is_never_better_than_the_best_subset():
    X, y = make()
    best = BestSubsetRegression().fit(X, y).subsets_
    for direction in ("forward", "backward"):
        limit = {"max_features": 1} if direction == "backward" else {}
        model = StepwiseRegression(direction=direction, criterion="rss", **limit).fit(X, y)
        for step in model.steps_:
            assert step.rss >= best[len(step.support)].rss * (1 - 1e-12)


def test_weights_are_repetitions_and_blocks_agree():
    X, y = make()
    w = np.random.default_rng(0).integers(0, 4, size=80)
    a = StepwiseRegression(direction="both").fit(X, y, sample_weight=w)
    b = StepwiseRegression(direction="both").fit(X.repeat(w, axis=0), y.repeat(w))
    assert moves(a) == moves(b)
    assert_allclose([s.value for s in a.steps_], [s.value for s in b.steps_], rtol=1e-9)
    X, y = make(LEAF_ROWS + 50)
    a, b = StepwiseRegression().fit(X, y), StepwiseRegression().fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(a.coef_, b.coef_)
    assert moves(a) == moves(b)


def test_history_follows_the_steps():
    X, y = make()
    model = StepwiseRegression().fit(X, y)
    assert_array_equal(model.history_["objective"], [s.rss for s in model.steps_])
    assert model.n_iter_ == len(model.steps_) - 1


# --- degenerate data -------------------------------------------------------------------------


def test_backward_needs_rows():
    X, y = make(9, 8)
    with pytest.raises(ValueError, match="backward needs n > p, use forward"):
        StepwiseRegression(direction="backward").fit(X, y)
    StepwiseRegression(direction="backward").fit(*make(10, 8))


def test_forward_with_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 50))
    y = 3 * X[:, 7] - 2 * X[:, 30] + 0.1 * rng.normal(size=20)
    model = StepwiseRegression(criterion="f", threshold=0.001).fit(X, y)
    assert_array_equal(model.get_support(indices=True), [7, 30])
    model = StepwiseRegression().fit(X, y)  # AIC has no brake here, but one degree is left
    assert model.support_.sum() <= 18
    assert np.isfinite(model.sigma2_)
    model = StepwiseRegression(criterion="rss").fit(X, y)
    assert model.support_.sum() == 19
    assert model.rss_ < 1e-20
    with pytest.raises(ValueError, match=r"criterion='cp' needs the noise variance"):
        StepwiseRegression(criterion="cp").fit(X, y)


def test_dependent_and_constant_columns():
    X, y = make(40, 5)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(40, 2.0)])
    with pytest.warns(LinAlgWarning, match="columns x5 depend linearly on the columns before them"):
        model = StepwiseRegression(direction="backward").fit(X, y)
    assert moves(model) == moves(StepwiseRegression(direction="backward").fit(X[:, :5], y))
    model = StepwiseRegression(criterion="rss").fit(X, y)
    assert model.support_.sum() == 5
    assert "constant columns are never chosen: x6" in str(model.card())


def test_exact_fit_stops_with_a_warning():
    X, _ = make()
    with pytest.warns(UserWarning, match="3 parameters fit y exactly"):
        model = StepwiseRegression().fit(X, X[:, 1] - X[:, 4])
    assert_array_equal(model.get_support(indices=True), [1, 4])
    with pytest.warns(UserWarning, match="1 parameters fit y exactly"):
        assert not StepwiseRegression().fit(X, np.ones(80)).support_.any()


def test_bad_parameters():
    X, y = make()
    for parameters, match in [
        ({"threshold": 0.1}, r"threshold belongs to criterion 'f' or 'z'"),
        ({"criterion": "f", "threshold": 2.0}, r"between 0 and 1"),
        ({"max_features": -1}, r"max_features must be a whole number >= 0"),
        ({"start": ["x99"]}, r"no column 'x99'"),
        ({"start": [True, False]}, r"a mask needs 8 values, got 2"),
    ]:
        with pytest.raises(ValueError, match=match):
            StepwiseRegression(**parameters).fit(X, y)


def test_no_intercept():
    X, y = make()
    model = StepwiseRegression(fit_intercept=False, criterion="rss").fit(X, y)
    assert model.intercept_ == 0
    assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-8)


def test_summary():
    X, y = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = StepwiseRegression().fit(X, y).summary()
    assert not found.valid
    assert "chosen on the same data" in found.reason


def test_recovers_the_true_columns():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 40))
    y = X[:, [4, 17, 33]] @ [1.0, -2.0, 0.7] + 0.5 * rng.normal(size=500)
    for direction in ("forward", "backward", "both"):
        model = StepwiseRegression(direction=direction, criterion="bic").fit(X, y)
        assert {4, 17, 33} <= set(model.get_support(indices=True))
        assert model.support_.sum() <= 5
