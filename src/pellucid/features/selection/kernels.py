"""Compiled sums of every column with the target."""

from pellucid.core.runtime.jit import jit


@jit(reassociate=True)
def relate(X, y, shift, squares, cross):
    """Sums of squares of the columns of X about their means, and with y; rows and y of one leaf.

    X (n, p), y (n,) about its mean. On exit ``shift`` (p,) is the means beyond the first row, and
    ``squares`` and ``cross`` (p,), 0 on entry as it is, are the sums. What is taken off first is
    the first row: a constant column has squares 0.
    """
    n, p = X.shape
    for i in range(1, n):
        for j in range(p):
            shift[j] += X[i, j] - X[0, j]
    for j in range(p):
        shift[j] /= n
    for i in range(n):
        v = y[i]
        for j in range(p):
            d = (X[i, j] - X[0, j]) - shift[j]
            squares[j] += d * d
            cross[j] += d * v
