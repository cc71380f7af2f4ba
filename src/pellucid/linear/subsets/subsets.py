r"""Best subset regression: of all sets of s columns the one with the least residual squares.

Model        y = b + X_S w + e with a set S of columns
Evaluation   RSS for each size; a criterion (AIC, BIC, Cp, adjusted R^2, cross-validation) for the
             size:   AIC = n ln(RSS/n) + 2k,   BIC = n ln(RSS/n) + k ln n,
             Cp = RSS/sigma2_full - n + 2k,    k = size + 1
Algorithm    the rows are replaced by their triangle; forward selection gives a first subset of
             every size; branch and bound proves them best or finds better ones
             (``kernels.py``). Exact: every subset is looked at or ruled out by a bound.
             O(n p^2) and then far fewer than 2^p nodes (some thousands for p = 30).

Best subsets of different sizes need not be nested: the best pair may hold neither of the columns
that are best alone.

References: Furnival & Wilson (1974); Gatu & Kontoghiorghes (2006); ESL, section 3.3.1.
"""

from itertools import pairwise
from math import comb
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Map
from pellucid.core.loops.selection import gaussian_criteria
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.subsets import selected
from pellucid.linear.subsets.kernels import leaps_inverse, leaps_triangle, subset_rss
from pellucid.linear.subsets.selected import SelectedRegression, fit_chosen, rank_of
from pellucid.linear.subsets.stepwise import add_column, add_gains, largest, rotated
from pellucid.linear.sum_folds import folds

CRITERIA = ("aic", "bic", "cp", "adjusted_r2", "cv")
MOST_COLUMNS = 40  # beyond, even bounds cannot rule out enough
TRIANGLE_ABOVE = 1e3  # condition from which the nodes carry triangles, not inverses
RIDGE = 1e-12  # rows added to dependent unit columns, so that their triangle has no zero
MOST_SUBSETS = 5e8  # of dependent columns: bounds rule out little among sets that fit exactly
N_FOLDS = 5


class Subset(NamedTuple):
    """The best subset of one size."""

    size: int
    support: tuple[int, ...]
    rss: float
    r2: float
    adjusted_r2: float
    aic: float
    bic: float
    cp: float


class Search(NamedTuple):
    """The best subset of every size up to the rank of the columns (or the limit)."""

    supports: tuple[tuple[int, ...], ...]  # by size
    nodes: int
    route: str  # inverse, triangle or none


class Triangle(NamedTuple):
    """Unit columns and target in as few rows as they have dimensions."""

    A: Array  # (r, p)
    c: Array  # (r,)
    rest: float
    rank: int
    condition: float  # inf where the columns are dependent


def triangle_of(small: Compact, live: IntArray, n_rows: int) -> Triangle:
    """The columns ``live`` scaled to length 1; directions without data are left out."""
    A, c, rest = selected.unit_columns(small.A[:, live]), small.c[:, 0], float(small.rest[0, 0])
    rank, condition = rank_of(A, n_rows)
    if rank == len(live):
        Q, R = np.linalg.qr(A)
    else:
        U, d, Vt = np.linalg.svd(A, full_matrices=False)
        Q, R = U[:, :rank], d[:rank, None] * Vt[:rank]
    z = Q.T @ c
    return Triangle(R, z, max(0.0, rest + float(((c - Q @ z) ** 2).sum())), rank, condition)


def forward_masks(at: Triangle, most: int, best: Array, masks: IntArray) -> None:
    """A first subset of every size by forward selection."""
    state = rotated(at.A, at.c, at.rest)
    for size in range(most + 1):
        masks[size] = sum(1 << j for j in state.chosen)
        best[size] = subset_rss(at.A, at.c, at.rest, masks[size])
        if size < most:
            state = add_column(state, largest(add_gains(state)))


def search(small: Compact, most: int, n_rows: int) -> Search:
    """The best subsets of 0..most columns (at most the rank of the columns)."""
    live = np.flatnonzero(small.A.any(axis=0))
    at = triangle_of(small, live, n_rows)
    p, most = len(live), min(most, at.rank)
    refuse_hopeless(p, at.rank, most)
    best, masks = np.full(p + 1, -np.inf), np.zeros(p + 1, dtype=np.int64)
    forward_masks(at, most, best, masks)
    data, floor = (at.A, at.c, at.rest), selected.exact_limit(small)
    nodes, route = 0, "none"
    if p >= 2 and most >= 1:
        if at.condition <= TRIANGLE_ABOVE:
            V, margin = np.linalg.inv(at.A), max(1e-12, 4 * EPS * at.condition**2)
            nodes = leaps_inverse(V @ V.T, V @ at.c, *data, margin, floor, best, masks)
            route = "inverse"
        else:
            nodes = leaps_triangle(*ridged(at), *data, 1e-10, floor, best, masks)
            route = "triangle"
    mend(at, most, best, masks)
    supports = [mask_columns(int(masks[size]), live) for size in range(most + 1)]
    return Search(tuple(supports), int(nodes), route)


