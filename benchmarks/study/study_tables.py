"""Ten public tables for the studies: bundled with scikit-learn or us, or drawn by a generator.

Every table is a Polars frame with the target ``y``; classes are words, so that no tool can take
them for numbers. Gaps are empty cells.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn import datasets


class Table(NamedTuple):
    """A table and the measure every tool is told to work for."""

    name: str
    make: Callable[[], pl.DataFrame]
    metric: str  # accuracy, average_precision (of "yes") or rmse


def frame_of(X: Any, y: Any) -> pl.DataFrame:
    """Columns x0, x1 ... and y."""
    columns = {f"x{j}": np.asarray(X)[:, j] for j in range(np.shape(X)[1])}
    return pl.DataFrame(columns | {"y": y})


def _bundled(load: Callable[..., Any]) -> Callable[[], pl.DataFrame]:
    def make() -> pl.DataFrame:
        found = load()
        y = found.target
        if hasattr(found, "target_names"):
            y = np.array([f"class {name}" for name in found.target_names])[y]
        return frame_of(found.data, y)

    return make


def friedman() -> pl.DataFrame:
    """Two columns that interact, a square, two lines, five idle columns."""
    return frame_of(*datasets.make_friedman1(600, 10, noise=1.0, random_state=0))


def moons() -> pl.DataFrame:
    """Two half moons in the first two of five columns."""
    X, y = datasets.make_moons(600, noise=0.25, random_state=0)
    idle = np.random.default_rng(0).normal(size=(600, 3))
    return frame_of(np.column_stack([X, idle]), np.array(["no", "yes"])[y])


def mixed() -> pl.DataFrame:
    """Eight numbers of which two are cut into categories, and 8 % of the cells are empty."""
    X, y = datasets.make_classification(
        1200, 8, n_informative=5, n_redundant=1, n_clusters_per_class=2, class_sep=0.9,
        flip_y=0.05, random_state=0,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    frame = frame_of(X, np.array(["no", "yes"])[y])
    for name in ("x1", "x4"):
        cuts = np.quantile(frame[name].to_numpy(), [0.2, 0.4, 0.6, 0.8])
        shuffled = np.array(["red", "blue", "green", "grey", "white"])[rng.permutation(5)]
        frame = frame.with_columns(pl.Series(name, shuffled[np.digitize(frame[name], cuts)]))
    gaps = [pl.Series(name, rng.random(frame.height) < 0.08) for name in frame.columns[:-1]]
    return frame.with_columns(
        pl.when(gap).then(None).otherwise(pl.col(gap.name)).alias(gap.name) for gap in gaps
    )


def rare() -> pl.DataFrame:
    """One row in twenty-five is of the class that matters."""
    X, y = datasets.make_classification(
        3000, 10, n_informative=5, weights=[0.96], class_sep=1.2, flip_y=0.01, random_state=1
    )
    return frame_of(X, np.array(["no", "yes"])[y])


def penguins() -> pl.DataFrame:
    from pellucid.data import load_table

    return load_table("penguins").rename({"species": "y"})


TABLES = (
    Table("iris", _bundled(datasets.load_iris), "accuracy"),
    Table("wine", _bundled(datasets.load_wine), "accuracy"),
    Table("breast cancer", _bundled(datasets.load_breast_cancer), "accuracy"),
    Table("digits", _bundled(datasets.load_digits), "accuracy"),
    Table("penguins", penguins, "accuracy"),
    Table("moons", moons, "accuracy"),
    Table("mixed with gaps", mixed, "accuracy"),
    Table("rare class", rare, "average_precision"),
    Table("diabetes", _bundled(datasets.load_diabetes), "rmse"),
    Table("friedman1", friedman, "rmse"),
)
