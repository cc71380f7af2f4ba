"""Random tables of mixed kinds with missing cells, in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

WORDS = np.array(["pear", "apple", "fig", "Äpfel", "", "fig ", "日本"], dtype=object)


def column(rng, n, kind, missing=True):
    """One column as an object array."""
    if kind == "text":
        cells = WORDS[rng.integers(len(WORDS), size=n)]
    elif kind == "int":
        cells = rng.integers(-3, 4, size=n).astype(object)
    elif kind == "float":
        cells = (rng.integers(-2, 3, size=n) / 2).astype(object)
    else:
        cells = (rng.random(n) < 0.5).astype(object)
    cells = cells.copy()
    if missing and kind in ("text", "float"):
        gaps = rng.random(n)
        cells[gaps < 0.1] = np.nan
        if kind == "text":
            cells[gaps > 0.9] = None
    return cells


def mixed(seed, n=60, kinds=("text", "int", "float", "bool"), missing=True):
    """An object matrix."""
    rng = np.random.default_rng(seed)
    return np.column_stack([column(rng, n, kind, missing) for kind in kinds])


def text(seed, n=80, p=3, missing=None):
    """A matrix of text; ``missing`` marks some cells."""
    rng = np.random.default_rng(seed)
    cells = WORDS[rng.integers(len(WORDS), size=(n, p))].copy()
    if missing is not False:
        cells[rng.random((n, p)) < 0.1] = missing
    return cells


def containers(X, names=("a", "b", "c")):
    """The same text as frames of every library; pandas says NaN for what others call None."""
    columns = {name: X[:, j] for j, name in enumerate(names)}
    polars = pl.DataFrame({k: pl.Series(v.tolist(), dtype=pl.String) for k, v in columns.items()})
    pandas = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
    return {
        "polars": polars,
        "polars categorical": polars.cast(pl.Categorical),
        "polars enum": polars.cast(pl.Enum(sorted(set(WORDS.tolist()), reverse=True))),
        "pyarrow": pa.table({k: pa.array(v.tolist()) for k, v in columns.items()}),
        "pandas object": pandas,
        "pandas str": pandas.astype("str"),
        "pandas category": pandas.astype("category"),
    }


def same(a, b):
    """Equal arrays of any kind; NaN equals NaN, also among objects."""
    if a is None or b is None:
        assert a is b
        return
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    if a.dtype != object and b.dtype != object:
        np.testing.assert_array_equal(a, b)
        return
    left, right = ([_cell(v) for v in x.ravel().tolist()] for x in (a, b))
    assert left == right


def _cell(v):
    return "NaN" if isinstance(v, float) and v != v else v
