r"""Expected counts of incomplete rows: one propagation for rows that need the same.

Given the observed cells of a row, its missing variables fall into groups that are independent of
each other: the connected parts of the moral graph among the missing nodes. The posterior of a
group M depends on the row only through the cells of its boundary (the observed members of the
families that touch M). So rows are not completed one by one: every distinct pair (group, values
of its boundary) is propagated once, with the weight of all rows that share it, and all values of
one group at the same time (the rows are one axis of every array).

Propagation  bucket elimination up, conditionals down: eliminating x from the product psi of the
             factors that hold it leaves m = sum_x psi and p(x | rest) = psi / m; going back,
             belief(psi) = p(x | rest) belief(rest).
Gives        log p(observed cells) and E[N] of every family that touches a missing cell.

Cost         distinct boundary values x the largest bucket of the group, for every group.

References: Dechter (1999); Koller & Friedman (2009), sections 9.3 and 19.2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray

MOST_CELLS = 1 << 24  # numbers in one array of a propagation; more rows go in several pieces
LARGEST_BUCKET = 1 << 27  # numbers of one row: 1 GiB


class Bucket(NamedTuple):
    """One elimination: ``factors`` are places in the list of families and earlier messages."""

    variable: int
    scope: tuple[int, ...]  # missing variables, the eliminated one last
    factors: tuple[tuple[int, tuple[int, ...]], ...]  # (place, its missing scope)


class Group(NamedTuple):
    """Missing variables that hang together, and every distinct boundary they were seen with."""

    missing: tuple[int, ...]
    families: tuple[int, ...]  # v whose family touches ``missing``
    cells: tuple[IntArray, ...]  # per family (m, missing axes..): places in its flattened table
    scopes: tuple[tuple[int, ...], ...]  # per family its missing variables
    buckets: tuple[Bucket, ...]
    w: Array  # (m,)
    rows: IntArray  # rows of the data, and
    number: IntArray  # for each of them which of the m it is


def moral_neighbours(parents: Sequence[Sequence[int]], used: Sequence[int]) -> list[set[int]]:
    """The moral graph of these families: each is a clique."""
    near: list[set[int]] = [set() for _ in parents]
    for v in used:
        some = parents[v]
        for a in (*some, v):
            near[a].update(b for b in (*some, v) if b != a)
    return near


def connected_parts(nodes: Sequence[int], near: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """The connected parts of ``nodes``, each sorted.

    >>> connected_parts([0, 1, 3], [{1}, {0}, {3}, {2}])
    [(0, 1), (3,)]
    """
    left, parts = set(nodes), []
    for node in nodes:
        if node in left:
            part, stack = {node}, [node]
            left.discard(node)
            while stack:
                for b in near[stack.pop()] & left:
                    left.discard(b)
                    part.add(b)
                    stack.append(b)
            parts.append(tuple(sorted(part)))
    return parts


def needed(parents: Sequence[tuple[int, ...]], wanted: Sequence[int]) -> set[int]:
    """The wanted variables and their ancestors: what else is missing sums to 1."""
    found, stack = set(wanted), list(wanted)
    while stack:
        for u in parents[stack.pop()]:
            if u not in found:
                found.add(u)
                stack.append(u)
    return found


def plan_groups(
    codes: IntArray,
    w: Array,
    parents: Sequence[tuple[int, ...]],
    card: IntArray,
    keep: tuple[int, ...] | None = None,
) -> list[Group]:
    """Every group of missing variables of the rows, with its distinct boundaries.

    With ``keep``, missing variables that are neither in it nor above anything observed are left
    out (they would sum to 1); None: all are kept, since EM wants the counts of their families.
    """
    absent = codes < 0
    rows = np.flatnonzero(absent.any(axis=0))
    if len(rows) == 0:
        return []
    masks, inverse = np.unique(np.packbits(absent[:, rows], axis=0).T, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    cuts = np.cumsum(np.bincount(inverse.ravel(), minlength=len(masks)))[:-1]
    every = list(range(len(parents)))
    near = moral_neighbours(parents, every)
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], list[IntArray]] = {}
    for some in np.split(rows[order], cuts):
        gone, used = absent[:, some[0]], every
        if keep is not None:
            used = sorted(needed(parents, [*np.flatnonzero(~gone).tolist(), *keep]))
            near = moral_neighbours(parents, used)
        for part in connected_parts([v for v in used if gone[v]], near):
            inside = set(part)
            families = tuple(v for v in used if inside & {*parents[v], v})
            found.setdefault((part, families), []).append(some)
    return [
        _group(part, families, np.sort(np.concatenate(parts)), codes, w, parents, card)
        for (part, families), parts in sorted(found.items())
    ]


def _group(
    part: tuple[int, ...],
    families: tuple[int, ...],
    rows: IntArray,
    codes: IntArray,
    w: Array,
    parents: Sequence[tuple[int, ...]],
    card: IntArray,
) -> Group:
    inside = set(part)
    members = {u for v in families for u in (*parents[v], v)}
    boundary = sorted(members - inside)
    values, number = distinct_columns(codes[boundary][:, rows], card[boundary])
    weight = np.bincount(number, w[rows], values.shape[1]).astype(np.float64)
    place = {u: i for i, u in enumerate(boundary)}
    cells, scopes = [], []
    for v in families:
        family = (*parents[v], v)
        scope = tuple(u for u in family if u in inside)
        cells.append(_places(family, scope, values, place, card))
        scopes.append(scope)
    buckets = plan_buckets(part, scopes, card)
    return Group(part, families, tuple(cells), tuple(scopes), buckets, weight, rows, number)


def distinct_columns(values: IntArray, card: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct columns and the number of each column among them."""
    if len(values) == 0:
        return np.zeros((0, 1), np.int64), np.zeros(values.shape[1], np.int64)
    code = np.zeros(values.shape[1], np.int64)
    size = 1
    for row, c in zip(values, card.tolist(), strict=True):
        if size * c >= 1 << 62:  # renumber what is there
            seen, code = np.unique(code, return_inverse=True)
            size = len(seen)
        code = code * c + row
        size *= c
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return values[:, first].astype(np.int64), number.ravel()


