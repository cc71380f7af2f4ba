"""The pages of the lab, one folder each, imported when they are asked for.

Read ``least_squares/page.py`` first: controls, presets, questions and the run that makes frames.
"""

from importlib import import_module
from typing import Any

# name -> title, in the order in which the lab lists them
PAGES = {
    "least_squares": "Least squares, ridge, lasso",
    "descent": "Gradient descent, SGD, Newton",
    "polynomials": "Polynomials, splines, bias and variance",
    "linear_classifiers": "Logistic regression, perceptron, LDA, QDA",
    "bayes": "Naive Bayes, Bayes' rule, posteriors, Metropolis",
    "neighbours": "Nearest neighbours",
    "decision_trees": "Trees: ID3, C4.5, CART",
    "ensembles": "Forests, bagging, AdaBoost, gradient boosting",
    "margins": "Support vectors and kernels",
    "networks": "Neural networks",
    "clusters": "k-means, mixtures, hierarchies, density, spectra",
    "projections": "PCA and probabilistic PCA",
    "bayesian_networks": "Bayesian networks",
    "control": "Markov decisions: planning and learning",
    "judging": "Evaluation: thresholds, folds, tests, bounds",
}

# the estimators that a page shows, for those who ask by name
SHOWN = {
    "least_squares": ("LinearRegression", "Ridge", "Lasso", "ElasticNet"),
    "descent": ("GradientDescent", "SGDRegressor", "Newton"),
    "polynomials": ("PolynomialFeatures", "SplineTransformer", "SmoothingSpline"),
    "linear_classifiers": (
        "LogisticRegression",
        "Perceptron",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ),
    "bayes": ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB"),
    "neighbours": ("KNeighborsClassifier", "RadiusNeighborsClassifier", "NearestNeighbors"),
    "decision_trees": ("DecisionTreeClassifier", "MultiwayTreeClassifier", "ReducedErrorPruning"),
    "ensembles": (
        "RandomForestClassifier",
        "BaggingClassifier",
        "AdaBoostClassifier",
        "GradientBoostingClassifier",
        "HistGradientBoostingClassifier",
    ),
    "margins": ("SVC", "LinearSVC", "MaximumMarginClassifier"),
    "networks": ("MLPClassifier", "MLPRegressor"),
    "clusters": (
        "KMeans",
        "GaussianMixture",
        "AgglomerativeClustering",
        "DivisiveClustering",
        "DBSCAN",
        "SpectralClustering",
    ),
    "projections": ("PCA", "ProbabilisticPCA"),
    "bayesian_networks": ("BayesianNetwork",),
    "control": ("ValueIteration", "PolicyIteration", "TDLearning", "SARSA", "QLearning"),
}


def named(name: str) -> str | None:
    """The page of that name, or the one that shows the estimator of that name; case is ignored.

    >>> named("clusters"), named("kmeans"), named("Zebra")
    ('clusters', 'clusters', None)
    """
    by_name = {page: page for page in PAGES}
    by_name |= {estimator: page for page, shown in SHOWN.items() for estimator in shown}
    return {key.casefold(): page for key, page in by_name.items()}.get(name.casefold())


def page_of(name: str) -> Any:
    """The page of that name, or a sentence."""
    if name not in PAGES:
        raise ValueError(f"there is no page {name!r} in the lab; there are: {', '.join(PAGES)}")
    return import_module(f"pellucid.lab.pages.{name}.page").PAGE
