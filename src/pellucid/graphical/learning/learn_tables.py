r"""Conditional probability tables from counts.

Likelihood   theta_jk = N_jk / N_j                        j a configuration of the parents
Posterior    theta_j ~ Dirichlet(a_j1 + N_j1, .., a_jr + N_jr) with a ~ "imaginary samples":
             mean  (N_jk + a_jk) / (N_j + A_j),   mode  (N_jk + a_jk - 1) / (N_j + A_j - r)
Intervals    theta_jk ~ Beta(N_jk + a_jk, N_j + A_j - N_jk - a_jk)
BDeu         a_jk = e / (q r): an equivalent sample of e rows spread evenly over the cells

A configuration that was never seen, without a prior, has no estimate: its row is uniform.

References: Heckerman (1995); Koller & Friedman (2009), chapter 17.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, xlogy

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.graphical.network.names import Name


@readable
class DirichletPrior(NamedTuple):
    """Imaginary samples added to the counts of every table.

    Parameters
    ----------
    alpha : float or dict, default=1.0
        Pseudo-count of every cell, ``>= 0``; or for each variable an array in the shape of its
        table (parents.., own states).
    equivalent_sample_size : float or None, default=None
        Replaces ``alpha`` by ``equivalent_sample_size / cells of the table`` (BDeu).
    estimate : {"mean", "mode"}, default="mean"
        Posterior mean, or its mode (then ``alpha >= 1``).

    Examples
    --------
    >>> from pellucid.graphical import DirichletPrior
    >>> DirichletPrior().pseudo_counts("x", (2, 2))
    array([[1., 1.],
           [1., 1.]])
    """

    alpha: Any = 1.0
    equivalent_sample_size: float | None = None
    estimate: str = "mean"

    def __call__(self, variable: Name, shape: tuple[int, ...]) -> Array:
        """``pseudo_counts``; scikit-learn wants a default that is no plain value to be callable."""
        return self.pseudo_counts(variable, shape)

    def pseudo_counts(self, variable: Name, shape: tuple[int, ...]) -> Array:
        """The imaginary samples of one table."""
        check.one_of(("mean", "mode"), estimate=self.estimate)
        if self.equivalent_sample_size is not None:
            check.positive(equivalent_sample_size=self.equivalent_sample_size)
            return np.full(shape, self.equivalent_sample_size / np.prod(shape, dtype=np.float64))
        if isinstance(self.alpha, Mapping):
            if variable not in self.alpha:
                raise ValueError(f"alpha has no entry for variable {variable!r}")
            a = np.array(self.alpha[variable], np.float64)
            if a.shape not in ((), shape):
                raise ValueError(
                    f"alpha of variable {variable!r} must have the shape of its table {shape}, "
                    f"got {a.shape}"
                )
            a = np.broadcast_to(a, shape).copy()
        else:
            if not isinstance(self.alpha, Real):
                raise ValueError(f"alpha must be a number or a dict of arrays, got {self.alpha!r}")
            check.non_negative(alpha=self.alpha)
            a = np.full(shape, float(self.alpha))
        if not (np.isfinite(a) & (a >= 0)).all():
            raise ValueError(f"alpha of variable {variable!r} must be finite numbers >= 0")
        return a


class LearnedTable(NamedTuple):
    values: Array  # (parents.., r)
    unseen: Array  # (parents..) whether the row had neither rows nor prior


def prior_exponent(prior: DirichletPrior | None, variable: Name, shape: tuple[int, ...]) -> Array:
    """c with estimate (N + c) / sum(N + c): a for the mean, a - 1 for the mode, 0 without prior."""
    if prior is None:
        return np.zeros(shape)
    if not isinstance(prior, DirichletPrior):
        raise ValueError(f"prior must be a DirichletPrior or None, got {prior!r}")
    a = prior.pseudo_counts(variable, shape)
    if prior.estimate == "mean":
        return a
    if (a < 1).any():
        raise ValueError(
            f"estimate='mode' needs alpha >= 1 (below, the posterior has no inner mode), got "
            f"{a.min():g} for variable {variable!r}"
        )
    return a - 1.0


def learn_table(N: Array, c: Array) -> LearnedTable:
    """(N + c) / sum(N + c) along the last axis, uniform where the sum is 0.

    >>> learn_table(np.array([[3.0, 1.0], [0.0, 0.0]]), np.zeros((2, 2)))[0]
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    full = N + c
    total = full.sum(axis=-1, keepdims=True)
    unseen = total[..., 0] <= 0
    safe = np.where(total > 0, total, 1.0)
    values = np.where(total > 0, full / safe, 1.0 / N.shape[-1])
    return LearnedTable(values, unseen)


def log_prior(values: Array, c: Array) -> float:
    """log of the prior density of a table up to a constant: sum c log theta."""
    return float(xlogy(c, values).sum())


def warn_unseen(unseen: Mapping[Any, Array]) -> None:
    """Say which tables have rows that no data support."""
    bad = {v: int(np.sum(u)) for v, u in unseen.items() if np.any(u)}
    if bad:
        first, count = next(iter(bad.items()))
        warn(
            f"variable {first!r}: {count} of {np.size(unseen[first])} configurations of its "
            f"parents were never seen and get the uniform row ({sum(bad.values())} rows in "
            f"{len(bad)} tables); a DirichletPrior gives every row an estimate"
        )


def table_intervals(N: Array, a: Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Equal-tailed posterior intervals of every entry from its Beta marginal.

    >>> low, high = table_intervals(np.array([8.0, 2.0]), np.ones(2))
    >>> low.round(3), high.round(3)
    (array([0.482, 0.06 ]), array([0.94 , 0.518]))
    """
    check.fraction(confidence=confidence)
    first = N + a
    second = first.sum(axis=-1, keepdims=True) - first
    tail = (1.0 - confidence) / 2.0
    proper = (first > 0) & (second > 0)
    p, q = np.where(proper, first, 1.0), np.where(proper, second, 1.0)
    low, high = betaincinv(p, q, tail), betaincinv(p, q, 1.0 - tail)
    sure = np.where(first > 0, 1.0, 0.0)  # one state only, or one without any weight
    return np.where(proper, low, sure), np.where(proper, high, sure)
