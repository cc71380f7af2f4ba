r"""Basis expansion: any list of functions h_1 .. h_M of the inputs.

    f(x) = sum_m b_m h_m(x)

is linear in b, so every linear model fits it. Functions with a name act on each cell and run in
threads; your own get the whole X and return (n,) or (n, k). Columns are grouped by function.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads

NAMES = ("square", "sqrt", "log", "exp", "sin", "cos", "reciprocal")
FUNCTIONS: dict[str, Callable[..., Any]] = {"identity": np.positive}
FUNCTIONS |= {name: getattr(np, name) for name in NAMES}
ROWS = 1024  # of a chunk


class BasisExpansion(Transformer):
    """Columns h_1(X), .., h_M(X) for given functions.

    Parameters
    ----------
    functions : sequence of str or callable, default=("identity",)
        Names (identity, square, sqrt, log, exp, sin, cos, reciprocal) or functions of the whole
        X that return an array of shape (n,) or (n, k). A model with functions of your own works
        but cannot be saved: a file holds data, not code.
    include_bias : bool, default=False
        A column of ones first.

    Attributes
    ----------
    n_columns_ : list of int
        How many columns each function has.

    Examples
    --------
    >>> from pellucid.features import BasisExpansion
    >>> model = BasisExpansion(["identity", "square"]).fit([[1.0, 2.0], [3.0, 4.0]])
    >>> model.transform([[3.0, 4.0]])
    array([[ 3.,  4.,  9., 16.]])
    >>> list(model.get_feature_names_out())
    ['x0', 'x1', 'square(x0)', 'square(x1)']
    """

    def __init__(
        self,
        functions: Sequence[str | Callable[..., Any]] = ("identity",),
        *,
        include_bias: bool = False,
    ) -> None:
        self.functions = functions
        self.include_bias = include_bias

    def _check_parameters(self) -> None:
        check.boolean(include_bias=self.include_bias)
        given = self.functions
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) == 0:
            raise ValueError(f"functions must be a list of names or functions, got {given!r}")
        for function in given:
            if not callable(function):
                check.one_of(FUNCTIONS, functions=function)

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the columns that each function gives."""
        self._check_parameters()
        X = self._check_training(X).X
        context = FitContext(self, X=X)
        p = self.n_features_in_
        self.n_columns_ = [evaluate(f, X).shape[1] if callable(f) else p for f in self.functions]
        context.end()
        return self

    def transform(self, X: Any) -> Array:
        """The functions of X, grouped by function."""
        X = self._check_input(X)
        out = np.empty((len(X), sum(self.n_columns_) + self.include_bias))
        at = int(self.include_bias)
        out[:, :at] = 1.0
        for function, size in zip(self.functions, self.n_columns_, strict=True):
            part = out[:, at : at + size]
            if callable(function):
                part[:] = evaluate(function, X, size)
                self._refuse_result(function, part)
            elif not apply(FUNCTIONS[function], X, part):
                self._refuse_result(function, part)
            at += size
        return out

    def _refuse_result(self, function: str | Callable[..., Any], part: Array) -> None:
        with np.errstate(all="ignore"):
            if np.isfinite(part.sum()) or np.isfinite(part).all():
                return
        row, j = np.argwhere(~np.isfinite(part))[0]
        own = part.shape[1] != self.n_features_in_
        where = f"its column {j}" if own else self._column_name(int(j))
        cell = f"{label(function)} of {where} is not finite in row {row} ({part[row, j]})"
        hint = "leave the function out, or shift the column to where it is defined"
        raise ValueError(f"{cell}: {hint}")

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """``log(a)``, and ``a`` itself for the identity."""
        names = self._names_in(input_features)
        found = ["1"] * self.include_bias
        for function, size in zip(self.functions, self.n_columns_, strict=True):
            word = label(function)
            if size == len(names):
                found += [a if function == "identity" else f"{word}({a})" for a in names]
            else:
                found += [word] if size == 1 else [f"{word}_{k}" for k in range(size)]
        return np.array(found, dtype=object)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        words = ", ".join(label(function) for function in self.functions)
        outputs = sum(self.n_columns_) + self.include_bias
        return Card(
            f"h_m(x) for h in {words}",
            "none: the columns are fixed functions of the inputs",
            "nothing is learnt from the training rows",
            {"inputs": self.n_features_in_, "outputs": outputs},
        )


def apply(function: Callable[..., Any], X: Array, out: Array) -> bool:
    """out = function(X) cell by cell, in threads; whether the sum of every chunk is finite."""

    def work(start: int) -> bool:
        rows = slice(start, start + ROWS)
        with np.errstate(all="ignore"):  # what is not finite is refused afterwards, by name
            return bool(np.isfinite(function(X[rows], out=out[rows]).sum()))

    return all(list(map_threads(work, range(0, len(X), ROWS))))


def evaluate(function: Callable[..., Any], X: Array, size: int | None = None) -> Array:
    """The columns of a given function, (n, k), k = ``size`` if known; it cannot change X."""
    locked = X.view()
    locked.flags.writeable = False
    with np.errstate(all="ignore"):
        found = np.asarray(function(locked), dtype=np.float64)
    found = found[:, None] if found.ndim == 1 else found
    n, name = len(X), label(function)
    if found.ndim != 2 or len(found) != n:
        raise ValueError(f"{name} must return shape ({n},) or ({n}, k), got {found.shape}")
    if size is not None and found.shape[1] != size:
        raise ValueError(f"{name} returned {found.shape[1]} columns, {size} in fit")
    return found


def label(function: str | Callable[..., Any]) -> str:
    """The name of a function.

    >>> label("log"), label(np.tanh)
    ('log', 'tanh')
    """
    return function if isinstance(function, str) else getattr(function, "__name__", repr(function))
