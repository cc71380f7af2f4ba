"""Each textbook scheme for labels and decisions against the fast one, with the same learner."""

import numpy as np
from agreement import same

import pellucid
from pellucid.textbook.labels.classifier_chain import classifier_chain
from pellucid.textbook.labels.cut_point import cut_point
from pellucid.textbook.labels.expected_loss import expected_loss
from pellucid.textbook.labels.label_powerset import label_powerset
from pellucid.textbook.labels.one_vs_one import one_vs_one
from pellucid.textbook.labels.one_vs_reference import one_vs_reference
from pellucid.textbook.labels.one_vs_rest import one_vs_rest
from pellucid.textbook.labels.pairwise_ranking import concordance, pairwise_ranking
from pellucid.textbook.labels.regressor_chain import regressor_chain
from pellucid.textbook.labels.self_training import self_training

NB = pellucid.GaussianNB()


def learn(X, y):
    """P(1 | x) of Gaussian naive Bayes."""
    model = pellucid.GaussianNB().fit(X, y)
    return lambda rows: model.predict_proba(rows)[:, 1]


def learn_all(X, y):
    return pellucid.GaussianNB().fit(X, y).predict_proba


def problem(seed, n=90, p=3, K=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    return rng.normal(size=(n, p)) + 1.2 * rng.normal(size=(K, p))[y], y


def test_expected_loss():
    X, y = problem(0)
    L = np.array([[0.0, 1, 5], [1, 0, 1], [10, 1, 0]])
    fast = pellucid.LossMatrixClassifier(NB, L).fit(X, y)
    assert (expected_loss(learn_all(X, y)(X), L) == fast.predict(X)).all()


def test_cut_point():
    X, y = problem(1, K=2)
    L = np.array([[0.0, 1.0], [5.0, 0.0]])
    fast = pellucid.CutPointClassifier(NB, loss_matrix=L).fit(X, y)
    cut = cut_point(learn(X, y)(X), y, L)
    at = cut.costs[np.isclose(cut.thresholds, fast.threshold_, rtol=1e-12)]
    assert at == cut.best


def test_one_vs_rest():
    X, y = problem(2)
    S = one_vs_rest(learn, X, y)(X)
    fast = pellucid.OneVsRestClassifier(NB).fit(X, y)
    same(S / S.sum(axis=1, keepdims=True), fast.predict_proba(X))


def test_one_vs_one():
    X, y = problem(3)
    fast = pellucid.OneVsOneClassifier(NB).fit(X, y)
    same(one_vs_one(learn, X, y)(X), fast.decision_function(X))


def test_one_vs_reference():
    X, y = problem(4)
    fast = pellucid.OneVsReferenceClassifier(NB).fit(X, y)
    same(one_vs_reference(learn, X, y)(X), fast.predict_proba(X), atol=1e-10)


def test_several_labels():
    X, y = problem(5)
    Y = np.column_stack([y > 0, (y == 2) ^ (X[:, 0] > 0), X[:, 1] > 0.3]).astype(int)
    chain = pellucid.ClassifierChain(NB).fit(X, Y)
    assert (classifier_chain(learn, X, Y)(X) == chain.predict(X)).all()
    fast = pellucid.LabelPowersetClassifier(NB).fit(X, Y)
    ours = label_powerset(learn_all, X, Y)
    assert (ours.predict(X) == fast.predict(X)).all()
    same(ours.marginals(X), fast.predict_proba(X), atol=1e-10)


def test_pairwise_ranking():
    X, _ = problem(6, n=25)
    y = np.round(X @ [1.0, -1.0, 0.5] + np.random.default_rng(6).normal(size=25))
    fast = pellucid.PairwiseRanker(pellucid.LogisticRegression(fit_intercept=False, tol=1e-9)).fit(
        X, y
    )
    w = pairwise_ranking(X, y)
    same(w, np.ravel(fast.coef_))
    same(concordance(X @ w, y), fast.score(X, y))


def test_self_training():
    X, y = problem(7)
    hidden = np.where(np.arange(len(y)) % 4, -1, y)
    ours = self_training(learn_all, X, hidden, 0.9)
    fast = pellucid.SelfTrainingClassifier(NB, threshold=0.9).fit(X, hidden)
    assert (ours.labels == fast.transduction_).all()
    same(ours.score(X), fast.predict_proba(X))


def test_regressor_chain():
    X, y = problem(9)
    Y = np.column_stack([y, X[:, 0] * X[:, 1]])

    def learn_numbers(rows, target):
        return pellucid.DecisionTreeRegressor(max_depth=3).fit(rows, target).predict

    fast = pellucid.RegressorChain(pellucid.DecisionTreeRegressor(max_depth=3)).fit(X, Y)
    same(regressor_chain(learn_numbers, X, Y)(X), fast.predict(X))
