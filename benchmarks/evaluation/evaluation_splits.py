"""Resampling and selection: permutation importance, cross-validation, tuning of a penalty.

Bounds: permutation importance of a linear model is one gather and one multiply-add per row, column
and repeat; of any other model n_repeats predictions per column. Cross-validation is its fits.
"""

import numpy as np
from sklearn.inspection import permutation_importance as their_importance
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from benchmarks.harness import Case
from pellucid import GaussianNB, Ridge, TunedEstimator
from pellucid.evaluation import cross_validated, permutation_importance

ALPHAS = [float(a) for a in np.logspace(4, -2, 20)]


def numbers(n, p):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, X[:, :5] @ np.arange(1.0, 6.0) + 5 * rng.standard_normal(n)


def fitted_ridge():
    X, y = numbers(100_000, 30)
    return Ridge().fit(X, y), X, y


def fitted_bayes():
    X, y = numbers(30_000, 20)
    return GaussianNB().fit(X, y > 0), X, y > 0


def small():
    return numbers(1_000, 10)


def large():
    return numbers(100_000, 20)


def close(a, b):
    return bool(np.allclose(a, b, rtol=1e-8, atol=1e-10))


def ours_importance(data):
    return permutation_importance(*data, random_state=0).importances_mean


def theirs_importance(data):
    return their_importance(*data, random_state=0).importances_mean


def ours_cv(data):
    return cross_validated(Ridge(), *data, cv=5, train_scores=False).scores


def theirs_cv(data):
    return cross_validate(Ridge(), *data, cv=5)["test_score"]


def ours_tuned(data):
    tuned = TunedEstimator(Ridge(), {"alpha": ALPHAS}, cv=KFold(5), rule="best").fit(*data)
    return tuned.cv_results_["mean_test_score"]


def grid_ours(data):
    return (
        GridSearchCV(Ridge(), {"alpha": ALPHAS}, cv=KFold(5))
        .fit(*data)
        .cv_results_["mean_test_score"]
    )


def grid_theirs(data):
    return (
        GridSearchCV(TheirRidge(), {"alpha": ALPHAS}, cv=KFold(5))
        .fit(*data)
        .cv_results_["mean_test_score"]
    )


CASES = [
    Case(
        name="permutation importance of Ridge, 100,000 x 30, 5 repeats",
        data=fitted_ridge,
        contenders={"pellucid": ours_importance, "scikit-learn": theirs_importance},
        same=close,
        limit="15 M gathers",
        repeats=2,
    ),
    Case(
        name="permutation importance of GaussianNB, 30,000 x 20, 5 repeats",
        data=fitted_bayes,
        contenders={"pellucid": ours_importance, "scikit-learn": theirs_importance},
        same=close,
        limit="100 predictions",
    ),
    Case(
        name="cross_validated against cross_validate, Ridge on 1,000 x 10, 5 folds",
        data=small,
        contenders={"pellucid": ours_cv, "scikit-learn": theirs_cv},
        same=close,
        limit="5 fits",
        note="A few milliseconds of records: ours also keeps the out-of-fold predictions, the "
        "training scores and the summaries.",
    ),
    Case(
        name="cross_validated against cross_validate, Ridge on 100,000 x 20, 5 folds",
        data=large,
        contenders={"pellucid": ours_cv, "scikit-learn": theirs_cv},
        same=close,
        limit="5 fits",
    ),
    Case(
        name="TunedEstimator on Ridge, 20 penalties, 5 folds, 100,000 x 20",
        data=large,
        contenders={
            "pellucid": ours_tuned,
            "GridSearchCV of our Ridge": grid_ours,
            "GridSearchCV of scikit-learn's": grid_theirs,
        },
        same=close,
        limit="one pass for the cross-products of all folds, 2 n p per penalty",
        rounds=1,
        repeats=1,
    ),
]
