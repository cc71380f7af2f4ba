"""Bayesian networks: graphs of conditional independence, exact inference, learning."""

from pellucid._lazy import lazy_names

_HOME = {
    "ApproximateAnswer": "approximate",
    "BayesianNetwork": "network",
    "BayesianNetworkClassifier": "classifier",
    "CPDAG": "equivalence",
    "CPT": "tables",
    "ConditionalGaussianCPD": "conditional_gaussian",
    "ConstraintBasedStructure": "constraint_based",
    "DAG": "dag",
    "DirichletPrior": "learn_tables",
    "EdgeKnowledge": "knowledge",
    "Factor": "factor",
    "Finding": "building",
    "HiddenMarkovModel": "hidden_markov",
    "Independence": "separation",
    "IndependenceTest": "independence",
    "InferenceCost": "cost",
    "LinearGaussianCPD": "tables",
    "MadeTest": "constraint_based",
    "MixedAnswer": "mixed",
    "MixedBayesianNetwork": "mixed_network",
    "ModelAveragingStructure": "averaging",
    "ScoreBasedStructure": "score_based",
    "count_dags": "enumeration",
    "enumerate_dags": "enumeration",
    "independence_test": "independence",
    "minimal_i_map": "imap",
    "read_network": "files",
    "structure_score": "scores",
    "write_network": "files",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
