"""Variable elimination in one kernel call: prune, order, multiply and sum out.

Factors are views of one arena: the tables of the network lie at its front, so evidence is an
offset and a stride, not a copy; intermediate tables are stacked behind. A factor f is its offset
``at[f]`` and, for its variables ``var[first[f] : first[f+1]]``, their strides.

Pruning: a family counts only if its variable is an ancestor of a target or of evidence (the rest
is barren), and only if it is joined to a target through unobserved variables. What is not joined
is a constant that cancels; it is worked out only where one of its tables holds a zero, since only
then the evidence can be impossible.

Counters that go to another kernel begin as ``np.int64``: a bare 0 is a type of its own to the
compiler, which would make a second version of the kernel for it.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

CHUNK = 12  # factors multiplied at once: below 1e-300 a product of more could underflow
SMALL = 1e-60


@jit
def _mark_ancestors(targets, seen, parent_start, parents, mark, stack):
    """mark = 1 for targets, evidence and their ancestors."""
    size, k = 0, len(targets)
    for i in range(k + len(seen)):
        v = targets[i] if i < k else seen[i - k]
        if mark[v] == 0:
            mark[v] = 1
            stack[size] = v
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for q in range(parent_start[v], parent_start[v + 1]):
            p = parents[q]
            if mark[p] == 0:
                mark[p] = 1
                stack[size] = p
                size += 1


@jit
def _add_family(v, f, r, card, parent_start, parents, start, obs, loc, glo, at, first, var, stride):
    """Factor f becomes the table of v at the evidence; returns the number of variables so far."""
    offset, end, step = start[v], first[f], 1
    n_parents = parent_start[v + 1] - parent_start[v]
    for z in range(n_parents, -1, -1):  # itself varies fastest, then the parents backwards
        w = v if z == n_parents else parents[parent_start[v] + z]
        if obs[w] >= 0:
            offset += step * obs[w]
        else:
            if loc[w] < 0:
                loc[w] = r
                glo[r] = w
                r += 1
            var[end] = loc[w]
            stride[end] = step
            end += 1
        step *= card[w]
    at[f] = offset
    first[f + 1] = end
    return r


@jit
def _join(i, r, f, child_start, children, mark, family):
    """Add the families of local variables i, i + 1, ... until no new variable turns up.

    ``family`` are the last arguments of ``_add_family``.
    """
    glo = family[6]
    while i < r:
        u = glo[i]
        i += 1
        for q in range(child_start[u] - 1, child_start[u + 1]):
            v = u if q < child_start[u] else children[q]
            if mark[v] == 1:
                mark[v] = 2
                r = _add_family(v, f, r, *family)
                f += 1
    return r, f


@jit
def _neighbours(r, nf, first, var):
    """Which variables share a factor; each is its own neighbour."""
    adj = np.zeros((r, r), np.uint8)
    for a in range(r):
        adj[a, a] = 1
    for f in range(nf):
        for y in range(first[f], first[f + 1]):
            for z in range(first[f], first[f + 1]):
                adj[var[y], var[z]] = 1
    return adj


@jit
def _score(v, adj, log_card, heuristic):
    """What the greedy order minimises: 0 table size, 1 fill-in edges, 2 their weights."""
    r = len(adj)
    weight = 0.0
    fill = 0.0
    for a in range(r):
        if adj[v, a] == 0:
            continue
        weight += log_card[a]
        if heuristic > 0 and a != v:
            for b in range(a):
                if b != v and adj[v, b] and adj[a, b] == 0:
                    fill += 1.0 if heuristic == 1 else np.exp(log_card[a] + log_card[b])
    return weight if heuristic == 0 else fill + 1e-6 * weight


@jit
def _order(keep, adj, log_card, heuristic, order):
    """Greedy order of the variables keep, keep + 1, ...

    Returns entries in all, the largest table, the lengths of all scopes, the longest one and the
    step with the largest table.
    """
    r = len(adj)
    score = np.empty(r)
    for a in range(keep, r):
        score[a] = _score(a, adj, log_card, heuristic)
    around = np.empty(r, np.int64)
    total, largest, links, widest, worst = 0.0, 0.0, 0, max(keep, 1), -1
    for step in range(r - keep):
        v = -1
        for a in range(keep, r):
            if score[a] >= 0 and (v < 0 or score[a] < score[v]):
                v = a
        order[step] = v
        score[v] = -1.0
        ns = 0
        size = 0.0
        for b in range(r):
            if adj[v, b] and b != v:
                around[ns] = b
                ns += 1
                size += log_card[b]
        links += ns
        widest = max(widest, ns)
        total += np.exp(size)
        if np.exp(size + log_card[v]) > largest:
            largest = np.exp(size + log_card[v])
            worst = step
        for i in range(ns):
            a = around[i]
            adj[a, v] = 0
            for j in range(ns):
                adj[a, around[j]] = 1
        if heuristic == 0:
            for i in range(ns):
                a = around[i]
                if score[a] >= 0:
                    score[a] = _score(a, adj, log_card, heuristic)
        else:
            for a in range(keep, r):
                if score[a] >= 0:
                    score[a] = _score(a, adj, log_card, heuristic)
    return total, largest, links, widest, worst


@jit
def _strides(use, k, v, scope, ns, at, first, var, stride, off, own, by):
    """Offsets of the factors, their strides along v and along the dimensions of the scope."""
    for j in range(k):
        f = use[j]
        off[j] = at[f]
        own[j] = 0
        for d in range(ns):
            by[d, j] = 0
        for z in range(first[f], first[f + 1]):
            if var[z] == v:
                own[j] = stride[z]
            else:
                for d in range(ns):
                    if scope[d] == var[z]:
                        by[d, j] = stride[z]


@jit
def _multiply(arena, a, b, cv, cd, ns, off, own, by, digit, into, summed):
    """Products of factors a .. b-1 over the scope, summed over v.

    Or not ``summed``: with v as last dimension, multiplied into what is there unless a is 0.
    """
    for d in range(ns):
        digit[d] = 0
    e = ns - 1 if ns > 0 else 0
    last = cd[e] if ns > 0 else 1
    outer = 1
    for d in range(ns - 1):
        outer *= cd[d]
    place = into
    for _ in range(outer):
        for i in range(last):
            acc = 0.0
            if summed and b - a == 2:
                p = off[a] + i * by[e, a]
                q = off[a + 1] + i * by[e, a + 1]
                for _c in range(cv):
                    acc += arena[p] * arena[q]
                    p += own[a]
                    q += own[a + 1]
            else:
                for c in range(cv):
                    x = 1.0
                    for j in range(a, b):
                        x *= arena[off[j] + i * by[e, j] + c * own[j]]
                    if summed:
                        acc += x
                    else:
                        arena[place] = arena[place] * x if a > 0 else x
                        place += 1
            if summed:
                arena[place] = acc
                place += 1
        d = ns - 2
        while d >= 0:
            digit[d] += 1
            if digit[d] < cd[d]:
                for j in range(a, b):
                    off[j] += by[d, j]
                break
            digit[d] = 0
            for j in range(a, b):
                off[j] -= by[d, j] * (cd[d] - 1)
            d -= 1


@jit
def _rescale(arena, low, high):
    """Divide by the largest entry where it is small; returns its logarithm."""
    top = 0.0
    for i in range(low, high):
        top = max(top, arena[i])
    if top <= 0.0 or top > SMALL:
        return 0.0
    for i in range(low, high):
        arena[i] /= top
    return np.log(top)


@jit
def _combine(arena, top, use, k, v, cv, scope, cd, ns, at, first, var, stride, off, own, by, digit):
    """The product of the factors with v summed out, at ``top``; returns (log scale, size)."""
    size = 1
    for d in range(ns):
        size *= cd[d]
    _strides(use, k, v, scope, ns, at, first, var, stride, off, own, by)
    if ns == 0:
        for j in range(k):
            by[0, j] = 0  # read as the last dimension of an empty scope
    at_once = k <= CHUNK
    work, n = (top, size) if at_once else (top + size, size * cv)
    if work + n > len(arena):
        return 0.0, -1
    log_scale = 0.0
    for a in range(0, max(k, 1), CHUNK):
        _multiply(arena, a, min(a + CHUNK, k), cv, cd, ns, off, own, by, digit, work, at_once)
        log_scale += _rescale(arena, work, work + n)
    if not at_once:
        for o in range(size):
            acc = 0.0
            for c in range(cv):
                acc += arena[work + o * cv + c]
            arena[top + o] = acc
    return log_scale, size


@jit
def _run(keep, r, nf, widest, order, cards, arena, top, at, first, var, stride, out):
    """Eliminate along the order, then multiply what is left over the targets into ``out``."""
    most = nf + r - keep + 1
    alive = np.ones(most, np.uint8)
    head = np.full(r, -1, np.int64)
    link = np.empty(len(var), np.int64)
    owner = np.empty(len(var), np.int64)
    for f in range(nf):
        for z in range(first[f], first[f + 1]):
            owner[z] = f
            link[z] = head[var[z]]
            head[var[z]] = z
    use = np.empty(most, np.int64)
    off, own = np.empty(most, np.int64), np.empty(most, np.int64)
    by = np.zeros((widest, most), np.int64)
    scope, cd = np.empty(r + 1, np.int64), np.empty(r + 1, np.int64)
    digit = np.empty(r + 1, np.int64)
    inside = np.zeros(r, np.int64)
    log_scale = 0.0
    size = np.int64(0)
    for step in range(r - keep + 1):
        last = step == r - keep  # what is left, over the targets
        v = np.int64(-1) if last else order[step]
        k, ns = np.int64(0), np.int64(0)
        z = -1 if last else head[v]
        while z >= 0:
            f = owner[z]
            if alive[f]:
                alive[f] = 0
                use[k] = f
                k += 1
                for y in range(first[f], first[f + 1]):
                    u = var[y]
                    if u != v and inside[u] != step + 1:
                        inside[u] = step + 1
                        scope[ns] = u
                        cd[ns] = cards[u]
                        ns += 1
            z = link[z]
        if last:
            for f in range(nf):
                if alive[f]:
                    use[k] = f
                    k += 1
            for d in range(keep):
                scope[d] = d
                cd[d] = cards[d]
            ns = keep
        cv = np.int64(1) if last else cards[v]
        gained, size = _combine(
            arena, top, use, k, v, cv, scope, cd, ns, at, first, var, stride, off, own, by, digit
        )
        if size < 0:
            return -np.inf, False
        log_scale += gained
        if last:
            break
        at[nf] = top
        end = first[nf]
        jump = 1
        for d in range(ns - 1, -1, -1):
            var[end] = scope[d]
            stride[end] = jump
            owner[end] = nf
            link[end] = head[scope[d]]
            head[scope[d]] = end
            jump *= cd[d]
            end += 1
        first[nf + 1] = end
        nf += 1
        top += size
    total = 0.0
    for i in range(size):
        total += arena[top + i]
    for i in range(size):
        out[i] = arena[top + i] / total if total > 0 else 0.0
    return (np.log(total) + log_scale if total > 0 else -np.inf), True


@jit
def answer(
    targets,
    seen,
    states,
    everything,
    heuristic,
    dry,
    card,
    parent_start,
    parents,
    child_start,
    children,
    start,
    n_flat,
    has_zero,
    arena,
    order,
    out,
):
    """The posterior of the targets at the evidence, into ``out``.

    ``everything`` = 1 keeps what is not joined to the targets, so that the log of the constant is
    log P(evidence); 2 keeps barren variables too. Returns (done, log constant, entries needed,
    largest table, variables eliminated, the step with the largest table or -1 for the answer's
    own); with ``dry`` only the plan, in ``order``.
    """
    n = len(card)
    obs, loc = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    mark, glo = np.zeros(n, np.int64), np.empty(n, np.int64)
    for v in range(n):
        if card[v] == 1:
            obs[v] = 0
    for i in range(len(seen)):
        obs[seen[i]] = states[i]
    keep = len(targets)
    for i in range(keep):
        obs[targets[i]] = -1
        loc[targets[i]] = i
        glo[i] = targets[i]
    _mark_ancestors(targets, seen, parent_start, parents, mark, np.empty(n, np.int64))
    if everything == 2:
        for v in range(n):
            mark[v] = 1
    cells = 0
    families = 0
    for v in range(n):
        if mark[v]:
            families += 1
            cells += parent_start[v + 1] - parent_start[v] + 1
    at, first = np.empty(2 * n + 2, np.int64), np.zeros(2 * n + 3, np.int64)
    var, stride = np.empty(cells, np.int64), np.empty(cells, np.int64)
    family = (card, parent_start, parents, start, obs, loc, glo, at, first, var, stride)
    r, nf = keep, np.int64(0)
    for v in range(-1, n):  # first what the targets join, then what is left
        begin = np.int64(0)
        if v >= 0:
            if mark[v] != 1 or not (everything > 0 or has_zero[v]):
                continue
            mark[v] = 2
            begin = np.int64(r)
            r = _add_family(v, nf, r, *family)
            nf += 1
        r, nf = _join(begin, r, nf, child_start, children, mark, family)
    cards, log_card = np.empty(r, np.int64), np.empty(r)
    for a in range(r):
        cards[a] = card[glo[a]]
        log_card[a] = np.log(cards[a])
    adj = _neighbours(r, nf, first, var)
    plan = np.empty(r - keep, np.int64)
    total, largest, links, widest, worst = _order(keep, adj, log_card, heuristic, plan)
    last = 1.0
    for a in range(keep):
        last *= cards[a]
    total += last
    if last > largest:
        largest, worst = last, -1
    for i in range(r - keep):
        order[i] = glo[plan[i]]
    if dry or n_flat + total > len(arena):
        return False, -np.inf, total, largest, r - keep, worst
    used = first[nf]
    more_var, more_stride = np.empty(used + links, np.int64), np.empty(used + links, np.int64)
    more_var[:used], more_stride[:used] = var[:used], stride[:used]
    log_p, done = _run(
        keep, r, nf, widest, plan, cards, arena, n_flat, at, first, more_var, more_stride, out
    )
    return done, log_p, total, largest, r - keep, worst
