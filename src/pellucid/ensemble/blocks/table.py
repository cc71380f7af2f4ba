"""Blocks for trees: numbers with missing cells, and categories by type, by number or by name."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pellucid.base import CheckedBlocks, Door, Estimator, check_blocks, map_of
from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Map
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.features.encoding.category_table import asked_categories, codes_of, values_of

WORDS = ("String", "Categorical", "Enum")
CATEGORIES = ("Categorical", "Enum")
Model = TypeVar("Model", bound=Estimator)


class RawDoor(NamedTuple):
    """Lets rows pass as they were read."""

    def open(self, raw: Rows, first_row: int) -> Rows:
        return raw


class TableDoor(NamedTuple):
    """Columns of words become codes of their known values; the rest passes the common door."""

    door: Door
    known: tuple[Any, ...]  # values of each column of words, None for numbers

    def open(self, raw: Rows, first_row: int) -> Rows:
        """A leaf as numbers, checked."""
        X: Any = raw.X
        if X.shape[1] and is_frame(X):
            out = np.empty(X.shape)
            for j, column in enumerate(frame_columns(X)):
                known = self.known[j]
                out[:, j] = column if known is None else codes_of(column, known)
            X = out
        return self.door.open(raw._replace(X=X), first_row)


class Opened(NamedTuple):
    """Blocks behind their door, and which columns are categories."""

    source: CheckedBlocks
    mask: Any  # (p,) bool
    known: list[Any] | None  # as ``categories_``

    def only_target(self) -> CheckedBlocks:
        """The same rows without features."""
        return self.source._replace(blocks=self.source.blocks.only_target())


def open_blocks(model: Estimator, blocks: Any, map_: Map) -> Opened:
    """The door of every tree on blocks; sets the names, and the classes of a classifier."""
    source = check_blocks(model, blocks, map_)
    p, names = model.n_features_in_, getattr(model, "feature_names_in_", None)
    kinds = [""] * p if names is None else [str(blocks.schema[name]) for name in names]
    by_type = np.array([kind.startswith(CATEGORIES) for kind in kinds], bool)
    asked = getattr(model, "categorical_features", None)
    mask: Any = asked_categories(asked, by_type, names, p)
    words = np.array([kind.startswith(WORDS) for kind in kinds], bool)
    if (words & ~mask).any():
        j = int(np.argmax(words & ~mask))
        ways = "name it in categorical_features, or make it a category column"
        raise ValueError(f"column {str(names[j])!r} holds words ({kinds[j]}), not numbers; {ways}")  # type: ignore[index]
    if not words.any():
        return Opened(source, mask, None)
    columns = tuple(np.flatnonzero(words).tolist())
    statistic = Statistic(partial(leaf_words, columns), merge_words)
    values = reduce_rows(statistic, CheckedBlocks(blocks, RawDoor()), map_)  # type: ignore[arg-type]
    known: list[Any] = [None] * p
    for j, found in zip(columns, values, strict=True):
        known[j] = found
    door: Any = TableDoor(source.door, tuple(known))
    return Opened(source._replace(door=door), mask, known)


def leaf_words(columns: tuple[int, ...], rows: Rows) -> list[Any]:
    """The distinct words of one leaf, sorted, column by column."""
    found = frame_columns(rows.X)
    return [values_of(found[j]) for j in columns]


def merge_words(a: list[Any], b: list[Any]) -> list[Any]:
    """The distinct words of two leaves."""
    return [np.union1d(x, y) for x, y in zip(a, b, strict=True)]


def fit_blocks(self: Model, blocks: Any, *, backend: Any = None) -> Model:
    """Fit on ``pellucid.data.blocks(...)``: files larger than memory, on any backend.

    The codes of the rows, one byte a cell, stay with the worker that has read them; sums and
    decisions travel. The model has the same bits for any block size and backend.
    """
    fit: Callable[[Opened, Map], None] = self._fit_opened
    with map_of(backend) as map_:
        fit(open_blocks(self, blocks, map_), map_)
    return self
