r"""Joint table: all questions about a few categories by adding and dividing.

Given       p(a, b, ..), one axis per variable, sum 1
Step        sum rule: p(a) = sum over the others. Product rule: p(a | b) = p(a, b) / p(b). Chain
            rule: p(a, b, c) = p(a) p(b | a) p(c | a, b). Independence: p(a, b) = p(a) p(b) in every
            cell; given c: in every slice. Everything of Bayesian networks is
            these rules, with smaller tables.
Cost        the number of cells.
The fast version names variables and states.
"""

import numpy as np


def marginal(p: np.ndarray, keep: list[int]) -> np.ndarray:
    """Axes in the order of ``keep``."""
    rest = tuple(axis for axis in range(p.ndim) if axis not in keep)
    left = sorted(keep)
    return p.sum(axis=rest).transpose([left.index(axis) for axis in keep])


def joint_table(p: np.ndarray, axis: int, evidence: dict[int, int]) -> np.ndarray:
    """p(axis | evidence)."""
    for seen, state in evidence.items():
        p = p.take([state], axis=seen)
    q = marginal(p, [axis])
    return q / q.sum()


def independent(p: np.ndarray, a: int, b: int) -> bool:
    return bool(np.allclose(marginal(p, [a, b]), np.outer(marginal(p, [a]), marginal(p, [b]))))
