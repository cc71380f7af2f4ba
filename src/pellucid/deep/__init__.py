"""Deep models on PyTorch (extra ``deep``): images, sequences, graphs, densities, games.

The names import without PyTorch; whatever computes with it says in one sentence what is missing.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "ConvolutionalClassifier": "convolutional",
    "ConvolutionalRegressor": "convolutional",
    "EarlyStopping": "shared",
    "GenerativeAdversarialNetwork": "adversarial",
    "GraphNeuralNetworkClassifier": "graph_network",
    "ModeCollapseWarning": "adversarial",
    "QNetwork": "q_network",
    "RecurrentClassifier": "recurrent",
    "RecurrentRegressor": "recurrent",
    "Training": "training",
    "TransformerClassifier": "transformer_classifier",
    "TransformerSequenceModel": "transformer_sequence",
    "attention": "attending",
    "causal_mask": "attending",
    "convolve": "images",
    "message_pass": "messages",
    "pool": "images",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
