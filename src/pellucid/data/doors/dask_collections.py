"""Frames and arrays of Dask, partition by partition, never the whole.

A first pass asks every partition for its rows and types. A range of rows then carries the
partitions it touches as Dask's own tasks; they are computed where the range is read, inside a
worker by that worker alone. A persisted collection is fetched from the workers that hold it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from pellucid.core.loops.statistics import Rows
from pellucid.data.doors.pandas_frames import pandas_frame
from pellucid.data.doors.parts import PartTable, new_token, part_cache
from pellucid.data.table import stack

Task: TypeAlias = Any  # a task or a collection of Dask, which is optional


def is_dask(source: object) -> bool:
    """Whether ``source`` is a collection of Dask."""
    return type(source).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(
        source, "__dask_graph__"
    )


def is_dask_array(source: object) -> bool:
    """Whether ``source`` is an array of Dask."""
    return is_dask(source) and type(source).__name__ == "Array"


def computed(task: Task) -> Any:
    """The value of one task: by the worker it is asked on, else by Dask's current scheduler."""
    try:
        from distributed import get_worker, worker_client

        get_worker()
    except (ImportError, ValueError):
        return task.compute()
    if any(type(node).__module__.startswith("distributed") for node in leaves_of(task)):
        with worker_client() as client:  # a persisted partition: it lies on some worker
            return client.compute(task).result()
    return task.compute(scheduler="synchronous")


def leaves_of(task: Task) -> list[Any]:
    """The values that a task's graph holds."""
    values = dict(task.__dask_graph__()).values()
    return [getattr(value, "value", value) for value in values]


class Partition(NamedTuple):
    """One partition of a frame, as the task that makes it."""

    task: Any

    def __call__(self, columns: Sequence[str]) -> pl.DataFrame:
        frame = computed(self.task)
        return pandas_frame(frame[list(columns)]) if columns else pandas_frame(frame)


def part_facts(part: Task) -> tuple[int, dict[str, Any]]:
    """Rows and types of one partition."""
    frame = pandas_frame(part)
    return frame.height, dict(frame.schema)


def open_dask_frame(source: Task) -> Any:
    """The table of a frame of Dask; one pass counts the rows of each partition."""
    import dask

    if type(source).__name__ == "Delayed" or not hasattr(source, "columns"):
        kind = type(source).__name__
        raise TypeError(f"cannot read a table from Dask's {kind}; give a frame or an array of Dask")
    if any(not isinstance(name, str) for name in source.columns):
        raise ValueError("the columns of the Dask frame need names that are text")
    tasks = source.to_delayed()
    facts = dask.compute(*(dask.delayed(part_facts)(task) for task in tasks))
    parts = [
        PartTable(Partition(task), schema, n_rows, new_token())
        for task, (n_rows, schema) in zip(tasks, facts, strict=True)
    ]
    full = [part for part in parts if part.n_rows] or parts[:1]  # an empty one has no types
    return stack(full, ["the Dask frame"] * len(full))


class ArrayPart(NamedTuple):
    """The blocks of one range of rows of an array of Dask, as tasks (or slices of arrays)."""

    X: Any
    y: Any
    w: Any
    start: int
    stop: int
    token: str

    def load(self, features: bool) -> Rows:
        held = [part_value(part) for part in (self.X if features else None, self.y, self.w)]
        if not features:
            held[0] = np.empty((self.stop - self.start, 0))
        return Rows(*held)


def part_value(part: Task) -> Any:
    return np.asarray(computed(part)) if hasattr(part, "__dask_graph__") else part


class DaskRows(NamedTuple):
    """Features, target and weights in arrays of Dask."""

    parts: tuple[ArrayPart, ...]
    width: int
    n_rows: int
    has_target: bool
    features: None = None

    def read(self, start: int, stop: int) -> Rows:
        found: list[Rows] = []
        for part in self.parts:
            low, high = max(start, part.start) - part.start, min(stop, part.stop) - part.start
            if low < high:
                rows = self._held(part)
                cut: list[Any] = [part if part is None else part[low:high] for part in rows]
                found.append(Rows(*cut))
        if len(found) == 1:
            return found[0]
        columns = list(zip(*found, strict=True))
        whole: list[Any] = [None if c[0] is None else np.concatenate(c) for c in columns]
        return Rows(*whole)

    def _held(self, part: ArrayPart) -> Rows:
        features = self.width > 0
        return part_cache.get((part.token, features), lambda: part.load(features))

    def cut(self, start: int, stop: int) -> "DaskRows":
        kept = tuple(part for part in self.parts if part.start < stop and start < part.stop)
        return self._replace(parts=kept)

    def only_target(self) -> "DaskRows":
        return self._replace(width=0)


def open_dask_array(X: Task, target: Task, columns: Sequence[int] | None, weight: Task) -> DaskRows:
    """Rows of an array of Dask; target and weight are positions, or arrays of as many rows."""
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise ValueError(f"an array needs two dimensions (rows, columns), got {X.ndim}")
    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    whole, used = X, set()
    parts: list[Any] = []
    for value, what in ((target, "target"), (weight, "weight")):
        if isinstance(value, str):
            raise ValueError(f"an array has no column names: {what} must be a position or an array")
        if value is not None and np.ndim(value) == 0 and not hasattr(value, "chunks"):
            if not 0 <= int(value) < whole.shape[1]:
                raise ValueError(f"{what} must be below {whole.shape[1]}, got {value!r}")
            used.add(int(value))
            value = whole[:, int(value)]
        parts.append(row_parts(value, X.chunks[0], what))
    kept = [j for j in range(X.shape[1]) if j not in used] if columns is None else list(columns)
    X = (X if len(kept) == X.shape[1] else X[:, kept]).rechunk({1: -1})
    tasks = X.to_delayed()[:, 0]
    ends = np.cumsum([0, *X.chunks[0]]).tolist()
    rows = tuple(
        ArrayPart(task, part_at(parts[0], i), part_at(parts[1], i), a, b, new_token())
        for i, (task, (a, b)) in enumerate(zip(tasks, pairwise(ends), strict=True))
    )
    return DaskRows(rows, len(kept), ends[-1], target is not None)


def part_at(parts: Sequence[Task] | None, i: int) -> Any:
    return None if parts is None else parts[i]


def row_parts(value: Task, chunks: Sequence[int], what: str) -> Any:
    """A vector cut like the rows: tasks of an array of Dask, slices of any other."""
    if value is None:
        return None
    if is_dask(value):
        value = value if hasattr(value, "chunks") else value.to_dask_array(lengths=True)
        if any(np.isnan(size) for size in value.chunks[0]):
            value = value.compute_chunk_sizes()
        same_rows(value.shape[0], sum(chunks), what)
        return value.rechunk({0: tuple(chunks)}).to_delayed().ravel().tolist()
    vector = np.asarray(value)
    same_rows(len(vector), sum(chunks), what)
    return np.split(vector, np.cumsum(chunks)[:-1])


def same_rows(found: int, n: int, what: str) -> None:
    if found != n:
        raise ValueError(f"{what} must have one value per row, got {found} values for {n} rows")
