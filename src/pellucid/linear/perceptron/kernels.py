r"""Epochs of the perceptron, compiled.

``perceptron_epoch``   one sweep: a row on the wrong side adds eta y x to the weights (online), or
                       to a sum that is added at the end (batch)
``pocket_epoch``       an online sweep that keeps the weights with the fewest errors on all rows
``count_errors``       the weight of the rows on the wrong side

A row is wrong if y f <= 0, or with ``negative`` if sign(f) != y where sign(0) = -1.

References: Rosenblatt (1958); Gallant (1990), Perceptron-based learning algorithms, for the pocket;
Freund & Schapire (1999) for the average.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

BLOCK = 32  # rows fetched together
EXACT_ROWS = 4096  # up to which every weight vector is judged for the pocket


@jit
def is_wrong(y: float, f: float, negative: bool) -> bool:
    """Whether a row of sign y with score f is on the wrong side."""
    if f == 0:
        return y > 0 or not negative
    return y * f < 0


@jit(reassociate=True)
def perceptron_epoch(
    X, y, visits, share, eta, negative, intercept, ordered, w, into, drift, scalars
):
    """One sweep over the visits; ``into`` receives the steps and is w itself for the online rule.

    ``ordered``: the visits are all rows in the order of the table, and need no copy.
    ``scalars`` holds b, the sum of its steps (batch), the drift of b and t, and receives the
    number of wrong visits and the sum of -y f over them. ``share`` (empty: all 1) multiplies the
    step of a visit. ``drift`` (empty: none) is sum (t - 1) step: the average of the iterates after
    visits 1..T is w - drift/T.
    """
    p, b, t, batch = X.shape[1], scalars[0], scalars[3], scalars[6] != 0
    buffer = np.empty((BLOCK, p))
    wrong, criterion, moved = 0, 0.0, 0.0
    for start in range(0, len(visits), BLOCK):
        held = min(BLOCK, len(visits) - start)
        block = buffer
        if ordered:
            block = X[start : start + held]
        else:
            for i in range(held):
                row = visits[start + i]
                for j in range(p):
                    buffer[i, j] = X[row, j]
        for i in range(held):
            target, f = y[visits[start + i]], 0.0
            for j in range(p):
                f += block[i, j] * w[j]
            f += b
            if is_wrong(target, f, negative):
                wrong += 1
                criterion -= target * f
                step = eta * target
                if len(share):
                    step *= share[start + i]
                for j in range(p):
                    into[j] += step * block[i, j]
                if len(drift):
                    for j in range(p):
                        drift[j] += (t - 1) * step * block[i, j]
                    scalars[2] += (t - 1) * step * intercept
                if intercept and batch:
                    moved += step
                elif intercept:
                    b += step
            t += 1
    scalars[0], scalars[1], scalars[3], scalars[4], scalars[5] = b, moved, t, wrong, criterion


@jit(reassociate=True)
def count_errors(X, y, visits, share, negative, w, b, most):
    """The weight of the wrong visits, or anything above ``most`` once it is passed."""
    errors = 0.0
    for k in range(len(visits)):
        row = visits[k]
        f = b
        for j in range(X.shape[1]):
            f += X[row, j] * w[j]
        if is_wrong(y[row], f, negative):
            errors += share[k] if len(share) else 1.0
            if errors > most:
                return errors
    return errors


@jit(reassociate=True)
def pocket_epoch(X, y, visits, share, steps, eta, negative, intercept, w, pocket, scalars):
    """An online sweep; ``pocket`` and scalars[1] hold the best weights met so far.

    Up to EXACT_ROWS visits every weight vector is judged on all of them; above, those that got a
    longer run of visits right than the best one so far (Gallant's ratchet), and the last of
    the epoch. ``share`` counts a visit in the errors, ``steps`` multiplies its step; empty: 1.
    """
    n, p, b = len(visits), X.shape[1], scalars[0]
    wrong, criterion, run, longest = 0, 0.0, 0, 0
    best = count_errors(X, y, visits, share, negative, pocket, scalars[1], np.inf)
    fresh = True  # the current weights have not been judged
    for k in range(n + 1):
        end, mistake, f = k == n, False, b
        if not end:
            row = visits[k]
            for j in range(p):
                f += X[row, j] * w[j]
            mistake = is_wrong(y[row], f, negative)
            run = 0 if mistake else run + 1
        if fresh and best > 0 and (end or n <= EXACT_ROWS or run > longest):
            longest, fresh = max(run, longest), False
            errors = count_errors(X, y, visits, share, negative, w, b, best)
            if errors < best:
                best = errors
                for j in range(p):
                    pocket[j] = w[j]
                scalars[1] = b
        if mistake:
            wrong += 1
            criterion -= y[row] * f
            step = eta * y[row]
            if len(steps):
                step *= steps[k]
            for j in range(p):
                w[j] += step * X[row, j]
            if intercept:
                b += step
            fresh = True
    scalars[0], scalars[4], scalars[5], scalars[6] = b, wrong, criterion, best
    scalars[3] += n
