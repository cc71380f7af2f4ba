"""A card says so where the last step that was allowed still moved: no class has to think of it."""

import re
from numbers import Integral, Real
from typing import Any

import numpy as np

from pellucid.core.loops.iterate import History, came_to_rest
from pellucid.core.records import Card

ADMITS = re.compile(
    "did not converge|before it (converged|settled)|cut short|max_iter ended|ended by max_iter"
    "|still falls|too short to judge"
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


def admitting(model: Any, card: Card) -> Card:
    """The card, with that sentence unless it has said as much."""
    told = ADMITS.search(" ".join((card.optimisation, *card.warnings)))
    early = "" if told else ended_early(model)
    return card._replace(warnings=(*card.warnings, early)) if early else card
