r"""Tables from incomplete rows by expectation-maximisation.

One round from tables theta (whose E step is at hand):

    M   theta' = (E[N] + c) / sum(E[N] + c)      c the prior's imaginary samples, see learn_tables
    E   E[N_ijk] = sum over rows of P(x_i = k, parents = j | observed cells) at theta'

The objective l(theta) + sum c log theta (log-likelihood of the observed cells, and the log prior)
never falls. Without a prior it is the likelihood alone; it ends in a local maximum, and the labels
of a latent variable are arbitrary. The E step is in ``completion``.

References: Dempster, Laird & Rubin (1977); Lauritzen (1995).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.core.loops.iterate import UNKNOWN, FitContext, Iteration, iterate
from pellucid.graphical.learning.completion import Expected, Group, expected_counts, plan_groups
from pellucid.graphical.learning.counts import CodedTable, family_counts
from pellucid.graphical.learning.learn_tables import learn_table, log_prior


class Incomplete(NamedTuple):
    """What the rows say, gathered once: complete families counted, the rest in groups."""

    complete: list[Array]
    groups: list[Group]
    weight: float


class EMState(NamedTuple):
    """Where a run stands: tables and the E step at them."""

    tables: list[Array]
    expected: Expected
    log_prior: float
    before: float | None  # log-likelihood before the round

    @property
    def objective(self) -> float:
        return self.expected.log_likelihood + self.log_prior


def gather(table: CodedTable, parents: Sequence[tuple[int, ...]]) -> Incomplete:
    """Count what is complete and group what is not."""
    families = [(*some, v) for v, some in enumerate(parents)]
    groups = plan_groups(table.codes, table.weights, parents, table.card)
    return Incomplete(family_counts(table, families), groups, table.weight)


def random_tables(shapes: Sequence[tuple[int, ...]], rng: Rng) -> list[Array]:
    """A start: rows drawn near the uniform one, so that latent states begin apart."""
    drawn = [0.5 + rng.random(shape) for shape in shapes]
    return [values / values.sum(axis=-1, keepdims=True) for values in drawn]


def fit_em(
    rows: Incomplete,
    start: Sequence[Array],
    exponents: Sequence[Array],
    fixed: Sequence[bool],
    *,
    max_iter: int,
    tol: float,
    context: FitContext | None = None,
    name: str = "EM",
) -> Iteration:
    """Rounds until the objective changes by less than ``tol`` (0: ``max_iter`` rounds).

    ``exponents`` are the imaginary samples c of every table, ``fixed`` those that stay.
    """
    has_prior = any(np.any(c) for c in exponents)

    def state_at(tables: list[Array], before: float | None) -> EMState:
        expected = expected_counts(rows.groups, rows.complete, tables)
        prior = sum(log_prior(t, c) for t, c in zip(tables, exponents, strict=True))
        return EMState(tables, expected, prior if has_prior else 0.0, before)

    def step(state: EMState) -> tuple[EMState, float]:
        parts = zip(state.tables, fixed, state.expected.counts, exponents, strict=True)
        tables = [old if stays else learn_table(N, c).values for old, stays, N, c in parts]
        new = state_at(tables, state.expected.log_likelihood)
        change = abs(new.objective - state.objective)
        return new, change if np.isfinite(state.objective) else UNKNOWN

    def record(state: EMState) -> dict[str, Any]:
        log_likelihood = state.expected.log_likelihood
        row = {"objective": state.objective, "log_likelihood": log_likelihood}
        prior = {"log_prior": state.log_prior} if has_prior else {}
        return {**row, "before": state.before, **prior}

    begin = state_at(list(start), None)
    if not np.isfinite(begin.expected.log_likelihood):
        raise ValueError("the starting tables give some row of the data the probability 0")
    stop = float(np.nextafter(tol, 0.0)) if tol > 0 else None  # a change of exactly tol goes on
    loop = partial(iterate, max_iter=max_iter, tol=stop, name=name, context=context)
    return loop(step, begin, record=record)