def mend(at: Triangle, most: int, best: Array, masks: IntArray) -> None:
    """Where one more column gains nothing, ties may leave a worse or dependent set: replace it."""
    for size in range(1, most + 1):
        columns = mask_columns(int(masks[size]), np.arange(at.A.shape[1]))
        dependent = at.rank < at.A.shape[1] and rank_of(at.A[:, columns], 1)[0] < size
        if dependent or best[size] > best[size - 1]:
            state = rotated(at.A, at.c, at.rest)
            for j in mask_columns(int(masks[size - 1]), np.arange(at.A.shape[1])):
                state = add_column(state, j)
            masks[size] = masks[size - 1] | 1 << largest(add_gains(state))
            best[size] = subset_rss(at.A, at.c, at.rest, masks[size])


def refuse_hopeless(p: int, rank: int, most: int) -> None:
    """Sets of more columns than the rank all fit alike, so there is no bound to cut them by."""
    if rank < p:
        above = sum(comb(p, size) for size in range(rank, p + 1))
        below = sum(comb(p, size) for size in range(most + 1))
        if min(above, below) > MOST_SUBSETS:
            many = f"{p} columns of rank {rank} have too many subsets without a bound"
            remedy = f"set max_features (got {most} at most) or use StepwiseRegression"
            raise ValueError(f"{many}; {remedy}")


def ridged(at: Triangle) -> tuple[Array, Array]:
    """A triangle without zeros on its diagonal, also of dependent columns."""
    p = at.A.shape[1]
    if at.rank == p:
        return at.A, at.c
    Z = np.vstack([np.column_stack([at.A, at.c]), np.eye(p, p + 1) * RIDGE])
    R = np.asarray(np.linalg.qr(Z, mode="r"))
    return np.ascontiguousarray(R[:p, :p]), np.ascontiguousarray(R[:p, p])


def mask_columns(mask: int, live: IntArray) -> tuple[int, ...]:
    """The columns of a mask over ``live``."""
    return tuple(int(j) for i, j in enumerate(live) if mask >> i & 1)


def describe(small: Compact, supports: Any, rank: int, intercept: bool) -> list[Subset]:
    """The records of the best subsets, their criteria computed from fits by QR."""
    n, tss = small.weight, selected.settle(float(small.tss[0]), small)
    sigma2 = selected.full_sigma2(small, rank, intercept)
    records: list[Subset] = []
    for size, columns in enumerate(supports):
        rss = fit_chosen(small, np.array(columns, dtype=np.intp)).rss
        rss = min(rss, records[-1].rss) if records else rss  # more columns: rounding apart, no more
        k = size + intercept
        found = gaussian_criteria(rss, k, n, sigma2 if sigma2 > 0 else np.nan)
        r2 = 1 - rss / tss if tss > 0 else np.nan
        adjusted = 1 - (1 - r2) * (n - intercept) / (n - k) if n - k > 1e-9 else np.nan
        values = (rss, r2, adjusted, found.aic, found.bic, found.cp)
        records.append(Subset(size, columns, *(float(value) for value in values)))
    return records


def cross_validate(
    rows: Source, map_: Map, p: int, sizes: int, *, intercept: bool
) -> tuple[Array, Array]:
    """Mean squared error of each size on rows held out, and its standard error over the folds.

    The subsets are searched for again on the training rows of every fold.
    """
    scores = []
    for train, errors in folds(rows, map_, p, min(N_FOLDS, rows.n_rows), intercept=intercept):
        found = search(train, sizes - 1, rows.n_rows).supports
        found += (found[-1],) * (sizes - len(found))  # fewer training rows may have less rank
        fits = [fit_chosen(train, np.array(s, dtype=np.intp)).coef for s in found]
        coef = np.column_stack(fits)[:, None, :]  # (p, 1, M)
        b = train.y_mean[:, None] - np.tensordot(train.mean, coef, axes=1)
        scores.append(errors(coef, b)[0])
    mean, spread = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=min(1, len(scores) - 1))
    return mean, spread / np.sqrt(len(scores))


