"""What a step says of itself: its moment, and the writers of linear models.

Linear models say w after the step = w before + what the step added; which rule it was stands in the
model's own card.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import number, signed, vector


class Moment(NamedTuple):
    """One step: the model after it and before it, the rows of the history, the model's words."""

    model: Any  # None at a start that no model stands for
    before: Any
    row: dict[str, Any]
    last: dict[str, Any]  # the row before, or empty
    words: str  # of the card: how it is optimised; at the start, what is
    names: tuple[str, ...] = ()

    def value(self, name: str) -> float | None:
        return finite(self.row.get(name))


Writer = Callable[[Moment], str]


def finite(value: Any) -> float | None:
    """A number, or None for everything that is none.

    >>> finite(2), finite("add"), finite(float("nan")), finite(True)
    (2.0, None, None, None)
    """
    number_types = int | float | np.integer | np.floating
    if isinstance(value, bool | np.bool_) or not isinstance(value, number_types):
        return None
    return float(value) if np.isfinite(value) else None


def change(moment: Moment) -> str:
    """How the objective moved."""
    moved = moved_value(moment)
    if not moved:
        return f"fitted: {moment.words}" if moment.words else "fitted"
    gap = moment.value("gap")
    return f"objective {moved}" + ("" if gap is None else f" (gap {number(gap)})")


def moved_value(moment: Moment) -> str:
    """The objective, after the one of the step before and an arrow where that is known."""
    now, last = moment.value("objective"), finite(moment.last.get("objective"))
    if now is None:
        return ""
    return number(now) if last is None else f"{number(last)} → {number(now)}"


def joined(*parts: str) -> str:
    return ";  ".join(part for part in parts if part)


# Linear models: w after the step = w before + what the step added.
LEAST_SQUARES = "w = (XᵀX)⁻¹ Xᵀy"
NORMAL = "w = (XᵀX + αI)⁻¹ Xᵀy"
RULES = (  # the first word that the card's own description of the solver holds
    ("least angle", "w_A ← w_A + γ (X_AᵀX_A)⁻¹ X_Aᵀr"),
    ("coordinate", "w_j ← S(x_jᵀr + ‖x_j‖² w_j, λ) / ‖x_j‖², j = 1, 2, …"),
    ("stochastic", "w ← w − η ∇J_i(w), row by row"),
    ("proximal gradient", "w ← prox(w − η ∇J(w))"),
    ("multipliers", "w ← argmin of the augmented Lagrangian"),
    ("lbfgs", "w ← w − η B ∇J(w), B from past gradients"),
    ("l-bfgs", "w ← w − η B ∇J(w), B from past gradients"),
    ("reweighted", "w ← w − H⁻¹ ∇J(w)"),
    ("newton", "w ← w − H⁻¹ ∇J(w)"),
    ("subgradient", "w ← w − η g,  g ∈ ∂J(w)"),
    ("gradient", "w ← w − η ∇J(w)"),
    ("simplex", "w ← the next corner with a lower objective"),
    ("mackay", "α ← (n − γ) / ‖r‖²,  λ ← γ / ‖w‖²,  w ← posterior mean"),
    ("fixed point", "λ_j ← γ_j / w_j²,  w ← posterior mean"),
    ("cholesky", NORMAL),
    ("cross-products", NORMAL),
)


def weights_of(model: BaseEstimator, row: dict[str, Any]) -> Any:
    """The coefficients as one vector, or None."""
    found = row.get("parameters") if model is None else getattr(model, "coef_", None)
    found = np.asarray(found, float) if isinstance(found, np.ndarray | list) else None
    return None if found is None or found.size == 0 else found.ravel()


def rule_of(moment: Moment) -> str:
    """The update that the model's own words name, or nothing."""
    words, model = moment.words.lower(), moment.model
    rule = next((text for word, text in RULES if word in words), "")
    plain = not any(getattr(model, name, None) for name in ("alpha", "alpha_", "regressor"))
    return LEAST_SQUARES if rule == NORMAL and plain else rule


def moved_weights(moment: Moment) -> str:
    """w ← (...) + (...) = (...), or what w is."""
    new, old = weights_of(moment.model, moment.row), weights_of(moment.before, moment.last)
    if new is None:
        return ""
    if old is None or old.shape != new.shape:
        return f"w = {vector(new)}"
    return f"w ← {vector(old)} + {vector(new - old)} = {vector(new)}"


def linear(moment: Moment, rule: str = "") -> str:
    return joined(rule or rule_of(moment), moved_weights(moment), shown_objective(moment))


def shown_objective(moment: Moment) -> str:
    moved = moved_value(moment)
    return moved and f"J = {moved}"


def stochastic(moment: Moment) -> str:
    rate = moment.value("learning_rate")
    rule = "w ← w − η ∇J_i(w), row by row" + ("" if rate is None else f", η = {number(rate)}")
    return linear(moment, rule)


def perceptron(moment: Moment) -> str:
    count = moment.value("updates")
    said = "" if count is None else f" ({number(count)} in this pass)"
    return linear(moment, f"w ← w + η y x at every mistake{said}")


def stagewise(moment: Moment) -> str:
    j, amount = moment.row.get("column"), moment.value("amount")
    if j is None or amount is None:
        return linear(moment)
    name = moment.names[int(j)] if int(j) < len(moment.names) else f"x{j}"
    rule = f"w_j ← w_j{signed(amount)} for the column nearest to the residual: {name}"
    return joined(rule, shown_objective(moment))


def stepwise(moment: Moment) -> str:
    move, value = moment.row.get("move"), moment.value("value")
    size = moment.value("size") or moment.value("terms")
    columns = "" if size is None else f"{number(size)} columns"
    criterion = "" if value is None else f"criterion {number(value)}"
    said = f"move: {move}" if move else "the next model of the search"
    return joined(said, columns, criterion, shown_objective(moment))
