r"""Metropolis-Hastings: draws from a density known up to a factor.

From x propose y ~ q(y | x); with u uniform on (0, 1) accept y if

    log u <= log g(y) - log g(x) + log q(x | y) - log q(y | x)

and stay at x otherwise, which repeats the draw. The draws have g for their limit whatever q is,
as long as q reaches everywhere: detailed balance holds move by move.

Every chain has two streams of random numbers of its own (where to go, whether to), keyed by the
number of the chain: the draws of a chain do not depend on how many run beside it, nor on
``vectorized``. The noise of built-in proposals is drawn ahead for BLOCK steps at a time, so that
a step is one call of the density and a few operations on all chains.    O(n_draws) calls

References: Metropolis et al. (1953); Hastings (1970).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Rng, Seed
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.warn import warn
from pellucid.inference.sampling.adaptive_walk import LEAST_BURN, AdaptiveWalk, EachWalk, windows
from pellucid.inference.sampling.chains import Chains
from pellucid.inference.sampling.hamiltonian import Hamiltonian, hamiltonian_walk
from pellucid.inference.sampling.proposals import GaussianWalk

BLOCK = 512  # steps whose noise is drawn at a time
TRIES = 50  # places to start from before the given one is taken
NEAR = 0.2  # steps by which the starts of Hamiltonian chains are dispersed
SPREAD = 5  # steps of the proposal by which dispersed starts are moved

Density = Callable[[Array], Array]  # (m, d) -> (m,)


class Streams(NamedTuple):
    """The random numbers of one chain."""

    where: Rng
    whether: Rng


class Walk(NamedTuple):
    """Everything the chains did, warm-up included."""

    draws: Array  # (m, T, d)
    accepted: BoolArray  # (m, T)
    log_density: Array  # (m, T)
    proposals: Array | None
    n_nan: int


def rows_of(log_density: Callable[[Any], Any], vectorized: bool) -> Density:
    """The density of every row; a shape that does not fit is refused."""

    def many(X: Array) -> Array:
        values = np.asarray(log_density(X), dtype=np.float64)
        refuse_shape(values, X)
        return values

    def one(X: Array) -> Array:
        return np.array([float(log_density(x)) for x in X])

    return many if vectorized else one


def refuse_shape(values: Array, rows: Array) -> None:
    """A vectorized density has one value for each row."""
    if values.shape != (len(rows),):
        need = f"must map rows of shape {rows.shape} to shape ({len(rows)},)"
        raise ValueError(f"log_density with vectorized=True {need}, got {values.shape}")


def random_steps(proposal: Any, streams: list[Streams], n: int, d: int) -> Array | None:
    """The noise of the next n steps of every chain, (n, m, d); None where it depends on x."""
    if isinstance(proposal, EachWalk):
        both = zip(proposal.each, streams, strict=True)
        return np.stack([own.steps(s.where, n, d) for own, s in both]).swapaxes(0, 1)
    if not hasattr(proposal, "steps"):
        return None
    return np.stack([proposal.steps(s.where, n, d) for s in streams]).swapaxes(0, 1)


def propose(proposal: Any, x: Array, streams: list[Streams]) -> Array:
    """One proposal of every chain."""
    return np.stack([proposal.sample(row, s.where) for row, s in zip(x, streams, strict=True)])


def count_nan(values: Array, points: Array) -> int:
    """How many densities are NaN; one that is +inf is refused."""
    if (values == np.inf).any():
        raise ValueError(f"log_density is +inf at {points[values == np.inf][0]}")
    return int(np.isnan(values).sum())


def advance(
    density: Density,
    x: Array,
    value: Array,
    proposal: Any,
    streams: list[Streams],
    n: int,
    keep: bool,
) -> tuple[Array, Walk]:
    """n <= BLOCK steps from the rows of x, whose densities ``value`` follow in place."""
    (m, d), n_nan = x.shape, 0
    draws, accepted, values = np.empty((n, m, d)), np.empty((n, m), bool), np.empty((n, m))
    tried = np.empty((n, m, d)) if keep else None
    steps = random_steps(proposal, streams, BLOCK, d)
    log_u = np.log1p(-np.stack([s.whether.random(BLOCK) for s in streams])).T
    symmetric = isinstance(proposal, GaussianWalk | EachWalk)
    for t in range(n):
        y = propose(proposal, x, streams) if steps is None else proposal.move(x, steps[t])
        new = density(y)
        if not new.item(new.argmax()) < np.inf:  # a NaN counts as the greatest
            n_nan += count_nan(new, y)
        log_r = new - value
        if not symmetric:
            log_r = log_r + ratios(proposal, y, x)
        yes = np.less_equal(log_u[t], log_r, out=accepted[t])  # NaN never is
        draws[t] = x
        x = draws[t]
        np.copyto(x, y, where=yes[:, None])
        np.copyto(value, new, where=yes)
        values[t] = value
        if tried is not None:
            tried[t] = y
    tried = None if tried is None else tried.swapaxes(0, 1)
    return x, Walk(draws.swapaxes(0, 1), accepted.T, values.T, tried, n_nan)


def joined(parts: list[Walk]) -> Walk:
    """Walks one after the other."""

    def along(pieces: list[Any]) -> Any:
        first, n = pieces[0], sum(piece.shape[1] for piece in pieces)
        out = np.empty((len(first), n, *first.shape[2:]), first.dtype)
        return np.concatenate(pieces, axis=1, out=out)

    draws, accepted, values = (along([part[i] for part in parts]) for i in range(3))
    tried = None if parts[0].proposals is None else along([part.proposals for part in parts])
    return Walk(draws, accepted, values, tried, sum(part.n_nan for part in parts))


def walk(
    density: Density, x: Array, proposal: Any, streams: list[Streams], n_steps: int, keep: bool
) -> Walk:
    """n_steps steps of every chain from the rows of x."""
    value, parts = density(x).copy(), []
    for start in range(0, n_steps, BLOCK):
        n = min(BLOCK, n_steps - start)
        x, part = advance(density, x, value, proposal, streams, n, keep)
        parts.append(part)
    return joined(parts)


def adaptive_walk(
    density: Density,
    x: Array,
    proposal: AdaptiveWalk,
    streams: list[Streams],
    n_burn: int,
    n_draws: int,
    keep: bool,
) -> Walk:
    """A burn-in whose windows teach every chain its steps, then the draws."""
    known = [proposal.begin(x.shape[1]) for _ in x]
    parts = []
    for length in windows(n_burn):
        steps = EachWalk(tuple(one.walk() for one in known))
        parts.append(walk(density, x, steps, streams, length, keep))
        x = parts[-1].draws[:, -1]
        seen = zip(known, parts[-1].draws, parts[-1].accepted, strict=True)
        known = [proposal.learn(one, draws, yes) for one, draws, yes in seen]
    steps = EachWalk(tuple(one.walk() for one in known))
    parts.append(walk(density, x, steps, streams, n_draws, keep))
    return joined(parts)


def along_the_gradient(
    density: Density,
    gradient: Any,
    x: Array,
    proposal: Hamiltonian,
    streams: list[Streams],
    n_burn: int,
    n_draws: int,
    keep: bool,
    vectorized: bool,
) -> Walk:
    """Hamiltonian moves in place of random ones."""

    def slopes(X: Array) -> Array:
        g = np.asarray(gradient(X) if vectorized else [gradient(row) for row in X], np.float64)
        if g.shape != X.shape:
            raise ValueError(f"gradient must have the shape {X.shape} of its points, got {g.shape}")
        return g

    path = hamiltonian_walk(density, slopes, x, proposal, streams, n_burn, n_draws)
    parts: Any = (np.ascontiguousarray(a.swapaxes(0, 1)) for a in path[:4])
    draws, accepted, values, tried = parts
    return Walk(draws, accepted, values, tried if keep else None, path.n_nan)


def ratios(proposal: Any, y: Array, x: Array) -> Array:
    """log q(x | y) - log q(y | x) of every chain."""
    return np.array([float(proposal.log_ratio(a, b)) for a, b in zip(y, x, strict=True)])


def starting_points(
    density: Density, start: ArrayLike, n_chains: int, proposal: Any, rngs: list[Rng]
) -> Array:
    """One row per chain: as given, or dispersed around one vector by steps of the proposal."""
    given = np.asarray(start, dtype=np.float64)
    if given.ndim == 2 and given.shape[0] == n_chains:
        points = given.copy()
    elif given.ndim <= 1:
        centre = np.atleast_1d(given)
        check_start(density, centre[None])
        points = np.stack([centre, *(disperse(density, centre, proposal, r) for r in rngs[1:])])
    else:
        need = f"one vector or one row for each of the n_chains={n_chains} chains"
        raise ValueError(f"start must be {need}, got shape {given.shape}")
    check_start(density, points)
    return points


def check_start(density: Density, points: Array) -> None:
    values = density(points)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        at = f"log_density is {values[bad[0]]} at {points[bad[0]]}"
        raise ValueError(f"the density must be positive where a chain starts: {at}")


def disperse(density: Density, centre: Array, proposal: Any, rng: Rng) -> Array:
    """A point some steps away, of positive density; nearer and nearer until there is one."""
    for attempt in range(TRIES):
        point = centre
        for _ in range(max(SPREAD - attempt // 10, 1)):
            point = proposal.sample(point, rng)
        if np.isfinite(density(point[None])[0]):
            return point
    return centre


def run_chains(
    log_density: Callable[[Any], Any],
    start: Any,
    *,
    n_draws: int = 1000,
    n_burn: int = 1000,
    n_chains: int = 4,
    proposal: Any = None,
    vectorized: bool = False,
    keep_proposals: bool = False,
    random_state: Seed = None,
    gradient: Callable[[Any], Any] | None = None,
) -> Chains:
    """Check the arguments of ``metropolis_hastings`` and run the chains; no word about them."""
    check.whole(n_draws=n_draws, n_chains=n_chains)
    check.whole(at_least=0, n_burn=n_burn)
    check.boolean(vectorized=vectorized, keep_proposals=keep_proposals)
    if proposal is None:
        proposal = GaussianWalk() if gradient is None else Hamiltonian()
    flowing, learning = isinstance(proposal, Hamiltonian), isinstance(proposal, AdaptiveWalk)
    if flowing and not callable(gradient):
        raise ValueError("a Hamiltonian proposal needs gradient=, that of the log density")
    learning_flow = flowing and proposal.step_size is None
    name = type(proposal).__name__
    if (learning or learning_flow) and n_burn < LEAST_BURN:
        need = f"n_burn must be >= {LEAST_BURN}"
        raise ValueError(f"{name} learns in the burn-in: {need}, got {n_burn}")
    spread = GaussianWalk(NEAR) if flowing else proposal
    if not all(callable(getattr(spread, method, None)) for method in ("sample", "log_ratio")):
        need = "sample(x, rng) and log_ratio(new, old)"
        raise ValueError(f"proposal must have {need}, not just those of {name}")
    seed = int(generator(random_state).integers(2**62))
    density = rows_of(log_density, vectorized)
    rngs = [stream(seed, c, 2) for c in range(n_chains)]
    x = starting_points(density, start, n_chains, spread, rngs)
    streams = [Streams(stream(seed, c, 0), stream(seed, c, 1)) for c in range(n_chains)]
    if flowing:
        run = along_the_gradient(
            density, gradient, x, proposal, streams, n_burn, n_draws, keep_proposals, vectorized
        )
    elif learning:
        run = adaptive_walk(density, x, proposal, streams, n_burn, n_draws, keep_proposals)
    else:
        run = walk(density, x, proposal, streams, n_burn + n_draws, keep_proposals)
    if run.n_nan:
        warn(f"log_density was NaN for {run.n_nan} proposals; they were rejected")
    tried = None if run.proposals is None else run.proposals[:, n_burn:]
    return Chains(
        run.draws[:, n_burn:],
        warmup=run.draws[:, :n_burn],
        accepted=run.accepted[:, n_burn:],
        log_density=run.log_density[:, n_burn:],
        proposals=tried,
        circular=isinstance(proposal, GaussianWalk) and np.ndim(proposal.scale) < 2,
        n_nan=run.n_nan,
        most_accepted=1.0 if flowing else 0.7,
    )


def metropolis_hastings(
    log_density: Callable[[Any], Any],
    start: Any,
    *,
    n_draws: int = 1000,
    n_burn: int = 1000,
    n_chains: int = 4,
    proposal: Any = None,
    vectorized: bool = False,
    keep_proposals: bool = False,
    random_state: Seed = None,
    gradient: Callable[[Any], Any] | None = None,
) -> Chains:
    """Draw from a density known up to a factor, by several chains.

    Chains that disagree or hold few effective draws are returned with a ``ConvergenceWarning``.

    Parameters
    ----------
    log_density : callable
        theta (d,) -> log g(theta), -inf where the density is 0; with ``vectorized`` rows (m, d)
        to values (m,). NaN counts as 0 and is reported.
    start : array of shape (d,) or (n_chains, d)
        One point, around which the chains are dispersed, or one row per chain.
    n_draws, n_burn, n_chains : int, default=1000, 1000, 4
        Draws kept per chain, draws before them, chains.
    proposal : GaussianWalk, LogNormalWalk, AdaptiveWalk, Hamiltonian or object, default=None
        None is ``GaussianWalk(1.0)``, or ``Hamiltonian()`` with a gradient. An object needs
        ``sample(x, rng)`` and ``log_ratio(new, old)`` = log q(old | new) - log q(new | old).
    vectorized : bool, default=False
        Whether the density takes all chains at once: far faster.
    keep_proposals : bool, default=False
        Keep also where each chain tried to go.
    random_state : None, int, RandomState or Generator, default=None
    gradient : callable, default=None
        Of the log density, rows to rows with ``vectorized``; for ``Hamiltonian``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.inference import GaussianWalk, metropolis_hastings
    >>> chains = metropolis_hastings(
    ...     lambda x: -0.5 * (x**2).sum(axis=1), [0.0, 0.0], n_draws=5000,
    ...     proposal=GaussianWalk(1.7), vectorized=True, random_state=0,
    ... )
    >>> chains, bool(np.abs(chains.cov - np.eye(2)).max() < 0.1)
    (Chains(4 chains of 5000 draws in 2 dimensions, acceptance 0.355), True)
    """
    chains = run_chains(
        log_density,
        start,
        n_draws=n_draws,
        n_burn=n_burn,
        n_chains=n_chains,
        proposal=proposal,
        vectorized=vectorized,
        keep_proposals=keep_proposals,
        random_state=random_state,
        gradient=gradient,
    )
    chains._warn_of_failure()
    return chains
