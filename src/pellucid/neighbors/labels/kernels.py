"""One round of labels on a graph in two sweeps, each over a range of rows."""

from pellucid.core.runtime.jit import jit


@jit
def next_labels(moved, Y, known, F, alpha, start, stop, out):
    """The labels after a round; returns the sum of all changes.

    alpha >= 0: out = alpha moved + (1 - alpha) Y (spreading). alpha < 0: out = moved with rows
    scaled to sum 1, and Y where ``known`` (propagation). All (n, k).
    """
    change = 0.0
    k = F.shape[1]
    for i in range(start, stop):
        if alpha >= 0.0:
            for c in range(k):
                out[i, c] = alpha * moved[i, c] + (1.0 - alpha) * Y[i, c]
        elif known[i]:
            for c in range(k):
                out[i, c] = Y[i, c]
        else:
            total = 0.0
            for c in range(k):
                total += moved[i, c]
            if total == 0.0:
                total = 1.0
            for c in range(k):
                out[i, c] = moved[i, c] / total
        for c in range(k):
            change += abs(out[i, c] - F[i, c])
    return change


@jit
def push_labels(indptr, indices, data, F, start, stop, out):
    """out = P F for the rows of a sparse P."""
    k = F.shape[1]
    for i in range(start, stop):
        for c in range(k):
            out[i, c] = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            value, other = data[j], indices[j]
            for c in range(k):
                out[i, c] += value * F[other, c]


@jit
def energy(scale, F, moved, start, stop):
    """sum_i scale_i f_i'(f_i - moved_i)."""
    total = 0.0
    for i in range(start, stop):
        part = 0.0
        for c in range(F.shape[1]):
            part += F[i, c] * (F[i, c] - moved[i, c])
        total += scale[i] * part
    return total
