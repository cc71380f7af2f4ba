r"""Stochastic epochs of linear models f = b + x'w, compiled: one sweep over the rows each.

``update``        one step of an update rule on a vector; the solvers and ``rule_epoch`` share it
``rule_epoch``    mini-batch epoch of any loss, L1/L2 penalty and rule
``sgd_epoch``     stochastic epoch with scikit-learn's weight decay, truncated L1 and averaging
``coordinate_sweep``  one round over the coordinates

A stochastic epoch visits rows in random order. Fetching BLOCK of them into a small buffer first
lets the memory system work on all of them at once; the updates then run from the cache, and while
they do the next rows are on their way.

References: Bottou (2012), Stochastic gradient descent tricks; Tsuruoka, Tsujii & Ananiadou (2009)
for the cumulative L1 penalty; Crammer et al. (2006) for the passive-aggressive steps.
"""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.losses import loss_slope, loss_value
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BLOCK = 32  # rows fetched together
LINE = 8  # doubles in a line of the cache
PLAIN, MOMENTUM, NESTEROV, ADAGRAD, RMSPROP, ADAM = range(6)
STEP_RATE, STEP_PA1, STEP_PA2 = range(3)
LARGEST_SLOPE = 1e12  # scikit-learn's guard against overflow
SMALLEST_SCALE = 1e-9  # of the weights, before it is multiplied in
SMALLEST_AVERAGED = 1e-3  # the same where iterates are added up: v and its sum stay of one size


@jit
def clip_factor(g: Array, clip: float) -> float:
    """What g is multiplied by so that its length is at most ``clip`` (PyTorch's 1e-6 included)."""
    if clip == np.inf:
        return 1.0
    total = 0.0
    for j in range(len(g)):
        total += g[j] * g[j]
    return min(1.0, clip / (np.sqrt(total) + 1e-6))


@jit
def update(
    rule: int,
    a: float,
    b: float,
    eps: float,
    decay: float,
    clip: float,
    w: Array,
    g: Array,
    eta: float,
    m: Array,
    r: Array,
    t: int,
) -> None:
    """w after one step with gradient g, in place; m and r are the rule's memory, t = 1, 2, ..."""
    c = clip_factor(g, clip)
    if decay > 0:
        for j in range(len(w)):
            w[j] *= 1 - eta * decay
    if rule == PLAIN:
        for j in range(len(w)):
            w[j] -= eta * (c * g[j])
    elif rule in (MOMENTUM, NESTEROV):
        for j in range(len(w)):
            m[j] = a * m[j] - eta * (c * g[j])
            w[j] += m[j]
    elif rule == ADAGRAD:
        for j in range(len(w)):
            s = c * g[j]
            r[j] += s * s
            w[j] -= eta * s / np.sqrt(r[j] + eps)
    elif rule == RMSPROP:
        for j in range(len(w)):
            s = c * g[j]
            r[j] = a * r[j] + (1 - a) * s * s
            w[j] -= eta * s / np.sqrt(r[j] + eps)
    else:
        first, second = 1 - a**t, 1 - b**t
        for j in range(len(w)):
            s = c * g[j]
            m[j] = a * m[j] + (1 - a) * s
            r[j] = b * r[j] + (1 - b) * s * s
            w[j] -= eta * (m[j] / first) / (np.sqrt(r[j] / second) + eps)


