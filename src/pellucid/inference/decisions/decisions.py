r"""Decisions from probabilities and losses.

    R(d | x) = sum_k L[k, d] P(k | x)           expected loss of decision d, L[truth, decision]
    d*(x)    = argmin_d R(d | x)                the Bayes decision

With 0/1 loss R(d) = 1 - P(d): the most probable class. A further column of L is a further
decision, such as "reject" at a fixed price. Two classes, no loss when right: decide 1 iff
P(1 | x) >= c_FP / (c_FP + c_FN).

References: Duda, Hart & Stork, Pattern Classification, chapter 2; Chow (1970) for rejection.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.readable import readable
from pellucid.core.records import show
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads

TIES = ("first", "last", "random")
OFF_SIMPLEX = 1e-6  # how far a row of probabilities may be from adding up to 1
BLOCK = 4 * LEAF_ROWS  # rows at a time: probabilities and losses of a block stay in the cache
LARGEST_KERNEL = 256  # cells of a loss matrix above which BLAS is the faster product


@readable
class Decision(NamedTuple):
    """The decision of least expected loss, for one or many rows of probabilities.

    >>> print(bayes_decision([0.7, 0.3], actions=["stay", "go"]))
    decide stay at an expected loss of 0.3
    """

    action: Any  # label of the decision, or one per row
    expected_loss: Any  # what it costs on average
    index: Any  # column of the loss matrix

    def __str__(self) -> str:
        if np.ndim(self.index) == 0:
            return f"decide {self.action} at an expected loss of {show(self.expected_loss)}"
        mean = float(np.mean(self.expected_loss))
        return f"{len(self.index)} decisions at a mean expected loss of {show(mean)}"


def check_losses(loss_matrix: ArrayLike | None, n_classes: int) -> Array:
    """L[truth, decision] with one row per class; None is 0/1 loss.

    >>> check_losses(None, 2)
    array([[0., 1.],
           [1., 0.]])
    """
    if loss_matrix is None:
        return 1.0 - np.eye(n_classes)
    try:
        L = np.array(loss_matrix, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError):
        need = "a table of numbers [truth, decision]"
        raise ValueError(f"loss_matrix must be {need}, got {loss_matrix!r}") from None
    if L.ndim != 2 or L.shape[0] != n_classes or L.shape[1] < 1:
        need = f"one row for each of {n_classes} classes (rows truth, columns decision)"
        raise ValueError(f"loss_matrix must have {need}, got shape {L.shape}")
    if not np.isfinite(L).all():
        raise ValueError("loss_matrix must hold finite numbers, got NaN or infinity")
    return L


def check_simplex(P: Array, first_row: int = 0) -> None:
    """Refuse rows that are no probabilities."""
    with np.errstate(invalid="ignore"):
        bad = ~((P.min(axis=1) >= -OFF_SIMPLEX) & (np.abs(P.sum(axis=1) - 1.0) <= OFF_SIMPLEX))
    if bad.any():
        row = int(np.argmax(bad))
        got = f"{P[row].tolist()} (sum {P[row].sum():.6g}) in row {first_row + row}"
        raise ValueError(f"probabilities must be >= 0 and add up to 1, got {got}")


def expected_losses(P: Array, L: Array | None) -> Array:
    """(n, D) expected loss of every decision; None is 0/1 loss."""
    return 1.0 - P if L is None else P @ L


def least_loss(E: Array, slack: float, tie: str, rng: Rng | None) -> IntArray:
    """The column of the least expected loss; losses within ``slack`` (rounding) are equal."""
    floor = E[:, 0].copy()
    for d in range(1, E.shape[1]):
        np.minimum(floor, E[:, d], out=floor)
    floor += slack
    index = np.zeros(len(E), dtype=np.intp)
    if tie == "random" and rng is not None:
        lottery = np.where(floor[:, None] >= E, rng.random(E.shape), -1.0)
        return lottery.argmax(axis=1)
    columns = range(E.shape[1]) if tie == "last" else range(E.shape[1] - 1, -1, -1)
    for d in columns:  # what is written last stays
        index[E[:, d] <= floor] = d
    return index


@jit
def decide_rows(P, L, plain, slack, last, index, loss):
    """Index and expected loss of the best decision of each row; the first bad row, or -1.

    ``plain`` is 0/1 loss without looking at L; ``last`` takes the last of equal decisions.
    """
    n, K = P.shape
    D = K if plain else L.shape[1]
    E = np.empty(D)
    for i in range(n):
        total, low = 0.0, 0.0
        for k in range(K):
            total += P[i, k]
            low = min(low, P[i, k])
        if not (abs(total - 1.0) <= OFF_SIMPLEX and low >= -OFF_SIMPLEX):
            return i
        least = np.inf
        for d in range(D):
            if plain:
                E[d] = 1.0 - P[i, d]
            else:
                risk = 0.0
                for k in range(K):
                    risk += L[k, d] * P[i, k]
                E[d] = risk
            least = min(least, E[d])
        for d in range(D):
            if E[d] <= least + slack:
                index[i], loss[i] = d, E[d]
                if not last:
                    break
    return -1


def decide(
    P: Array, L: Array | None, tie: str = "first", rng: Rng | None = None
) -> tuple[IntArray, Array]:
    """Index and expected loss of the Bayes decision of every row; probabilities are checked."""
    slack = 8.0 * np.finfo(np.float64).eps * (1.0 if L is None else float(np.abs(L).max()))
    index, loss = np.empty(len(P), dtype=np.intp), np.empty(len(P))
    small = tie != "random" and (L is None or L.size <= LARGEST_KERNEL)
    P = np.require(P, np.float64, ["C", "W"]) if small else P
    table = np.ones((1, 1)) if L is None else np.require(L, np.float64, ["C", "W"])

    def block(start: int) -> None:
        rows = slice(start, start + BLOCK)
        if small:
            rule = table, L is None, slack, tie == "last"
            bad = decide_rows(P[rows], *rule, index[rows], loss[rows])
            if bad < 0:
                return
        check_simplex(P[rows], start)
        E = expected_losses(P[rows], L)
        index[rows] = least_loss(E, slack, tie, rng)
        loss[rows] = E[np.arange(len(E)), index[rows]]

    starts = range(0, len(P), BLOCK)
    for _ in map(block, starts) if tie == "random" else map_threads(block, starts):
        pass
    return index, loss


def bayes_decision(
    proba: ArrayLike,
    loss_matrix: ArrayLike | None = None,
    *,
    actions: Any = None,
    tie: str = "first",
    random_state: Seed = None,
) -> Decision:
    """The decision of least expected loss.

    Parameters
    ----------
    proba : array-like of shape (K,) or (n, K)
        Probabilities of the classes; rows that do not add up to 1 are refused.
    loss_matrix : array-like of shape (K, D), default=None
        ``[truth, decision]``; more columns than classes are further decisions (reject). None is
        0/1 loss: the most probable class.
    actions : sequence of D labels, default=None
        What the decisions are called; None: their column numbers.
    tie : {"first", "last", "random"}, default="first"
        Which of equally good decisions; "last" is the rule p >= 1/2 -> class 1.
    random_state : int, Generator, RandomState or None
        For ``tie="random"``.

    Examples
    --------
    >>> from pellucid.inference import bayes_decision
    >>> losses = [[0, 1, 5], [1, 0, 1], [10, 1, 0]]
    >>> bayes_decision([0.5, 0.3, 0.2], losses)
    Decision(action=1, expected_loss=0.7, index=1)
    >>> reject = [[0, 1, 0.2], [1, 0, 0.2]]  # a third decision that costs 0.2 whatever is true
    >>> names = ["no", "yes", "ask"]
    >>> bayes_decision([[0.9, 0.1], [0.6, 0.4]], reject, actions=names).action.tolist()
    ['no', 'ask']
    """
    check.one_of(TIES, tie=tie)
    P = np.asarray(proba, dtype=np.float64)
    if P.ndim not in (1, 2) or P.shape[-1] == 0:
        raise ValueError(f"proba must have shape (K,) or (n, K), got {P.shape}")
    rows = np.atleast_2d(P)
    L = None if loss_matrix is None else check_losses(loss_matrix, rows.shape[1])
    D = rows.shape[1] if L is None else L.shape[1]
    labels = np.arange(D) if actions is None else label_array(actions, D)
    index, loss = decide(rows, L, tie, generator(random_state) if tie == "random" else None)
    if P.ndim == 2:
        return Decision(labels[index], loss, index)
    action = labels[index[0]]
    action = action.item() if isinstance(action, np.generic) else action
    return Decision(action, float(loss[0]), int(index[0]))


def label_array(labels: Any, n: int) -> Any:
    """The names of n decisions, of one kind or as objects: numbers never turn into text."""
    values = list(labels)
    if len(values) != n:
        raise ValueError(f"{n} decisions need {n} names, got {len(values)}: {values}")
    kinds = {isinstance(value, str) for value in values}
    if len(kinds) == 1 and not any(value is None for value in values):
        return np.array(values)
    out = np.empty(n, dtype=object)
    out[:] = [value.item() if isinstance(value, np.generic) else value for value in values]
    return out


def cost_threshold(false_positive: float, false_negative: float) -> float:
    """The probability from which the positive decision costs less: c_FP / (c_FP + c_FN).

    ``false_positive`` is the cost of deciding 1 when 0 is true, ``false_negative`` of deciding 0
    when 1 is true; both >= 0, not both 0.

    >>> from pellucid.inference import cost_threshold
    >>> cost_threshold(1, 4)  # a miss is four times as bad as a false alarm
    0.2
    """
    check.non_negative(false_positive=false_positive, false_negative=false_negative)
    total = false_positive + false_negative
    if not 0 < total < np.inf:
        got = f"{false_positive!r} and {false_negative!r}"
        raise ValueError(f"at least one cost must be > 0 and both finite, got {got}")
    return float(false_positive / total)
