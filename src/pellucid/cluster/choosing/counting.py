r"""How many ways there are to form clusters: why no algorithm looks at all of them.

    S(n, k) = (1/k!) sum_{i=0..k} (-1)^i C(k, i) (k - i)^n     k clusters of n points
    B(n)    = sum_k S(n, k)                                    any number of clusters

Exact integers of any size. B(n) comes from the Bell triangle, in n^2/2 additions.

Reference: Graham, Knuth & Patashnik, Concrete Mathematics, section 6.1.
"""

from itertools import accumulate
from math import comb, factorial

from pellucid.core.arrays import check


def stirling_number(n: int, k: int) -> int:
    """The number of ways to form ``k`` clusters, none empty, of ``n`` points.

    >>> stirling_number(4, 2), stirling_number(5, 3), stirling_number(0, 0), stirling_number(2, 3)
    (7, 25, 1, 0)
    """
    check.whole(at_least=0, n=n, k=k)
    n, k = int(n), int(k)
    if k > n:
        return 0
    total = sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1))
    return total // factorial(k)


def bell_number(n: int) -> int:
    """The number of ways to form clusters of ``n`` points.

    >>> bell_number(5), bell_number(100) > 10**115
    (52, True)
    """
    check.whole(at_least=0, n=n)
    row = [1]  # of the triangle: each starts with the last of the one before
    for _ in range(int(n)):
        row = list(accumulate(row, initial=row[-1]))
    return row[0]
