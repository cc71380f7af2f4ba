r"""Stability selection: which columns does a selector choose again and again?

Split the rows at random into two halves, B times; run the selector on all 2B halves. With Pi_j the
share of halves in which column j is chosen and q the mean number of columns chosen,

    S = {j : Pi_j >= tau},     tau in (1/2, 1].

How many columns that a half-sample seldom chooses (with probability at most q/p: those without
signal, if the selector is no worse than guessing) get into S?

    E V <= q^2 / ((2 tau - 1) p)               Meinshausen & Buehlmann, under exchangeability;
                                               Shah & Samworth, for complementary halves, always
    E V <= C(tau, B) q^2 / p                   Shah & Samworth, if the share of pairs that choose a
                                               column in both halves is unimodal
    C = 1 / (2 (2 tau - 1 - 1/(2B)))           1/2 + min(t, 1/(2B) + 3t/4) < tau <= 3/4, t = (q/p)^2
        4 (1 - tau + 1/(2B)) / (1 + 1/B)       3/4 < tau;   both for q/p <= 1/sqrt(3)

References: Meinshausen & Buehlmann (2010); Shah & Samworth (2013), theorems 1 and 2.
"""

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, indexable

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Seed
from pellucid.core.runtime.random import generator

AFTER = (
    "The columns were chosen on these data: p-values, standard errors and intervals of a model "
    "refitted on them with the same rows are too optimistic; use fresh rows for inference."
)


class StabilitySelection(NamedTuple):
    """The shares, the columns at or above the threshold and the bounds on false ones.

    >>> record = StabilitySelection(np.array([0.9, 0.1]), np.array([True, False]), 0.75, 1.0, 50,
    ...                             error_bound=1.0, unimodal_bound=0.5, names=("a", "b"))
    >>> record.chosen
    ('a',)
    """

    share: Array  # (p,) of the half-samples in which each column is chosen
    support: BoolArray  # (p,) share >= threshold
    threshold: float
    mean_chosen: float  # q
    n_pairs: int  # B
    error_bound: float  # E V, no assumption on the shares
    unimodal_bound: float  # E V if they are unimodal; the other bound where theory has none
    names: tuple[str, ...]
    note: str = AFTER

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names of the columns in the support."""
        return tuple(name for name, kept in zip(self.names, self.support, strict=True) if kept)


def error_bounds(q: float, p: int, threshold: float, n_pairs: int) -> tuple[float, float]:
    """The two bounds on the expected number of false columns; at most p.

    >>> [round(bound, 4) for bound in error_bounds(10.0, 100, 0.75, 50)]
    [2.0, 1.0204]
    >>> [round(bound, 4) for bound in error_bounds(10.0, 100, 0.9, 50)]
    [1.25, 0.4314]
    """
    B, tau, theta = n_pairs, threshold, q / p
    plain = min(q * theta / (2 * tau - 1), float(p))
    lowest = 0.5 + min(theta**2, 1 / (2 * B) + 0.75 * theta**2)
    if theta > 1 / np.sqrt(3) or tau <= lowest or 2 * tau - 1 <= 1 / (2 * B):
        return plain, plain
    if tau <= 0.75:
        constant = 1 / (2 * (2 * tau - 1 - 1 / (2 * B)))
    else:
        constant = 4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B)
    return plain, min(plain, constant * q * theta)


def chosen_columns(model: BaseEstimator, p: int) -> BoolArray:
    """The mask of the columns that a fitted selector uses: ``support_``, else ``coef_`` != 0."""
    support = getattr(model, "support_", None)
    if support is not None:
        support = np.asarray(support)
        mask = np.zeros(p, dtype=bool)
        mask[support] = True  # a mask or a list of columns
        return mask
    coef = getattr(model, "coef_", None)
    if coef is None:
        needs = "stability_selection needs an estimator with support_ or coef_ after fit"
        raise ValueError(f"{needs}, got {type(model).__name__}")
    return (np.atleast_2d(np.asarray(coef)) != 0).any(axis=0)


def halves(n: int, n_pairs: int, rng: np.random.Generator) -> list[IntArray]:
    """2B index sets: the two disjoint halves of B random splits, one after the other."""
    m = n // 2
    orders = [rng.permutation(n) for _ in range(n_pairs)]
    return [np.sort(part) for order in orders for part in (order[:m], order[m : 2 * m])]


def stability_selection(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    n_pairs: int = 50,
    threshold: float = 0.75,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> StabilitySelection:
    """Run a selector on random half-samples and keep the columns it chooses again and again.

    Parameters
    ----------
    estimator : estimator
        Any with ``support_`` or ``coef_`` after ``fit(X, y)``; a copy is fitted on each half. It
        should choose few columns (a fixed number of LARS steps, a lasso at a given alpha): q,
        their mean number, drives the bounds.
    X : array or frame of shape (n, p)
    y : array of shape (n,) or (n, k)
    n_pairs : int, default=50
        B, the number of random splits into two halves.
    threshold : float, default=0.75
        tau, between 0.5 (excluded) and 1: the share from which a column is chosen.
    random_state : int, RandomState or Generator, optional
    n_jobs : int, optional
        Processes of joblib; the answer does not depend on it.

    Returns
    -------
    StabilitySelection with ``share``, ``support``, ``threshold``, ``mean_chosen``, ``n_pairs``,
    ``error_bound``, ``unimodal_bound``, ``names``, ``note`` and ``chosen``, the chosen names.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.linear import Lars, stability_selection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.normal(size=100)
    >>> record = stability_selection(Lars(n_nonzero_coefs=3), X, y, random_state=0)
    >>> record.chosen, record.mean_chosen, round(record.error_bound, 3)
    (('x3', 'x7'), 3.0, 0.9)
    """
    check.whole(n_pairs=n_pairs)
    check.positive(threshold=threshold)
    if not 0.5 < threshold <= 1:
        raise ValueError(f"threshold must be above 0.5 and at most 1, got {threshold!r}")
    X = row_table(X)
    X, y = indexable(X if hasattr(X, "shape") else np.asarray(X), y)
    n, p = X.shape
    if n < 4:
        raise ValueError(f"stability_selection needs at least 4 rows to halve, got {n}")
    rng = generator(random_state)

    masks = Parallel(n_jobs=n_jobs)(
        delayed(_fit_half)(clone(estimator), _safe_indexing(X, rows), _safe_indexing(y, rows), p)
        for rows in halves(n, n_pairs, rng)
    )
    share = np.mean(masks, axis=0)
    q = float(np.sum(masks)) / len(masks)
    plain, unimodal = error_bounds(q, p, threshold, n_pairs)
    names = tuple(str(c) for c in X.columns) if is_frame(X) else tuple(f"x{j}" for j in range(p))
    kept = share >= threshold - 1e-12  # 0.75 of 100 halves is 75 of them, whatever it rounds to
    return StabilitySelection(share, kept, threshold, q, n_pairs, plain, unimodal, names)


def _fit_half(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, p: int) -> BoolArray:
    """The columns one half-sample chooses."""
    return chosen_columns(estimator.fit(X, y), p)
