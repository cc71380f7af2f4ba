"""The tables on which published figures were computed, from packages the tests install anyway."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


def load(name: str, inline: dict[str, Any]) -> dict[str, Any]:
    """The names that a case may use: those of the table, and those written in the case itself."""
    found = dict(read(name)) if name else {}
    return found | {key: np.array(value) for key, value in inline.items()}


@cache
def read(name: str) -> dict[str, Any]:
    package, _, rest = name.partition(" ")
    return READERS[package](*rest.split())


def of_statsmodels(name: str) -> dict[str, Any]:
    """``X``, ``y`` and the whole ``table``, with the columns in the package's order."""
    import statsmodels.datasets

    data = getattr(statsmodels.datasets, name).load_pandas()
    found = {name: getattr(data, kind, None) for name, kind in (("X", "exog"), ("y", "endog"))}
    return {**found, "table": data.data}


def of_statsmodels_tests(folder: str, name: str) -> dict[str, Any]:
    """A table that the package keeps beside its own tests."""
    import pandas as pd
    import statsmodels

    path = Path(statsmodels.__file__).parent / folder / "tests" / "results" / name
    return {"table": pd.read_csv(path)}


def of_nist(name: str) -> dict[str, Any]:
    """One of NIST's tables for the analysis of variance, as SciPy keeps it: group, value."""
    import scipy.stats

    path = Path(scipy.stats.__file__).parent / "tests/data/nist_anova" / f"{name}.dat"
    rows = np.loadtxt(path, skiprows=60)
    return {"groups": rows[:, 0].astype(int), "values": rows[:, 1]}


def of_sklearn(name: str) -> dict[str, Any]:
    """``X`` and ``y`` of one of scikit-learn's tables."""
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return {"X": X, "y": y}


def of_mlxtend(name: str) -> dict[str, Any]:
    """``X`` and ``y`` of one of mlxtend's tables."""
    import mlxtend.data

    X, y = getattr(mlxtend.data, f"{name}_data")()
    return {"X": X, "y": y}


def of_book(name: str) -> dict[str, Any]:
    """A network or a world as a book defines it (``golden_books.py``)."""
    import golden_books

    return getattr(golden_books, name)()


READERS = {
    "book": of_book,
    "statsmodels": of_statsmodels,
    "statsmodels-tests": of_statsmodels_tests,
    "nist": of_nist,
    "scikit-learn": of_sklearn,
    "mlxtend": of_mlxtend,
}
