r"""Expected loss: decide by what a mistake costs, not only by what is likely.

Given       P(k | x), and L[k, d] what decision d costs if the truth is k
Minimise    over d: R(d | x) = sum_k L[k, d] P(k | x)
Step        x is fixed, so the best rule is the best decision row by row. With costs 0 and 1 it is
            the most likely class; with two classes it cuts P(1 | x) at
            L[0,1] / (L[0,1] + L[1,0]); one more column of L is the choice to ask a person.
Cost        n K per decision.
The fast version wraps any classifier with probabilities, and draws the regions.
"""

import numpy as np


def expected_loss(P: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The best decision of every row of P (n, K); L has shape (K, decisions)."""
    return np.asarray((P @ L).argmin(axis=1))
