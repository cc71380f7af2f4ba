r"""Sequential selection: add the column that helps most, one at a time.

Maximise    a score (such as one of cross-validation) over sets of k columns
Step        the best set needs 2^p trials; greedily it is p per step: try each column beside those
            chosen, keep the best. A pair that only helps together is missed; backwards, from all
            columns down, it is not, at a higher price. Judge all candidates
            on the same folds, or luck decides.
Cost        k p scores.
The fast version also goes backwards or both ways, by groups of columns, in parallel.
"""

from collections.abc import Callable, Iterator


def steps(score: Callable[[list[int]], float], p: int) -> Iterator[list[int]]:
    """The columns chosen after each step."""
    chosen: list[int] = []
    while len(chosen) < p:
        left = [j for j in range(p) if j not in chosen]
        chosen = [*chosen, max(left, key=lambda j: score([*chosen, j]))]
        yield chosen


def sequential_selection(score: Callable[[list[int]], float], p: int, k: int) -> list[int]:
    """k of p columns, in the order in which they were chosen."""
    *_, last = (chosen for _, chosen in zip(range(k), steps(score, p), strict=False))
    return last