class BestSubsetRegression(SelectedRegression):
    """Least squares on the best of all subsets of the columns.

    Parameters
    ----------
    criterion : {"aic", "bic", "cp", "adjusted_r2", "cv"}, default="bic"
        What chooses among the best subsets of each size. "cv": 5 folds, the search repeated in
        each; rows are dealt to the folds in turn.
    max_features : int or None, default=None
        The largest size looked for.
    fit_intercept : bool, default=True
        Whether to fit an intercept.

    Attributes
    ----------
    subsets_ : list by size of Subset(size, support, rss, r2, adjusted_r2, aic, bic, cp)
        The best subset of each size up to the rank of the columns (or ``max_features``).
    support_, coef_, intercept_ : the chosen mask, the coefficients with 0 outside it
    rss_, sigma2_, r2_, df_ : of the chosen model
    criterion_, criterion_se_ : the criterion by size, and its standard error ("cv" only)
    n_nodes_ : nodes of the tree that were visited

    At most 40 columns; beyond, use StepwiseRegression or the lasso.

    Examples
    --------
    >>> from pellucid import BestSubsetRegression
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0], [5.0, 6.0], [6.0, 4.0]]
    >>> model = BestSubsetRegression().fit(X, [1.2, 2.1, 2.8, 4.2, 5.1, 5.8])
    >>> [subset.support for subset in model.subsets_], model.get_support()
    ([(), (0,), (0, 1)], array([ True, False]))
    """

    def __init__(
        self, *, criterion: str = "bic", max_features: int | None = None, fit_intercept: bool = True
    ) -> None:
        self.criterion = criterion
        self.max_features = max_features
        self.fit_intercept = fit_intercept

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best subset of every size."""
        return self._fit_memory(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check.one_of(CRITERIA, criterion=self.criterion)
        check.boolean(fit_intercept=self.fit_intercept)
        if self.max_features is not None:
            check.whole(max_features=self.max_features, at_least=0)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        p = self.n_features_in_
        if p > MOST_COLUMNS:
            most = f"best subset regression takes at most {MOST_COLUMNS} columns, got {p}"
            raise ValueError(f"{most}; use StepwiseRegression (forward) or Lasso")
        small = self._one_target(self._compact(rows, map_, intercept=self.fit_intercept))
        most = p if self.max_features is None else min(self.max_features, p)
        with single_threaded_blas():
            found = search(small, most, rows.n_rows)
            rank = rank_of(small.A, rows.n_rows)[0]
            self.subsets_ = describe(small, found.supports, rank, self.fit_intercept)
            self.n_nodes_, self._route = found.nodes, found.route
            chosen = self._choose(rows, map_)
            self._set_chosen(small, np.array(self.subsets_[chosen].support, dtype=np.intp))

    def _choose(self, rows: Source, map_: Map) -> int:
        """The size that the criterion prefers; the smallest exact fit where there is one."""
        self.__dict__.pop("criterion_se_", None)
        if self.criterion == "cv" and rows.n_rows > 1:
            what = rows, map_, self.n_features_in_, len(self.subsets_)
            found = cross_validate(*what, intercept=self.fit_intercept)
            self.criterion_, self.criterion_se_ = found
        else:
            name = "bic" if self.criterion == "cv" else self.criterion
            self.criterion_ = np.array([getattr(subset, name) for subset in self.subsets_])
        exact = [subset.size for subset in self.subsets_ if subset.rss == 0]
        if exact:
            smallest = "the smallest exact subset is chosen, no criterion can judge it"
            warn(f"{exact[0]} columns fit y exactly: {smallest}")
            return exact[0]
        values = -self.criterion_ if self.criterion == "adjusted_r2" else self.criterion_
        if np.isnan(values).all():
            needs = f"criterion={self.criterion!r} needs more observations than parameters"
            got = f"{rows.n_rows} rows and {self.n_features_in_} columns"
            raise ValueError(f"{needs}, got {got}; use 'aic' or 'bic'")
        return int(np.nanargmin(values))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        names = [self._feature_names()[j] for j in np.flatnonzero(self.support_)]
        size = len(names)
        how = {
            "none": "one subset of each size",
            "inverse": "branch and bound on the inverse cross-products",
            "triangle": "branch and bound on the triangle of ill-conditioned columns",
        }[self._route]
        supports = [set(subset.support) for subset in self.subsets_]
        nested = all(a <= b for a, b in pairwise(supports))
        notes = [*self._notes(), *([] if nested else ["the best subsets are not nested"])]
        numbers = {"n": self.n_observations_, "columns": size, "criterion": self.criterion_[size]}
        numbers |= {"rss": self.rss_, "sigma2": self.sigma2_, "r2": self.r2_}
        return Card(
            representation=f"y = b + x'w, w = 0 outside {', '.join(names) or 'no column'}",
            evaluation="RSS = sum (y - b - x'w)^2 among subsets of a size; "
            f"{self.criterion} among sizes",
            optimisation=f"{how}: exact, {self.n_nodes_} nodes for {self.n_features_in_} columns",
            numbers=numbers,
            warnings=tuple(notes),
        )
