r"""Growth function: how many labelings of n points a class can make.

Define      G(n) = the most labelings of n points; the VC dimension d is the
            largest n with G(n) = 2^n
Step        Sauer's lemma: G(n) <= sum_(i<=d) C(n, i). Recursion on the last point: labelings of n -
            1 points that extend in one way, plus those that extend in both, which have dimension d
            - 1: G(n, d) <= G(n-1, d) + G(n-1, d-1), Pascal's triangle. So infinitely many rules of
            finite dimension make only n^d labelings, not 2^n.
Cost        n d additions.
The fast version sums the binomials, or their logarithms.
"""


def growth_function(n: int, d: int) -> int:
    """The bound sum_(i<=d) C(n, i), by the recursion."""
    row = [1] * (d + 1)  # no points: one labeling, whatever d
    for _ in range(n):
        row = [1, *(row[k] + row[k - 1] for k in range(1, d + 1))]
    return row[d]
