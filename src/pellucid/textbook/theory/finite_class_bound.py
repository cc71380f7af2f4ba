r"""Finite class bound: how far training error can mislead, for finitely many rules.

Given       |F| rules fixed before the data, n rows, losses in [0, 1]
Solve       a bound on the true loss of the rule that looks best, right with probability 1 - d
Step        each rule's training loss is a mean: Hoeffding. The chosen one may be any of them, so
            let all |F| hold at once: the failures add up to at most |F| exp(-2 n e^2) = d (union
            bound), e = sqrt(log(|F| / d) / (2 n)). A rule without a training error survives n rows
            with probability (1 - L)^n <= exp(-n L): then L <= log(|F| / d) / n.
Cost        none.
The fast version also says how many rows are needed.
"""

import numpy as np


def finite_class_bound(loss: float, n: int, size: int, d: float, consistent: bool = False) -> float:
    """The most the true loss can be; ``consistent``: the training loss is 0."""
    log_odds = np.log(size / d)
    return float(log_odds / n if consistent else loss + np.sqrt(log_odds / (2 * n)))
