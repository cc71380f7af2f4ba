"""Stagewise regression: the example, a plain NumPy twin, laws, degenerate input."""

from contextlib import nullcontext

import numpy as np
import pytest
from lars_tables import data, unit
from linear_tables import Blocks, R, Y
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear import Lars, LinearRegression, StagewiseRegression
from pellucid.linear.lars import stagewise


def textbook(X, y, epsilon=None, tol=1e-10, max_iter=10_000):
    """The moves with the residual itself, row by row."""
    r, norms, moves = y.copy(), np.linalg.norm(X, axis=0), []
    while len(moves) < max_iter:
        corr = X.T @ r
        size = np.divide(np.abs(corr), norms, out=np.zeros(len(norms)), where=norms > 0)
        j = int(np.argmax(size))
        if size[j] < tol * min(1.0, np.linalg.norm(y)):
            break
        amount = corr[j] / norms[j] ** 2
        if epsilon is not None:
            if abs(corr[j]) <= epsilon * norms[j] ** 2 / 2:
                break
            amount = epsilon * np.sign(corr[j])
        moves.append((j, amount))
        r -= amount * X[:, j]
    return moves


def test_example_13():
    model = StagewiseRegression().fit(unit(R), Y)
    first = [(0, 10.0297177), (1, 1.2766984), (0, -1.1043493), (1, 0.9552666)]
    assert [j for j, _ in model.moves_[:4]] == [j for j, _ in first]
    assert_allclose([a for _, a in model.moves_[:4]], [a for _, a in first], atol=1e-7)
    assert model.n_iter_ == 370
    assert_allclose(model.coef_, LinearRegression().fit(unit(R), Y).coef_, atol=1e-8)


@pytest.mark.parametrize("epsilon", [None, 0.05, 0.003])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (15, 30)])
def test_the_moves_are_the_textbooks(epsilon, n, p):
    X, y = data(n, p, correlation=1.0)
    X *= np.linspace(0.5, 2.0, p)  # columns of different lengths
    model = StagewiseRegression(epsilon=epsilon, max_iter=600, tol=1e-8)
    longer = len(textbook(X, y, epsilon, 1e-8, 601)) > 600
    with pytest.warns(ConvergenceWarning, match="no end in") if longer else nullcontext():
        model.fit(X, y)
    moves = textbook(X, y, epsilon, 1e-8, 600)
    assert [j for j, _ in model.moves_] == [j for j, _ in moves]
    assert_allclose([a for _, a in model.moves_], [a for _, a in moves], rtol=1e-6, atol=1e-12)


def test_every_move_lowers_the_residual_squares_and_touches_one_column():
    X, y = data(80, 6)
    for epsilon in (None, 0.02):
        model = StagewiseRegression(epsilon=epsilon).fit(X, y)
        path = model.coef_path_
        assert path.shape == (6, model.n_iter_ + 1)
        assert_array_equal(path[:, 0], 0)
        assert_allclose(path[:, -1], model.coef_, atol=1e-12)
        assert (np.count_nonzero(np.diff(path, axis=1), axis=0) == 1).all()
        rss = ((y[:, None] - X @ path) ** 2).sum(axis=0)
        assert (np.diff(rss) < 1e-12).all()
        assert_allclose(model.history_["objective"], rss / 160, rtol=1e-8)
        assert len(model.history_) == model.n_iter_ + 1


def test_the_incremental_form_ends_where_no_move_lowers_the_squares():
    X, y = data(80, 6)
    X = unit(X)
    model = StagewiseRegression(epsilon=0.01).fit(X, y)
    assert np.abs(X.T @ (y - model.predict(X))).max() <= 0.005 + 1e-12


def test_small_steps_follow_least_angle_regression():
    """Where the lasso path is monotone the limit is the LAR path."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(50, 4)))[0]
    X = unit(Q + 0.05 * rng.normal(size=Q.shape))
    y = X @ [4.0, 3.0, 2.0, 1.0]
    knots = Lars().fit(X, y).coef_path_
    path = StagewiseRegression(epsilon=1e-3, max_iter=20_000).fit(X, y).coef_path_
    for knot in knots.T:
        nearest = np.abs(path - knot[:, None]).max(axis=0).min()
        assert nearest < 5e-3


def test_ends_in_least_squares():
    X, y = data(200, 8, correlation=0.5)
    model = StagewiseRegression(max_iter=100_000).fit(X + 2.0, y + 5.0)
    ols = LinearRegression().fit(X + 2.0, y + 5.0)
    assert_allclose(model.coef_, ols.coef_, atol=1e-9)
    assert_allclose(model.intercept_, ols.intercept_, atol=1e-8)
    assert_allclose(model.rss_, ols.rss_, rtol=1e-10)


def test_weights_blocks_and_targets_of_any_size():
    X, y = data(90, 5)
    w = np.random.default_rng(0).integers(0, 3, 90)
    a = StagewiseRegression().fit(X, y, sample_weight=w)
    b = StagewiseRegression().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(a.coef_, b.coef_, atol=1e-10)
    big = StagewiseRegression().fit(X, 1e9 * y)  # tol is below the rounding error of this y
    assert_allclose(big.coef_, 1e9 * LinearRegression().fit(X, y).coef_, rtol=1e-8)
    X, y = data(LEAF_ROWS + 50, 4)
    c = StagewiseRegression().fit_blocks(Blocks(X, y, LEAF_ROWS))
    assert_allclose(c.coef_, StagewiseRegression().fit(X, y).coef_, atol=1e-11)


def test_rows_of_the_products_come_as_needed(monkeypatch):
    X, y = data(60, 30)
    whole = StagewiseRegression(epsilon=0.01).fit(X, y)
    monkeypatch.setattr(stagewise, "WHOLE", 10)
    parts = StagewiseRegression(epsilon=0.01).fit(X, y)
    assert parts.moves_ == whole.moves_
    assert_allclose(parts.coef_, whole.coef_, atol=1e-12)


def test_a_limit_is_announced():
    X, y = data(60, 5)
    with pytest.warns(ConvergenceWarning, match="no end in max_iter=3 moves") as caught:
        model = StagewiseRegression(max_iter=3).fit(X, y)
    assert len(caught) == 1
    assert model.n_iter_ == len(model.moves_) == 3
    assert "cut short" in model.card().optimisation


def test_more_than_one_chunk():
    X, y = data(60, 5, correlation=1.0)
    model = StagewiseRegression(epsilon=1e-3).fit(X, y)
    assert model.n_iter_ > 2 * stagewise.CHUNK
    assert [j for j, _ in model.moves_] == [j for j, _ in textbook(X, y, 1e-3)]


def testnullcontext_to_do():
    X, _ = data(20, 3)
    X = np.column_stack([np.ones(20), X])
    model = StagewiseRegression().fit(X, np.full(20, 4.0))
    assert_array_equal(model.coef_, 0)
    assert model.intercept_ == 4.0
    assert model.moves_ == []
    y = X[:, 1]
    model = StagewiseRegression().fit(X, y)
    assert model.coef_[0] == 0
    assert_allclose(model.predict(X), y, atol=1e-9)
    with pytest.raises(ValueError, match="epsilon must be > 0, got 0"):
        StagewiseRegression(epsilon=0).fit(X, y)
