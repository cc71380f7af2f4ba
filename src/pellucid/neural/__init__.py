"""Neural networks that can be read: every layer, node and derivative, on NumPy."""

from pellucid._lazy import lazy_names

_HOME = {
    "Activate": "activate",
    "Activation": "activations",
    "Autoencoder": "autoencoder",
    "BatchNorm": "batch_normalisation",
    "BinaryCrossEntropy": "objectives",
    "CollapsedWarning": "perceptron",
    "CrossEntropy": "objectives",
    "Dense": "dense",
    "Dropout": "dropout",
    "EarlyStopping": "shared",
    "Flatten": "flatten",
    "HeInit": "initial",
    "Layer": "layer",
    "MLPClassifier": "mlp_classifier",
    "MLPRegressor": "mlp_regressor",
    "Network": "network",
    "NormalInit": "initial",
    "PoissonDeviance": "objectives",
    "SquaredError": "objectives",
    "UniformInit": "initial",
    "Value": "value",
    "batch_norm": "batch_normalisation",
    "boolean_network": "boolean",
    "gradient_flow": "diagnosis",
    "initial_weights": "initial",
    "next_error": "diagnosis",
    "output_head": "objectives",
    "softmax": "activations",
    "train": "training",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
