r"""The elbow: the number of groups after which more groups hardly help.

Given       E(k), the error with k groups, for k = 1, 2, ..: it always falls
Step        drop_k = E(k - 1) - E(k). k is an elbow if its drop is at least twice the next one and
            at least 5 % of the whole fall E(1) - E(last); if several are, the sharpest one.
            There may be none: then the curve bends nowhere and says nothing.
Cost        one pass over the curve.
The fast version says which of "one", "none" and "several" it was.
"""

import numpy as np


def elbow(E: np.ndarray, ratio: float = 2.0, share: float = 0.05) -> int | None:
    """The number of groups, E[0] being the error of one group; None: there is no elbow."""
    drop = -np.diff(E)  # drop[j] = E(j + 1) - E(j + 2)
    found = {}
    for j in range(len(drop) - 1):
        sharpness = drop[j] / drop[j + 1] if drop[j + 1] > 0 else np.inf
        if sharpness >= ratio and drop[j] >= share * (E[0] - E[-1]):
            found[j + 2] = sharpness
    return max(found, key=lambda k: found[k]) if found else None
