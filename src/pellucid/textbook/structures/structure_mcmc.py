r"""Structure MCMC: a walk over graphs that visits each as often as it is probable.

Given       log p(rows | G) up to a constant, as a sum over families
Solve       P(arrow | rows), for too many graphs to list
Step        Metropolis-Hastings: propose one of the graphs one change away (add or remove an arrow,
            no cycle), accept with min(1, exp(gain) n(G) / n(G')), n the number of such neighbours,
            which corrects for graphs with more ways out. The share of the walk with an arrow
            converges to its probability.
Cost        one family, and counting the neighbours, per step.
The fast version also turns arrows, and runs in compiled code.
"""

from collections.abc import Callable, Iterator

import numpy as np

Score = Callable[[int, tuple[int, ...]], float]  # of variable v with these parents


def has_path(A: np.ndarray, a: int, b: int) -> bool:
    """Along arrows A[i, j] from a to b."""
    return a == b or any(has_path(A, c, b) for c in np.flatnonzero(A[a]).tolist())


def changes(A: np.ndarray) -> list[tuple[int, int]]:
    """Arrows that may be removed, or added without closing a cycle."""
    d = len(A)
    pairs = [(a, b) for a in range(d) for b in range(d) if a != b]
    return [(a, b) for a, b in pairs if A[a, b] or not has_path(A, b, a)]


def walk(d: int, score: Score, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Arrows A[a, b], from none, without end."""

    def family(A: np.ndarray, v: int) -> float:
        return score(v, tuple(np.flatnonzero(A[:, v]).tolist()))

    A = np.zeros((d, d), dtype=bool)
    while True:
        options = changes(A)
        a, b = options[rng.integers(len(options))]
        new = A.copy()
        new[a, b] = not A[a, b]
        log_ratio = family(new, b) - family(A, b) + np.log(len(options) / len(changes(new)))
        if np.log(rng.random()) <= log_ratio:
            A = new
        yield A


def structure_mcmc(d: int, score: Score, n: int, rng: np.random.Generator) -> np.ndarray:
    """P[a, b] of every arrow, from n steps after n // 5 that are thrown away."""
    chain = walk(d, score, rng)
    seen = [next(chain) for _ in range(n + n // 5)]
    return np.mean(seen[n // 5 :], axis=0)
