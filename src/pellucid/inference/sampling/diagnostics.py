r"""How far a set of chains can be trusted: R-hat and the effective sample size.

m chains of n draws of one quantity, mean of chain c xbar_c, variance s_c^2 (n - 1),

    W = mean s_c^2        B = n var(xbar_c)        R-hat = sqrt(((n - 1)/n W + B/n) / W)

R-hat near 1 says that the chains cannot be told apart. Split in halves (the default), a chain
that drifts disagrees with itself. The autocorrelations of all chains together are

    rho_t = 1 - (W - mean_c autocovariance_c(t)) / V,     V = (n - 1)/n W + B/n

and N draws are worth N / (1 + 2 sum rho_t) independent ones. The noisy tail is cut by Geyer: sums
of neighbours rho_2k + rho_2k+1 are positive and fall, so the first negative one ends the sum and
none may exceed the one before it.

Ranks in place of values make both robust against heavy tails ("rank", "bulk"):
z = ndtri((r - 3/8)/(N + 1/4)). R-hat by ranks also compares the spreads, by ranks of
|x - median|; "tail" is the smaller size for the 5 % and 95 % quantiles.    O(m n log n)

References: Gelman & Rubin (1992); Geyer (1992); Vehtari, Gelman, Simpson, Carpenter & Buerkner
(2021), Bayesian Analysis 16(2).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike

LEAST_DRAWS = 4  # two in each half of a chain


def check_draws(draws: ArrayLike) -> Array:
    """Draws as (chains, draws, d)."""
    x = np.asarray(draws, dtype=np.float64)
    if x.ndim not in (2, 3) or x.shape[1] < LEAST_DRAWS:
        need = f"(chain, draw) or (chain, draw, d) with at least {LEAST_DRAWS} draws"
        raise ValueError(f"draws must have shape {need}, got {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError("draws must be finite numbers, got NaN or infinity")
    return x[:, :, None] if x.ndim == 2 else x


def each(function: Callable[[Array], float], draws: ArrayLike) -> Any:
    """The function of every coordinate; a number where the draws are numbers."""
    x = check_draws(draws)
    values = np.array([function(x[:, :, j]) for j in range(x.shape[2])])
    return values if np.ndim(draws) == 3 else float(values[0])


def split_chains(x: Array) -> Array:
    """Each chain as two; the middle draw of an odd number is left out.

    >>> split_chains(np.arange(5.0)[None])
    array([[0., 1.],
           [3., 4.]])
    """
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def normal_ranks(x: Array) -> Array:
    """ndtri((r - 3/8) / (N + 1/4)) of the ranks r over all chains; ties share their mean rank."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return ndtri((rank[inverse] - 0.375) / (x.size + 0.25)).reshape(x.shape)


def plain_rhat(x: Array) -> float:
    """sqrt(((n - 1)/n W + B/n) / W) of (m, n); inf or NaN where no chain moves."""
    n = x.shape[1]
    within = x.var(axis=1, ddof=1).mean()
    between = x.mean(axis=1).var(ddof=1)  # B / n
    if not within > 0:
        return np.inf if between > 0 else np.nan
    return float(np.sqrt((n - 1) / n + between / within))


def rank_rhat(x: Array) -> float:
    """The larger of the R-hats of ranks for place and for spread."""
    folded = np.abs(x - np.median(x))
    return float(np.maximum(plain_rhat(normal_ranks(x)), plain_rhat(normal_ranks(folded))))


def rhat(draws: ArrayLike, split: bool = True, *, rank: bool = False) -> Any:
    """Potential scale reduction R-hat of chains: near 1 where they agree.

    ``draws`` are (chain, draw) or (chain, draw, d), at least 4 draws, and 2 chains unless
    ``split``: that compares the halves of the chains, so that a drift within a chain shows.
    ``rank`` takes normal scores of the ranks, for place and for spread; the larger is given. A
    number, or one for each coordinate: inf where chains are stuck at different points, NaN where
    all are stuck at one.

    >>> from pellucid.inference import rhat
    >>> round(rhat([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 2.0]]), 4)
    0.7559
    >>> round(rhat([[0.0, 1.0, 0.0, 1.0], [5.0, 6.0, 5.0, 6.0]], split=False), 2)
    6.18
    """
    check.boolean(split=split, rank=rank)
    if not split and check_draws(draws).shape[0] < 2:
        raise ValueError("one chain has nothing to disagree with: give several, or split=True")
    function = rank_rhat if rank else plain_rhat
    return each(lambda x: function(split_chains(x) if split else x), draws)


def autocovariance(x: Array) -> Array:
    """sum_i (x_i - xbar)(x_i+t - xbar) / n of each chain, (m, n), by the fast Fourier transform."""
    n = x.shape[1]
    size = next_fast_len(2 * n)
    spectrum = rfft(x - x.mean(axis=1, keepdims=True), n=size, axis=1)
    return irfft((spectrum * spectrum.conj()).real, n=size, axis=1)[:, :n] / n


def sample_size(x: Array) -> float:
    """N / (1 + 2 sum rho_t) of (m, n), the sum cut and made to fall by Geyer."""
    m, n = x.shape
    N = m * n
    covariance = autocovariance(x)
    within = covariance[:, 0].mean() * n / (n - 1)
    V = within * (n - 1) / n + (x.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    rounding = 1e-30 * float(np.abs(x).max()) ** 2
    if not rounding < V:
        return float(N)  # a constant is known exactly
    rho = 1 - (within - covariance.mean(axis=0)) / V
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2)
    sums = pairs.sum(axis=1)
    last = max((n - 3) // 2, 0)
    negative = np.flatnonzero(sums[:last] < 0)
    k = int(negative[0]) if len(negative) else last  # pairs that count
    tail = max(float(pairs[k, 0]), 0.0)
    tau = -1 + 2 * float(np.minimum.accumulate(sums[:k]).sum()) + tail
    return float(N / max(tau, 1 / np.log10(N)))


def mean_size(x: Array) -> float:
    """Effective sample size of the values."""
    return sample_size(split_chains(x))


def bulk_size(x: Array) -> float:
    """Effective sample size of the normal scores of the ranks."""
    return sample_size(normal_ranks(split_chains(x)))


def tail_size(x: Array) -> float:
    """The smaller size for the 5 % and the 95 % quantile."""
    edges = np.quantile(x, (0.05, 0.95))
    return min(mean_size((x <= edge).astype(np.float64)) for edge in edges)


KINDS = {"mean": mean_size, "bulk": bulk_size, "tail": tail_size}


def effective_sample_size(draws: ArrayLike, kind: str = "mean") -> Any:
    """How many independent draws the chains are worth.

    ``draws`` are (chain, draw) or (chain, draw, d), at least 4 per chain; chains are split in
    halves. ``kind`` is "mean", "bulk" for normal scores of the ranks, or "tail" for the 5 % and 95
    % quantiles. A number, or one for each coordinate.

    >>> import numpy as np
    >>> from pellucid.inference import effective_sample_size
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000))
    >>> effective_sample_size(draws) > 3000, effective_sample_size(draws.cumsum(axis=1)) < 50
    (True, True)
    """
    check.one_of(tuple(KINDS), kind=kind)
    return each(KINDS[kind], draws)
