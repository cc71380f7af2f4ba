r"""Approximate answers, for networks whose exact ones are too large.

Likelihood weighting    draw the unobserved variables parents first, weigh each row by
                            w = prod_{observed i} p(x_i | x_pa(i)).
                        Rows are independent; estimates sum_r w_r [q_r = k] / sum_r w_r.
                        Effective sample size (sum w)^2 / sum w^2 (Kish): few if the evidence lies
                        far below the drawn variables.
Gibbs sampling          draw one variable after the other given its Markov blanket,
                            p(x_v | rest) ~ p(x_v | pa_v) prod_{children c} p(x_c | pa_c);
                        several chains, the first part of each thrown away. Rows depend on the ones
                        before: the effective sample size comes from the variance of the chains'
                        batch means, n s^2 / (batch size x variance of batch means). A table with
                        zeros may keep a chain in one corner for ever: then it warns.

References: Fung & Chang (1990); Shachter & Peot (1990); Geman & Geman (1984); Pearl (1987).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.readable import readable
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.graphical.inference.gibbs_kernels import gibbs_chain
from pellucid.graphical.inference.sampling import draw, prior_drawing
from pellucid.graphical.network.arrays import NetworkArrays
from pellucid.graphical.network.factor import Factor

CHAINS, BATCHES = 8, 16  # of Gibbs sampling; batches of each chain
FEW = 100.0  # effective rows below which an answer is not worth much


@readable
class ApproximateAnswer(NamedTuple):
    """A posterior from draws, and how far to trust it.

    ``effective_sample_size`` is the number of independent exact draws that would be as good, the
    smallest over the states; ``standard_error`` is that of each probability.

    >>> from pellucid.data import load_network
    >>> from pellucid.graphical import read_network
    >>> asia = read_network(load_network("asia"))
    >>> found = asia.approximate("lung", {"xray": "yes"}, n_samples=20_000, random_state=0)
    >>> exact = asia.query("lung", {"xray": "yes"})
    >>> bool((abs(found.factor.values - exact.values) < 4 * found.standard_error).all())
    True
    """

    factor: Factor  # the estimated posterior
    standard_error: Array
    effective_sample_size: float
    n_samples: int  # draws taken


class Draws(NamedTuple):
    """What came of the draws: shares of the cells, their errors, rows that count."""

    share: Array
    error: Array
    effective: float


def cells_of(arrays: NetworkArrays, codes: IntArray, targets: IntArray) -> tuple[Any, int]:
    """The cell of every row in the table of the targets, and the number of cells."""
    card = arrays.shape.card
    cell = np.zeros(codes.shape[1], np.int64)
    for v in targets:
        cell = cell * int(card[v]) + codes[v]
    return cell, int(np.prod(card[targets], dtype=np.float64))


def log_weights(arrays: NetworkArrays, codes: IntArray, seen: IntArray) -> Array:
    """log prod p(x_i | parents) over the observed variables, of every row."""
    shape = arrays.shape
    total = np.zeros(codes.shape[1])
    with np.errstate(divide="ignore"):
        logs = np.log(arrays.flat)
    for v in seen:
        cell = np.zeros(codes.shape[1], np.int64)
        for u in (*shape.parents[shape.parent_start[v] : shape.parent_start[v + 1]], v):
            cell = cell * shape.card[u] + codes[u]
        total += logs[arrays.start[v] + cell]
    return total


def weighted_rows(
    arrays: NetworkArrays, seen: IntArray, at: IntArray, n: int, seed: int
) -> tuple[Any, Any]:
    """Rows drawn with the evidence clamped, and their log weights."""
    evidence = dict(zip(seen.tolist(), at.tolist(), strict=True))
    plan = prior_drawing(arrays)
    order = plan.order[~np.isin(plan.order, seen)]
    codes = draw(plan._replace(order=np.ascontiguousarray(order)), n, seed, evidence)
    return codes, log_weights(arrays, codes, seen)


def likelihood_weighting(
    arrays: NetworkArrays, targets: IntArray, seen: IntArray, at: IntArray, n: int, seed: int
) -> Draws | None:
    """None where every row has the weight 0."""
    codes, logs = weighted_rows(arrays, seen, at, n, seed)
    top = logs.max()
    if top == -np.inf:
        return None
    w = np.exp(logs - top)
    cell, size = cells_of(arrays, codes, targets)
    total = w.sum()
    share = np.bincount(cell, w, size) / total
    squares = np.bincount(cell, w * w, size)
    # variance of a ratio of sums: sum w^2 (1[cell] - share)^2 / (sum w)^2
    error = np.sqrt(squares * (1 - 2 * share) + squares.sum() * share**2) / total
    return Draws(share, error, float(total**2 / (w * w).sum()))


def gibbs(
    arrays: NetworkArrays, targets: IntArray, seen: IntArray, at: IntArray, n: int, seed: int
) -> Draws | None:
    """Chains begin at rows drawn by likelihood weighting; None where none is possible."""
    codes, logs = weighted_rows(arrays, seen, at, max(4 * CHAINS, 2000), seed)
    if logs.max() == -np.inf:
        return None
    order = np.argsort(-logs, kind="stable")[:CHAINS]
    begin = codes[:, order[logs[order] > -np.inf]]
    free = np.array([v for v in arrays.order if v not in set(seen.tolist())], np.int64)
    length = max(-(-n // CHAINS // BATCHES), 1) * BATCHES
    size = int(np.prod(arrays.shape.card[targets], dtype=np.float64))

    def chain(c: int) -> Any:
        row = np.ascontiguousarray(begin[:, c % begin.shape[1]])
        counts = np.zeros((BATCHES, size))
        key = np.random.SeedSequence([seed, c]).generate_state(1, np.uint64)[0]
        tables, lengths = (
            (*arrays.shape, arrays.start, arrays.flat),
            (length // 4, length // BATCHES),
        )
        gibbs_chain(row, free, *tables, targets, *lengths, counts, key)
        return counts

    return batch_means(np.array(list(map_threads(chain, range(CHAINS)))), length // BATCHES)


def batch_means(counts: IntArray, size: int) -> Draws:
    """Shares from counts (chains, batches, cells); errors from the spread of the batches."""
    batches = counts.reshape(-1, counts.shape[-1]) / size
    share = batches.mean(axis=0)
    spread = batches.var(axis=0, ddof=1) / len(batches)
    between = counts.mean(axis=1).var(axis=0, ddof=1) / size**2 / len(counts)  # chains that differ
    error = np.sqrt(np.maximum(spread, between))
    ideal, n = share * (1 - share), size * len(batches)
    live = error > 0
    effective = float((ideal[live] / error[live] ** 2).min()) if live.any() else float(n)
    return Draws(share, error, min(effective, float(n)))


def warn_few(found: Draws, method: str) -> None:
    """Say so where the answer rests on few rows."""
    if found.effective < FEW:
        other = "gibbs" if method == "likelihood_weighting" else "likelihood_weighting"
        warn(
            f"the answer rests on {found.effective:.3g} effective rows only: raise n_samples or "
            f"try method={other!r}"
        )
