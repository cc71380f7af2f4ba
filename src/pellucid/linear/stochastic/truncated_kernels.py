r"""The stochastic epoch over CSR rows for an L1 penalty alone, without decay and averages.

Due to every weight until visit t are q_t = sum_{i <= t} l1 eta_i of truncation, of which it got
c_j (with the sign of its changes). Visit by visit

    |w_j| <- max(0, |w_j| - (q_t + sign(w_j) c_j)),   c_j <- c_j + change of w_j

so that a weight which no step moves ends where one truncation by all that is due would bring it:
the sum telescopes. A column is truncated when a row stores it, before its score and after its
step, and all are at the end of the epoch. The answer is that of the dense epoch up to rounding.

Reference: Tsuruoka, Tsujii & Ananiadou (2009).
"""

import math

from pellucid.compiled.epochs.epochs import STEP_PA1, STEP_RATE
from pellucid.core.functions.losses import loss_value
from pellucid.core.runtime.jit import jit
from pellucid.linear.stochastic.row_kernels import ask_for_row, step_length

WEIGHT, CUT = range(2)  # of a column


@jit
def truncated_sgd_epoch(
    data,
    indices,
    indptr,
    y,
    visits,
    share,
    rates,
    columns,
    scalars,
    loss,
    epsilon,
    factor,
    l1,
    intercept,
    kind,
):
    """One epoch; ``columns`` (p, 2) holds w and c, the other arguments are those of ``sgd_epoch``.

    ``sizes`` is sum |w|, where a column that is left alone counts with what is due to it, even
    past 0; that is put right when it is met.
    """
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
            w, c = columns[j, WEIGHT], columns[j, CUT]
            size, sign = abs(w), math.copysign(1.0, w)
            left = size - (due + sign * c)
            new = min(max(left, 0.0), size)
            columns[j, WEIGHT], columns[j, CUT] = sign * new, c + sign * (new - size)
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
            w, c = columns[j, WEIGHT] + step * data[i], columns[j, CUT]
            size, sign = abs(w), math.copysign(1.0, w)
            new = min(max(size - (due + sign * c), 0.0), size)
            columns[j, WEIGHT], columns[j, CUT] = sign * new, c + sign * (new - size)
            sizes += new
            live += new != 0.0
    for j in range(len(columns)):
        w, c = columns[j, WEIGHT], columns[j, CUT]
        size, sign = abs(w), math.copysign(1.0, w)
        new = min(max(size - (due + sign * c), 0.0), size)
        columns[j, WEIGHT], columns[j, CUT] = sign * new, c + sign * (new - size)
    scalars[0], scalars[2], scalars[3], scalars[4] = b, due, t, steps
    return total
