r"""Products with rows in CSR form for the linear support vector problems.

    scores       z_i = b + x_i.w
    slopes       sum of q_i x_i over the rows with q > 0 and over those with q < 0
    curvature    sum of h_i (b + x_i.d) x_i: a row is read once, for its score and for its share
    squares      sum of h_i x_ij^2, the diagonal of the last

Rows of weight 0 are not read, so that no matrix of the rows with a loss is ever made. Indices come
without a sign: they need no look at it.    O(numbers stored) each
"""

from pellucid.core.runtime.jit import jit


@jit(reassociate=True)
def sparse_scores(data, indices, indptr, first, last, w, b, z):
    """z_i = b + x_i.w of the rows first..last-1."""
    for i in range(first, last):
        a = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            a += data[k] * w[indices[k]]
        z[i] = a + b


@jit
def sparse_slopes(data, indices, indptr, first, last, q, up, down):
    """Add q_i x_i to ``up`` or, where q < 0, to ``down``."""
    for i in range(first, last):
        a = q[i]
        if a > 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                up[indices[k]] += a * data[k]
        elif a < 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                down[indices[k]] += a * data[k]


@jit(reassociate=True)
def sparse_curvature(data, indices, indptr, first, last, h, d, b, out):
    """out = sum of u_i x_i with u_i = h_i (b + x_i.d); the sum of u."""
    out[:] = 0.0
    total = 0.0
    for i in range(first, last):
        if h[i] == 0.0:
            continue
        a = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            a += data[k] * d[indices[k]]
        a = h[i] * (a + b)
        total += a
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += a * data[k]
    return total


@jit
def sparse_squares(data, indices, indptr, first, last, h, out):
    """Add h_i x_ij^2 to ``out``."""
    for i in range(first, last):
        a = h[i]
        if a > 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k]] += a * data[k] * data[k]
