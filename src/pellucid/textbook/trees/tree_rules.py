r"""Tree rules: every leaf of a tree is an "if ... then ...".

Given       a tree of questions x_j <= t
Solve       one rule per leaf: the conjunction of the answers on its path
Step        two conditions x_j <= 3 and x_j <= 5 are one: keep the tightest of each side. A row
            meets the conditions of the leaf it ends in and no other: the rules exclude each
            other and leave nothing out, so the rules of one label, joined by "or", are the tree.
Cost        the number of nodes.
The fast version writes sets of categories, and formulas with names.
"""

from typing import NamedTuple

import numpy as np


class Rule(NamedTuple):
    above: dict[int, float]  # x_j > the number
    at_most: dict[int, float]  # x_j <= the number
    leaf: int


def tree_rules(
    left: np.ndarray, right: np.ndarray, feature: np.ndarray, threshold: np.ndarray
) -> list[Rule]:
    """From left to right; children are -1 in a leaf."""
    rules = []
    waiting = [Rule({}, {}, 0)]
    while waiting:
        above, at_most, t = waiting.pop()
        if left[t] < 0:
            rules.append(Rule(above, at_most, t))
            continue
        j, cut = int(feature[t]), float(threshold[t])
        tighter_low = {**above, j: max(cut, above.get(j, -np.inf))}
        tighter_high = {**at_most, j: min(cut, at_most.get(j, np.inf))}
        waiting.append(Rule(tighter_low, at_most, right[t]))
        waiting.append(Rule(above, tighter_high, left[t]))  # popped first
    return rules


def holds(rule: Rule, x: np.ndarray) -> bool:
    """Whether a row satisfies all conditions."""
    return all(x[j] > t for j, t in rule.above.items()) and all(
        x[j] <= t for j, t in rule.at_most.items()
    )
