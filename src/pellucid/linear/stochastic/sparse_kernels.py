r"""The stochastic epoch of ``compiled.epochs.epochs.sgd_epoch`` for rows in CSR form.

A visit touches the columns that its row stores. What happens to the others in the meantime, decay,
truncation and averaging, is known in advance and made up for when a column is touched again:

    weights       w_j = S v_j, S the product of the decays of the segment so far
    truncation    of a column left alone, |v_j| falls by l1 eta_t / S_t at every visit t, that is
                  by a difference of D_t = sum_{i <= t} l1 eta_i / S_i; it stays at 0 once there
    average       sum of S_t (v_j - (D_t - D_a)) from prefix sums of S_t and of S_t D_t

When S becomes small, every column is brought up to date and a new segment begins. The answer is
that of the dense epoch up to rounding, at a cost per visit of the numbers stored in its row.

``sparse_sgd_epoch`` is for decay alone, ``lazy_sgd_epoch`` for truncation and averages too. The
simpler ``truncated_sgd_epoch`` serves an L1 penalty alone: due to every weight until visit t are
q_t = sum_{i <= t} l1 eta_i of truncation, of which it got c_j (with the sign of its changes),

    |w_j| <- max(0, |w_j| - (q_t + sign(w_j) c_j)),   c_j <- c_j + change of w_j

so that a weight which no step moves ends where one truncation by all that is due would bring it:
the sum telescopes. A column is truncated when a row stores it, before its score and after its
step, and all are at the end of the epoch.

Reference: Tsuruoka, Tsujii & Ananiadou (2009).
"""

import math
from typing import Any

import numpy as np

from pellucid.compiled.epochs.epochs import LARGEST_SLOPE, STEP_PA1, STEP_RATE, passive_aggressive
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.losses import loss_slope, loss_value
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

AHEAD = 6  # visits between asking for a row and reading it
SMALLEST = 1e-9  # of S, where a segment ends
V, PAID, CUT, SEEN, SEEN_FALL = range(5)  # of a column: v, and D, the truncation, sums at its last
FALL, DUE, SCALE, SUM, SUM_FALL = range(5)  # of a visit: D, truncation due, S, sum S, sum S D
SQUARES, SIZES, LIVE = range(3)  # sum v^2, sum |v|, how many v are not 0
WEIGHT, OWED = range(2)  # of a column with truncation alone: w and c


@jit
def ask_for_row(numbers: Array, places: Any, indptr: Any, visits: IntArray, k: int) -> None:
    """Ask for every cache line of the row of a later visit, so that it is there when it is read.

    numbers and places (1, stored) are data and indices of the CSR matrix.
    """
    row = visits[min(k + AHEAD, len(visits) - 1)]
    for i in range(indptr[row], indptr[row + 1], 8):
        simd.prefetch(numbers, 0, np.int64(i))
    for i in range(indptr[row], indptr[row + 1], 16):
        simd.prefetch(places, 0, np.int64(i))


@jit
def step_length(kind, loss, epsilon, factor, target, f, eta, norm):
    """What a visit adds of its row: -eta l'(y, f), or a passive-aggressive step."""
    if kind == STEP_RATE:
        slope = factor * loss_slope(loss, epsilon, target, f)
        return -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
    length = passive_aggressive(kind, factor * loss_value(loss, epsilon, target, f), norm, eta)
    return length if target >= f else -length


