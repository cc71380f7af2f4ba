r"""Coordinate descent for the lasso and the elastic net on cross-products.

With G = X'X, q = X'y and c = X'(y - X w) = q - G w, the objective (n times scikit-learn's) is

    F(w) = |y - X w|^2 / 2 + sum_j l1_j |w_j| + sum_j l2_j w_j^2 / 2

and one coordinate is solved exactly by the soft threshold S(t, l) = sign(t) max(|t| - l, 0):

    w_j = S(g_j + H_jj w_j, l1_j) / H_jj,      H = G + diag(l2),   g = c - l2 w.

Three ideas make it fast. Sweeps run on a compact copy of H that holds only the support and the
columns that break their optimality condition, so that it stays in cache. c of all columns is
brought up to date once per copy. When the sweeps have cost as much as a factorisation would, one
exact step is taken instead: solve H_SS d = g_S - l1_S sign(w_S) on the support S and follow d until
a coefficient reaches zero (F falls all the way); if none does, the support's problem is solved to
rounding.

The certificate is the duality gap F(w) - D(theta), with theta = s (y - X w), s the best factor that
keeps |x_j'theta| <= l1_j for all j; it bounds how far F(w) is from the minimum.

References: Friedman, Hastie & Tibshirani (2010), Regularization paths; Fercoq, Gramfort & Salmon
(2015), Mind the duality gap; Massias, Gramfort & Salmon (2018), Celer.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

ROUNDS = 500  # compact copies per problem
PIVOT = 1e-11  # a pivot below this share of its diagonal: the columns are dependent
FLOOR = 1e-32  # of y'y: gains that no longer change g
SWEEPS, SHARE = 10, 10  # an exact step is tried after 10 + m/10 sweeps: about what it costs
SLACK = 1e-10  # relative violation of |g_j| <= l1_j that rounding explains


@jit(reassociate=True)
def sweep(H, g, w, l1, positive, threshold, max_sweeps):
    """Coordinate sweeps until the largest gain H_jj d^2 of one is at most ``threshold``.

    H (m, m), g (m,), w (m,), l1 (m,), positive (m,); g and w are updated. Returns the sweeps done
    and whether they ended by themselves.
    """
    m = len(w)
    inverse = np.empty(m)
    for j in range(m):
        inverse[j] = 1.0 / H[j, j]
    for done in range(max_sweeps):
        largest = 0.0
        for j in range(m):
            h, old, bound = H[j, j], w[j], l1[j]
            t = g[j] + h * old
            if t > bound:
                new = (t - bound) * inverse[j]
            elif t < -bound and not positive[j]:
                new = (t + bound) * inverse[j]
            else:
                new = 0.0
            d = new - old
            if d != 0.0:
                w[j] = new
                row = H[j]
                for k in range(m):
                    g[k] -= d * row[k]
                largest = max(largest, h * d * d)
        if largest <= threshold:
            return done + 1, True
    return max_sweeps, False


@jit(reassociate=True)
def factor(L):
    """Cholesky of the lower triangle of L (k, k) in place; False if it is not positive definite."""
    k = len(L)
    for i in range(k):
        row = L[i]
        diagonal = row[i]
        for j in range(i):
            other = L[j]
            s = row[j]
            for t in range(j):
                s -= row[t] * other[t]
            row[j] = s / other[j]
        s = diagonal
        for t in range(i):
            s -= row[t] * row[t]
        if not s > PIVOT * diagonal:
            return False
        row[i] = np.sqrt(s)
    return True


@jit(reassociate=True)
def solve_factored(L, b):
    """Solve L L'x = b in place of b."""
    k = len(b)
    for i in range(k):
        s = b[i]
        for t in range(i):
            s -= L[i, t] * b[t]
        b[i] = s / L[i, i]
    for i in range(k - 1, -1, -1):
        b[i] /= L[i, i]
        row, x = L[i], b[i]
        for t in range(i):
            b[t] -= row[t] * x


@jit(reassociate=True)
def exact_step(H, g, w, l1):
    """Solve on the support with the signs of w, or go there until a coefficient reaches zero.

    Returns 1 if the support's problem is solved, 0 if a coefficient became zero on the way, -1 if
    the columns of the support are dependent (nothing is changed then).
    """
    m = len(w)
    support = np.empty(m, np.int64)
    k = 0
    for j in range(m):
        if w[j] != 0.0:
            support[k] = j
            k += 1
    if k == 0:
        return 1
    L, d = np.empty((k, k)), np.empty(k)
    for a in range(k):
        row = H[support[a]]
        for b in range(a + 1):
            L[a, b] = row[support[b]]
        j = support[a]
        d[a] = g[j] - l1[j] * np.sign(w[j])
    if not factor(L):
        return -1
    solve_factored(L, d)
    length, hit = 1.0, -1
    for a in range(k):
        old = w[support[a]]
        if (old + d[a]) * old <= 0.0 and -old / d[a] < length:
            length, hit = -old / d[a], a
    for a in range(k):
        j = support[a]
        change = length * d[a]
        if a == hit:
            change = -w[j]
            w[j] = 0.0
        else:
            w[j] += change
        row = H[j]
        for b in range(m):
            g[b] -= change * row[b]
    return 1 if hit < 0 else 0


@jit
def breaks(w, g, l1, positive, slack):
    """Whether a zero coefficient should not be zero: g_j lies outside [-l1, l1]."""
    bound = l1 * (1.0 + slack)
    return w == 0.0 and (g > bound or (g < -bound and not positive))


