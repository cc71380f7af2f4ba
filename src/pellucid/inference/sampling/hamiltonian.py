r"""Hamiltonian Monte Carlo: proposals that follow the gradient.

With a momentum p ~ N(0, M) the pair (x, p) moves on the surface of constant

    H(x, p) = -log g(x) + p'M^-1 p / 2

by n leapfrog steps  p += e/2 grad log g(x);  x += e M^-1 p;  p += e/2 grad log g(x),  which are
reversible and keep volume, so the end is accepted with probability min(1, exp(H - H')).

In the burn-in every chain finds its step e by dual averaging, so that a share ``target`` is
accepted, and M^-1 = diag(variances of its draws) in windows that grow; then both are fixed. e is
varied by a fifth from move to move, so that no orbit closes on itself.    n + 1 gradients a draw

References: Duane et al. (1987); Neal (2011); Hoffman & Gelman (2014), algorithms 4 and 5.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.readable import readable
from pellucid.inference.sampling.adaptive_walk import windows

GAMMA, DELAY, KAPPA = 0.05, 10.0, 0.75  # of dual averaging, as Hoffman and Gelman choose them
JITTER = 0.2
DRAWN = 5.0  # draws' worth of 1e-3 in a variance, as in Stan

Rows = Callable[[Array], Array]


@readable
@dataclass(frozen=True, eq=False)
class Hamiltonian:
    """Moves along the gradient of the log density.

    ``step_size`` of a leapfrog step is in units of the standard deviations; None: found in the
    burn-in, so that the share ``target`` of moves is accepted. A move has ``n_steps`` leapfrog
    steps.

    >>> import numpy as np
    >>> from pellucid.inference import Hamiltonian, metropolis_hastings
    >>> chains = metropolis_hastings(
    ...     lambda x: -0.5 * (x**2).sum(axis=1), np.zeros(20), gradient=lambda x: -x,
    ...     n_draws=2000, proposal=Hamiltonian(), vectorized=True, random_state=0,
    ... )
    >>> bool(np.abs(chains.mean).max() < 0.1), bool(chains.rhat.max() < 1.02)
    (True, True)
    """

    step_size: float | None = None
    n_steps: int = 10
    target: float = 0.8

    def __post_init__(self) -> None:
        if self.step_size is not None:
            check.positive(step_size=self.step_size)
        check.whole(n_steps=self.n_steps)
        check.fraction(target=self.target)


class Tuning(NamedTuple):
    """Dual averaging of every chain."""

    log_step: Array
    log_mean: Array
    error: Array
    centre: Array
    rounds: int


def begin_tuning(step: Array) -> Tuning:
    log_step = np.log(step)
    return Tuning(log_step, log_step, np.zeros_like(step), np.log(10 * step), 0)


def tune(state: Tuning, acceptance: Array, target: float) -> Tuning:
    """One step of dual averaging towards the share ``target``."""
    t = state.rounds + 1
    error = state.error + (target - acceptance - state.error) / (t + DELAY)
    log_step = state.centre - np.sqrt(t) / GAMMA * error
    share = t**-KAPPA
    log_mean = share * log_step + (1 - share) * state.log_mean
    return Tuning(log_step, log_mean, error, state.centre, t)


class Flow(NamedTuple):
    """Where a move ended."""

    x: Array
    value: Array
    gradient: Array
    log_ratio: Array


class Place(NamedTuple):
    """Where the chains are, every row by itself."""

    x: Array
    value: Array
    gradient: Array


def leapfrog(
    density: Rows, gradient: Rows, start: Place, p: Array, step: Array, inverse_mass: Array, n: int
) -> Flow:
    """n steps from a place with momentum p, every row by itself."""
    x, value, g = start
    before = value - 0.5 * (p * p * inverse_mass).sum(axis=1)
    e = step[:, None]
    p = p + 0.5 * e * g
    for k in range(n):
        x = x + e * inverse_mass * p
        g = gradient(x)
        p = p + (e if k < n - 1 else 0.5 * e) * g
    new = density(x)
    return Flow(x, new, g, new - 0.5 * (p * p * inverse_mass).sum(axis=1) - before)


class Path(NamedTuple):
    """Everything the chains did, first axis the step."""

    draws: Array
    accepted: BoolArray
    log_density: Array
    proposals: Array
    n_nan: int


class Orbit:
    """Chains that move by Hamiltonian flow; ``run`` goes on from where the last run ended."""

    def __init__(
        self, density: Rows, gradient: Rows, x: Array, proposal: Hamiltonian, streams: list[Any]
    ) -> None:
        self.density, self.gradient, self.proposal = density, gradient, proposal
        self.streams, self.x = streams, x
        self.value, self.g = density(x), gradient(x)
        self.inverse_mass = np.ones_like(x)
        given = proposal.step_size
        start = np.full(len(x), given) if given is not None else self.reasonable_step()
        self.tuning = begin_tuning(start)

    def flow(self, z: Array, step: Array, n: int) -> Flow:
        """Where n leapfrog steps lead with the standard normal momenta z."""
        p, at = z / np.sqrt(self.inverse_mass), Place(self.x, self.value, self.g)
        with np.errstate(all="ignore"):
            return leapfrog(self.density, self.gradient, at, p, step, self.inverse_mass, n)

    def reasonable_step(self) -> Array:
        """Halved until one leapfrog step is accepted with probability 1/2."""
        z = np.stack([s.where.standard_normal(self.x.shape[1]) for s in self.streams])
        step = np.ones(len(self.x))
        for _ in range(60):
            poor = ~(self.flow(z, step, 1).log_ratio > np.log(0.5))
            if not poor.any():
                break
            step = np.where(poor, step / 2, step)
        return step

    def run(self, n: int, learn: bool) -> Path:
        """n moves of every chain."""
        m, d = self.x.shape
        draws, tried = np.empty((n, m, d)), np.empty((n, m, d))
        accepted, values, n_nan = np.empty((n, m), bool), np.empty((n, m)), 0
        learn = learn and self.proposal.step_size is None
        for t in range(n):
            z = np.stack([s.where.standard_normal(d) for s in self.streams])
            wide = np.array([s.where.uniform(1 - JITTER, 1 + JITTER) for s in self.streams])
            log_u = np.log1p(-np.array([s.whether.random() for s in self.streams]))
            step = np.exp(self.tuning.log_step if learn else self.tuning.log_mean)
            flow = self.flow(z, wide * step, self.proposal.n_steps)
            yes = log_u <= flow.log_ratio  # NaN never is
            n_nan += int(np.isnan(flow.value).sum())
            if learn:
                rate = np.exp(np.minimum(np.nan_to_num(flow.log_ratio, nan=-np.inf), 0.0))
                self.tuning = tune(self.tuning, rate, self.proposal.target)
            self.x = np.where(yes[:, None], flow.x, self.x)
            self.g = np.where(yes[:, None], flow.gradient, self.g)
            self.value = np.where(yes, flow.value, self.value)
            draws[t], accepted[t], values[t], tried[t] = self.x, yes, self.value, flow.x
        return Path(draws, accepted, values, tried, n_nan)

    def learn_mass(self, draws: Array) -> None:
        """Variances of a window, drawn towards 1e-3 where there are few draws."""
        n = len(draws)
        self.inverse_mass = (n * draws.var(axis=0) + DRAWN * 1e-3) / (n + DRAWN)
        if self.proposal.step_size is None:
            self.tuning = begin_tuning(self.reasonable_step())


def hamiltonian_walk(
    density: Rows,
    gradient: Rows,
    x: Array,
    proposal: Hamiltonian,
    streams: list[Any],
    n_burn: int,
    n_draws: int,
) -> Path:
    """Burn-in with learning, then the draws; first axis the step."""
    orbit, parts = Orbit(density, gradient, x, proposal, streams), []
    lengths = windows(n_burn) if n_burn else []
    for k, length in enumerate(lengths):
        parts.append(orbit.run(length, True))
        if k < len(lengths) - 1 and k > 0:
            orbit.learn_mass(parts[-1].draws)
    parts.append(orbit.run(n_draws, False))
    draws, accepted, values, tried = (np.concatenate([part[i] for part in parts]) for i in range(4))
    return Path(draws, accepted, values, tried, sum(part.n_nan for part in parts))
