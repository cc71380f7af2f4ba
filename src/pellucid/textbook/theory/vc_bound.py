r"""VC bound: the finite class bound for classes with infinitely many rules.

Given       a class of VC dimension d, n rows, losses 0 or 1
Solve       a bound on the true loss, right with probability 1 - p
Step        compare with a second sample of n rows (symmetrisation): only the labelings of 2n points
            matter, at most G(2n) of them, which take the place of |F|:
            L <= L_train + sqrt((8 / n)(log G(2n) + log(4 / p))). log G grows like d log n, so the
            gap closes like sqrt(d log n / n): finite dimension is what makes learning possible.
Cost        n d additions.
The fast version works with logarithms; for most real sample sizes the bound says nothing.
"""

import numpy as np


def vc_bound(loss: float, n: int, d: int, p: float) -> float:
    terms, total = 1.0, 1.0
    for i in range(1, min(d, 2 * n) + 1):  # sum of C(2n, i)
        terms = terms * (2 * n - i + 1) / i
        total += terms
    return float(loss + np.sqrt(8 / n * (np.log(total) + np.log(4 / p))))