@jit(reassociate=True)
def sparse_sgd_epoch(rows, w, scalars, loss, epsilon, factor, l2, intercept, kind):
    """One epoch over CSR rows with decay only; the arguments are those of ``sgd_epoch``.

    ``rows`` are data, indices and indptr of the matrix, y, the visits, their shares and rates.
    """
    data, indices, indptr, y, visits, share, rates = rows
    b, S, t, steps, total, squares = scalars[0], 1.0, scalars[3], 0, 0.0, 0.0
    numbers, places = data.reshape((1, len(data))), indices.reshape((1, len(indices)))
    for j in range(len(w)):
        squares += w[j] * w[j]
    for k in range(len(visits)):
        ask_for_row(numbers, places, indptr, visits, k)
        row = visits[k]
        begin, end = indptr[row], indptr[row + 1]
        f, norm = 0.0, 0.0
        for i in range(begin, end):
            f += data[i] * w[indices[i]]
        f = S * f + b
        total += factor * loss_value(loss, epsilon, y[row], f)
        if kind == STEP_RATE:
            total += 0.5 * l2 * S * S * squares
        else:
            for i in range(begin, end):
                norm += data[i] * data[i]
            if kind == STEP_PA1 and norm == 0:
                continue
        step = step_length(kind, loss, epsilon, factor, y[row], f, rates[k], norm)
        if len(share):
            step *= share[k]
        S *= max(0.0, 1 - rates[k] * l2)
        if S < SMALLEST:
            for j in range(len(w)):
                w[j] *= S
            squares *= S * S
            S = 1.0
        if step != 0:
            steps += 1
            add, change = step / S, 0.0
            for i in range(begin, end):
                old = w[indices[i]]
                new = old + add * data[i]
                w[indices[i]] = new
                change += new * new - old * old
            squares += change
        if intercept:
            b += step
        t += 1
    for j in range(len(w)):
        w[j] *= S
    scalars[0], scalars[3], scalars[4] = b, t, steps
    return total


@jit
def truncated_sgd_epoch(rows, columns, scalars, loss, epsilon, factor, l1, intercept, kind):
    """One epoch; ``columns`` (p, 2) holds w and c, the other arguments are those of ``sgd_epoch``.

    ``sizes`` is sum |w|, where a column that is left alone counts with what is due to it, even
    past 0; that is put right when it is met.
    """
    data, indices, indptr, y, visits, share, rates = rows
    b, due, t, steps, total = scalars[0], scalars[2], scalars[3], 0, 0.0
    numbers, places = data.reshape((1, len(data))), indices.reshape((1, len(indices)))
    sizes, live, paired = 0.0, 0, kind != STEP_RATE
    for j in range(len(columns)):
        sizes += abs(columns[j, WEIGHT])
        live += columns[j, WEIGHT] != 0.0
    for k in range(len(visits)):
        ask_for_row(numbers, places, indptr, visits, k)
        row = visits[k]
        begin, end = indptr[row], indptr[row + 1]
        f, norm, here, met = b, 0.0, 0.0, 0
        for i in range(begin, end):
            j = indices[i]
            w, c = columns[j, WEIGHT], columns[j, OWED]
            size, sign = abs(w), math.copysign(1.0, w)
            left = size - (due + sign * c)
            new = min(max(left, 0.0), size)
            columns[j, WEIGHT], columns[j, OWED] = sign * new, c + sign * (new - size)
            f += data[i] * (sign * new)
            if w != 0.0:
                sizes -= left
                here += new
                met += 1
        live -= met  # of the columns that this row leaves alone
        total += factor * loss_value(loss, epsilon, y[row], f)
        if paired:
            for i in range(begin, end):
                norm += data[i] * data[i]
        else:
            total += l1 * (sizes + here)
        step, fall = 0.0, 0.0
        if not (kind == STEP_PA1 and norm == 0.0):
            step = step_length(kind, loss, epsilon, factor, y[row], f, rates[k], norm)
            if len(share):
                step *= share[k]
            fall = l1 * rates[k]
            t += 1
            if intercept:
                b += step
        steps += step != 0.0
        due += fall
        sizes -= fall * live
        for i in range(begin, end):
            j = indices[i]
            w, c = columns[j, WEIGHT] + step * data[i], columns[j, OWED]
            size, sign = abs(w), math.copysign(1.0, w)
            new = min(max(size - (due + sign * c), 0.0), size)
            columns[j, WEIGHT], columns[j, OWED] = sign * new, c + sign * (new - size)
            sizes += new
            live += new != 0.0
    for j in range(len(columns)):
        w, c = columns[j, WEIGHT], columns[j, OWED]
        size, sign = abs(w), math.copysign(1.0, w)
        new = min(max(size - (due + sign * c), 0.0), size)
        columns[j, WEIGHT], columns[j, OWED] = sign * new, c + sign * (new - size)
    scalars[0], scalars[2], scalars[3], scalars[4] = b, due, t, steps
    return total


