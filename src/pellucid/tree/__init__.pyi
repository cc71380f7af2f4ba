"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.tree.classifier import DecisionTreeClassifier as DecisionTreeClassifier
from pellucid.tree.multiway.classifier import MultiwayTreeClassifier as MultiwayTreeClassifier
from pellucid.tree.multiway.pessimistic import pessimistic_errors as pessimistic_errors
from pellucid.tree.multiway.pessimistic import pessimistic_prune as pessimistic_prune
from pellucid.tree.multiway.record import MultiwayTree as MultiwayTree
from pellucid.tree.multiway.regressor import MultiwayTreeRegressor as MultiwayTreeRegressor
from pellucid.tree.record import Tree as Tree
from pellucid.tree.reduced_error import PruneStep as PruneStep
from pellucid.tree.reduced_error import ReducedErrorPruning as ReducedErrorPruning
from pellucid.tree.reduced_error import reduced_error_prune as reduced_error_prune
from pellucid.tree.regressor import DecisionTreeRegressor as DecisionTreeRegressor
from pellucid.tree.rules import Condition as Condition
from pellucid.tree.rules import Explanation as Explanation
from pellucid.tree.rules import Rule as Rule
from pellucid.tree.rules import export_dnf as export_dnf
from pellucid.tree.rules import export_rules as export_rules
from pellucid.tree.rules import export_text as export_text
from pellucid.tree.splits import Split as Split
from pellucid.tree.splits import SplitSearch as SplitSearch
from pellucid.tree.splits import best_split as best_split
from pellucid.tree.splits import candidate_thresholds as candidate_thresholds
from pellucid.tree.splits import gain_ratio as gain_ratio
from pellucid.tree.splits import impurity as impurity
from pellucid.tree.splits import information_gain as information_gain
from pellucid.tree.splits import split_information as split_information

__all__: list[str]
_HOME: dict[str, str]