@jit(reassociate=True)
def rule_epoch(
    X: Array,
    y: Array,
    weight: Array,
    order: IntArray,
    size: int,
    rates: Array,
    w: Array,
    m: Array,
    r: Array,
    t: int,
    loss: int,
    epsilon: float,
    factor: float,
    unbiased: bool,
    l1: float,
    l2: float,
    price: Array,
    rule: int,
    a: float,
    b: float,
    eps: float,
    decay: float,
    clip: float,
    path: Array,
    mean: Array,
    seen: int,
) -> None:
    """One epoch of mini-batches of ``size`` rows in the given order; w, m and r change in place.

    w has one entry per column of X, after the intercept where it is one longer. ``factor``
    multiplies the mean over the batch (``unbiased``) or its sum. ``price`` is 0 for a parameter
    without penalty, else 1. ``path`` receives w after every update where it has rows. ``mean``,
    where it has entries, is the mean of ``seen`` earlier points (none while ``seen`` < 0).
    """
    n, p = len(order), X.shape[1]
    first = len(w) - p
    g = np.zeros(len(w))
    at = np.empty(len(w)) if rule == NESTEROV else w  # where the gradient is taken
    gx, ax, px = g[first:], at[first:], price[first:]
    direct = (
        rule == PLAIN and size == 1 and l1 == 0 and decay == 0 and clip == np.inf
    )  # no need to write the gradient down
    buffer, targets, shares = np.empty((BLOCK, p)), np.empty(BLOCK), np.empty(BLOCK)
    for k in range(-(-n // size)):
        begin, end = k * size, min((k + 1) * size, n)
        if rule == NESTEROV:
            for j in range(len(w)):
                at[j] = w[j] + a * m[j]
        scale = factor / (end - begin) if unbiased else factor
        if not direct:
            for j in range(len(w)):
                g[j] = 2 * l2 * price[j] * at[j]
        if l1 > 0:
            for j in range(len(w)):
                g[j] += l1 * price[j] * ((at[j] > 0) - (at[j] < 0))
        for i in range(begin, end):
            here = i % BLOCK
            if here == 0:  # fetch the next rows, whatever batches they belong to
                for ahead in range(min(BLOCK, n - i)):
                    row = order[i + ahead]
                    targets[ahead], shares[ahead] = y[row], weight[row]
                    for j in range(p):
                        buffer[ahead, j] = X[row, j]
            if i + BLOCK < n:
                for j in range(0, p, LINE):
                    simd.prefetch(X, order[i + BLOCK], j)
            f = 0.0
            for j in range(p):
                f += buffer[here, j] * ax[j]
            if first:
                f += at[0]
            slope = scale * loss_slope(loss, epsilon, targets[here], f) * shares[here]
            if direct:
                step, shrink = rates[k] * slope, 2 * l2 * rates[k]
                if first:
                    w[0] -= step + shrink * price[0] * w[0]
                for j in range(p):
                    ax[j] -= step * buffer[here, j] + shrink * px[j] * ax[j]
                continue
            if first:
                g[0] += slope
            for j in range(p):
                gx[j] += slope * buffer[here, j]
        if not direct:
            update(rule, a, b, eps, decay, clip, w, g, rates[k], m, r, t + k + 1)
        if len(path):
            for j in range(len(w)):
                path[k, j] = w[j]
        seen += 1
        if len(mean) and seen > 0:
            for j in range(len(w)):
                mean[j] += (w[j] - mean[j]) / seen


@jit
def passive_aggressive(kind: int, value: float, norm: float, eta: float) -> float:
    """The length of a passive-aggressive step for a loss ``value`` of a row with |x|^2 = norm."""
    if kind == STEP_PA1:
        return min(eta, value / norm)
    return value / (norm + 0.5 / eta)


@jit(reassociate=True)
def sgd_epoch(
    X: Array,
    y: Array,
    visits: IntArray,
    share: Array,
    rates: Array,
    w: Array,
    mean: Array,
    cut: Array,
    scalars: Array,
    t: int,
    loss: int,
    epsilon: float,
    factor: float,
    l2: float,
    l1: float,
    intercept: bool,
    average: int,
    kind: int,
) -> float:
    """One stochastic epoch; returns the sum of the objectives met on the way.

    w <- max(0, 1 - eta l2) w - eta share l'(y, f) x, then the cumulative truncation by l1.
    ``scalars`` holds b, its average, the total truncation due, t and receives the number of steps
    that were not 0; ``cut`` what each w_j got of the truncation. ``share`` (empty: all 1)
    multiplies the step of a visit. ``average`` > 0: ``mean`` is the average of the iterates from
    that visit on. ``kind`` says how long a step is.

    Unless the truncation needs every iterate, w is ``scale`` times the array v: a visit without a
    step only changes that number. The sum of the iterates is then weight v + mean, ``weight`` the
    sum of the scales so far: a step v + d takes weight d off ``mean``, and no visit adds w up.
    """
    p, b, due = X.shape[1], scalars[0], scalars[2]
    buffer, targets = np.empty((BLOCK, p)), np.empty(BLOCK)
    total, squares, sizes, scale, steps = 0.0, 0.0, 0.0, 1.0, 0
    seen = max(0, t - average) if average > 0 else 0
    weight, b_sum = 0.0, seen * scalars[1]
    least = SMALLEST_AVERAGED if average > 0 else SMALLEST_SCALE
    for j in range(p):
        squares += w[j] * w[j]
        sizes += abs(w[j])
        if average > 0:
            mean[j] *= seen
    for start in range(0, len(visits), BLOCK):
        held = min(BLOCK, len(visits) - start)
        for i in range(held):
            row = visits[start + i]
            targets[i] = y[row]
            for j in range(p):
                buffer[i, j] = X[row, j]
        for i in range(held):
            k = start + i
            eta, target, f, norm = rates[k], targets[i], 0.0, 0.0
            if k + BLOCK < len(visits):
                for j in range(0, p, LINE):
                    simd.prefetch(X, visits[k + BLOCK], j)
            for j in range(p):
                f += buffer[i, j] * w[j]
            f = scale * f + b
            value = factor * loss_value(loss, epsilon, target, f)
            total += value
            if kind == STEP_RATE:
                total += 0.5 * l2 * scale * scale * squares + l1 * sizes
                slope = factor * loss_slope(loss, epsilon, target, f)
                step = -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
            else:
                for j in range(p):
                    norm += buffer[i, j] * buffer[i, j]
                if kind == STEP_PA1 and norm == 0:
                    continue
                step = passive_aggressive(kind, value, norm, eta)
                step = step if target >= f else -step
            if len(share):
                step *= share[k]
            steps += step != 0
            scale *= max(0.0, 1 - eta * l2)
            if l1 > 0 or scale < least:  # multiply it in
                squares = 0.0
                for j in range(p):
                    mean[j] += weight * w[j]
                    v = scale * w[j] + step * buffer[i, j]
                    w[j] = v
                    squares += v * v
                scale, weight = 1.0, 0.0
            elif step != 0:
                add, squares = step / scale, 0.0
                for j in range(p):
                    v = w[j] + add * buffer[i, j]
                    w[j] = v
                    squares += v * v
                if weight > 0:
                    add *= weight
                    for j in range(p):
                        mean[j] -= add * buffer[i, j]
            if intercept:
                b += step
            if l1 > 0:
                due += l1 * eta
                squares, sizes = 0.0, 0.0
                for j in range(p):
                    z = w[j]
                    if z > 0:
                        w[j] = max(0.0, z - (due + cut[j]))
                    elif z < 0:
                        w[j] = min(0.0, z + (due - cut[j]))
                    cut[j] += w[j] - z
                    squares += w[j] * w[j]
                    sizes += abs(w[j])
            if 0 < average <= t:
                weight += scale
                b_sum += b
            t += 1
    if average > 0:
        count = max(1, t - average)
        scalars[1] = b_sum / count
        for j in range(p):
            mean[j] = (mean[j] + weight * w[j]) / count
    for j in range(p):
        w[j] *= scale
    scalars[0], scalars[2], scalars[3], scalars[4] = b, due, t, steps
    return total


@jit(reassociate=True)
def coordinate_sweep(
    columns: Array,
    y: Array,
    weight: Array,
    f: Array,
    w: Array,
    order: IntArray,
    curvature: Array,
    price: Array,
    l1: float,
    l2: float,
    loss: int,
    epsilon: float,
    factor: float,
) -> None:
    """Each coordinate in turn to the minimum of its quadratic bound; f = D w is kept up to date.

    ``columns`` is D', ``curvature`` bounds the second derivative along each coordinate; for the
    squared loss the bound is exact and so is the minimum. A column of zeros gets coefficient 0.
    """
    for j in order:
        if curvature[j] == 0:
            w[j] = 0.0
            continue
        g = 0.0
        for i in range(len(f)):
            g += weight[i] * loss_slope(loss, epsilon, y[i], f[i]) * columns[j, i]
        v = w[j] - factor * g / curvature[j]
        step = price[j] / curvature[j]
        size = max(abs(v) - step * l1, 0.0) / (1 + 2 * step * l2)
        new = size if v > 0 else -size
        change = new - w[j]
        if change != 0:
            w[j] = new
            for i in range(len(f)):
                f[i] += change * columns[j, i]
