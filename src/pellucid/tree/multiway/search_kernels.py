r"""The best question of a node of a multiway tree: every category a branch, numbers cut in two.

Cells come as ranks (d, n), -1 for a missing cell: a category's code, or the place of a number among
the distinct numbers of its column. Sums of a group of examples are class weights (K,), or
(W, sum y, sum y^2). A question is scored as in ``multiway.py``:

    gain  = (share of examples with known value) x [impurity(all) - sum_g share_g impurity(g)]
    merit = gain, or gain / H_A where H_A is the entropy of the shares

and with gain / H_A by C4.5's rules: a question has two branches of at least CASES examples, the cut
of a number is the one of greatest gain, and pays log2(cuts to choose from) / examples of it.

Sorting a node's examples by rank is a counting sort, byte by byte, so that nothing but additions
and moves is compiled.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.runtime.jit import jit

ENTROPY, RATIO, GINI, SQUARED = 0, 1, 2, 3
TIE = 1e-12  # a question must be better by this much to displace an earlier one
SHORT = 48  # examples that are sorted by insertion
CASES = 2.0  # weight that two branches of C4.5 must have
FEW = 16  # categories that are summed up twice, over every other example


class Cells(NamedTuple):
    """The training table as whole numbers."""

    rank: Any  # (d, n) int32, -1 missing
    size: Any  # (d,) int64: number of distinct values
    categorical: Any  # (d,) uint8
    label: Any  # (n,) int32: numbers that tell targets apart
    y: Any  # (n,) about its centre; read for numbers only


class Room(NamedTuple):
    """Memory of one growth."""

    groups: Any  # (largest number of categories + FEW, q)
    present: Any  # (largest number of categories + FEW,) int64
    left: Any  # (q,)
    whole: Any  # (q,)
    lost: Any  # (q,)
    total: Any  # (q,)
    pair: Any  # (2, q)
    order: Any  # (2, room for a node) int32: places within the node
    start: Any  # (257,) int64
    label: Any  # (room for a node,) int32: of its examples
    y: Any  # (room for a node,)


@jit
def add_example(S, criterion, label, y, w):
    """One example more in the sums of its group."""
    if criterion == SQUARED:
        S[0] += w
        S[1] += w * y
        S[2] += w * (y * y)
    else:
        S[label] += w


@jit
def weight_of(S, criterion):
    """The weight of a group from its sums."""
    W = S[0]
    if criterion != SQUARED:
        for k in range(1, len(S)):
            W += S[k]
    return W


@jit
def clear(S):
    """S = 0; a loop, since array expressions take long to compile."""
    for k in range(len(S)):
        S[k] = 0.0


@jit
def add(S, T):
    """S += T."""
    for k in range(len(S)):
        S[k] += T[k]


@jit
def impurity_of(S, criterion):
    """Entropy in bits, gini, or variance of a group from its sums."""
    W = weight_of(S, criterion)
    if not W > 0:
        return 0.0
    if criterion == SQUARED:
        return max(S[2] / W - (S[1] / W) ** 2, 0.0)
    out = 0.0
    for k in range(len(S)):
        p = S[k] / W
        if criterion == GINI:
            out += p * (1.0 - p)
        elif p > 0:
            out -= p * np.log2(p)
    return out


@jit
def score_groups(groups, n_groups, total, criterion):
    """(merit, gain) of a division of known examples; merit nan where all are in one group."""
    clear(total)
    for g in range(n_groups):
        add(total, groups[g])
    W = weight_of(total, criterion)
    inside, information = 0.0, 0.0
    for g in range(n_groups):
        share = weight_of(groups[g], criterion) / W
        if share > 0:
            inside += share * impurity_of(groups[g], criterion)
            if criterion == RATIO:
                information -= share * np.log2(share)
    gain = impurity_of(total, criterion) - inside
    if criterion != RATIO:
        return gain, gain
    return (gain / information if information > 0 else np.nan), gain


@jit
def score_categories(cells, j, rows, w, criterion, min_leaf, fractions, room):
    """(merit, gain, value that missing cells count as) of one branch per value; merit nan: none."""
    rank, m, size = cells.rank[j], len(rows), cells.size[j]
    groups, present = room.groups, room.present
    twin = size if size <= FEW else 0  # every other example, so that no sum waits for the last
    for g in range(size + twin):
        clear(groups[g])
        present[g] = 0
    clear(room.lost)
    lost, lost_weight, known_weight = 0, 0.0, 0.0
    for i in range(m):
        code = rank[rows[i]]
        if code >= 0:
            code += (i & 1) * twin
            add_example(groups[code], criterion, room.label[i], room.y[i], w[i])
            present[code] += 1
        else:
            add_example(room.lost, criterion, room.label[i], room.y[i], w[i])
            lost += 1
            lost_weight += w[i]
    for g in range(twin):
        add(groups[g], groups[size + g])
        present[g] += present[size + g]
    for g in range(size if lost > 0 else 0):
        known_weight += weight_of(groups[g], criterion)
    mode = -1
    if lost == m:
        return np.nan, 0.0, mode
    if lost > 0 and not fractions:
        heaviest = -1.0
        for g in range(size):
            weight = weight_of(groups[g], criterion)
            if weight > heaviest:
                heaviest, mode = weight, g
        add(groups[mode], room.lost)
        present[mode] += lost
        lost_weight = 0.0
    values, least = 0, m
    for g in range(size):
        if present[g] > 0:
            values += 1
            least = min(least, present[g])
    if values < 2 or least < min_leaf:
        return np.nan, 0.0, mode
    if criterion == RATIO:
        reasonable = 0
        for g in range(size):
            reasonable += weight_of(groups[g], criterion) >= CASES - TIE
        if reasonable < 2:
            return np.nan, 0.0, mode
    share = known_weight / (known_weight + lost_weight) if lost_weight > 0 else 1.0
    merit, gain = score_groups(groups, size, room.total, criterion)
    return merit * share, gain * share, mode


@jit
def sort_places(rank, rows, size, room):
    """Places of a node's known examples by increasing rank, stable; (how many, which buffer)."""
    m, order = 0, room.order
    for i in range(len(rows)):
        if rank[rows[i]] >= 0:
            order[0, m] = i
            m += 1
    if m <= SHORT:
        for i in range(1, m):
            one, k = order[0, i], i
            value = rank[rows[one]]
            while k > 0 and rank[rows[order[0, k - 1]]] > value:
                order[0, k] = order[0, k - 1]
                k -= 1
            order[0, k] = one
        return m, 0
    start, shift, now = room.start, 0, 0
    while size >> shift > 0:
        for b in range(257):
            start[b] = 0
        for i in range(m):
            start[((rank[rows[order[now, i]]] >> shift) & 255) + 1] += 1
        for b in range(256):
            start[b + 1] += start[b]
        for i in range(m):
            one = order[now, i]
            byte = (rank[rows[one]] >> shift) & 255
            order[1 - now, start[byte]] = one
            start[byte] += 1
        shift, now = shift + 8, 1 - now
    return m, now


