"""TableFeatures against scikit-learn's ColumnTransformer doing the same to a mixed table."""

import numpy as np
import polars as pl

from benchmarks.harness import OURS, Case

N, NUMBERS, CATEGORIES = 200_000, 20, 10


def table():
    """Numbers with gaps and categories of 3 to 20 levels."""
    rng = np.random.default_rng(0)
    columns = {}
    for j in range(NUMBERS):
        x = rng.normal(size=N)
        if j % 2:
            x[rng.random(N) < 0.05] = np.nan
        columns[f"n{j}"] = x
    for j in range(CATEGORIES):
        names = np.array([f"level {i}" for i in range(3 + j)])
        columns[f"c{j}"] = names[rng.integers(3 + j, size=N)]
    return pl.DataFrame(columns, nan_to_null=True)


def ours(frame):
    from pellucid import TableFeatures

    return TableFeatures().fit_transform(frame).sum(axis=0)


def column_transformer(frame):
    """The quickest way to write it: each step once for all its columns."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [f"n{j}" for j in range(NUMBERS)]
    names = [f"c{j}" for j in range(CATEGORIES)]
    model = ColumnTransformer([
        ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        ("m", MissingIndicator(features="all"), numbers),
        ("c", OneHotEncoder(sparse_output=False, min_frequency=0.01), names),
    ], sparse_threshold=0)  # fmt: skip
    return model.fit_transform(frame).sum(axis=0)


def same(a, b):
    """The same sums of columns, whatever their order (numbers sum to zero, indicators count)."""
    a, b = (np.sort(np.round(v[np.abs(v) > 1e-3], 3)) for v in (np.asarray(a), np.asarray(b)))
    return np.array_equal(a, b)


CASES = [
    Case(
        "TableFeatures, 200,000 x 30 mixed columns with gaps",
        table,
        {OURS: ours, "sklearn ColumnTransformer": column_transformer},
        same,
        "one read of the table, one write of the matrix (0.2 GB)",
    )
]
