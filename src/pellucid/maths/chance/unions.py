r"""The probability of a union by inclusion and exclusion.

    S_r = sum over sets of r events of P(all of them)
    P(A_1 or .. or A_m) = S_1 - S_2 + S_3 - ... +- S_m

Stopped after an odd order the sum is an upper bound, after an even order a lower one (Bonferroni);
S_1 alone is the union bound. Where an outcome lies in K events it counts C(K, r) times in S_r, so a
table of outcomes needs no sum over the 2^m sets.

Given probabilities are coherent when some distribution over the 2^m atoms has them: a linear
programme decides (up to 12 events; beyond, only monotony and the bounds are checked).
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, fsum
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.inputs import vector
from pellucid.maths.wording import folded, listed, number, one_line

ATOMS = 12  # events up to which coherence is decided by linear programming
SLACK = 1e-8  # of sums that should agree
MISFIT = 1e-7  # the feasibility tolerance of the linear programme


@readable
class Union(NamedTuple):
    """P(at least one event): exact where every order is known, else between two bounds.

    >>> print(inclusion_exclusion({(0,): 0.5, (1,): 0.4}))
    P(union) lies between 0 and 0.9 (sums S_r: 0.9); orders above 1 are missing.
    """

    exact: float | None  # None where some orders are missing
    lower: float  # bound
    upper: float  # bound
    sums: Array  # S_1, S_2, ...

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        sums = f"(sums S_r: {listed(self.sums)})"
        if self.exact is not None:
            return f"P(union) = {number(self.exact)} {sums}."
        return folded(
            f"P(union) lies between {number(self.lower)} and {number(self.upper)} {sums}; "
            f"orders above {len(self.sums)} are missing."
        )


def inclusion_exclusion(events: Sequence[Any], weights: ArrayLike | None = None) -> Union:
    """The probability that at least one of several events happens.

    ``events`` is a boolean matrix (outcomes, events) of which outcome lies in which event, or a
    dict {(i,): p, (i, j): p, ...} of the probabilities of intersections. ``weights`` are
    probabilities or counts of the outcomes, divided by their sum; equal by default.

    >>> from pellucid.maths import inclusion_exclusion
    >>> found = inclusion_exclusion([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> found.exact, found.sums
    (0.75, array([1.  , 0.25]))
    """
    if isinstance(events, Mapping):
        if weights is not None:
            raise ValueError("weights belong to outcomes; a dict of probabilities has none")
        return _from_intersections(events)
    E = np.asarray(events)
    if E.ndim != 2 or E.size == 0 or not np.isin(E, (0, 1)).all():
        raise ValueError("events must be a matrix of True and False, outcomes x events, or a dict")
    E = E.astype(bool)
    w = np.ones(len(E)) if weights is None else vector(weights, "weights", len(E))
    if (w < 0).any() or not w.sum() > 0:
        raise ValueError("weights must be >= 0 with a positive sum")
    K = E.sum(axis=1)
    mass = np.bincount(K, weights=w / w.sum(), minlength=E.shape[1] + 1)  # P(K events hold)
    orders = range(1, E.shape[1] + 1)
    sums = np.array([fsum(comb(k, r) * q for k, q in enumerate(mass)) for r in orders])
    exact = float(min(1.0, fsum(mass[1:])))
    return Union(exact, exact, exact, sums)


def _from_intersections(given: Mapping[Any, Any]) -> Union:
    p = {frozenset(key if isinstance(key, tuple) else (key,)): float(q) for key, q in given.items()}
    names = sorted(set().union(*p), key=str)
    if len(p) != len(given) or frozenset() in p or not names:
        raise ValueError("events must be a dict with distinct non-empty tuples of events as keys")
    if not all(0 <= q <= 1 for q in p.values()):
        raise ValueError("every probability must lie between 0 and 1")
    sums: list[float] = []
    for r in range(1, len(names) + 1):
        sets = [frozenset(s) for s in combinations(names, r)] if r == len(sums) + 1 else []
        if not sets or not all(s in p for s in sets):
            break
        sums.append(fsum(p[s] for s in sets))
    if not sums:
        missing = [name for name in names if frozenset([name]) not in p]
        raise ValueError(f"the probability of every single event is needed, missing {missing!r}")
    _refuse_incoherent(p, names)
    partial = np.cumsum([(-1) ** r * s for r, s in enumerate(sums)])
    upper, lower = min(1.0, *partial[::2], 1.0), max(0.0, *partial[1::2], 0.0)
    if len(sums) < len(names):
        if lower > upper + SLACK:
            raise ValueError(f"no distribution: the bounds give {lower:.6g} <= P <= {upper:.6g}")
        return Union(None, float(min(lower, upper)), float(upper), np.array(sums))
    exact = float(np.clip(partial[-1], 0.0, 1.0))
    return Union(exact, exact, exact, np.array(sums))


def _refuse_incoherent(p: dict[frozenset[Any], float], names: list[Any]) -> None:
    """Raise where no distribution has these probabilities."""
    for s, q in p.items():
        for other, above in p.items():
            if other < s and q > above + SLACK:
                whole, part = sorted(s, key=str), sorted(other, key=str)
                raise ValueError(
                    f"P of {whole!r} is {q:g}, but its part {part!r} has only {above:g}"
                )
    if len(names) > ATOMS:
        return
    from scipy.optimize import linprog

    at = {name: j for j, name in enumerate(names)}
    atoms = np.arange(2 ** len(names))
    masks = [sum(1 << at[name] for name in s) for s in p]
    A = np.array([(atoms & mask) == mask for mask in masks], dtype=np.float64)
    b, ones = np.array(list(p.values())), np.ones((len(p), 1))
    cost = np.append(np.zeros(len(atoms)), 1.0)  # the largest misfit t of A q = b
    found = linprog(
        cost,
        A_ub=np.vstack([np.hstack([A, -ones]), np.hstack([-A, -ones])]),
        b_ub=np.concatenate([b, -b]),
        A_eq=np.append(np.ones(len(atoms)), 0.0)[None],
        b_eq=[1.0],
    )
    if found.fun > MISFIT:
        off = f"the nearest one is off by {found.fun:.3g}"
        raise ValueError(f"no distribution has these probabilities: {off}")
