"""Decision trees: CART, ID3 and C4.5, pruning, rules.

Read ``classifier.py`` or ``regressor.py`` first; ``cart.py`` is what they share, ``growing.py``
grows a tree, ``splits.py`` scores questions, ``pruning.py`` and ``reduced_error.py`` cut it back,
``rules.py`` writes it down. ``multiway/`` has trees with one branch per category.

>>> from pellucid.tree import DecisionTreeClassifier
>>> DecisionTreeClassifier().fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Condition": "rules",
    "DecisionTreeClassifier": "classifier",
    "DecisionTreeRegressor": "regressor",
    "Explanation": "rules",
    "MultiwayTree": "multiway.record",
    "MultiwayTreeClassifier": "multiway.classifier",
    "MultiwayTreeRegressor": "multiway.regressor",
    "PruneStep": "reduced_error",
    "ReducedErrorPruning": "reduced_error",
    "Rule": "rules",
    "Split": "splits",
    "SplitSearch": "splits",
    "Tree": "record",
    "best_split": "splits",
    "candidate_thresholds": "splits",
    "export_dnf": "rules",
    "export_rules": "rules",
    "export_text": "rules",
    "gain_ratio": "splits",
    "impurity": "splits",
    "information_gain": "splits",
    "pessimistic_errors": "multiway.pessimistic",
    "pessimistic_prune": "multiway.pessimistic",
    "reduced_error_prune": "reduced_error",
    "split_information": "splits",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
