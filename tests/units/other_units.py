"""Whether an estimator answers the same when X or y is in another unit.

The unit is a power of 2, so that no digit is lost: what differs was decided by an absolute number.
Answers may be in the unit themselves (any of its small powers), and logarithms of densities move by
a constant.
"""

import warnings

import numpy as np
from estimators import data, fit, make, outputs, public_classes
from sklearn.utils import get_tags

CLASSES = public_classes()
POWERS = (0, 1, -1, 2, -2)
NEAR = 1e-6
LOGS = ("score_samples", "decision_function", "predict_log_proba")
CASES = [(what, unit) for what in ("X", "y") for unit in (2.0**-30, 2.0**30)]

# What these answer hangs on the unit by their definition: the parameter that is in it, or why.
IN_UNITS = {
    "ARDRegression": "lambda_1, lambda_2, alpha_1, alpha_2, threshold_lambda",
    "Autoencoder": "the learning rate and the start of its weights",
    "BaggingClassifier": "draws follow the bytes of the rows",
    "BaggingRegressor": "draws follow the bytes of the rows",
    "BayesianLogisticRegression": "the variance of the prior",
    "BayesianRidge": "lambda_1, lambda_2, alpha_1, alpha_2",
    "BridgeRegression": "alpha",
    "CalibratedClassifierCV": "C of the LinearSVC that it calibrates",
    "ClassifierChain": "C of the LogisticRegression of its links",
    "ComplementNB": "alpha is a count",
    "ConformalRegressor": "alpha of the Ridge inside",
    "DBSCAN": "eps",
    "DantzigSelector": "alpha",
    "DensityOutlier": "reg_covar of the mixture inside",
    "ElasticNet": "alpha",
    "ElasticNetCV": "the l2 part of alpha has another unit than the l1 part",
    "FactorAnalysis": "noise_variance_init starts at 1, as scikit-learn's",
    "GammaRegressor": "alpha",
    "GaussianMixture": "reg_covar",
    "BayesianGaussianMixture": "reg_covar",
    "GradientGaussianMixture": "reg_covar and the learning rate",
    "GaussianProcessClassifier": "the width of the kernel",
    "GaussianProcessRegressor": "the start and the bounds of the kernel's numbers, and alpha",
    "GenerativeClassifier": "the width of the density",
    "GroupLasso": "alpha",
    "HuberRegressor": "alpha",
    "KernelRidge": "alpha",
    "LabelPropagation": "gamma",
    "LabelSpreading": "gamma",
    "Lasso": "alpha",
    "LassoLars": "alpha",
    "LinearSVC": "C",
    "LinearSVR": "C and epsilon",
    "LogisticRegression": "C",
    "LogisticRegressionCV": "Cs",
    "MLPClassifier": "learning_rate_init and alpha",
    "MLPRegressor": "learning_rate_init and alpha",
    "MaximumMarginClassifier": "C",
    "Mixture": "the variances of the components",
    "MixtureDiscriminantAnalysis": "reg_covar",
    "MultiTaskLasso": "alpha",
    "MultinomialNB": "alpha is a count",
    "MultipleKernelClassifier": "the kernels",
    "NMF": "the start fills zeros of both factors with the mean of X, as scikit-learn's",
    "NaturalSplineBasis": "its columns are cubic and linear in x",
    "NegativeBinomialRegressor": "counts have no other unit",
    "NuSVR": "C",
    "Nystroem": "gamma",
    "OrdinalLogisticRegression": "C",
    "OutOfBagSearch": "draws follow the bytes of the rows",
    "PairwiseRanker": "C",
    "Perceptron": "the intercept moves by 1",
    "PoissonRegressor": "alpha",
    "PolynomialFeatures": "its columns are powers of x",
    "PossibilisticCMeans": "the start ends by 1e-4 of the spread",
    "PowerTransformer": "Yeo and Johnson's curve bends at 1",
    "QuantileRegressor": "alpha",
    "MultiOutputRegressor": "alpha of the Ridge inside",
    "GraphicalLasso": "alpha",
    "KernelDensity": "bandwidth, a length in the unit of X",
    "RFE": "alpha of the Ridge inside",
    "RFECV": "alpha of the Ridge inside",
    "AdaBoostRegressor": "draws follow the bytes of the rows",
    "RandomForestClassifier": "draws follow the bytes of the rows",
    "RandomForestRegressor": "draws follow the bytes of the rows",
    "RandomFourierFeatures": "gamma",
    "RegressorChain": "alpha of the Ridge inside",
    "Ridge": "alpha",
    "RidgeCV": "alphas",
    "RidgeClassifier": "alpha",
    "RidgeClassifierCV": "alphas",
    "SGDClassifier": "alpha and eta0",
    "SGDRegressor": "alpha and eta0",
    "SVR": "C and epsilon",
    "SelectFromModel": "alpha of the Ridge inside",
    "SemiSupervisedMixture": "reg_covar",
    "SequentialFeatureSelector": "alpha of the Ridge inside",
    "SpectralClustering": "gamma",
    "SparseGaussianProcessRegressor": "random starts of a search that ends within its tolerance",
    "StackingRegressor": "alpha of the Ridge inside",
    "StepwiseLogisticRegression": "C",
    "TruncatedPowerBasis": "its columns are powers of x",
    "TweedieRegressor": "alpha",
    "TheilSenRegressor": "the spatial median of planes, whose slopes have units",
    "VotingRegressor": "alpha of the Ridge inside",
}


def is_same(method, a, b, unit):
    """Whether b is a, in a power of the unit."""
    if a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return bool((a == b).all())
    size = np.abs(a).max(initial=0.0)
    if method == "kneighbors":  # distances and places side by side
        return True
    if method in LOGS:
        a, b = a - np.median(a), b - np.median(b)
        size = max(size, np.abs(a).max(initial=0.0))
    with np.errstate(all="ignore"):
        return any(np.abs(b * unit**-k - a).max(initial=0.0) <= NEAR * size for k in POWERS)


def answers(name, what, unit, n=60):
    """(answers as it is, answers in the other unit), or None where that makes no sense."""
    cls = CLASSES[name]
    X, y = data(cls, n)
    if what == "y":
        if y is None or np.asarray(y).dtype.kind != "f":
            return None
        Z, t = X, y * unit
    elif get_tags(make(cls)).input_tags.categorical:
        return None
    else:
        Z, t = X * unit, y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outputs(fit(make(cls), X, y), X), outputs(fit(make(cls), Z, t), Z)


def differing(name, what, unit):
    """The methods that answer otherwise in another unit."""
    pair = answers(name, what, unit)
    if pair is None:
        return []
    plain, other = pair
    return [key for key in plain if not is_same(key, plain[key], other[key], unit)]
