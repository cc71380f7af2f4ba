r"""Committee theory: why the vote of many can beat each of them.

Given       B members, right with probability p each, or of variance s^2 and correlation r
Solve       P(the majority is right) = P(Binomial(B, p) > B / 2), a tie counting half;
            Var(mean) = r s^2 + (1 - r) s^2 / B
Step        independent members with p > 1/2 are outvoted ever more rarely as B grows (Condorcet).
            Var(sum) = B s^2 + B (B - 1) r s^2; divide by B^2. What all members share, r s^2, no
            number of them removes: variety is worth as much as skill.
Cost        B.
The fast version is the same formula.
"""

from math import comb


def committee_theory(p: float, B: int) -> float:
    """How often the majority of B independent members is right."""
    right = sum(comb(B, k) * p**k * (1 - p) ** (B - k) for k in range(B // 2 + 1, B + 1))
    tie = comb(B, B // 2) * (p * (1 - p)) ** (B // 2) if B % 2 == 0 else 0.0
    return right + tie / 2


def variance_of_mean(s2: float, B: int, r: float) -> float:
    return r * s2 + (1 - r) * s2 / B


def unique_share(n: int) -> float:
    """Expected share of the rows that n draws with replacement meet."""
    return 1 - (1 - 1 / n) ** n
