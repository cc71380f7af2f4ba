"""Neural networks that can be read: every layer, node and derivative, on NumPy.

Start with ``network.py`` (a network) or ``mlp_classifier.py`` (the estimator); ``layers/`` and
``training/`` hold their parts, ``value.py`` the computational graph of single numbers.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Activate": "layers.activate",
    "Activation": "layers.activations",
    "Autoencoder": "autoencoder",
    "BatchNorm": "layers.batch_normalisation",
    "BinaryCrossEntropy": "training.objectives",
    "CollapsedWarning": "mlp_model",
    "CrossEntropy": "training.objectives",
    "Dense": "layers.dense",
    "Dropout": "layers.dropout",
    "EarlyStopping": "shared",
    "Flatten": "layers.flatten",
    "HeInit": "layers.initial",
    "Layer": "layers.layer",
    "MLPClassifier": "mlp_classifier",
    "MLPRegressor": "mlp_regressor",
    "Network": "network",
    "NormalInit": "layers.initial",
    "PoissonDeviance": "training.objectives",
    "SquaredError": "training.objectives",
    "UniformInit": "layers.initial",
    "Value": "value",
    "batch_norm": "layers.batch_normalisation",
    "boolean_network": "boolean",
    "gradient_flow": "diagnosis",
    "initial_weights": "layers.initial",
    "next_error": "diagnosis",
    "output_head": "training.objectives",
    "softmax": "layers.activations",
    "train": "training.training",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
