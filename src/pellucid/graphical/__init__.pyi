"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.graphical.files.network_files import read_network as read_network
from pellucid.graphical.files.network_files import write_network as write_network
from pellucid.graphical.graphs.dag import DAG as DAG
from pellucid.graphical.graphs.enumeration import count_dags as count_dags
from pellucid.graphical.graphs.enumeration import enumerate_dags as enumerate_dags
from pellucid.graphical.graphs.equivalence import CPDAG as CPDAG
from pellucid.graphical.graphs.imap import minimal_i_map as minimal_i_map
from pellucid.graphical.graphs.separation import Independence as Independence
from pellucid.graphical.inference.approximate import ApproximateAnswer as ApproximateAnswer
from pellucid.graphical.inference.cost import InferenceCost as InferenceCost
from pellucid.graphical.learning.classifier import (
    BayesianNetworkClassifier as BayesianNetworkClassifier,
)
from pellucid.graphical.learning.learn_tables import DirichletPrior as DirichletPrior
from pellucid.graphical.network.building import Finding as Finding
from pellucid.graphical.network.conditional_gaussian import (
    ConditionalGaussianCPD as ConditionalGaussianCPD,
)
from pellucid.graphical.network.factor import Factor as Factor
from pellucid.graphical.network.mixed import MixedAnswer as MixedAnswer
from pellucid.graphical.network.mixed_network import MixedBayesianNetwork as MixedBayesianNetwork
from pellucid.graphical.network.network import BayesianNetwork as BayesianNetwork
from pellucid.graphical.network.tables import CPT as CPT
from pellucid.graphical.network.tables import LinearGaussianCPD as LinearGaussianCPD
from pellucid.graphical.sequences.hidden_markov import HiddenMarkovModel as HiddenMarkovModel
from pellucid.graphical.structure.averaging import (
    ModelAveragingStructure as ModelAveragingStructure,
)
from pellucid.graphical.structure.constraint_based import (
    ConstraintBasedStructure as ConstraintBasedStructure,
)
from pellucid.graphical.structure.constraint_based import MadeTest as MadeTest
from pellucid.graphical.structure.independence import IndependenceTest as IndependenceTest
from pellucid.graphical.structure.independence import independence_test as independence_test
from pellucid.graphical.structure.knowledge import EdgeKnowledge as EdgeKnowledge
from pellucid.graphical.structure.score_based import ScoreBasedStructure as ScoreBasedStructure
from pellucid.graphical.structure.scores import structure_score as structure_score

__all__: list[str]
_HOME: dict[str, str]
