r"""Markov and Chebyshev: what a mean and a variance alone promise.

Given       X >= 0 with mean m; or a mean of n independent values of variance v
Step        Markov: a 1[X >= a] <= X, take means: P(X >= a) <= m / a. Chebyshev: Markov for the
            square of the deviation, P(|mean - mu| >= e) <= v / (n e^2), as the variance of a mean
            is v / n. The law of large numbers follows: let n grow.
Cost        none.
The fast version says the bound in a sentence.
"""


def markov(m: float, a: float) -> float:
    """Most probability of X >= a."""
    return min(1.0, m / a)


def markov_chebyshev(v: float, e: float, n: int = 1) -> float:
    """Most probability that a mean of n is off by e or more."""
    return min(1.0, v / (n * e**2))
