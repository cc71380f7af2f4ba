"""Bayesian networks: graphs of conditional independence, exact inference, learning.

``graphs/`` DAGs and d-separation; ``network/`` tables and networks; ``inference/`` queries;
``learning/`` tables from data; ``structure/`` graphs from data; ``sequences/`` hidden Markov;
``files/`` BIF, XMLBIF and NET.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "ApproximateAnswer": "inference.approximate",
    "BayesianNetwork": "network.network",
    "BayesianNetworkClassifier": "learning.classifier",
    "CPDAG": "graphs.equivalence",
    "CPT": "network.tables",
    "ConditionalGaussianCPD": "network.conditional_gaussian",
    "ConstraintBasedStructure": "structure.constraint_based",
    "DAG": "graphs.dag",
    "DirichletPrior": "learning.learn_tables",
    "EdgeKnowledge": "structure.knowledge",
    "Factor": "network.factor",
    "Finding": "network.building",
    "HiddenMarkovModel": "sequences.hidden_markov",
    "Independence": "graphs.separation",
    "IndependenceTest": "structure.independence",
    "InferenceCost": "inference.cost",
    "LinearGaussianCPD": "network.tables",
    "MadeTest": "structure.constraint_based",
    "MixedAnswer": "network.mixed",
    "MixedBayesianNetwork": "network.mixed_network",
    "ModelAveragingStructure": "structure.averaging",
    "ScoreBasedStructure": "structure.score_based",
    "count_dags": "graphs.enumeration",
    "enumerate_dags": "graphs.enumeration",
    "independence_test": "structure.independence",
    "minimal_i_map": "graphs.imap",
    "read_network": "files.network_files",
    "structure_score": "structure.scores",
    "write_network": "files.network_files",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
