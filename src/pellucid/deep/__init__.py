"""Deep models on PyTorch (extra ``deep``): images, sequences, graphs, densities, games.

The names import without PyTorch; whatever computes with it says in one sentence what is missing.
One folder per kind of network; ``learner.py`` and ``loop.py`` hold the training they share.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "ConvolutionalClassifier": "convolution.convolutional",
    "ConvolutionalRegressor": "convolution.convolutional",
    "EarlyStopping": "shared",
    "GenerativeAdversarialNetwork": "adversaries.adversarial",
    "GraphNeuralNetworkClassifier": "graphs.graph_network",
    "ModeCollapseWarning": "adversaries.adversarial",
    "QNetwork": "values.q_network",
    "RecurrentClassifier": "recurrence.recurrent",
    "RecurrentRegressor": "recurrence.recurrent",
    "Training": "training",
    "TransformerClassifier": "transformers.transformer_classifier",
    "TransformerSequenceModel": "transformers.transformer_sequence",
    "attention": "transformers.attending",
    "causal_mask": "transformers.attending",
    "convolve": "convolution.images",
    "message_pass": "graphs.messages",
    "pool": "convolution.images",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
