"""Tables whose rows hang together in the order of the file, and tables that are only sorted."""

import numpy as np
import polars as pl


def people(seed, *, classes=False, m=14, k=20, jitter=0.3, noise=0.0):
    """m people with k rows each: their own target, their own x0 to x2 and a jitter; x3 to x5."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(m), k)
    own = rng.normal(size=(m, 6))[who] + jitter * rng.normal(size=(m * k, 6))
    free = rng.normal(size=(m * k, 6))
    table = {f"x{j}": (own if j < 3 else free)[:, j] for j in range(6)}
    if classes:
        label = rng.permutation(np.arange(m) % 2)[who]
        return table | {"y": _named(label ^ (rng.random(m * k) < noise))}
    return table | {"y": rng.normal(size=m)[who] + noise * rng.normal(size=m * k)}


def _named(codes):
    return np.array(["no", "yes"])[codes.astype(int)]


def walks(seed, *, classes=False, n=300, p=1):
    """Random walks that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X, y = np.cumsum(rng.normal(size=(p, n)), axis=1), np.cumsum(rng.normal(size=n))
    y = _named(y > np.median(y)) if classes else y
    return {f"x{j}": x for j, x in enumerate(X)} | {"y": y}


def independent(seed, *, classes=False, n=300, bend=False):
    """Rows that have nothing to do with each other, with a true relation."""
    rng = np.random.default_rng(seed)
    X, g = rng.normal(size=(5, n)), rng.integers(0, 4, n)
    y = X[0] - 0.7 * X[1] + 0.5 * (g == 1) + 2 * bend * np.sin(3 * X[0]) + rng.normal(size=n)
    table = {f"x{j}": x for j, x in enumerate(X)} | {"g": np.array(list("pqrs"))[g]}
    return table | {"y": _named(y > 0) if classes else y}


def design(seed, *, shuffled=False):
    """Twenty-four settings with eight runs each, in standard or random order."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid([1, 2, 3, 4], [10, 20, 30], [0, 1], indexing="ij")
    order = rng.permutation(24) if shuffled else np.arange(24)
    heat, force, kind = (np.repeat(axis.ravel()[order], 8) for axis in grid)
    y = 0.8 * (heat - 2.2) ** 2 + 0.05 * force + kind + 0.8 * rng.normal(size=192)
    return {"heat": heat, "force": force, "kind": kind, "y": y}


def by(table, name):
    """The table sorted by a column."""
    frame = pl.DataFrame(table)
    return frame if name is None else frame.sort(name, maintain_order=True)
