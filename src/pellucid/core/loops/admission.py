"""What a card says of a fit that did not end well: no class has to think of it.

The last step that was allowed still moved, or the descent ended above its start.
"""

import re
from numbers import Integral, Real
from typing import Any

import numpy as np

from pellucid.core.loops.iterate import (
    DivergenceWarning,
    History,
    Iteration,
    came_to_rest,
    rise_of,
)
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn

ADMITS = re.compile(
    "did not converge|before it (converged|settled)|cut short|max_iter ended|ended by max_iter"
    "|still falls|too short to judge|rose from|diverged"
)


def ended_early(model: Any) -> str:
    """What is to be said of a fit whose last step, the last allowed, moved by more than tol.

    >>> from pellucid import BayesianRidge
    >>> ended_early(BayesianRidge(tol=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]))
    ''
    """
    limit, tol = getattr(model, "max_iter", None), getattr(model, model._tol_name, None)
    if model._max_iter_is_size or not (isinstance(limit, Integral) and isinstance(tol, Real)):
        return ""
    history: History = getattr(model, "history_", History())
    if came_to_rest(history, float(tol)) or np.max(model.n_iter_) < limit:
        return ""
    return f"the iteration did not converge in max_iter={limit}"


def told_rise(
    run: Iteration,
    name: str,
    cure: str,
    *,
    start: float | None = None,
    end: float | None = None,
    slack: float = 0.0,
) -> str:
    """Warn of a descent that ended above its start; returns the sentence, "" where it did not.

    ``start`` and ``end`` are those of the history unless given. A run that left the finite numbers
    has warned already.
    """
    history = run.history
    ends = [row.get("objective") for row in (*history[:1], *history[-1:])] or [None, None]
    first, last = (
        known if given is None else given for given, known in zip((start, end), ends, strict=True)
    )
    rose = "" if first is None or last is None else rise_of(first, last, slack=slack)
    if run.reason == "diverged":
        left = f"the fit diverged after {run.n_iter} steps"
        return f"{left}: {rose}; {cure}" if rose else f"{left}; {cure}"
    if rose:
        warn(f"{name}: {rose}; {cure}", DivergenceWarning)
    return f"{rose}; {cure}" if rose else ""


def tell_rise(model: Any, run: Iteration, **known: Any) -> None:
    """The same for a model, whose card repeats the sentence."""
    model._risen = told_rise(run, type(model).__name__, model._cure_of_a_rise(), **known)


def admitting(model: Any, card: Card) -> Card:
    """The card, with those sentences unless it has said as much."""
    risen = getattr(model, "_risen", "")
    if risen and risen not in card.warnings:
        card = card._replace(warnings=(*card.warnings, risen))
    told = ADMITS.search(" ".join((card.optimisation, *card.warnings)))
    early = "" if told else ended_early(model)
    return card._replace(warnings=(*card.warnings, early)) if early else card
