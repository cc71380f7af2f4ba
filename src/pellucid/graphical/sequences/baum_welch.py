r"""Passes over sequences with hidden states: the cores of the hidden Markov model.

Filter       p(z_t | x_1..t)     one pass forwards
Smooth       p(z_t | x_1..T)     one more pass backwards, with the expected moves
Decode       argmax p(z_1..T | x_1..T)     Viterbi, in logarithms
Baum-Welch   expected first states, moves and emissions given all observations, then shares of
             these counts: EM, so the log-likelihood never falls

References: Baum, Petrie, Soules & Weiss (1970); Viterbi (1967); Rabiner (1989).
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.graphical.sequences.emissions import CategoricalEmission, GaussianEmission
from pellucid.graphical.sequences.kernels import backward, best_paths, forward

GROUPS, MANY_ROWS = 8, 10_000  # groups of sequences; observations from which threads pay


class Chain(NamedTuple):
    """The parameters."""

    initial: Array  # (K,)
    transition: Array  # (K, K)
    emission: Any


class Expected(NamedTuple):
    """What a pass over the data leaves: parameters, posterior shares, moves, log-likelihood."""

    chain: Chain
    shares: Array  # (N, K), times the weight of the sequence
    moves: Array  # (K, K)
    log_likelihood: float


class Sequences(NamedTuple):
    """Observations of all sequences one after the other."""

    rows: Any  # (N, p) numbers, or (N,) codes
    first: Any  # (S + 1,)
    length: int  # columns of the table, 0: given one after the other


def filtered(chain: Chain, data: Sequences) -> tuple[Array, Array, Array]:
    """p(z_t | before), p(z_t | up to t), log p of each sequence."""
    B = chain.emission.log_density(data.rows)
    before, now = np.empty_like(B), np.zeros_like(B)
    log_p = np.empty(len(data.first) - 1)

    def work(part: slice) -> None:
        first = data.first[part.start : part.stop + 1]
        forward(first, chain.initial, chain.transition, B, before, now, log_p[part])

    spread(work, data)
    return before, now, log_p


def smoothed(chain: Chain, data: Sequences, w: Array) -> Expected:
    """The E step; rows of ``shares`` sum to the weight of their sequence."""
    before, shares, log_p = filtered(chain, data)
    lost = ~np.isfinite(log_p)
    if lost.any():
        raise ValueError(
            f"impossible evidence: the model gives sequence {int(lost.argmax())} the probability 0"
        )

    def work(part: slice) -> Array:
        moves = np.zeros_like(chain.transition)
        first = data.first[part.start : part.stop + 1]
        backward(first, chain.transition, w[part], before, shares, moves)
        return moves

    return Expected(chain, shares, np.sum(spread(work, data), axis=0), float(w @ log_p))


def spread(work: Any, data: Sequences) -> list[Any]:
    """Work on groups of sequences, the same groups for any number of threads."""
    n = len(data.first) - 1
    groups = min(n, GROUPS) if data.first[-1] >= MANY_ROWS else 1
    edges = np.linspace(0, n, groups + 1).astype(int).tolist()
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return [work(parts[0])] if groups == 1 else list(map_threads(work, parts))


def baum_welch_step(state: Expected, data: Sequences, w: Array) -> tuple[Expected, float]:
    """One M step and the E step after it; the gap is the gain per observation."""
    chain, shares, moves, old = state
    begin = shares[data.first[:-1]].sum(axis=0)
    total = moves.sum(axis=1, keepdims=True)
    live = total > 1e-300
    A = np.where(live, moves / np.where(live, total, 1.0), chain.transition)
    new = Chain(begin / begin.sum(), A, chain.emission.update(data.rows, shares))
    after = smoothed(new, data, w)
    weight = float(w @ np.diff(data.first))
    return after, max(after.log_likelihood - old, 0.0) / weight


def decode(chain: Chain, data: Sequences) -> Any:
    """The most probable path of every sequence."""
    B = chain.emission.log_density(data.rows)
    with np.errstate(divide="ignore"):
        begin, A = np.log(chain.initial), np.log(chain.transition)
    path, back = np.empty(len(B), np.int64), np.empty(B.shape, np.int16)
    best_paths(data.first, begin, A, B, back, path)
    return path


def attributes(chain: Chain, log_likelihood: float | None = None) -> dict[str, Any]:
    """The fitted attributes of some parameters."""
    K = len(chain.initial)
    free = K - 1 + K * (K - 1) + chain.emission.n_parameters
    found: dict[str, Any] = {"initial_": chain.initial, "transition_": chain.transition}
    found["n_parameters_"] = free
    if log_likelihood is not None:
        found["log_likelihood_"] = log_likelihood
    if isinstance(chain.emission, CategoricalEmission):
        return {**found, "probabilities_": chain.emission.probabilities}
    means, S, floor = chain.emission
    return {**found, "means_": means, "covariances_": S, "floor_": floor}


def distributions(name: str, values: IntArray, ndim: int) -> Array:
    """Rows that sum to 1, or the sentence what is wrong."""
    table = np.array(values, np.float64)
    if table.ndim != ndim or not (table >= 0).all() or abs(table.sum(axis=-1) - 1).max() > 1e-6:
        raise ValueError(f"{name} must have {ndim} axes and rows of shares that sum to 1")
    return table / table.sum(axis=-1, keepdims=True)


def given_categories(probabilities: Any, categories: Any, K: int) -> tuple[Any, Any]:
    """Categories and their shares in K states, checked."""
    b = distributions("probabilities", probabilities, 2)
    values = tuple(range(b.shape[1])) if categories is None else tuple(categories)
    if len(b) != K or len(values) != b.shape[1] or len(set(values)) < len(values):
        raise ValueError(f"probabilities must be {K} x (number of different categories)")
    return values, CategoricalEmission(b)


def given_normals(means: ArrayLike, covariances: ArrayLike, K: int) -> GaussianEmission:
    """Means and covariances of K states, checked."""
    m, S = np.array(means, np.float64), np.array(covariances, np.float64)
    if m.ndim != 2 or len(m) != K or S.shape not in (m.shape, (*m.shape, m.shape[-1])):
        raise ValueError(f"means must be {K} x p, covariances ({K}, p) or ({K}, p, p)")
    values = S if S.ndim == 2 else np.linalg.eigvalsh(S)
    if not (np.isfinite(m).all() and (values > 0).all()):
        raise ValueError("means must be finite and covariances positive")
    return GaussianEmission(m, S, np.zeros(m.shape[1]))


def offsets(lengths: ArrayLike | None, n: int) -> Any:
    """Where each sequence begins; the lengths must add up to the rows."""
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any() or sizes.sum() != n:
        raise ValueError(f"lengths must be whole numbers >= 1 that add up to the {n} rows of X")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def positive_only(data: Sequences, w: Array) -> tuple[Sequences, Array]:
    """Without the sequences of weight 0."""
    if (w > 0).all():
        return data, w
    if not (w > 0).any():
        raise ValueError("all weights are 0: no sequence is left")
    size = np.diff(data.first)
    kept = np.repeat(w > 0, size)
    first = np.concatenate([[0], np.cumsum(size[w > 0])]).astype(np.int64)
    return data._replace(rows=data.rows[kept], first=first), np.ascontiguousarray(w[w > 0])


def refuse_gaps(rows: Array) -> None:
    gaps = np.isnan(rows)
    half = gaps.any(axis=1) & ~gaps.all(axis=1)
    if half.any():
        raise ValueError(
            f"row {int(half.argmax())} is missing in part: covariance_type='full' needs whole "
            "observations, 'diag' does not"
        )
