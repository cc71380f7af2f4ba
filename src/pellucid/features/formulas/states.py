"""Whether what a file says about a fitted formula is what its functions would have learned."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.features.formulas.functions import MOST, State
from pellucid.features.formulas.language import read_formula

NUMBERS: dict[str, type[int] | type[float]] = {"unit": int, "mean": float, "spread": float}
ARRAYS = ("places", "sizes", "knots")
LEVELS = (str, int, float, bool)


def check_states(formula: Any, states: Any, names: Iterable[Any]) -> None:
    """Raise ValueError unless the states can be handed to the functions of the formula."""
    if not isinstance(formula, str) or not isinstance(states, dict):
        raise ValueError("a fitted formula has its text and a dict of states")
    read_formula(formula)
    if not all(isinstance(name, str) for name in names):
        raise ValueError("the names of the columns must be text")
    for text, state in states.items():
        if not isinstance(text, str) or not isinstance(state, dict):
            raise ValueError("the states of a formula are dicts, each under the text of its term")
        _check_state(text, state)


def _check_state(text: str, state: State) -> None:
    function = text.partition("(")[0].removeprefix("np.").removeprefix("numpy.")
    needed = {
        "center": {"unit", "mean", "spread"},
        "scale": {"unit", "mean", "spread"},
        "standardize": {"unit", "mean", "spread"},
        "bs": {"knots"},
        "ns": {"knots"},
    }.get(function, {"levels"} if function != "poly" else {"unit", "places", "sizes"})
    if set(state) != needed and not (function == "poly" and state == {"raw": True}):
        raise ValueError(f"the state of {text} must hold {', '.join(sorted(needed))}")
    for name, value in state.items():
        if not _accepted(name, value):
            raise ValueError(f"{name} of {text} is not what a fit would have left")
    if function == "poly" and "raw" not in state and len(state["places"]) != len(state["sizes"]):
        raise ValueError(f"places and sizes of {text} must have the same length")


def _accepted(name: str, value: Any) -> bool:
    if name == "raw":
        return value is True
    if name == "levels":
        return isinstance(value, list) and all(isinstance(level, LEVELS) for level in value)
    if name in NUMBERS:
        right = isinstance(value, NUMBERS[name]) and not isinstance(value, bool)
        return right and math.isfinite(value) and (name != "unit" or abs(value) <= 2000)
    shaped = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float64
    if not shaped or not np.isfinite(value).all() or not 1 <= len(value) <= 4 * MOST:
        return False
    rising = name != "knots" or bool((np.diff(value) >= 0).all())
    return rising and (name != "sizes" or bool((value > 0).all()))
