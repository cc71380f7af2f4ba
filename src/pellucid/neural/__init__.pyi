"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.neural.autoencoder import Autoencoder as Autoencoder
from pellucid.neural.boolean import boolean_network as boolean_network
from pellucid.neural.diagnosis import gradient_flow as gradient_flow
from pellucid.neural.diagnosis import next_error as next_error
from pellucid.neural.layers.activate import Activate as Activate
from pellucid.neural.layers.activations import Activation as Activation
from pellucid.neural.layers.activations import softmax as softmax
from pellucid.neural.layers.batch_normalisation import BatchNorm as BatchNorm
from pellucid.neural.layers.batch_normalisation import batch_norm as batch_norm
from pellucid.neural.layers.dense import Dense as Dense
from pellucid.neural.layers.dropout import Dropout as Dropout
from pellucid.neural.layers.flatten import Flatten as Flatten
from pellucid.neural.layers.initial import HeInit as HeInit
from pellucid.neural.layers.initial import NormalInit as NormalInit
from pellucid.neural.layers.initial import UniformInit as UniformInit
from pellucid.neural.layers.initial import initial_weights as initial_weights
from pellucid.neural.layers.layer import Layer as Layer
from pellucid.neural.mlp_classifier import MLPClassifier as MLPClassifier
from pellucid.neural.mlp_model import CollapsedWarning as CollapsedWarning
from pellucid.neural.mlp_regressor import MLPRegressor as MLPRegressor
from pellucid.neural.network import Network as Network
from pellucid.neural.shared import EarlyStopping as EarlyStopping
from pellucid.neural.training.objectives import BinaryCrossEntropy as BinaryCrossEntropy
from pellucid.neural.training.objectives import CrossEntropy as CrossEntropy
from pellucid.neural.training.objectives import PoissonDeviance as PoissonDeviance
from pellucid.neural.training.objectives import SquaredError as SquaredError
from pellucid.neural.training.objectives import output_head as output_head
from pellucid.neural.training.training import train as train
from pellucid.neural.value import Value as Value

__all__: list[str]
_HOME: dict[str, str]
