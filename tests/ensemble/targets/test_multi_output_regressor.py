"""MultiOutputRegressor and RegressorChain: scikit-learn, separate fits, orders, folds, refusals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.multioutput as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse import csr_array
from sklearn.base import clone

import pellucid
from pellucid import (
    DecisionTreeRegressor,
    LinearRegression,
    MultiOutputRegressor,
    QuantileRegressor,
    RegressorChain,
    Ridge,
    SGDRegressor,
)
from pellucid.ensemble.targets.target_blocks import widened


def table(n=80, p=4, L=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    Y = X @ rng.normal(size=(p, L)) + 0.3 * rng.normal(size=(n, L))
    return X, np.column_stack([Y[:, :-1], np.abs(Y[:, 0])])


@pytest.mark.parametrize("inner", [Ridge(), DecisionTreeRegressor(max_depth=3)])
def test_same_as_scikit_learn(inner):
    X, Y = table()
    w = np.random.default_rng(1).integers(0, 3, size=len(X)).astype(float)
    for ours, other in [
        (MultiOutputRegressor(inner), theirs.MultiOutputRegressor(inner)),
        (RegressorChain(inner), theirs.RegressorChain(inner)),
        (RegressorChain(inner, order=[2, 0, 1]), theirs.RegressorChain(inner, order=[2, 0, 1])),
        (RegressorChain(inner, cv=3), theirs.RegressorChain(inner, cv=3)),
        (
            RegressorChain(inner, order="random", random_state=3),
            theirs.RegressorChain(inner, order="random", random_state=3),
        ),
    ]:
        assert_array_equal(ours.fit(X, Y).predict(X), other.fit(X, Y).predict(X))
        given = {"sample_weight": w}
        if ours.get_params().get("cv") is None:
            assert_array_equal(
                ours.fit(X, Y, **given).predict(X), other.fit(X, Y, **given).predict(X)
            )
        assert_allclose(ours.score(X, Y), other.score(X, Y))


def test_each_target_is_fitted_by_itself():
    X, Y = table(40)
    inner = QuantileRegressor(alpha=0)
    model = MultiOutputRegressor(inner, n_jobs=1).fit(X, Y)
    for j, y in enumerate(Y.T):
        assert_array_equal(model.predict(X)[:, j], QuantileRegressor(alpha=0).fit(X, y).predict(X))
    assert model.card().numbers["fits"] == 3


def test_a_chain_of_lines_is_separate_lines():
    X, Y = table()
    chain = RegressorChain(LinearRegression(), order=[1, 2, 0]).fit(X, Y)
    assert_allclose(chain.predict(X), LinearRegression().fit(X, Y).predict(X), atol=1e-9)


def test_a_chain_reads_earlier_targets():
    """The third target is the size of the first: no line in x, but a tree of the first."""
    X, Y = table(2000)
    tree = DecisionTreeRegressor(max_depth=6, min_samples_leaf=5)
    apart, chain = MultiOutputRegressor(tree).fit(X, Y), RegressorChain(tree).fit(X, Y)
    assert chain.estimators_[2].feature_importances_[4] > 0.9
    assert chain.predict(X).shape == apart.predict(X).shape == Y.shape


def test_frames_and_sparse_tables_reach_the_copies():
    X, Y = table(30)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for cls in (MultiOutputRegressor, RegressorChain):
        plain = cls(Ridge()).fit(X, Y).predict(X)
        assert_allclose(cls(Ridge()).fit(frame, pd.DataFrame(Y)).predict(frame), plain)
        assert_allclose(cls(Ridge()).fit(csr_array(X), Y).predict(csr_array(X)), plain)
    assert list(MultiOutputRegressor(Ridge()).fit(frame, Y).feature_names_in_) == list("abcd")


def test_partial_fit():
    X, Y = table()
    inner = SGDRegressor(random_state=0)
    model = MultiOutputRegressor(inner).partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    one = SGDRegressor(random_state=0).partial_fit(X[:40], Y[:40, 1]).partial_fit(X[40:], Y[40:, 1])
    assert_array_equal(model.predict(X)[:, 1], one.predict(X))
    assert model.n_rows_ == 80
    with pytest.raises(ValueError, match="2 targets, the fit so far saw 3"):
        model.partial_fit(X, Y[:, :2])
    with pytest.raises(AttributeError):
        MultiOutputRegressor(DecisionTreeRegressor()).partial_fit(X, Y)


@pytest.mark.parametrize("cls", [MultiOutputRegressor, RegressorChain])
def test_refusals(cls):
    X, Y = table(20)
    with pytest.raises(ValueError, match="at least two dimensions"):
        cls(Ridge()).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="needs the method fit"):
        cls(3).fit(X, Y)
    with pytest.raises(ValueError, match="same number of rows"):
        cls(Ridge()).fit(X, Y[:-1])


def test_an_order_that_is_none():
    with pytest.raises(ValueError, match="invalid order"):
        RegressorChain(Ridge(), order=[0, 0, 1]).fit(*table(20))
    with pytest.raises(ValueError, match="order"):
        RegressorChain(Ridge(), order="sorted").fit(*table(20))


def test_verbose_names_each_link(capsys):
    RegressorChain(Ridge(), verbose=True).fit(*table(20))
    assert "(3 of 3) Processing order 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    "inner", [pellucid.Ridge(), pellucid.HistGradientBoostingRegressor(max_iter=5)]
)
def test_blocks_fit_one_target_after_the_other(inner):
    """Names and types of the columns reach the inner models as in memory."""
    table = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": table.normal(size=300),
            "kind": pl.Series(table.choice(["u", "v"], 300)).cast(pl.Categorical),
        }
        if isinstance(inner, pellucid.HistGradientBoostingRegressor)
        else table.normal(size=(300, 2))
    )
    names = frame.columns
    a = frame[names[0]].to_numpy()
    whole = frame.with_columns(t=pl.Series(a**2), u=pl.Series(a + table.normal(size=300)))
    source = pellucid.data.blocks(whole, target=["t", "u"], block_rows=70)
    Y = whole[["t", "u"]].to_numpy()
    for model in (MultiOutputRegressor(inner), RegressorChain(inner, order=[1, 0])):
        memory = clone(model).fit(frame, Y)
        parts = clone(model).fit_blocks(source)
        np.testing.assert_allclose(parts.predict(frame), memory.predict(frame), rtol=1e-9)
        for one, other in zip(parts.estimators_, memory.estimators_, strict=True):
            assert list(one.feature_names_in_) == list(other.feature_names_in_)
        assert str(parts.card()) == str(memory.card())


def test_sparse_blocks_stay_sparse():
    X = sparse.random(200, 5, 0.3, format="csr", random_state=0)
    Y = np.column_stack([X.sum(axis=1), X[:, [0]].toarray()])
    leaf, _ = widened(X, Y, [0, 1])
    assert sparse.issparse(leaf)
    np.testing.assert_allclose(leaf.toarray()[:, 5:], Y)


def test_what_blocks_need_is_said():
    frame = pl.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0], "t": [1.0, 2.0, 2.0, 3.0], "u": [0.0, 1.0, 0.0, 1.0]}
    )
    source = pellucid.data.blocks(frame, target=["t", "u"])
    with pytest.raises(ValueError, match=r"needs a list of targets: blocks"):
        MultiOutputRegressor(pellucid.Ridge()).fit_blocks(pellucid.data.blocks(frame, target="t"))
    with pytest.raises(ValueError, match="fit_blocks needs cv=None"):
        RegressorChain(pellucid.Ridge(), cv=2).fit_blocks(source)
    assert not hasattr(RegressorChain(pellucid.KNeighborsRegressor()), "fit_blocks")
    with pytest.raises(ValueError, match="invalid order"):
        RegressorChain(pellucid.Ridge(), order=[0, 0]).fit_blocks(source)
