"""Inference: posteriors by approximation and by sampling.

>>> from pellucid.inference import laplace_approximation
>>> laplace_approximation(lambda x: -0.5 * (x[0] - 3.0) ** 2, [0.0]).mode.round(6)
array([3.])
"""

from pellucid._lazy import lazy_names

_HOME = {
    "BayesClassifier": "bayes_classifier",
    "BayesError": "bayes_error",
    "Chains": "chains",
    "Decision": "decisions",
    "EPE": "prediction_error",
    "GaussianWalk": "proposals",
    "LaplaceApproximation": "laplace",
    "LinearPredictor": "prediction_error",
    "LogNormalWalk": "proposals",
    "Loss": "losses",
    "LossMatrixClassifier": "loss_matrix",
    "MultivariateNormal": "normal",
    "Normal": "normal",
    "bayes_decision": "decisions",
    "best_linear_predictor": "prediction_error",
    "cost_threshold": "decisions",
    "effective_sample_size": "diagnostics",
    "expected_prediction_error": "prediction_error",
    "get_loss": "losses",
    "laplace_approximation": "laplace",
    "metropolis_hastings": "walks",
    "optimal_prediction": "losses",
    "rhat": "diagnostics",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
