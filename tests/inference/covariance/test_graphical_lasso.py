"""Graphical lasso: an oracle, an invariant, a recovery."""

import numpy as np
import polars as pl
import pytest
import sklearn.covariance as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_sparse_spd_matrix
from sklearn.model_selection import KFold

import pellucid
from pellucid import GraphicalLasso, GraphicalLassoCV
from pellucid.inference.covariance.graphical_lasso import alpha_max, dual_value, objective

rng = np.random.default_rng(0)
T = np.eye(8) + np.diag(np.full(7, 0.45), 1) + np.diag(np.full(7, 0.45), -1)  # a chain
X = rng.multivariate_normal(np.zeros(8), np.linalg.inv(T), size=300)
S = np.cov(X.T, bias=True)
SCALED = X / X.std(axis=0)
EXACT = {"tol": 1e-13, "enet_tol": 1e-13, "max_iter": 500}
THEIRS = {"tol": 1e-9, "enet_tol": 1e-10, "max_iter": 500}


@pytest.mark.parametrize("alpha", [0.02, 0.2, 0.8])
@pytest.mark.parametrize("n", [20, 300])
def test_oracle(alpha, n):
    """scikit-learn's minimum has the same cells; its costs are the same numbers."""
    ours = GraphicalLasso(alpha, **EXACT).fit(X[:n])
    theirs = peer.GraphicalLasso(alpha, **THEIRS).fit(X[:n])
    assert_allclose(ours.precision_, theirs.precision_, atol=1e-4)
    assert_allclose(ours.covariance_, np.linalg.inv(ours.precision_), atol=1e-6)
    assert_allclose(ours.location_, theirs.location_, atol=1e-14)
    assert_allclose(ours.costs_[-1][0], theirs.costs_[-1][0], rtol=1e-8)
    given = GraphicalLasso(alpha, covariance="precomputed", **EXACT).fit(np.cov(X[:n].T, bias=True))
    assert_allclose(given.precision_, ours.precision_, atol=1e-7)


def test_invariant():
    """The gap bounds the distance from the minimum; W and S differ by alpha on the edges."""
    best = GraphicalLasso(0.1, **EXACT).fit(X)
    rough = GraphicalLasso(0.1, tol=1e-1).fit(X)
    f = [objective(S, model.precision_, 0.1) for model in (best, rough)]
    assert 0 <= f[1] - f[0] + 1e-9 <= rough.dual_gap_ + 2e-9
    assert best.dual_gap_ < 1e-12
    assert dual_value(S, best.covariance_, 0.1) <= f[0] + 1e-9
    edges = (best.precision_ != 0) & ~np.eye(8, dtype=bool)
    signs = np.sign(best.precision_[edges])
    assert_allclose((best.covariance_ - S)[edges], 0.1 * signs, atol=1e-6)
    assert_allclose(np.diag(best.covariance_), np.diag(S))
    assert (np.diff(best.history_["objective"]) < 1e-9).all()


def test_recovery():
    """The strongest edges are those of the chain; none is left above the largest penalty."""
    size = np.abs(GraphicalLasso(0.15).fit(SCALED).precision_)[np.triu_indices(8, 1)]
    assert_array_equal(np.sort(np.argsort(size)[-7:]), np.flatnonzero(T[np.triu_indices(8, 1)]))
    assert (size == 0).sum() > 10
    R = np.corrcoef(X.T)
    none = GraphicalLasso(alpha_max(R) * 1.001, covariance="precomputed").fit(R).precision_
    assert_array_equal(none != 0, np.eye(8, dtype=bool))
    assert_allclose(GraphicalLasso(0).fit(X).precision_, np.linalg.inv(S), rtol=1e-8)


def test_cross_validation_is_that_of_scikit_learn():
    """The same grids, nearly the same scores, so the same penalty up to ties within ``tol``."""
    ours, theirs = (k(cv=4).fit(SCALED) for k in (GraphicalLassoCV, peer.GraphicalLassoCV))
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    assert_allclose(ours.cv_results_["alphas"][0], theirs.cv_results_["alphas"][0])
    best = [model.cv_results_["mean_test_score"].max() for model in (ours, theirs)]
    assert_allclose(*best, atol=2e-3)
    plain = [model.cv_results_["mean_test_score"][-1] for model in (ours, theirs)]
    assert_allclose(*plain)
    given = GraphicalLassoCV(alphas=[0.3, 0.01, 0.1], n_jobs=2).fit(SCALED)
    results = given.cv_results_
    assert_allclose(results["alphas"], [0.3, 0.1, 0.01, 0.0])
    assert given.alpha_ == results["alphas"][results["mean_test_score"][:3].argmax()]
    assert given.dual_gap_ <= 1e-4