@jit
def last_live(record: Array, now: int, paid: float, size: float) -> int:
    """The last visit after which a column of this size had not reached 0."""
    target, width = paid + size, 1
    guess = min(now, int(now * target / record[now, FALL]))  # D grows almost evenly
    low = high = guess
    if record[guess, FALL] - paid >= size:
        while low > 0 and record[low, FALL] - paid >= size:
            high, low, width = low, max(0, low - width), 2 * width
    else:
        while record[high, FALL] - paid < size:
            low, high, width = high, min(now, high + width), 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        if record[middle, FALL] - paid >= size:
            high = middle
        else:
            low = middle
    return low


@jit
def catch_up(columns: Array, j: int, record: Array, now: int, total: Array, norms: Array) -> None:
    """Bring column j to visit ``now`` of the segment."""
    size, paid = abs(columns[j, V]), columns[j, PAID]
    fall = record[now, FALL] - paid
    if size == 0 or (fall == 0 and len(total) == 0):
        return
    sign = 1.0 if columns[j, V] > 0 else -1.0
    gone, plain = fall >= size and fall > 0, record[now, SCALE] == 1 and len(total) == 0
    end = last_live(record, now, paid, size) if gone and not plain else now
    if len(total):
        span = max(0.0, record[end, SUM] - columns[j, SEEN])
        lost = max(0.0, record[end, SUM_FALL] - columns[j, SEEN_FALL]) - paid * span
        total[j] += sign * (size * span - lost)
    if not gone:
        columns[j, V] = sign * (size - fall)
        if fall > 0:
            columns[j, CUT] = -sign * record[now, DUE]
        return
    if plain:  # without decay it has paid its size
        columns[j, CUT] -= sign * size
    else:
        before = record[end + 1, SCALE] * (size - max(0.0, record[end, FALL] - paid))
        columns[j, CUT] = -sign * (record[end, DUE] + before)
    norms[SQUARES] -= (size - fall) ** 2  # what the running sums think of it
    norms[SIZES] -= size - fall
    norms[LIVE] -= 1
    columns[j, V] = 0.0


@jit
def settle(columns: Array, record: Array, now: int, total: Array, norms: Array) -> None:
    """Bring every column up to date, multiply the scale in and begin a new segment."""
    for j in range(len(columns)):
        catch_up(columns, j, record, now, total, norms)
        columns[j, V] *= record[now, SCALE]
        columns[j, PAID] = columns[j, SEEN] = columns[j, SEEN_FALL] = 0.0
    norms[:] = 0.0
    for j in range(len(columns)):
        v = columns[j, V]
        norms[SQUARES] += v * v
        norms[SIZES] += abs(v)
        norms[LIVE] += v != 0
    record[0, SCALE], record[0, DUE] = 1.0, record[now, DUE]
    record[0, FALL] = record[0, SUM] = record[0, SUM_FALL] = 0.0


@jit
def truncate(v: float, cut: float, S: float, due: float) -> float:
    """The weight S v after the truncation that is due to it, in units of S."""
    z = S * v
    if z > 0:
        return max(0.0, z - (due + cut)) / S
    if z < 0:
        return min(0.0, z + (due - cut)) / S
    return 0.0