@jit(reassociate=True)
def duality_gap(m, q, c, w, l1, l2, positive, yy):
    """(gap, F(w)) of the problem of the first m columns."""
    wq, wc, absolute, squares, ratio = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(m):
        if w[j] != 0.0:
            wq += w[j] * q[j]
            wc += w[j] * c[j]
            absolute += l1[j] * abs(w[j])
            squares += l2[j] * w[j] * w[j]
        g = c[j] - l2[j] * w[j]
        size = g if positive[j] else abs(g)
        if size > ratio * l1[j]:
            ratio = size / l1[j]
    rr = max(yy - wq - wc, 0.0)
    ry = yy - wq
    total = rr + squares
    s = max(ry / total, 0.0) if total > 0.0 else 0.0
    if s * ratio > 1.0:
        s = 1.0 / ratio
    value = 0.5 * total + absolute
    return max(value - s * ry + 0.5 * s * s * total, 0.0), value


@jit(reassociate=True)
def solve_gram(G, m, q, c, w, l1, l2, positive, yy, tol, exact, max_sweeps):
    """Minimise F over the first m columns from w; c = q - G w and w are updated.

    G (cap, cap); q, c, w, l1, l2, positive (cap,). Ends when the gap is at most ``tol``; with
    ``exact`` it goes on until the support's equations are solved and no column breaks its
    condition by more than rounding. Returns (sweeps, gap, F).
    """
    active = np.empty(m, np.int64)
    threshold, sweeps, gap, value = 0.1 * tol, 0, np.inf, np.inf
    for _ in range(ROUNDS):
        k, new = 0, 0
        for j in range(m):
            if G[j, j] <= 0.0:
                continue
            broken = breaks(w[j], c[j] - l2[j] * w[j], l1[j], positive[j], SLACK)
            if w[j] != 0.0 or broken:
                active[k] = j
                k += 1
            if broken:
                new += 1
        H, g, v = np.empty((k, k)), np.empty(k), np.empty(k)
        bound, sign = np.empty(k), np.empty(k, np.bool_)
        for a in range(k):
            j = active[a]
            row = G[j]
            for b in range(k):
                H[a, b] = row[active[b]]
            H[a, a] += l2[j]
            g[a], v[a] = c[j] - l2[j] * w[j], w[j]
            bound[a], sign[a] = l1[j], positive[j]
        limit = min(max_sweeps - sweeps, SWEEPS + k // SHARE)
        done, ended = sweep(H, g, v, bound, sign, threshold, limit)
        sweeps += done
        state = 0
        if exact or not ended:
            for _ in range(1 + 9 * exact):
                state = exact_step(H, g, v, bound)
                if state != 0:
                    break
        for a in range(k):
            j = active[a]
            d = v[a] - w[j]
            if d != 0.0:
                row = G[j]
                for b in range(m):
                    c[b] -= d * row[b]
                w[j] = v[a]
        gap, value = duality_gap(m, q, c, w, l1, l2, positive, yy)
        broken = False
        for j in range(m):
            if G[j, j] > 0.0:
                broken |= breaks(w[j], c[j] - l2[j] * w[j], l1[j], positive[j], SLACK)
        if sweeps >= max_sweeps or (gap <= tol and not exact):
            break
        if not broken and (state == 1 or threshold < FLOOR * yy):
            break
        if ended and gap > tol:  # the gap is of first order in g, the gains are of second
            threshold *= min(max(0.25 * (tol / gap) ** 2, 1e-6), 0.1)
        elif ended:
            threshold *= 0.1
    return sweeps, gap, value


@jit(reassociate=True)
def extrapolate(G, m, c, w, before, factor):
    """Go on from ``before`` through w in a straight line, as a path does while its support stays.

    w += factor (w - before) for the coefficients of both supports, not beyond zero; c follows, and
    ``before`` becomes the w that was.
    """
    for j in range(m):
        old = w[j]
        d = factor * (old - before[j])
        if old * before[j] > 0.0 and d != 0.0:
            if (old + d) * old <= 0.0:
                d = -old
            w[j] = old + d
            row = G[j]
            for k in range(m):
                c[k] -= d * row[k]
        before[j] = old


@jit(reassociate=True)
def gram_path(G, q, yy, strengths, squares, weights, positive, w, tol, max_sweeps, coefs, gaps):
    """Solve for each l1 = strengths[i] weights, l2 = squares[i] weights, each from the one before.

    G (m, m), q (m,), w (m,) to start from; coefs (L, m) and gaps (L,) are filled. Returns the
    sweeps of each, (L,).
    """
    m, count = len(q), len(strengths)
    c, before, l1, l2 = np.empty(m), np.zeros(m), np.empty(m), np.empty(m)
    counts = np.empty(count, np.int64)
    for j in range(m):
        c[j] = q[j]
    for j in range(m):
        if w[j] != 0.0:
            row = G[j]
            for k in range(m):
                c[k] -= w[j] * row[k]
    for i in range(count):
        factor = 0.0
        if i > 1 and strengths[i - 1] < strengths[i - 2]:
            factor = (strengths[i] - strengths[i - 1]) / (strengths[i - 1] - strengths[i - 2])
        extrapolate(G, m, c, w, before, factor)
        for j in range(m):
            l1[j] = strengths[i] * weights[j]
            l2[j] = squares[i] * weights[j]
        counts[i], gaps[i], _ = solve_gram(
            G, m, q, c, w, l1, l2, positive, yy, tol, False, max_sweeps
        )
        for j in range(m):
            coefs[i, j] = w[j]
    return counts
