r"""Partition counts, Stirling's and Bell's numbers: how many clusterings there are.

Count       S(n, k) ways to put n rows into k groups, none empty; B(n) = sum_k S(n, k) in all
Step        row n is alone, which leaves S(n-1, k-1), or in one of the k groups of the others:
            S(n, k) = S(n-1, k-1) + k S(n-1, k)
            B(20) is over 5 10^13: trying them all is no method.
Cost        n k additions.
The fast version uses the closed form, k! S(n, k) = sum_i (-1)^i C(k, i) (k - i)^n.
"""


def stirling_number(n: int, k: int) -> int:
    row = [1]  # S(0, 0)
    for _ in range(n):
        row = [(row[k - 1] if k else 0) + k * here for k, here in enumerate([*row, 0])]
    return row[k] if k <= n else 0


def partition_counts(n: int) -> list[int]:
    """S(n, 0), .., S(n, n); their sum is Bell's number."""
    return [stirling_number(n, k) for k in range(n + 1)]