def _places(
    family: tuple[int, ...],
    scope: tuple[int, ...],
    values: IntArray,
    place: dict[int, int],
    card: IntArray,
) -> IntArray:
    """Where the cells of a family lie in its flattened table, (m, missing axes..)."""
    at = np.zeros((values.shape[1], *(1 for _ in scope)), np.int64)
    for u in family:
        if u in scope:
            axis = [1] * at.ndim
            axis[1 + scope.index(u)] = -1
            own = np.arange(card[u]).reshape(axis)
        else:
            own = values[place[u]].reshape(-1, *(1 for _ in scope))
        at = at * card[u] + own
    return at


def plan_buckets(
    part: tuple[int, ...], scopes: Sequence[tuple[int, ...]], card: IntArray
) -> tuple[Bucket, ...]:
    """Eliminate the variable with the smallest bucket, again and again."""
    factors: dict[int, tuple[int, ...]] = dict(enumerate(scopes))
    left = set(part)
    buckets: list[Bucket] = []
    size = {v: int(card[v]) for v in part}

    def cells(v: int) -> float:
        return float(np.prod([size[u] for u in _union(factors, v)], dtype=np.float64))

    while left:
        v = min(sorted(left), key=cells)
        if cells(v) > LARGEST_BUCKET:
            raise MemoryError(
                f"summing over {len(part)} missing cells of a row needs a table of "
                f"{8 * cells(v):.3g} bytes; fewer latent variables or missing='drop' need less"
            )
        scope = (*(u for u in _union(factors, v) if u != v), v)
        used = tuple((f, s) for f, s in factors.items() if v in s)
        for f, _ in used:
            del factors[f]
        factors[len(scopes) + len(buckets)] = scope[:-1]
        buckets.append(Bucket(v, scope, used))
        left.discard(v)
    return tuple(buckets)


def _union(factors: dict[int, tuple[int, ...]], v: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(u for s in factors.values() if v in s for u in s))


def _aligned(values: Array, own: tuple[int, ...], scope: tuple[int, ...]) -> Array:
    """A factor with axes ``own`` as one that multiplies an array with axes ``scope``."""
    order = [u for u in scope if u in own]
    values = values.transpose(0, *(1 + own.index(u) for u in order))
    shape = iter(values.shape[1:])
    return values.reshape(len(values), *(next(shape) if u in own else 1 for u in scope))


def propagate(group: Group, tables: Sequence[Array], start: int, stop: int) -> tuple[Array, list]:
    """log p of boundaries start..stop-1, and the belief of every bucket."""
    factors: dict[int, Array] = {
        i: tables[v].ravel()[cells[start:stop]]
        for i, (v, cells) in enumerate(zip(group.families, group.cells, strict=True))
    }
    log_p = np.zeros(stop - start)
    conditionals = []
    for b, bucket in enumerate(group.buckets):
        psi = np.ones(1)
        for f, own in bucket.factors:
            psi = psi * _aligned(factors.pop(f), own, bucket.scope)
        shape = (stop - start, *(tables[u].shape[-1] for u in bucket.scope))
        psi = np.broadcast_to(psi, shape)
        message = psi.sum(axis=-1)
        safe = np.where(message > 0, message, 1.0)
        conditionals.append(psi / safe[..., None])
        scale = message.reshape(len(message), -1).max(axis=1)
        with np.errstate(divide="ignore"):
            log_p += np.log(scale)  # -inf: the observed cells are impossible
        unit = np.where(scale > 0, scale, 1.0)
        factors[len(group.families) + b] = message / unit.reshape(-1, *(1,) * (message.ndim - 1))
    return log_p, _beliefs(group, conditionals)


