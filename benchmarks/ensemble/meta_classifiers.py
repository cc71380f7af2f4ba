"""Classifiers made of classifiers: the same inner estimator in ours and in the peers' shells.

OneVsRestClassifier, OneVsOneClassifier, ClassifierChain, MultiOutputClassifier against
scikit-learn; LabelPowersetClassifier against scikit-multilearn; PairwiseRanker against a fit of
listed differences; OneVsReferenceClassifier, CutPointClassifier, LossMatrixClassifier and
BayesClassifier against the same thing written out in NumPy, scikit-learn and SciPy.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K, L = 100_000, 20, 10, 10


def classes():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    return rng.standard_normal((N, P)) + 0.7 * rng.standard_normal((K, P))[y], y


def two_classes():
    X, y = classes()
    return X, (y >= 3).astype(int)


def labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    hidden = X @ rng.standard_normal((P, 4)) + rng.standard_normal((N, 4))
    return X, (hidden @ rng.standard_normal((4, L)) > 2.0).astype(int)


def inner():
    from pellucid import GaussianNB

    return GaussianNB()


def fit_predict(cls, data, method="predict"):
    X, y = data
    model = cls(inner()).fit(X, y)
    return (
        np.asarray(getattr(model, method)(X))[..., ::100, :]
        if method != "predict"
        else (np.asarray(model.predict(X))[::100])
    )


def ours_rest(data):
    from pellucid import OneVsRestClassifier

    return fit_predict(OneVsRestClassifier, data)


def theirs_rest(data):
    from sklearn.multiclass import OneVsRestClassifier

    return fit_predict(OneVsRestClassifier, data)


def ours_pairs(data):
    from pellucid import OneVsOneClassifier

    return fit_predict(OneVsOneClassifier, data)


def theirs_pairs(data):
    from sklearn.multiclass import OneVsOneClassifier

    return fit_predict(OneVsOneClassifier, data)


def ours_reference(data):
    from pellucid import OneVsReferenceClassifier

    return fit_predict(OneVsReferenceClassifier, data)


def plain_reference(data):
    X, y = data
    Z = np.zeros((len(X), K))
    for k in range(K - 1):
        rows = (y == k) | (y == K - 1)
        log = inner().fit(X[rows], (y[rows] == k).astype(int)).predict_log_proba(X)
        Z[:, k] = log[:, 1] - log[:, 0]
    return Z.argmax(axis=1)[::100]


def ours_outputs(data):
    from pellucid import MultiOutputClassifier

    return fit_predict(MultiOutputClassifier, data)


def theirs_outputs(data):
    from sklearn.multioutput import MultiOutputClassifier

    return fit_predict(MultiOutputClassifier, data)


def ours_chain(data):
    from pellucid import ClassifierChain

    return fit_predict(ClassifierChain, data)


def theirs_chain(data):
    from sklearn.multioutput import ClassifierChain

    return fit_predict(ClassifierChain, data)


def ours_powerset(data):
    from pellucid import LabelPowersetClassifier

    return fit_predict(LabelPowersetClassifier, data)


def theirs_powerset(data):
    from skmultilearn.problem_transform import LabelPowerset

    X, y = data
    return LabelPowerset(inner()).fit(X, y).predict(X).toarray()[::100]


def ours_cut(data):
    from pellucid import CutPointClassifier

    model = CutPointClassifier(inner()).fit(*data)
    return np.array([model.training_cost_])


def theirs_cut(data):
    from sklearn.metrics import roc_curve

    X, y = data
    score = inner().fit(X, y).predict_proba(X)[:, 1]
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    positive = y.mean()
    return np.array([(fpr * (1 - positive) + (1 - tpr) * positive).min()])


def probabilities():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(5), size=1_000_000), rng.random((5, 6))


def ours_decisions(data):
    from pellucid.inference import bayes_decision

    return bayes_decision(*data).index[::100]


def plain_decisions(data):
    P, losses = data
    return np.argmin(P @ losses, axis=1)[::100]


def ours_loss_matrix(data):
    from pellucid import LossMatrixClassifier

    X, y = data
    losses = np.arange(K * K, dtype=float).reshape(K, K) % 7 * (1 - np.eye(K))
    return LossMatrixClassifier(inner(), losses).fit(X, y).predict(X)[::100]


def plain_loss_matrix(data):
    X, y = data
    losses = np.arange(K * K, dtype=float).reshape(K, K) % 7 * (1 - np.eye(K))
    return np.argmin(inner().fit(X, y).predict_proba(X) @ losses, axis=1)[::100]


def queries():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, P))
    return (
        X,
        np.round(X[:, :3].sum(axis=1) + rng.standard_normal(5_000)),
        np.repeat(np.arange(100), 50),
    )


def ours_ranker(data):
    from pellucid import LogisticRegression, PairwiseRanker

    return PairwiseRanker(LogisticRegression(tol=1e-8)).fit(*data).coef_


def plain_ranker(data):
    from sklearn.linear_model import LogisticRegression

    X, y, groups = data
    D = []
    for g in np.unique(groups):
        own = np.flatnonzero(groups == g)
        i, j = np.nonzero(y[own][:, None] > y[own][None, :])
        D.append(X[own[i]] - X[own[j]])
    D = np.concatenate(D)
    both, label = np.concatenate([D, -D]), np.repeat([1, 0], len(D))
    return LogisticRegression(fit_intercept=False, tol=1e-8).fit(both, label).coef_[0]


def ours_bayes(data):
    from pellucid import BayesClassifier

    return BayesClassifier().fit(*data).predict_proba(data[0])[::100]


def theirs_bayes(data):
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    X, y = data
    n = np.bincount(y)
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    for k in range(K):  # to divisor n
        model.scalings_[k] = model.scalings_[k] * (n[k] - 1) / n[k]
    return model.predict_proba(X)[::100]


def equal(ours, theirs):
    return bool((ours == theirs).mean() > 0.999)


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-3, atol=1e-4))


NB = "the inner estimator is GaussianNB of this library in both"
CASES = [
    Case(
        f"OneVsRestClassifier fit and predict {N:,} x {P}, {K} classes", classes,
        {"pellucid": ours_rest, "scikit-learn": theirs_rest}, equal,
        f"{K} fits and {K} predictions of the inner estimator", NB,
    ),
    Case(
        f"OneVsOneClassifier fit and predict {N:,} x {P}, {K} classes", classes,
        {"pellucid": ours_pairs, "scikit-learn": theirs_pairs}, equal,
        f"{K * (K - 1) // 2} fits of two classes, as many predictions of all rows", NB,
    ),
    Case(
        f"OneVsReferenceClassifier fit and predict {N:,} x {P}, {K} classes", classes,
        {"pellucid": ours_reference, "written out": plain_reference}, equal,
        f"{K - 1} fits of two classes, as many predictions of all rows", NB,
    ),
    Case(
        f"MultiOutputClassifier fit and predict {N:,} x {P}, {L} labels", labels,
        {"pellucid": ours_outputs, "scikit-learn": theirs_outputs}, equal,
        f"{L} fits and {L} predictions of the inner estimator", NB,
    ),
    Case(
        f"ClassifierChain fit and predict {N:,} x {P}, {L} labels", labels,
        {"pellucid": ours_chain, "scikit-learn": theirs_chain}, equal,
        f"{L} fits and {L} predictions of the inner estimator", NB,
    ),
    Case(
        f"LabelPowersetClassifier fit and predict {N:,} x {P}, {L} labels", labels,
        {"pellucid": ours_powerset, "scikit-multilearn": theirs_powerset}, equal,
        "one fit and one prediction of the inner estimator", NB,
    ),
    Case(
        f"CutPointClassifier fit {N:,} x {P}", two_classes,
        {"pellucid": ours_cut, "scikit-learn roc_curve": theirs_cut}, close,
        "one fit, one prediction, one sort", NB,
    ),
    Case(
        "bayes_decision 1,000,000 rows, 5 classes, 6 decisions", probabilities,
        {"pellucid": ours_decisions, "numpy": plain_decisions}, equal,
        "40 MB read once; the peer does not look whether rows add up to 1",
    ),
    Case(
        f"LossMatrixClassifier fit and predict {N:,} x {P}, {K} classes", classes,
        {"pellucid": ours_loss_matrix, "numpy": plain_loss_matrix}, equal,
        "one fit and one prediction of the inner estimator", NB,
    ),
    Case(
        f"PairwiseRanker fit 5,000 x {P} in 100 groups, all pairs", queries,
        {"pellucid": ours_ranker, "listed differences, scikit-learn": plain_ranker}, close,
        "one logistic fit of the differences",
    ),
    Case(
        f"BayesClassifier normal fit and predict_proba {N:,} x {P}, {K} classes", classes,
        {"pellucid": ours_bayes, "scikit-learn QDA": theirs_bayes}, close,
        f"{K} Cholesky factors and triangular solves of all rows",
    ),
]  # fmt: skip
