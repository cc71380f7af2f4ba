"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.deep.adversaries.adversarial import (
    GenerativeAdversarialNetwork as GenerativeAdversarialNetwork,
)
from pellucid.deep.adversaries.adversarial import ModeCollapseWarning as ModeCollapseWarning
from pellucid.deep.convolution.convolutional import (
    ConvolutionalClassifier as ConvolutionalClassifier,
)
from pellucid.deep.convolution.convolutional import ConvolutionalRegressor as ConvolutionalRegressor
from pellucid.deep.convolution.images import convolve as convolve
from pellucid.deep.convolution.images import pool as pool
from pellucid.deep.graphs.graph_network import (
    GraphNeuralNetworkClassifier as GraphNeuralNetworkClassifier,
)
from pellucid.deep.graphs.messages import message_pass as message_pass
from pellucid.deep.recurrence.recurrent import RecurrentClassifier as RecurrentClassifier
from pellucid.deep.recurrence.recurrent import RecurrentRegressor as RecurrentRegressor
from pellucid.deep.shared import EarlyStopping as EarlyStopping
from pellucid.deep.training import Training as Training
from pellucid.deep.transformers.attending import attention as attention
from pellucid.deep.transformers.attending import causal_mask as causal_mask
from pellucid.deep.transformers.transformer_classifier import (
    TransformerClassifier as TransformerClassifier,
)
from pellucid.deep.transformers.transformer_sequence import (
    TransformerSequenceModel as TransformerSequenceModel,
)
from pellucid.deep.values.q_network import QNetwork as QNetwork

__all__: list[str]
_HOME: dict[str, str]