def _beliefs(group: Group, conditionals: list[Array]) -> list[Array]:
    """p(variables of the bucket | boundary) for every bucket, the last first."""
    first = len(group.families)
    taker = {f: (b, own) for b, k in enumerate(group.buckets) for f, own in k.factors if f >= first}
    beliefs: list[Array] = list(conditionals)
    for b in range(len(group.buckets) - 1, -1, -1):
        if first + b in taker:
            above, own = taker[first + b]
            rest = marginal(beliefs[above], group.buckets[above].scope, own)
            beliefs[b] = conditionals[b] * rest[..., None]
    return beliefs


def marginal(belief: Array, scope: tuple[int, ...], keep: tuple[int, ...]) -> Array:
    """Sum a belief over all but ``keep``, with the axes in that order."""
    gone = tuple(1 + i for i, u in enumerate(scope) if u not in keep)
    left = [u for u in scope if u in keep]
    return belief.sum(axis=gone).transpose(0, *(1 + left.index(u) for u in keep))


def pieces(group: Group, tables: Sequence[Array]) -> list[tuple[int, int]]:
    """Ranges of boundaries whose arrays stay small."""
    cells = max(
        np.prod([tables[u].shape[-1] for u in bucket.scope], dtype=np.float64)
        for bucket in group.buckets
    )
    step = max(1, int(MOST_CELLS // cells))
    return [(a, min(a + step, len(group.w))) for a in range(0, len(group.w), step)]


class Expected(NamedTuple):
    counts: list[Array]  # per variable, in the shape of its table
    log_likelihood: float


def expected_counts(
    groups: Sequence[Group], complete: Sequence[Array], tables: Sequence[Array]
) -> Expected:
    """E[N] of every family, ``complete`` those of the rows whose family is all there."""
    counts = [N.ravel().copy() for N in complete]
    total = 0.0
    for N, theta in zip(complete, tables, strict=True):
        total += _log_sum(N, theta)
    for group in groups:
        for start, stop in pieces(group, tables):
            log_p, beliefs = propagate(group, tables, start, stop)
            w = group.w[start:stop]
            total += float((w[w > 0] * log_p[w > 0]).sum())
            for bucket, belief in zip(group.buckets, beliefs, strict=True):
                for f, own in bucket.factors:
                    if f < len(group.families):
                        share = marginal(belief, bucket.scope, own)
                        share = share * w.reshape(-1, *(1,) * len(own))
                        at, v = group.cells[f][start:stop], group.families[f]
                        counts[v] += np.bincount(at.ravel(), share.ravel(), len(counts[v]))
    shaped = [N.reshape(theta.shape) for N, theta in zip(counts, tables, strict=True)]
    return Expected(shaped, total)


def _log_sum(N: Array, theta: Array) -> float:
    seen = N > 0
    with np.errstate(divide="ignore"):
        return float((N[seen] * np.log(theta[seen])).sum())


def log_densities(
    codes: IntArray, parents: Sequence[tuple[int, ...]], tables: Sequence[Array], card: IntArray
) -> Array:
    """log p(observed cells) of every row, missing cells summed out."""
    n = codes.shape[1]
    out = np.zeros(n)
    with np.errstate(divide="ignore"):
        logs = [np.log(theta).ravel() for theta in tables]
    for v, some in enumerate(parents):
        at = np.zeros(n, np.int64)
        bad = np.zeros(n, bool)
        for u in (*some, v):
            at = at * card[u] + codes[u]
            bad |= codes[u] < 0
        out += np.where(bad, 0.0, logs[v][np.where(bad, 0, at)])
    for group in plan_groups(codes, np.ones(n), parents, card, ()):
        log_p = np.concatenate([propagate(group, tables, *p)[0] for p in pieces(group, tables)])
        out[group.rows] += log_p[group.number]
    return out


def posteriors(
    variable: int,
    codes: IntArray,
    parents: Sequence[tuple[int, ...]],
    tables: Sequence[Array],
    card: IntArray,
) -> Array:
    """p(variable | observed cells of the row) for every row, whatever else is missing too."""
    out = np.empty((codes.shape[1], int(card[variable])))
    hidden = codes.copy()
    hidden[variable] = -1
    for group in plan_groups(hidden, np.ones(codes.shape[1]), parents, card, (variable,)):
        if variable not in group.missing:
            continue
        bucket = next(i for i, k in enumerate(group.buckets) if k.variable == variable)
        scope = group.buckets[bucket].scope
        shares = [
            marginal(propagate(group, tables, *p)[1][bucket], scope, (variable,))
            for p in pieces(group, tables)
        ]
        out[group.rows] = np.concatenate(shares)[group.number]
    return out
