"""FastICA: scikit-learn's fixed point, laws of the unmixing, recovery of known sources."""

import numpy as np
import pytest
from sklearn.decomposition import FastICA as Theirs

import pellucid
from pellucid import FastICA

rng = np.random.default_rng(0)


def table(n=1500):
    S = np.column_stack([rng.uniform(-1, 1, n), rng.laplace(size=n), rng.random(n) ** 3])
    return S, S @ rng.normal(size=(3, 3)) + 4


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_oracle(fun, algorithm, whiten):
    """The same start leads to the same sources, up to their signs."""
    _, X = table()
    options = {"fun": fun, "algorithm": algorithm, "whiten": whiten, "w_init": np.eye(3)}
    mine, other = FastICA(**options).fit(X), Theirs(**options).fit(X)
    a, b = mine.transform(X), other.transform(X)
    sign = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a, b * sign, atol=1e-6 * np.abs(b).max())
    assert mine.n_iter_ == other.n_iter_
    np.testing.assert_allclose(mine.inverse_transform(a), X)


def test_invariant_sources_are_white_and_mixing_undoes_unmixing():
    _, X = table()
    for solver in ("svd", "eigh"):
        model = FastICA(2, whiten_solver=solver, random_state=0).fit(X)
        S = model.transform(X)
        np.testing.assert_allclose(S.T @ S / len(S), np.eye(2), atol=1e-8)
        np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(2), atol=1e-8)
    gaps = model.history_["gap"]
    assert gaps[-1] < 1e-4 <= gaps[:-1].min()


def test_recovery_of_sources_and_callables():
    S, X = table()

    def own(y, power):
        return y**power, (power * y ** (power - 1)).mean(axis=-1)

    for model in (FastICA(random_state=0), FastICA(fun=own, fun_args={"power": 3}, random_state=0)):
        found = model.fit_transform(X)
        match = np.abs(np.corrcoef(S.T, found.T)[:3, 3:])
        assert (match.max(axis=1) > 0.99).all()


def test_no_whitening_and_refusals():
    _, X = table(200)
    white = FastICA(random_state=0).fit_transform(X)
    model = FastICA(whiten=False, random_state=0).fit(white)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-8)
    with pytest.warns(UserWarning, match="n_components is too large"):
        FastICA(9, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="Ignoring n_components"):
        FastICA(2, whiten=False, random_state=0).fit(white)
    with pytest.raises(ValueError, match=r"alpha must be in \[1,2\]"):
        FastICA(fun_args={"alpha": 3}).fit(X)
    with pytest.raises(ValueError, match="w_init has invalid shape"):
        FastICA(w_init=np.eye(2)).fit(X)


@pytest.mark.parametrize("whiten", ["unit-variance", False])
@pytest.mark.parametrize("solver", ["svd", "eigh"])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_blocks_and_weights(algorithm, solver, whiten):
    """Blocks of any size, and rows written as often as their weight, give the same sources."""
    _, X = table(6000)
    X = X if whiten else FastICA(random_state=0).fit_transform(X)
    w = np.random.default_rng(1).integers(0, 3, len(X))
    options = {
        "algorithm": algorithm,
        "whiten_solver": solver,
        "whiten": whiten,
        "w_init": np.eye(3),
    }
    again = FastICA(**options).fit(np.repeat(X, w, axis=0))
    weighted = FastICA(**options).fit(X, sample_weight=w)
    source = pellucid.data.blocks(X, weight=w.astype(float), block_rows=500)
    for model in (weighted, FastICA(**options).fit_blocks(source)):
        np.testing.assert_allclose(model.components_, again.components_, rtol=1e-6, atol=1e-9)
        assert model.n_iter_ == again.n_iter_


def test_weights_need_the_slopes_themselves():
    _, X = table(200)

    def means(y):
        return y**3, (3 * y**2).mean(axis=-1)

    def slopes(y):
        return y**3, 3 * y**2

    w = np.arange(200.0)
    with pytest.raises(ValueError, match="gives means of g' over the rows"):
        FastICA(fun=means, random_state=0).fit(X, sample_weight=w)
    own = FastICA(fun=slopes, random_state=0).fit(X, sample_weight=w)
    cube = FastICA(fun="cube", random_state=0).fit(X, sample_weight=w)
    np.testing.assert_allclose(own.components_, cube.components_)


@pytest.mark.parametrize("solver", ["svd", "eigh"])
def test_the_unit_of_the_columns_does_not_matter(solver):
    """Squares of 1e-200 vanish: such rows go by the triangle, which squares nothing."""
    _, X = table(500)
    usual = FastICA(whiten_solver=solver, random_state=0).fit_transform(X)
    for unit in (1e-200, 1e100):
        other = FastICA(whiten_solver=solver, random_state=0).fit_transform(X * unit)
        np.testing.assert_allclose(other, usual, rtol=1e-6, atol=1e-9)
