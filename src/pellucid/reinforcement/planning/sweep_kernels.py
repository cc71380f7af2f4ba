r"""Sweeps of value iteration over the sparse rows of a Markov decision process.

Row s A + a of (indptr, indices, p) holds the outcomes of action a in state s, r[s A + a] its
expected reward (-inf: not available; empty row of a terminal state: its value).

    U(s) <- max_a [r(s,a) + g sum_k p_k U(s_k)]

``marked_sweep`` visits only states one of whose successors has moved, and solves for U(s) where
an action may stay: q = (r + g sum_{s' /= s} p U(s')) / (1 - g p(s|s,a)).
"""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def sweep(indptr, indices, p, r, g, U, W, first, last):
    """W(s) for first <= s < last; returns max |W - U|. W may be U: then the newest values count."""
    A = len(r) // len(U)
    largest = 0.0
    for s in range(first, last):
        best = -np.inf
        k = indptr[s * A]
        for row in range(s * A, s * A + A):
            total = 0.0
            end = indptr[row + 1]
            while k < end:
                total += p[k] * U[indices[k]]
                k += 1
            best = max(best, r[row] + g * total)
        largest = max(largest, abs(best - U[s]))
        W[s] = best
    return largest


@jit
def marked_sweep(indptr, indices, p, r, g, U, marked, threshold, first, before):
    """One sweep in place over the marked states; who moves by more than threshold marks others.

    ``before[first[s]:first[s + 1]]`` are the states that may lead to s. Returns how many states
    were visited, how many are marked anew, and the largest change.
    """
    S = len(U)
    A = len(r) // S
    visited, waiting, largest = 0, 0, 0.0
    for s in range(S):
        if not marked[s]:
            continue
        marked[s] = False
        visited += 1
        best = -np.inf
        for row in range(s * A, s * A + A):
            total, stay = 0.0, 0.0
            for k in range(indptr[row], indptr[row + 1]):
                if indices[k] == s:
                    stay += p[k]
                else:
                    total += p[k] * U[indices[k]]
            q, rest = r[row] + g * total, 1.0 - g * stay
            if rest > 1e-12:
                q /= rest
            elif r[row] > 0.0:  # stays for ever and is paid for it: grows as in a plain sweep
                q += U[s]
            elif r[row] < 0.0:
                q = -np.inf
            best = max(best, q)
        change = abs(best - U[s])
        U[s] = best
        largest = max(largest, change)
        if change > threshold:
            for k in range(first[s], first[s + 1]):
                if before[k] != s:
                    marked[before[k]] = True
                    waiting += 1
    return visited, waiting, largest


@jit
def predecessors(indptr, indices, S, first, before):
    """List the states that may lead to each state, each once; returns the length of ``before``.

    ``first`` has S + 1 entries; ``before`` has room for every outcome.
    """
    A = (len(indptr) - 1) // S
    last = np.full(S, -1, np.int32)
    first[:] = 0
    for s in range(S):
        for k in range(indptr[s * A], indptr[s * A + A]):
            t = indices[k]
            if last[t] != s:
                last[t] = s
                first[t + 1] += 1
    for s in range(S):
        first[s + 1] += first[s]
        last[s] = -1
    place = first[:-1].copy()
    for s in range(S):
        for k in range(indptr[s * A], indptr[s * A + A]):
            t = indices[k]
            if last[t] != s:
                last[t] = s
                before[place[t]] = s
                place[t] += 1
    return first[S]


@jit
def breadth_first(first, before, seeds, order, depth):
    """Order the states by their distance to the seeds; returns how many can reach one.

    ``depth`` is the distance, -1 where there is no way; such states come last in ``order``.
    """
    n = 0
    depth[:] = -1
    for s in seeds:
        if depth[s] < 0:
            depth[s] = 0
            order[n] = s
            n += 1
    i = 0
    while i < n:
        t = order[i]
        i += 1
        for k in range(first[t], first[t + 1]):
            s = before[k]
            if depth[s] < 0:
                depth[s] = depth[t] + 1
                order[n] = s
                n += 1
    reached = n
    for s in range(len(order)):
        if depth[s] < 0:
            order[n] = s
            n += 1
    return reached


@jit
def renumber(order, indptr, indices, p, r, indptr2, indices2, p2, r2):
    """The same rows with state order[i] called i."""
    S = len(order)
    A = len(r) // S
    number = np.empty(S, np.int32)
    for i in range(S):
        number[order[i]] = i
    n = 0
    indptr2[0] = 0
    for i in range(S):
        for a in range(A):
            row = order[i] * A + a
            for k in range(indptr[row], indptr[row + 1]):
                indices2[n], p2[n] = number[indices[k]], p[k]
                n += 1
            indptr2[i * A + a + 1] = n
            r2[i * A + a] = r[row]


@jit
def improve(indptr, indices, p, r, g, U, W, actions, slack):
    """W = B U; give each state an action that is better by more than ``slack``, if any.

    With slack 0 from actions 0 on these are the greedy ones, the lowest index on ties. Returns how
    many actions were changed, and the least and the largest W(s) - U(s).
    """
    S = len(U)
    A = len(r) // S
    changed, low, high = 0, np.inf, -np.inf
    for s in range(S):
        best, at, own = -np.inf, 0, -np.inf
        k = indptr[s * A]
        for a in range(A):
            total = 0.0
            end = indptr[s * A + a + 1]
            while k < end:
                total += p[k] * U[indices[k]]
                k += 1
            q = r[s * A + a] + g * total
            if q > best:
                best, at = q, a
            if a == actions[s]:
                own = q
        W[s] = best
        low, high = min(low, best - U[s]), max(high, best - U[s])
        if best > own + slack:
            actions[s] = at
            changed += 1
    return changed, low, high


@jit
def follow(indptr, indices, p, r, g, U, actions, n_sweeps):
    """Sweeps U(s) <- r(s, a) + g sum p U in place for a = actions[s]; returns the last change."""
    S = len(U)
    A = len(r) // S
    largest = 0.0
    for _ in range(n_sweeps):
        largest = 0.0
        for s in range(S):
            row = s * A + actions[s]
            total = 0.0
            for k in range(indptr[row], indptr[row + 1]):
                total += p[k] * U[indices[k]]
            new = r[row] + g * total
            largest = max(largest, abs(new - U[s]))
            U[s] = new
    return largest
