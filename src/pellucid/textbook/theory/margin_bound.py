r"""Margin bound: a wide street needs no low dimension.

Given       rows with |x| <= R, a linear rule with |w| <= B, the share m of rows with margin below r
Solve       a bound on the true error, right with probability 1 - d
Step        rules with margin r on points in a ball of radius R cannot shatter more than (R B / r)^2
            points, whatever the number of columns (as for the perceptron's mistakes); that number
            takes the place of the dimension: L <= m + sqrt((c / n)((R B / r)^2 log^2 n + log(1 /
            d))). c is a constant nobody needs: the bound explains, it does not measure.
Cost        none.
The fast version is the same formula, and says so.
"""

import numpy as np


def margin_bound(
    m: float, n: int, r: float, d: float, R: float = 1.0, B: float = 1.0, c: float = 1.0
) -> float:
    dimension = (R * B / r) ** 2
    return float(m + np.sqrt(c / n * (dimension * np.log(n) ** 2 + np.log(1 / d))))