def test_the_choice_does_not_hang_on_the_last_steps_of_the_folds():
    """The table of scikit-learn's docstring: alphas of a fine grid differ by 4e-5 in the score."""
    S = np.array([[0.8, 0, 0.2, 0], [0, 0.4, 0, 0], [0.2, 0, 0.3, 0.1], [0, 0, 0.1, 0.7]])
    X = np.random.RandomState(0).multivariate_normal(np.zeros(4), S, size=200)
    loose, exact = GraphicalLassoCV().fit(X), GraphicalLassoCV(tol=1e-10).fit(X)
    assert loose.alpha_ == exact.alpha_
    assert_allclose(loose.alpha_, peer.GraphicalLassoCV().fit(X).alpha_)
    scores = (model.cv_results_["mean_test_score"] for model in (loose, exact))
    assert_allclose(*scores, atol=2e-5)


def test_the_end_is_where_the_covariance_rests_too():
    """After the first sweep the gap is 4e-10 here, and a cell 3e-5 from its end."""
    rs = np.random.RandomState(42)
    sparse = make_sparse_spd_matrix(10, alpha=0.95, random_state=rs)
    table = rs.multivariate_normal(np.zeros(10), np.linalg.inv(sparse), size=100)
    loose, exact = (GraphicalLasso(0.25, tol=tol).fit(table) for tol in (1e-7, 1e-12))
    assert loose.costs_[0][1] < 1e-9
    assert_allclose(loose.covariance_, exact.covariance_, atol=1e-9)


def test_refusals():
    with pytest.raises(ValueError, match="1 feature"):
        GraphicalLasso().fit(X[:, :1])
    with pytest.raises(ValueError, match="square and symmetric"):
        GraphicalLasso(covariance="precomputed").fit(X)
    with pytest.raises(ValueError, match="alphas must be"):
        GraphicalLassoCV(alphas=[0.1, -1.0]).fit(X)


@pytest.mark.parametrize("value", [1.0, 0.1])
def test_a_column_that_does_not_vary_is_named(value):
    X = np.column_stack([np.random.default_rng(0).normal(size=(40, 2)), np.full(40, value)])
    for model in (GraphicalLasso(), GraphicalLassoCV()):
        with pytest.raises(ValueError, match="column 2 does not vary"):
            model.fit(X)
    with pytest.raises(ValueError, match="1 sample"):
        GraphicalLasso().fit(X[:1])


def test_a_given_covariance_has_no_blocks():
    S = np.eye(3)
    with pytest.raises(ValueError, match="one matrix, not blocks of rows: use fit"):
        GraphicalLasso(covariance="precomputed").fit_blocks(pellucid.data.blocks(pl.DataFrame(S)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_folds_with_fewer_rows_than_columns(seed):
    """At a small alpha the sweeps of a fold may be lost; the next alpha does not begin there."""
    wide = np.random.default_rng(seed).normal(size=(24, 60))
    model = GraphicalLassoCV(n_refinements=2).fit(wide)
    assert np.isfinite(model.precision_).all()
    assert model.alpha_ > 0.4 * alpha_max(model._empirical)  # the columns are independent


def test_blocks_and_weights_choose_the_same_penalty():
    """Folds of neighbouring rows: a pass over blocks has those of memory, to the bit."""
    table = pl.DataFrame(SCALED)
    memory = GraphicalLassoCV(cv=4).fit(table)
    parts = GraphicalLassoCV(cv=4).fit_blocks(pellucid.data.blocks(table, block_rows=70))
    assert parts.alpha_ == memory.alpha_
    for key, values in memory.cv_results_.items():
        assert_array_equal(parts.cv_results_[key], values)
    assert_array_equal(parts.precision_, memory.precision_)
    split = list(KFold(4).split(SCALED))  # the same folds, row by row
    assert_allclose(GraphicalLassoCV(cv=split).fit(SCALED).alpha_, memory.alpha_, rtol=1e-9)
    ones = GraphicalLassoCV(cv=4).fit(SCALED, sample_weight=np.full(300, 2.0))
    assert_allclose(ones.precision_, memory.precision_, rtol=1e-9)
    with pytest.raises(ValueError, match="number of folds, got a splitter"):
        GraphicalLassoCV(cv=KFold(4)).fit_blocks(pellucid.data.blocks(table))
    with pytest.raises(ValueError, match="folds need at least as many rows, got n_samples=3"):
        GraphicalLassoCV().fit(SCALED[:3])
    none = np.where(np.arange(300) < 75, 0.0, 1.0)  # the first fold
    with pytest.raises(ValueError, match="rows of positive weight"):
        GraphicalLassoCV(cv=4).fit(SCALED, sample_weight=none)


def test_columns_without_any_correlation_have_no_edge():
    """Whatever the penalty; the grid is then that of the folds."""
    crossed = np.array([[i, j] for i in range(3) for j in range(4)], dtype=float)
    model = GraphicalLassoCV().fit(crossed)
    assert model.precision_[0, 1] == 0
    assert_allclose(np.diag(model.covariance_), crossed.var(axis=0))
