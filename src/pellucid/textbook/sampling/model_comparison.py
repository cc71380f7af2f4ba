r"""Model comparison: how probable each model is, given the data.

Given       log p(x | M), the evidence: the likelihood with the parameters integrated out
Solve       P(M | x) ~ P(M) p(x | M), and the Bayes factor of two models, p(x | A) / p(x | B)
Step        Bayes' rule over models. A model that could explain many data sets must spread its
            probability over them, so it gives less to each: the evidence punishes what was not
            needed. Subtract the largest logarithm before exponentiating.
Cost        one sum.
The fast version grades the factors in words.
"""

import numpy as np


def model_comparison(log_evidence: np.ndarray, prior: np.ndarray | None = None) -> np.ndarray:
    """P(M | x) of every model; equal priors if none are given."""
    k = len(log_evidence)
    joint = log_evidence + np.log(np.full(k, 1 / k) if prior is None else prior)
    p = np.exp(joint - joint.max())
    return p / p.sum()
