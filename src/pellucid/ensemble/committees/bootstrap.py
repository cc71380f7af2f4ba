r"""Which rows each member of a committee sees: with or without replacement, or disjoint parts.

Virtual rows   a row of whole weight w stands w times in the list that is drawn from, so that
               weight 2 equals a row written twice. N = sum of the weights. Weights that are not
               whole are chances of being drawn, N the number of rows.
Order          the list is sorted by a number made of each row's cells and target, so that the
               draws, and with them the model, do not depend on the order of the rows.
Member b       draws from the stream (seed, b), whatever ran before it or beside it.
Bootstrap      N of N with replacement: the share 1 - (1 - 1/N)^N -> 0.632 is seen.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.row_order import own_order as own_order
from pellucid.core.arrays.row_order import row_hash as row_hash
from pellucid.core.arrays.typing import Array, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator, stream


def balanced(codes: IntArray, w: Array) -> Array:
    """W / (K W_k) for the class k of every row; several outputs multiply.

    >>> balanced(np.array([[0], [0], [0], [1]]), np.ones(4)).round(4).tolist()
    [0.6667, 0.6667, 0.6667, 2.0]
    """
    factor = np.ones(len(codes))
    for column in codes.T:
        size = np.bincount(column, w)
        seen = size > 0
        share = np.where(seen, w.sum() / (np.count_nonzero(seen) * np.where(seen, size, 1.0)), 0.0)
        factor *= share[column]
    return factor


def class_factor(wanted: Any, codes: IntArray, w: Array) -> Callable[[Array], Array] | None:
    """Row factors as a function of how often a tree sees each row; None: all 1."""
    if wanted is None:
        return None
    check.one_of(("balanced", "balanced_subsample"), class_weight=wanted)
    if wanted == "balanced":
        fixed = balanced(codes, w)
        return lambda counts: fixed
    return lambda counts: balanced(codes, counts)


MOST_DRAWS = 2**31 - 1
# What a file may ask for: rows that whole weights stand for, draws from few rows.
MOST_REPEATED, MOST_FROM_FEW = 2**27, 2**22
NOISE, DEAL = 1, 2  # what a stream is for, beside the draw itself
SAMPLINGS = "sampling must be 'bootstrap', Bootstrap(...), Disjoint() or None"


@readable
@dataclass(frozen=True)
class Bootstrap:
    """Each member draws its rows at random: ``sampling=Bootstrap(...)``.

    Parameters
    ----------
    max_samples : int, float or None, default=None
        Rows to draw: a number, a share, None for as many as there are.
    replace : bool, default=True
        With or without replacement.
    balance : {None, "under", "over"}, default=None
        Draw every class at the size of the smallest ("under") or the largest ("over") class.
    class_weight : dict, "balanced", "balanced_subsample" or None, default=None
        Factors for the weights of the classes, as the estimator's own keyword.
    label_noise : float, default=0.0
        Share of the targets that every member sees redrawn from all targets.

    Examples
    --------
    >>> Bootstrap(0.5, replace=False).max_samples
    0.5
    """

    max_samples: Any = None
    _: KW_ONLY
    replace: bool = True
    balance: str | None = None
    class_weight: Any = None
    label_noise: float = 0.0


@readable
@dataclass(frozen=True)
class Disjoint:
    """The rows are dealt into as many parts as there are members, one part for each.

    The discouraged alternative to ``Bootstrap``: every member sees few rows. Out of bag are the
    rows of all other parts.

    >>> Disjoint()
    Disjoint()
    """


Sampling: TypeAlias = Literal["bootstrap"] | Bootstrap | Disjoint | None  # what sampling= takes


class Bag(NamedTuple):
    """Row numbers of one draw.

    >>> in_bag, out_of_bag = bootstrap_indices(5, random_state=0)
    >>> set(in_bag.tolist()) | set(out_of_bag.tolist()) == set(range(5))
    True
    """

    in_bag: Any  # with repetition
    out_of_bag: Any


class Sampler(NamedTuple):
    """Everything that the draw of member b depends on."""

    kind: str  # "bootstrap", "disjoint" or "all"
    seed: int
    n: int
    draws: int
    replace: bool
    balance: str  # "" for none
    label_noise: float
    members: int  # parts of "disjoint"
    weight: Array  # (n,), or (0,) where all are 1
    codes: Any  # (n,) classes for ``balance``, else (0,)
    order: Any  # (n,) int32  the rows in an order of their own

    def check(self) -> None:
        """Refuse a sampler from a file that would draw far more rows than there are."""
        repeated = len(self.weight) > 0 and is_whole(self.weight)
        total = max(self.n, int(self.weight.sum()) if repeated else 0)
        if total > max(MOST_REPEATED, 100 * self.n) or self.draws > max(MOST_FROM_FEW, 100 * total):
            raise ValueError(f"a sampler of {self.n} rows cannot draw {max(total, self.draws)}")

    def counts(self, b: int) -> Array:
        """How often member b sees each row."""
        if self.kind == "all":
            return self.weight.copy() if len(self.weight) else np.ones(self.n)
        rows = self.drawn(b)
        return np.bincount(rows, minlength=self.n).astype(np.float64)

    def rows(self, b: int) -> Any:
        """The rows that member b sees, with repetition, in order."""
        counts = self.counts(b)
        whole = len(self.weight) == 0 or self.kind != "all" or is_whole(self.weight)
        times = counts if whole else counts > 0
        return np.repeat(np.arange(self.n), times.astype(np.int64))

    def noise(self, b: int) -> Rng:
        """Randomness for the redrawn targets of member b."""
        return stream(self.seed, b, NOISE)

    def drawn(self, b: int) -> Any:
        """The rows that member b draws, in no order."""
        if self.kind == "disjoint":
            owner = self._virtual(None)
            order = stream(self.seed, DEAL).permutation(len(owner))
            return owner[order[b % self.members :: self.members]]
        rng = stream(self.seed, b)
        if not self.balance:
            return self._draw(rng, None, self.draws)
        lists = [self._virtual(k) for k in range(int(self.codes.max()) + 1)]
        sizes = [len(rows) for rows in lists if len(rows)]
        each = min(sizes) if self.balance == "under" else max(sizes)
        return np.concatenate([self._draw(rng, k, each) for k, v in enumerate(lists) if len(v)])

    def _virtual(self, k: int | None) -> Any:
        """The row of every virtual row (of class k)."""
        rows = self.order if k is None else self.order[self.codes[self.order] == k]
        if len(self.weight) == 0:
            return rows
        w = self.weight[rows]
        return np.repeat(rows, w.astype(np.int64)) if is_whole(self.weight) else rows[w > 0]

    def _draw(self, rng: Rng, k: int | None, draws: int) -> Any:
        owner = self._virtual(k)
        chance = None
        if len(self.weight) and not is_whole(self.weight):
            chance = self.weight[owner] / self.weight[owner].sum()
        if self.replace and chance is None:
            return owner[rng.integers(0, len(owner), draws)]
        draws = draws if self.replace else min(draws, len(owner))
        return owner[rng.choice(len(owner), draws, replace=self.replace, p=chance)]


def refuse_fewer(n_estimators: int, kept: int, what: str) -> None:
    """Refuse a warm start with more members than are asked for."""
    if kept > n_estimators:
        raise ValueError(
            f"n_estimators={n_estimators} must be at least the {kept} {what} that "
            "warm_start=True keeps"
        )


def is_whole(w: Array) -> bool:
    """Whether weights say how often a row is written."""
    return bool((w == np.floor(w)).all() and w.sum() < 2**31)


def draw_count(max_samples: float | None, n: int, *, replace: bool = True) -> int:
    """Rows to draw out of n; more than there are only with replacement.

    >>> draw_count(None, 10), draw_count(0.25, 10), draw_count(3, 10), draw_count(25, 10)
    (10, 2, 3, 25)
    """
    if max_samples is None:
        return n
    number = isinstance(max_samples, Real) and not isinstance(max_samples, bool)
    whole = number and isinstance(max_samples, Integral)
    most: float = MOST_DRAWS if replace else n
    if whole and 1 <= int(max_samples) <= most:
        return int(max_samples)
    if number and not whole and 0 < float(max_samples) * n <= most:
        return max(1, round(n * float(max_samples)))
    rows = f"without replacement at most {n}" if not replace else f"at most {MOST_DRAWS}"
    accepted = f"None, a whole number >= 1 or a share > 0 of the rows, {rows}"
    raise ValueError(f"max_samples must be {accepted}, got {max_samples!r}")


def make_sampler(
    sampling: Any, seed: int, w: Array, members: int, order: IntArray, codes: IntArray | None = None
) -> Sampler:
    """The sampler of a value object (None: all rows)."""
    n = len(w)
    plain = bool((w == 1).all())
    weight = np.zeros(0) if plain else np.array(w, np.float64)
    total = n if plain else int(w.sum()) if is_whole(w) else int(np.count_nonzero(w))
    none = np.zeros(0, np.int64)
    if sampling is None:
        return Sampler("all", seed, n, total, False, "", 0.0, members, weight, none, order)
    if isinstance(sampling, Disjoint):
        if members > total:
            got = f"{total} rows and n_estimators={members}"
            raise ValueError(f"sampling=Disjoint() needs a row for every member, got {got}")
        return Sampler("disjoint", seed, n, total, False, "", 0.0, members, weight, none, order)
    if not isinstance(sampling, Bootstrap):
        raise ValueError(f"{SAMPLINGS}, got {sampling!r}")
    check.boolean(replace=sampling.replace)
    check.non_negative(label_noise=sampling.label_noise)
    if sampling.label_noise > 1:
        raise ValueError(f"label_noise must be in [0, 1], got {sampling.label_noise!r}")
    if sampling.balance is not None:
        check.one_of(("under", "over"), balance=sampling.balance)
        if codes is None:
            raise ValueError("balance needs classes: it has no meaning for numbers")
    draws = draw_count(sampling.max_samples, total, replace=bool(sampling.replace))
    kept = none if sampling.balance is None else np.array(codes, np.int64)
    rule = bool(sampling.replace), sampling.balance or "", float(sampling.label_noise)
    return Sampler("bootstrap", seed, n, draws, *rule, members, weight, kept, order)


def bootstrap_indices(
    n_samples: int, n_draws: int | None = None, *, random_state: Seed = None
) -> Bag:
    """Draw rows with replacement: ``(in_bag, out_of_bag)``.

    Parameters
    ----------
    n_samples : int
        Rows to draw from.
    n_draws : int, default=None
        Rows to draw; None: ``n_samples``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draw.

    Examples
    --------
    >>> bag = bootstrap_indices(1000, random_state=0)
    >>> len(bag.in_bag), 0.3 < len(bag.out_of_bag) / 1000 < 0.43
    (1000, True)
    """
    check.whole(n_samples=n_samples)
    if n_draws is not None:
        check.whole(n_draws=n_draws)
    rng = generator(random_state)
    in_bag = rng.integers(0, n_samples, n_samples if n_draws is None else n_draws)
    seen = np.zeros(n_samples, bool)
    seen[in_bag] = True
    return Bag(in_bag, np.flatnonzero(~seen))