@jit
def score_cut(room, criterion, lost):
    """(merit, gain, side of missing cells) of left against right; ``lost``: they join a side."""
    pair = room.pair
    for k in range(len(room.left)):
        pair[0, k], pair[1, k] = room.left[k], room.whole[k] - room.left[k]
    side = 0 if weight_of(pair[0], criterion) >= weight_of(pair[1], criterion) else 1
    if lost:
        add(pair[side], room.lost)
    merit, gain = score_groups(pair, 2, room.total, criterion)
    return merit, gain, side


@jit
def least_side(known_weight, n_classes):
    """Weight that both sides of C4.5's cut must have: a tenth of a class's share, 2 to 25."""
    return min(max(0.1 * known_weight / n_classes, CASES), 25.0)


@jit
def score_numbers(cells, j, rows, w, criterion, min_leaf, fractions, room):
    """(merit, gain, rank below, rank above, side) of the best cut.

    Without a least weight of the sides some best cut lies where the label changes: others are left
    out but for C4.5, which weighs them all.
    """
    rank, label = cells.rank[j], room.label
    m, now = sort_places(rank, rows, cells.size[j], room)
    order = room.order[now]
    clear(room.left)
    clear(room.whole)
    clear(room.lost)
    known_weight, weight = 0.0, 0.0
    for i in range(len(rows)):
        weight += w[i]
        if rank[rows[i]] < 0:
            add_example(room.lost, criterion, room.label[i], room.y[i], w[i])
    for i in range(m):
        at = order[i]
        known_weight += w[at]
        add_example(room.whole, criterion, room.label[at], room.y[at], w[at])
    lost = m < len(rows) and not fractions
    ratio = criterion == RATIO
    side_weight = least_side(known_weight, len(room.left)) - TIE if ratio else 0.0
    tries, ahead = 0, 0.0  # C4.5: cuts to choose from, weight below the cut
    best, gain, below, above, side = np.nan, 0.0, -1, -1, 0
    single, begin = -1, 0  # the one label of the group before, -1: several
    i = 0
    while i < m:
        value, own, end = rank[rows[order[i]]], label[order[i]], i
        while end < m and rank[rows[order[end]]] == value:
            if label[order[end]] != own:
                own = -1
            end += 1
        changes = ratio or own < 0 or single < 0 or own != single
        wide = (
            i > 0 and min(i, m - i) >= min_leaf and min(ahead, known_weight - ahead) >= side_weight
        )
        tries += wide
        if changes and wide:
            found, its_gain, its_side = score_cut(room, criterion, lost)
            better = not its_gain <= gain + TIE if ratio else not found <= best + TIE
            if found == found and better:
                best, gain, side = found, its_gain, its_side
                below, above = begin, value
        while i < end:
            at = order[i]
            add_example(room.left, criterion, room.label[at], room.y[at], w[at])
            ahead += w[at]
            i += 1
        single, begin = own, value
    share = known_weight / weight if m < len(rows) and fractions else 1.0
    if ratio and below >= 0:
        paid = gain * share - np.log2(tries) / weight
        if not paid > 0:
            return np.nan, 0.0, -1, -1, 0
        return best * paid / gain, paid, below, above, side
    return best * share, gain * share, below, above, side
