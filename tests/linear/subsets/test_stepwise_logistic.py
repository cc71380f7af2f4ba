"""Stepwise logistic regression against a greedy search with statsmodels; bounds, rules, limits."""

import itertools

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from scipy.stats import chi2

from pellucid.linear import StepwiseLogisticRegression
from pellucid.linear.subsets.stepwise_logistic import Search, bounds, candidates, fit_terms
from pellucid.solvers import SeparationWarning


def data(n=300, p=7, seed=0, K=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))) + rng.normal(size=p)
    Z = X - X.mean(axis=0)
    if K == 2:
        return X, (Z[:, 0] - 0.6 * Z[:, 2] + 0.3 * Z[:, 4] + rng.logistic(size=n) > 0).astype(int)
    W = rng.normal(size=(K, p)) * [1, 0, 0.7, 0, 0.3, 0, 0][:p]
    return X, np.argmax(Z @ W.T + rng.gumbel(size=(n, K)), axis=1)


def reference_fit(X, y, columns, products=()):
    parts = [np.ones(len(y)), *(X[:, j] for j in columns)]
    parts += [X[:, i] * X[:, j] for i, j in products]
    D = np.column_stack(parts)
    model = sm.Logit(y, D) if y.max() == 1 else sm.MNLogit(y, D)
    return model.fit(disp=0, method="newton", tol=1e-12, maxiter=100)


def reference_likelihood(X, y, columns):
    return reference_fit(X, y, columns).llf


def greedy(X, y, direction, criterion, alpha_in=0.05, alpha_out=0.10):
    """Brute force: every neighbour is fitted at every step."""
    p, n, df = X.shape[1], len(y), int(y.max())
    price = 2.0 if criterion == "aic" else np.log(n)

    def value(columns):
        return -2 * reference_likelihood(X, y, columns) + price * df * (len(columns) + 1)

    S = set(range(p)) if direction == "backward" else set()
    moves = []
    while True:
        outs = [S - {j} for j in sorted(S)] if direction != "forward" else []
        ins = [S | {j} for j in range(p) if j not in S] if direction != "backward" else []
        if criterion == "p":
            now = reference_likelihood(X, y, sorted(S))
            drop = max(outs, key=lambda T: reference_likelihood(X, y, sorted(T)), default=None)
            if drop is not None:
                pv = chi2.sf(2 * (now - reference_likelihood(X, y, sorted(drop))), df)
                if pv > alpha_out:
                    moves.append(("drop", *(S - drop)))
                    S = drop
                    continue
            add = max(ins, key=lambda T: reference_likelihood(X, y, sorted(T)), default=None)
            if add is None:
                return S, moves
            pv = chi2.sf(2 * (reference_likelihood(X, y, sorted(add)) - now), df)
            if pv >= alpha_in:
                return S, moves
            moves.append(("add", *(add - S)))
            S = add
            continue
        best = min([*outs, *ins], key=lambda T: value(sorted(T)))
        if value(sorted(best)) >= value(sorted(S)) - 1e-9:
            return S, moves
        moves.append(("add", *(best - S)) if len(best) > len(S) else ("drop", *(S - best)))
        S = best


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("criterion", ["aic", "bic", "p"])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_moves_as_brute_force(direction, criterion, seed):
    X, y = data(150, 6, seed)
    model = StepwiseLogisticRegression(direction=direction, criterion=criterion).fit(X, y)
    S, moves = greedy(X, y, direction, criterion)
    assert set(np.flatnonzero(model.support_)) == S
    assert [(step.move, step.feature) for step in model.steps_[1:]] == moves
    fit = reference_fit(X, y, sorted(S))
    np.testing.assert_allclose(model.log_likelihood_, fit.llf, rtol=1e-10)
    np.testing.assert_allclose(model.aic_, fit.aic, rtol=1e-10)
    np.testing.assert_allclose(model.bic_, fit.bic, rtol=1e-10)
    np.testing.assert_allclose(model.coef_[0, sorted(S)], fit.params[1:], atol=1e-6)
    np.testing.assert_allclose(model.intercept_[0], fit.params[0], atol=1e-6)


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_three_classes_as_brute_force(direction):
    X, y = data(150, 4, 3, K=3)
    model = StepwiseLogisticRegression(direction=direction, criterion="bic").fit(X, y)
    S, moves = greedy(X, y, direction, "bic")
    assert [(step.move, step.feature) for step in model.steps_[1:]] == moves
    fit = reference_fit(X, y, sorted(S))
    np.testing.assert_allclose(model.log_likelihood_, fit.llf, rtol=1e-10)
    summary = model.summary()
    np.testing.assert_allclose(summary.estimate, fit.params.T.ravel(), atol=1e-5)
    np.testing.assert_allclose(summary.standard_error, fit.bse.T.ravel(), rtol=1e-4)


def search_of(X, y, **options):
    rules = {"direction": "both", "criterion": "aic", "interactions": False, "most": 99,
             "alpha_in": 0.05, "alpha_out": 0.1, "intercept": True, "ridge": 0.0}  # fmt: skip
    return Search(X, y, int(y.max()) + 1, np.ones(len(y)), X.mean(axis=0), **{**rules, **options})


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_every_refit(seed):
    X, y = data(120, 8, seed)
    search = search_of(X, y)
    finite = 0
    for terms in ((), ((0,),), ((0,), (2,))):
        model = fit_terms(search, terms)
        found = candidates(search, model)
        _, low = bounds(search, model, found)
        finite += np.isfinite(low).sum()
        for term, bound in zip(found, low, strict=True):
            assert bound <= fit_terms(search, (*terms, term), model).loss
    assert finite > 10


