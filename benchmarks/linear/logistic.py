"""Logistic regression: two classes, softmax, sparse text, inference and Firth's prior.

Bound: a Newton pass over 200,000 x 51 is 0.26 G multiply-adds and 80 MB; the pass of a slope alone
is 20 M of them. Answers are compared by the objective they reach, since peers stop early.
"""

import warnings

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from benchmarks.harness import Case

N, P = 200_000, 50
SN, SP, K = 50_000, 100, 10
TN, TP, WORDS = 20_000, 50_000, 100


def two_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) @ (np.eye(P) + 0.2 * rng.standard_normal((P, P)))
    y = X @ (0.5 * rng.standard_normal(P)) + 0.5 + rng.logistic(size=N) > 0
    return X, y.astype(int)


def ten_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((SN, SP)) @ (np.eye(SP) + 0.1 * rng.standard_normal((SP, SP)))
    Z = X @ (0.3 * rng.standard_normal((SP, K)))
    return X, (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)


def text():
    rng = np.random.default_rng(0)
    words = np.exp(rng.uniform(0, np.log(TP), (TN, WORDS))).astype(int)
    words = np.minimum(words, TP - 1)
    starts = np.arange(0, TN * WORDS + 1, WORDS)
    X = csr_matrix((np.ones(TN * WORDS), words.ravel(), starts), shape=(TN, TP))
    X.sum_duplicates()
    X = csr_matrix(X / np.sqrt(X.power(2).sum(axis=1)))
    y = X @ (3 * rng.standard_normal(TP)) + rng.logistic(size=TN) > 0
    return X, y.astype(int)


def small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 10))
    return X, (X[:, 0] + rng.logistic(size=1000) > 0).astype(int)


def objective(model, data):
    """Summed loss + |W|^2/2 of a fit with C=1."""
    X, y = data
    Z = X @ model.coef_.T + model.intercept_
    if Z.shape[1] == 1:
        Z = np.hstack([0 * Z, Z])
    loss = (logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]).sum()
    return np.array([loss + 0.5 * (model.coef_**2).sum()])


def pellucid(data):
    from pellucid import LogisticRegression

    return objective(LogisticRegression().fit(*data), data)


def sklearn(solver):
    def run(data):
        from sklearn.linear_model import LogisticRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return objective(LogisticRegression(solver=solver, max_iter=1000).fit(*data), data)

    return run


def intelex(solver):
    def run(data):
        from sklearnex.linear_model import LogisticRegression

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return objective(LogisticRegression(solver=solver, max_iter=1000).fit(*data), data)

    return run


def glum(data):
    from glum import GeneralizedLinearRegressor

    X, y = data
    model = GeneralizedLinearRegressor(family="binomial", alpha=1 / len(y), l1_ratio=0.0)
    model.fit(X, y)
    z = X @ model.coef_ + model.intercept_
    loss = (np.logaddexp(0, z) - y * z).sum()
    return np.array([loss + 0.5 * model.coef_ @ model.coef_])


def pellucid_summary(data):
    from pellucid import LogisticRegression

    return LogisticRegression(C=np.inf).fit(*data).summary().standard_error


def statsmodels_summary(data):
    import statsmodels.api as sm

    return sm.Logit(data[1], sm.add_constant(data[0])).fit(disp=0).bse


def pellucid_firth(data):
    from pellucid import FirthLogisticRegression

    return FirthLogisticRegression().fit(*data).summary().low


def firthmodels_firth(data):
    from firthmodels import FirthLogisticRegression

    model = FirthLogisticRegression(gtol=1e-8, xtol=1e-8, max_iter=200).fit(*data)
    model.lrt()
    return np.roll(np.asarray(model.conf_int(method="pl"))[:, 0], 1)


def no_worse(ours, theirs):
    return bool(ours[0] <= theirs[0] * (1 + 1e-7))


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-4))


SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga", "liblinear")

CASES = [
    Case(
        f"LogisticRegression {N:,} x {P}",
        two_classes,
        {
            "pellucid": pellucid,
            "scikit-learn-intelex": intelex("lbfgs"),
            "scikit-learn-intelex newton": intelex("newton-cholesky"),
            "glum": glum,
            **{f"scikit-learn {name}": sklearn(name) for name in SOLVERS[:4]},
        },
        no_worse,
        "80 MB and 0.26 G multiply-adds per Newton pass, 5 passes",
    ),
    Case(
        f"LogisticRegression {SN:,} x {SP}, {K} classes",
        ten_classes,
        {
            "pellucid": pellucid,
            "scikit-learn-intelex": intelex("lbfgs"),
            "scikit-learn lbfgs": sklearn("lbfgs"),
            "scikit-learn newton-cg": sklearn("newton-cg"),
        },
        no_worse,
        "40 MB and 0.1 G multiply-adds per slope, about 30 slopes",
        repeats=2,
    ),
    Case(
        f"LogisticRegression, sparse {TN:,} x {TP:,}",
        text,
        {"pellucid": pellucid, **{f"scikit-learn {name}": sklearn(name)
                                  for name in ("lbfgs", "newton-cg", "sag", "liblinear")}},
        no_worse,
        "20 MB of cells twice per slope",
        note="liblinear is 15 % ahead, sag and newton-cg are level; none ends with a lower "
        "objective.",
        repeats=2,
    ),
    Case(
        f"LogisticRegression summary {N // 10:,} x {P}",
        lambda: tuple(part[: N // 10] for part in two_classes()),
        {"pellucid": pellucid_summary, "statsmodels": statsmodels_summary},
        close,
        "8 MB and 26 M multiply-adds per Newton pass",
    ),
    Case(
        "FirthLogisticRegression with profile intervals 1,000 x 10",
        small,
        {"pellucid": pellucid_firth, "firthmodels": firthmodels_firth},
        close,
        "two ends per parameter, each some five points of 0.1 M multiply-adds",
        note="firthmodels is ahead by a third; the cause is not found yet.",
    ),
]  # fmt: skip
