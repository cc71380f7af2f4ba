r"""Gaussian components and rows with missing cells: the E step, pattern by pattern.

o observed, u missing cells of a row; D = x - mu; Q = S^-1 = P'P.  The best guess of the missing
part and its covariance come from the missing block of Q alone:

    D_u = -Q_uu^-1 Q_uo D_o         cov(x_u | x_o) = Q_uu^-1
    D_o' S_oo^-1 D_o = |P D|^2      log |S_oo| = log |S| + log |Q_uu|

so the log-density of the observed cells is  c + u log(2 pi)/2 - log |Q_uu|/2 - |P D|^2 / 2 with the
constant c of a complete row, and the expected sums are

    N += r,   M += r D,   S += r D D' + r Q_uu^-1 (missing block).

Rows of one pattern follow each other: Q_uu is factored once for them. O(u^3) a pattern, O(p^2) a
row, for each component; few missing cells cost little.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


@jit
def factor(Q, gaps, u, L):
    """L L' = Q_uu (lower triangle of L); returns log |Q_uu| / 2."""
    value = 0.0
    for a in range(u):
        for b in range(a + 1):
            s = Q[gaps[a], gaps[b]]
            for c in range(b):
                s -= L[a, c] * L[b, c]
            if a == b:
                L[a, a] = np.sqrt(s)
                value += np.log(L[a, a])
            else:
                L[a, b] = s / L[b, b]
    return value


@jit
def add_inverse(L, gaps, u, mass, column, S):
    """The lower triangle of S grows by mass (L L')^-1 on the missing block."""
    for b in range(u):
        for a in range(b):
            column[a] = 0.0
        for a in range(b, u):
            s = 1.0 if a == b else 0.0
            for c in range(b, a):
                s -= L[a, c] * column[c]
            column[a] = s / L[a, a]
        for a in range(u - 1, b - 1, -1):
            s = column[a]
            for c in range(a + 1, u):
                s -= L[c, a] * column[c]
            column[a] = s / L[a, a]
            S[gaps[a], gaps[b]] += mass * column[a]


@jit(reassociate=True)
def complete(x, mu, Q, P, L, gaps, u, D):
    """D = x - mu with the missing cells filled by their conditional mean; returns |P D|^2."""
    p = len(mu)
    for t in range(p):
        D[t] = x[t] - mu[t]
    for a in range(u):
        D[gaps[a]] = 0.0
    fill = np.empty(u)
    for a in range(u):
        row = Q[gaps[a]]
        s = 0.0
        for t in range(p):
            s += row[t] * D[t]
        fill[a] = -s
    for a in range(u):
        s = fill[a]
        for c in range(a):
            s -= L[a, c] * fill[c]
        fill[a] = s / L[a, a]
    for a in range(u - 1, -1, -1):
        s = fill[a]
        for c in range(a + 1, u):
            s -= L[c, a] * fill[c]
        fill[a] = s / L[a, a]
    for a in range(u):
        D[gaps[a]] = fill[a]
    square = 0.0
    for a in range(p):
        row = P[a]
        s = 0.0
        for t in range(a + 1):
            s += row[t] * D[t]
        square += s * s
    return square


@jit
def normalise(J, R):
    """R = exp(J) / sum exp(J); returns log sum exp(J)."""
    top = J[0]
    for c in range(1, len(J)):
        top = max(top, J[c])
    if not top > -np.inf:
        return top
    total = 0.0
    for c in range(len(J)):
        R[c] = np.exp(J[c] - top)
        total += R[c]
    for c in range(len(J)):
        R[c] /= total
    return top + np.log(total)


@jit(reassociate=True)
def add_outer(D, r, M, S):
    """M += r D and the lower triangle of S += r D D'."""
    for a in range(len(D)):
        v = r * D[a]
        M[a] += v
        row = S[a]
        for t in range(a + 1):
            row[t] += v * D[t]


@jit
def pattern_rows(X, w, ends, mu, Q, P, const, prior, N, M, S, J, F, adds):
    """Log joints J (n, k) of the observed cells, and their log-likelihood as the value.

    X (n, p) with NaN, rows of one pattern together; ends (patterns,) where each stops; mu (k, p);
    Q, P (k or 1, p, p); const, prior (k,). With ``adds``: N (k,), M (k, p) and the lower triangle
    of S (k, p, p) grow; without: F (n, p) gets the rows with the missing cells filled by their
    mean under the mixture (``prior`` weighs the components where every density is 0).
    """
    k, p = mu.shape
    many = len(Q)
    gaps, column, R = np.empty(p, np.int64), np.empty(p), np.empty(k)
    L, half, D = np.empty((many, p, p)), np.empty(many), np.empty((k, p))
    mass = np.empty(k)
    value, start = 0.0, 0
    for stop in ends:
        u = 0
        for t in range(p):
            if np.isnan(X[start, t]):
                gaps[u] = t
                u += 1
        for c in range(many):
            half[c] = factor(Q[c], gaps, u, L[c])
        for c in range(k):
            mass[c] = 0.0
        for i in range(start, stop):
            for c in range(k):
                one = min(c, many - 1)
                square = complete(X[i], mu[c], Q[one], P[one], L[one], gaps, u, D[c])
                J[i, c] = const[c] + u * HALF_LOG_2PI - half[one] - 0.5 * square
                R[c] = prior[c]
            level = normalise(J[i], R)
            if not adds:
                for t in range(p):
                    F[i, t] = X[i, t]
                for a in range(u):
                    t = gaps[a]
                    F[i, t] = 0.0
                    for c in range(k):
                        F[i, t] += R[c] * (mu[c, t] + D[c, t])
            elif w[i] > 0.0:
                value += w[i] * level
                for c in range(k):
                    r = w[i] * R[c]
                    N[c] += r
                    mass[c] += r
                    add_outer(D[c], r, M[c], S[c])
        if adds:
            for c in range(k):
                add_inverse(L[min(c, many - 1)], gaps, u, mass[c], column, S[c])
        start = stop
    return value