def test_interactions_only_between_chosen_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)) + 1.0
    y = (X[:, 0] + X[:, 1] + 1.5 * X[:, 0] * X[:, 1] - 3 + rng.logistic(size=600) > 0).astype(int)
    model = StepwiseLogisticRegression(interactions=True, criterion="bic").fit(X, y)
    assert (0, 1) in model.interactions_
    for i, j in model.interactions_:
        assert model.support_[i]
        assert model.support_[j]
    for step in model.steps_:
        pairs = [t for t in step.support if isinstance(t, tuple)]
        assert all(j in step.support for pair in pairs for j in pair)
    fit = reference_fit(X, y, list(np.flatnonzero(model.support_)), model.interactions_)
    np.testing.assert_allclose(model.log_likelihood_, fit.llf, rtol=1e-10)
    np.testing.assert_allclose(model.summary().estimate, fit.params, atol=1e-5)
    np.testing.assert_allclose(model.summary().standard_error, fit.bse, rtol=1e-5)
    D = np.column_stack([np.ones(600), X[:, model.support_],
                         *(X[:, i] * X[:, j] for i, j in model.interactions_)])  # fmt: skip
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(D @ fit.params), atol=1e-6)
    with pytest.raises(ValueError, match="not a hyperplane"):
        model.boundary()
    with pytest.raises(ValueError, match="does not split"):
        model.explain(X)
    plain = StepwiseLogisticRegression(criterion="bic").fit(X, y)
    assert plain.interactions_ == []


def test_the_criterion_falls_at_every_move():
    X, y = data()
    model = StepwiseLogisticRegression(criterion="aic").fit(X, y)
    assert (np.diff([step.value for step in model.steps_]) < 0).all()
    assert not model.summary().valid
    assert "selected" in model.summary().reason
    assert len(model.history_) == len(model.steps_)


def test_the_columns_are_recovered():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 12))
    y = 2 * X[:, 3] - X[:, 7] + rng.logistic(size=2000) > 0
    model = StepwiseLogisticRegression(criterion="bic").fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 7])
    np.testing.assert_allclose(model.coef_[0, [3, 7]], [2, -1], atol=0.3)


def test_max_features():
    X, y = data()
    most = StepwiseLogisticRegression(direction="forward", max_features=1).fit(X, y)
    assert most.support_.sum() == 1
    none = StepwiseLogisticRegression(max_features=0).fit(X, y)
    assert none.support_.sum() == 0
    assert [step.move for step in none.steps_] == ["start"]
    few = StepwiseLogisticRegression(direction="backward", max_features=2).fit(X, y)
    assert few.support_.sum() <= 2


def test_weights_are_repetitions():
    X, y = data(120, 5)
    w = np.random.default_rng(0).integers(0, 4, size=120)
    a = StepwiseLogisticRegression(criterion="bic").fit(X, y, sample_weight=w)
    b = StepwiseLogisticRegression(criterion="bic").fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-7)


def test_separated_classes_warn_and_stop():
    X = np.column_stack([np.arange(20.0), np.random.default_rng(0).normal(size=20)])
    y = (X[:, 0] > 9.5).astype(int)
    with pytest.warns(SeparationWarning, match="finite C"):
        model = StepwiseLogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.support_, [True, False])
    assert np.isfinite(model.coef_).all()
    assert (model.predict(X) == y).all()
    finite = StepwiseLogisticRegression(C=1.0).fit(X, y)
    assert finite.support_[0]


def test_dependent_and_constant_columns_are_never_added():
    X, y = data(200, 5)
    X = np.column_stack([X, X[:, 0], np.ones(200)])
    model = StepwiseLogisticRegression().fit(X, y)
    assert not model.support_[5:].any()


def test_refusals():
    X, y = data(30, 5)
    with pytest.raises(ValueError, match="alpha_in must not exceed"):
        StepwiseLogisticRegression(alpha_in=0.2, alpha_out=0.1).fit(X, y)
    with pytest.raises(ValueError, match="more rows than columns"):
        StepwiseLogisticRegression(direction="backward").fit(X[:4], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="class"):
        StepwiseLogisticRegression().fit(X, np.zeros(30))
    with pytest.raises(ValueError, match="criterion must be"):
        StepwiseLogisticRegression(criterion="cp").fit(X, y)


def test_forward_is_never_better_than_the_best_subset():
    """The greedy end is a local optimum: no single move improves it."""
    X, y = data(200, 5, 4)
    model = StepwiseLogisticRegression(direction="both").fit(X, y)
    S = set(np.flatnonzero(model.support_))
    for j in range(5):
        T = sorted(S ^ {j})
        assert reference_fit(X, y, T).aic >= model.aic_ - 1e-8
    every = [reference_fit(X, y, list(T)).aic for k in range(6)
             for T in itertools.combinations(range(5), k)]  # fmt: skip
    assert min(every) <= model.aic_ + 1e-8
