"""Linear models with their inference.

``least_squares`` and ``ridge`` (start with ``least_squares.py`` and ``ridge.py``); ``lasso``,
``lars``, ``penalties`` other penalties and paths; ``subsets``, ``components`` fewer columns or
directions; ``bayes``, ``robust``, ``splines``; ``logistic``, ``perceptron`` classification;
``stochastic`` gradient descent; ``diagnostics`` checks. ``linear_model.py`` is what the regressors
share, ``solver_fit.py`` runs a solver object, ``budget.py`` bounds a penalty instead of pricing it.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "ARDRegression": "bayes.ard",
    "BayesianLinearRegression": "bayes.bayes",
    "BayesianLogisticRegression": "bayes.bayesian_logistic",
    "BayesianRidge": "bayes.bayesian_ridge",
    "BestSubsetRegression": "subsets.subsets",
    "BridgeRegression": "penalties.bridge",
    "Budget": "budget",
    "DantzigSelector": "penalties.dantzig",
    "ElasticNet": "lasso.elastic_net",
    "ElasticNetCV": "lasso.lasso_cv",
    "FirthLogisticRegression": "logistic.firth",
    "GammaRegressor": "glm.gamma",
    "GroupLasso": "penalties.group_lasso",
    "HuberRegressor": "robust.huber",
    "Hyperplane": "hyperplane",
    "InverseGamma": "bayes.evidence",
    "Lars": "lars.lars",
    "Lasso": "lasso.lasso",
    "LassoCV": "lasso.lasso_cv",
    "LassoLars": "lars.lars",
    "LassoLarsIC": "lars.lars_ic",
    "LeastSquaresClassifier": "least_squares.indicator",
    "LinearRegression": "least_squares.least_squares",
    "LogisticRegression": "logistic.logistic",
    "LogisticRegressionCV": "logistic.logistic_cv",
    "MaskingWarning": "least_squares.indicator",
    "MultiTaskLasso": "penalties.multi_task",
    "NegativeBinomialRegressor": "glm.negative_binomial",
    "OrdinalLogisticRegression": "logistic.ordinal",
    "PLSRegression": "components.pls",
    "Perceptron": "perceptron.perceptron",
    "PoissonRegressor": "glm.poisson",
    "PrincipalComponentRegression": "components.pcr",
    "QuantileRegressor": "robust.quantile",
    "Ridge": "ridge.ridge",
    "RidgeCV": "ridge.ridge_cv",
    "SGDClassifier": "stochastic.sgd_classifier",
    "SGDRegressor": "stochastic.sgd",
    "ScaledRegressor": "scaled",
    "SeparationWarning": "logistic.logistic",
    "SmoothingSpline": "splines.smoothing_spline",
    "StagewiseRegression": "lars.stagewise",
    "StepwiseLogisticRegression": "subsets.stepwise_logistic",
    "StepwiseRegression": "subsets.stepwise",
    "TweedieRegressor": "glm.tweedie",
    "collinearity": "diagnostics.collinear",
    "convert_penalty": "penalty_scales",
    "enet_path": "lasso.paths",
    "from_formula": "least_squares.formula",
    "lars_path": "lars.least_angle",
    "lasso_path": "lasso.paths",
    "least_squares_report": "diagnostics.collinear",
    "linear_estimator": "least_squares.gauss_markov",
    "linear_separability": "perceptron.separability",
    "logistic_path": "logistic.paths",
    "residual_health": "diagnostics.residuals",
    "ridge_path": "ridge.paths",
    "simple_regression": "least_squares.simple",
    "stability_selection": "subsets.stability",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
