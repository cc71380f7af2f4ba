"""Fit a Parquet file block by block: the model has the same bits for any block size."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from pellucid import Ridge
from pellucid.data import blocks

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 5))
y = X @ [1.0, -2.0, 0.5, 0.0, 3.0] + rng.normal(size=len(X))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "rows.parquet")
    pl.DataFrame({**{f"x{j}": X[:, j] for j in range(5)}, "y": y}).write_parquet(path)
    small = Ridge().fit_blocks(blocks(path, target="y", block_rows=10_000))
    large = Ridge().fit_blocks(blocks(path, target="y", block_rows=100_000))

memory = Ridge().fit(X, y)
print(f"coefficients    {np.round(small.coef_, 3)}")
print(f"same bits       {np.array_equal(small.coef_, large.coef_)}")
print(f"against memory  {np.abs(small.coef_ - memory.coef_).max():.1e}")
