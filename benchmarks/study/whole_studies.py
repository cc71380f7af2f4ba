"""Whole studies, from the table to the record: how long an analyst waits.

No peer answers the same question (a verdict, intervals, leaks, a model of all rows), so there is no
ratio here; scores at equal seconds are in STUDY.md. The two odd tables are those of
``tests/study/test_odd_studies.py``: 200 classes, and more columns than rows by far.
"""

import numpy as np
import polars as pl

from benchmarks.harness import Case


def penguins():
    from pellucid.data import load_table

    return load_table("penguins"), "species"


def many_classes(n=2000, k=200):
    rng = np.random.default_rng(0)
    code = np.arange(n) % k
    X = rng.normal(size=(k, 8))[code] + 0.5 * rng.normal(size=(n, 8))
    return pl.DataFrame({**{f"x{j}": X[:, j] for j in range(8)}, "y": [f"c{v}" for v in code]}), "y"


def genes(n=83, p=2308):
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat(np.arange(4), [29, 11, 18, n - 58]))
    X = rng.normal(size=(n, p))
    X[:, :60] += 1.2 * rng.normal(size=(4, 60))[kind]
    labels = np.array(["EWS", "BL", "NB", "RMS"])[kind]
    return pl.DataFrame({**{f"g{j}": np.exp(0.8 * X[:, j]) for j in range(p)}, "y": labels}), "y"


def studied(effort):
    def run(data):
        import pellucid

        record = pellucid.learn(*data, effort=effort)
        return np.array([record.verdict.kind == "shown", len(record.leaderboard)], dtype=float)

    return run


CASES = [
    Case(
        f"pellucid.learn, {name}, {effort}",
        table,
        {"pellucid": studied(effort)},
        lambda ours, theirs: True,
        "fits of every candidate in every fold",
        "No peer gives a verdict; STUDY.md compares scores at equal seconds.",
        repeats=repeats,
    )
    for name, table, effort, repeats in (
        ("penguins 344 x 7", penguins, "quick", 3),
        ("penguins 344 x 7", penguins, "standard", 3),
        ("200 classes 2,000 x 8", many_classes, "standard", 1),
        ("four classes 83 x 2,308", genes, "standard", 1),
    )
]
