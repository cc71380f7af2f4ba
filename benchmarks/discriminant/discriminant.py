"""Discriminant analysis: 200,000 x 50, five classes; fits, probabilities, a grid of RDA.

scikit-learn-intelex has none of these classes of its own: it hands over to scikit-learn.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K = 200_000, 50, 5
NOTE = "scikit-learn-intelex has no discriminant analysis of its own: it runs scikit-learn's."


def classes(n=N, p=P, k=K):
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    return rng.standard_normal((n, p)) + 0.3 * rng.standard_normal((k, p))[y], y


def small():
    return classes(10_000, 20)


def ours(name):
    import pellucid

    return getattr(pellucid, name)


def theirs(name):
    import sklearn.discriminant_analysis

    return getattr(sklearn.discriminant_analysis, name)


def linear(cls, data):
    model = cls().fit(*data)
    return np.concatenate([model.coef_.ravel(), model.intercept_])


def pellucid_lda(data):
    from pellucid import LinearDiscriminantAnalysis

    return linear(LinearDiscriminantAnalysis, data)


def sklearn_lda(data):
    return linear(theirs("LinearDiscriminantAnalysis"), data)


def sklearn_lda_eigen(data):
    model = theirs("LinearDiscriminantAnalysis")(solver="eigen").fit(*data)
    means = model.priors_ @ model.means_
    coef = model.coef_ - means @ model.scalings_ @ model.scalings_.T  # centred as with "svd"
    shift = 0.5 * means @ model.scalings_ @ model.scalings_.T @ means
    return np.concatenate([coef.ravel(), model.intercept_ + shift])


def quadratic(cls, data):
    model = cls().fit(*data)
    return np.concatenate([model.means_.ravel(), np.ravel(model.scalings_)])


def pellucid_qda(data):
    from pellucid import QuadraticDiscriminantAnalysis

    return quadratic(QuadraticDiscriminantAnalysis, data)


def sklearn_qda(data):
    return quadratic(theirs("QuadraticDiscriminantAnalysis"), data)


_models = {}


def proba(cls, data):
    X, y = data
    if cls not in _models:
        _models[cls] = cls().fit(X[:10_000], y[:10_000])  # in the warm-up call only
    return _models[cls].predict_proba(X)[::1000]


def pellucid_lda_proba(data):
    return proba(ours("LinearDiscriminantAnalysis"), data)


def sklearn_lda_proba(data):
    return proba(theirs("LinearDiscriminantAnalysis"), data)


def pellucid_qda_proba(data):
    return proba(ours("QuadraticDiscriminantAnalysis"), data)


def sklearn_qda_proba(data):
    return proba(theirs("QuadraticDiscriminantAnalysis"), data)


def pellucid_rda(data):
    from pellucid import RegularizedDiscriminantAnalysis

    return RegularizedDiscriminantAnalysis(1.0).fit(*data).log_determinants_


def sklearn_qda_determinants(data):
    model = theirs("QuadraticDiscriminantAnalysis")().fit(*data)
    return np.array([np.log(s).sum() for s in model.scalings_])


GRID = {"alpha": np.linspace(0, 1, 3), "gamma": np.linspace(0, 1, 3)}


def pellucid_grid(data):
    from pellucid import RegularizedDiscriminantAnalysisCV

    return RegularizedDiscriminantAnalysisCV(alphas=3, gammas=3).fit(*data).scores_.mean(axis=2)


def refitted_grid(data):
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(ours("RegularizedDiscriminantAnalysis")(), GRID, cv=5).fit(*data)
    return search.cv_results_["mean_test_score"].reshape(3, 3)


def pellucid_generative(data):
    from pellucid import GenerativeClassifier
    from pellucid.discriminant import GaussianDensity

    return GenerativeClassifier(GaussianDensity(0.0)).fit(*data).predict_proba(data[0])[::100]


def sklearn_generative(data):
    """The same rule written out with scikit-learn's mixtures of one component."""
    from sklearn.mixture import GaussianMixture

    X, y = data
    joint = np.column_stack([
        GaussianMixture(1, reg_covar=0.0).fit(X[y == k]).score_samples(X) + np.log((y == k).mean())
        for k in np.unique(y)
    ])  # fmt: skip
    odds = np.exp(joint - joint.max(axis=1, keepdims=True))
    return (odds / odds.sum(axis=1, keepdims=True))[::100]


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-8))


def case(name, data, ours, peers, limit, note=NOTE):
    return Case(name, data, {"pellucid": ours, **peers}, close, limit, note)


SIZE = f"{N:,} x {P}, {K} classes"
CASES = [
    case(
        f"LinearDiscriminantAnalysis fit {SIZE}",
        classes,
        pellucid_lda,
        {"scikit-learn svd": sklearn_lda, "scikit-learn eigen": sklearn_lda_eigen},
        "80 MB read once, 250 M multiply-adds",
    ),
    case(
        f"QuadraticDiscriminantAnalysis fit {SIZE}",
        classes,
        pellucid_qda,
        {"scikit-learn": sklearn_qda},
        "80 MB read once, 250 M multiply-adds",
    ),
    case(
        f"LinearDiscriminantAnalysis predict_proba {SIZE}",
        classes,
        pellucid_lda_proba,
        {"scikit-learn": sklearn_lda_proba},
        "80 MB read once",
    ),
    case(
        f"QuadraticDiscriminantAnalysis predict_proba {SIZE}",
        classes,
        pellucid_qda_proba,
        {"scikit-learn": sklearn_qda_proba},
        "2.5 G multiply-adds",
    ),
    case(
        f"RegularizedDiscriminantAnalysis (alpha = 1) fit {SIZE}",
        classes,
        pellucid_rda,
        {"scikit-learn QDA": sklearn_qda_determinants},
        "80 MB read once, 250 M multiply-adds",
    ),
    case(
        "RegularizedDiscriminantAnalysisCV 3 x 3 pairs, 10,000 x 20, 5 classes",
        small,
        pellucid_grid,
        {"refits of our own RDA (GridSearchCV)": refitted_grid},
        "60 M multiply-adds",
        "No Python peer has this model; the contender is the grid without fold statistics.",
    ),
    case(
        "GenerativeClassifier with Gaussians, 10,000 x 20, 5 classes",
        small,
        pellucid_generative,
        {"scikit-learn mixtures": sklearn_generative},
        "20 M multiply-adds",
    ),
]