@jit
def lazy_sgd_epoch(rows, columns, record, total, scalars, how):
    """One epoch over CSR rows; ``columns`` (p, 5) holds the weights and their truncations.

    ``record`` (visits + 1, 5) is work space; ``total`` (p,) the sum of the iterates, or empty.
    """
    data, indices, indptr, y, visits, share, rates = rows
    loss, epsilon, factor, l2, l1, intercept, average, kind = how
    b, t, norms, now, value_sum, steps = scalars[0], scalars[3], np.zeros(3), 0, 0.0, 0
    numbers, places = data.reshape((1, len(data))), indices.reshape((1, len(indices)))
    record[0] = 0.0
    record[0, SCALE], record[0, DUE] = 1.0, scalars[2]
    settle(columns, record, 0, total, norms)
    for k in range(len(visits)):
        ask_for_row(numbers, places, indptr, visits, k)
        row = visits[k]
        begin, end = indptr[row], indptr[row + 1]
        S, eta, f, norm = record[now, SCALE], rates[k], 0.0, 0.0
        for i in range(begin, end):
            j = indices[i]
            catch_up(columns, j, record, now, total, norms)
            f += data[i] * columns[j, V]
            norm += data[i] * data[i]
        f = S * f + b
        value_sum += factor * loss_value(loss, epsilon, y[row], f)
        if kind == STEP_RATE:
            value_sum += 0.5 * l2 * S * S * norms[SQUARES] + l1 * S * norms[SIZES]
        paid, seen, seen_fall = record[now, FALL], record[now, SUM], record[now, SUM_FALL]
        if kind == STEP_PA1 and norm == 0:
            for i in range(begin, end):
                j = indices[i]
                columns[j, PAID], columns[j, SEEN], columns[j, SEEN_FALL] = paid, seen, seen_fall
            continue
        step = step_length(kind, loss, epsilon, factor, y[row], f, eta, norm)
        if len(share):
            step *= share[k]
        steps += step != 0
        keep = max(0.0, 1 - eta * l2)
        if S * keep < SMALLEST:
            for i in range(begin, end):
                j = indices[i]
                columns[j, PAID], columns[j, SEEN], columns[j, SEEN_FALL] = paid, seen, seen_fall
            settle(columns, record, now, total, norms)
            if keep < SMALLEST:  # the weights are forgotten
                columns[:, V] = 0.0
                norms[:] = 0.0
                keep = 1.0
            now, S = 0, 1.0
        S *= keep
        due, fall, on = record[now, DUE] + l1 * eta, l1 * eta / S, 0 < average <= t
        record[now + 1, FALL] = record[now, FALL] + fall
        record[now + 1, SUM] = record[now, SUM] + on * S
        record[now + 1, SUM_FALL] = record[now, SUM_FALL] + on * S * record[now + 1, FALL]
        record[now + 1, SCALE], record[now + 1, DUE] = S, due
        now += 1
        squares, sizes, live = norms[SQUARES], norms[SIZES], norms[LIVE]
        squares += fall * (live * fall - 2 * sizes)  # columns left alone
        sizes -= fall * live
        for i in range(begin, end):
            j = indices[i]
            size = abs(columns[j, V]) - fall
            if columns[j, V] != 0:
                squares -= size * size
                sizes -= size
                live -= 1
            v = columns[j, V] + step / S * data[i]
            if l1 > 0:
                left = truncate(v, columns[j, CUT], S, due)
                columns[j, CUT] += S * (left - v)
                v = left
            columns[j, V], columns[j, PAID] = v, record[now, FALL]
            columns[j, SEEN], columns[j, SEEN_FALL] = record[now, SUM], record[now, SUM_FALL]
            squares += v * v
            sizes += abs(v)
            live += v != 0
            if on:
                total[j] += S * v
        norms[SQUARES], norms[SIZES], norms[LIVE] = squares, sizes, live
        if intercept:
            b += step
        if on:
            scalars[1] += (b - scalars[1]) / (t - average + 1)
        t += 1
    settle(columns, record, now, total, norms)
    scalars[0], scalars[2], scalars[3], scalars[4] = b, record[0, DUE], t, steps
    return value_sum


def run_sparse_epoch(X: Any, *arguments: Any) -> float:
    """``sgd_epoch`` for a CSR matrix, with the same arguments and effects."""
    y, visits, share, rates, w, mean, cut, scalars, t, *how = arguments
    loss, epsilon, factor, l2, l1, intercept, average, kind = how
    indices, indptr = X.indices, X.indptr
    if indices.dtype == indptr.dtype == np.int32:  # without a sign nobody looks at the sign
        indices, indptr = indices.view(np.uint32), indptr.view(np.uint32)
    rows = (X.data, indices, indptr, y, visits, share, rates)
    if l1 == 0 and average == 0:
        return sparse_sgd_epoch(rows, w, scalars, loss, epsilon, factor, l2, intercept, kind)
    if l2 == 0 and average == 0:
        pairs = np.column_stack([w, cut])
        penalty = loss, epsilon, factor, l1, intercept, kind
        value = truncated_sgd_epoch(rows, pairs, scalars, *penalty)
        w[:], cut[:] = pairs.T
        return value
    columns, record = np.zeros((len(w), 5)), np.empty((len(visits) + 1, 5))
    columns[:, V], columns[:, CUT] = w, cut
    total = mean * max(0, t - average) if average > 0 else np.empty(0)
    value = lazy_sgd_epoch(rows, columns, record, total, scalars, tuple(how))
    w[:], cut[:] = columns[:, V], columns[:, CUT]
    if average > 0 and scalars[3] > average:
        mean[:] = total / (scalars[3] - average)
    return value
