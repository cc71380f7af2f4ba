r"""Bayes' rule: how evidence changes what is probable.

Given       P(h) of the hypotheses, and P(data | h)
Solve       P(h | data) = P(h) P(data | h) / P(data)
Step        P(h, data) written both ways, P(h) P(data | h) = P(data) P(h | data), and P(data) = sum
            over h of the left side. In odds it is a product: posterior odds = prior odds times
            likelihood ratio. A rare thing with a good test is still rare: 1
            in 1000, right 99 %, positive: 9 %.
Cost        the number of hypotheses.
The fast version works with logarithms, names the hypotheses and gives the odds.
"""

import numpy as np


def bayes_rule(prior: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
    """Posterior probabilities."""
    joint = prior * likelihood
    return joint / joint.sum()
