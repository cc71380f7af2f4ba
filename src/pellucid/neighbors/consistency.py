r"""Nearest neighbours learn any law: a demonstration on one that is known.

Law          x ~ U(0, 1)^d,  P(y = 1 | x) = 1/2 + c sin(2 pi x_1)/2:  Bayes error R* = 1/2 - c/pi
Stone        with k -> infinity and k/n -> 0 the error of k nearest neighbours tends to R*, whatever
             the law; here k = n^(1/2)
Cover, Hart  one neighbour tends to E[2 p (1 - p)] <= 2 R* (1 - R*): at most twice the best error
Measured     errors on ``n_test`` new rows, means over ``n_repeats`` training sets. The chance of
             an error at x is p or 1 - p by the answer, so no new labels are drawn: less noise

References: Stone (1977); Cover & Hart (1967).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain, show, text_table
from pellucid.core.runtime.random import generator
from pellucid.neighbors.classifier import KNeighborsClassifier


@readable
class NeighbourConsistency(NamedTuple):
    """Errors of nearest neighbours on growing training sets, beside the best possible one.

    >>> found = neighbour_consistency((50, 400), n_repeats=3, random_state=0)
    >>> bool(found.error[1] < found.error[0]), round(found.bayes_error, 3)
    (True, 0.214)
    """

    sizes: IntArray  # (m,) training rows
    neighbours: IntArray  # (m,) k of each
    error: Array  # (m,) of k nearest neighbours
    nearest_error: Array  # (m,) of one neighbour
    bayes_error: float  # of the best rule there is
    nearest_limit: float  # what one neighbour tends to

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        parts = (self.sizes, self.neighbours, self.error, self.nearest_error)
        rows = [(str(int(n)), int(k), e, one) for n, k, e, one in zip(*parts, strict=True)]
        table = text_table(("rows", "k", "error", "error of one neighbour"), rows)
        limits = f"limits: {show(self.bayes_error)} (Bayes) and {show(self.nearest_limit)}"
        return f"{table}\n{limits}, at most twice as much"


def neighbour_consistency(
    sizes: Sequence[int] = (100, 1000, 10_000),
    *,
    n_features: int = 2,
    contrast: float = 0.9,
    n_test: int = 2000,
    n_repeats: int = 5,
    random_state: Seed = None,
) -> NeighbourConsistency:
    """Let sqrt(n) nearest neighbours, and one, learn a known law from more and more rows.

    ``sizes`` are the numbers of training rows; ``n_features`` columns, of which the first decides;
    ``contrast`` c in (0, 1) is how sure the law is of a label. Errors are means over ``n_repeats``
    training sets and ``n_test`` new rows, drawn by ``random_state``.

    >>> print(neighbour_consistency((50, 400), n_repeats=2, random_state=0).neighbours)
    [ 7 20]
    """
    check.whole(n_features=n_features, n_test=n_test, n_repeats=n_repeats)
    check.fraction(contrast=contrast)
    if len(sizes) == 0:
        raise ValueError("sizes must name at least one number of training rows, got none")
    for n in sizes:
        check.whole(at_least=2, sizes=n)
    rng = generator(random_state)
    k = [max(1, math.isqrt(int(n))) for n in sizes]
    how = n_features, float(contrast), n_test, rng
    pairs = [[both(n, j, *how) for _ in range(n_repeats)] for n, j in zip(sizes, k, strict=True)]
    found = np.array(pairs).mean(axis=1)  # (sizes, 2)
    # E[2 p (1 - p)] with p = 1/2 + c s/2 is E[(1 - c^2 s^2)/2], and E s^2 = 1/2
    limits = 0.5 - contrast / math.pi, (1 - contrast**2 / 2) / 2
    return NeighbourConsistency(np.array(sizes), np.array(k), found[:, 0], found[:, 1], *limits)


def chance(X: Array, contrast: float) -> Array:
    """P(y = 1 | x)."""
    return 0.5 + contrast * np.sin(2 * np.pi * X[:, 0]) / 2


def both(n: int, k: int, p: int, contrast: float, n_test: int, rng: Rng) -> tuple[float, float]:
    """The errors of k and of one neighbour for one training set."""
    X, new = rng.random((n, p)), rng.random((n_test, p))
    y = (rng.random(n) < chance(X, contrast)).astype(int)
    if y.min() == y.max():
        y[0] = 1 - y[0]  # a class without rows could not be learnt
    truth = chance(new, contrast)
    errors = []
    for neighbours in (k, 1):
        said = KNeighborsClassifier(neighbours).fit(X, y).predict(new)
        errors.append(float(np.where(said == 1, 1 - truth, truth).mean()))
    return errors[0], errors[1]
