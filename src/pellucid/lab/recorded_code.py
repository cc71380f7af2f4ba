"""Python text that repeats a recorded fit."""

import re
from importlib import import_module

import numpy as np
from sklearn.base import BaseEstimator

import pellucid
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import literal

MOST_CELLS = 600  # written out; larger tables are left to the reader


def code_for(model: BaseEstimator, X: ArrayLike, y: ArrayLike) -> str:
    """Imports, the data if they are few numbers, the fit, and its objective."""
    lines = ["import numpy as np", *imports_of(model), ""]
    lines += data_lines(X, y)
    given = "X" if y is None else "X, y"
    lines.append(f"model = {spelled(model)}.fit({given})")
    if len(getattr(model, "history_", ())):
        lines.append('objective = float(model.history_["objective"][-1])')
    return "\n".join(lines) + "\n"


def data_lines(X: ArrayLike, y: ArrayLike) -> list[str]:
    several = isinstance(X, list) and any(isinstance(item, tuple) for item in X)  # graphs
    array = None if is_frame(X) or several else np.asarray(X)
    if array is None or array.dtype.kind not in "fiubU" or array.size > MOST_CELLS:
        shape = getattr(X, "shape", None)
        size = f" of {shape[0]} rows and {shape[1]} columns" if shape and len(shape) == 2 else ""
        what = "X" if y is None else "X and y"
        return [f"# {what}: the data{size} that were recorded"]
    found = [f"X = {literal(array)}"]
    return found if y is None else [*found, f"y = {literal(y)}"]


def spelled(model: BaseEstimator) -> str:
    """The constructor with the parameters that are not the default ones."""
    with np.printoptions(floatmode="unique", threshold=10**6):  # arrays to the last bit
        text = model.__repr__(N_CHAR_MAX=10**6)
    text = " ".join(text.replace("array(", "np.array(").split())
    return re.sub(r"(?<=[=(\[, -])(nan|inf)(?=[,)\] ])", r"np.\1", text)


def imports_of(model: BaseEstimator) -> list[str]:
    """One line for each class that the constructor names."""
    values = [model, *model.get_params(deep=True).values()]
    for value in list(values):
        values += list(value) if isinstance(value, list | tuple) else []
        values += [v for pair in values if isinstance(pair, tuple) for v in pair]
    kinds = {type(v) for v in values if type(v).__module__.split(".")[0] in ("pellucid", "sklearn")}
    return sorted(f"from {home_of(kind)} import {kind.__name__}" for kind in kinds)


def home_of(kind: type) -> str:
    """The shortest public place of a class."""
    name, module = kind.__name__, kind.__module__
    if name in pellucid._HOME:
        return "pellucid"
    package = ".".join(module.split(".")[:2])
    return package if hasattr(import_module(package), name) else module
