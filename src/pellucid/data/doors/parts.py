"""Parts that can only be decoded whole (a partition, a row group), read by row range all the same.

The last parts decoded in a process stay in memory, so that the ranges of one part decode it once.
"""

import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

Piece = TypeVar("Piece")


class PieceCache(Generic[Piece]):
    """The last pieces read in this process; two threads that want the same one read it once."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.clear()

    def clear(self) -> None:
        self.lock = threading.Lock()
        self.entries: OrderedDict[tuple[str, Any], Future[Piece]] = OrderedDict()

    def get(self, key: tuple[str, Any], read: Callable[[], Piece]) -> Piece:
        with self.lock:
            future = self.entries.get(key)
            mine = future is None
            if future is None:
                future = self.entries[key] = Future()
                while len(self.entries) > self.size:
                    self.entries.popitem(last=False)
            else:
                self.entries.move_to_end(key)
        if mine:
            try:
                future.set_result(read())
            except BaseException as error:
                self.forget(key[0])
                future.set_exception(error)
                raise
        return future.result()

    def forget(self, token: str) -> None:
        with self.lock:
            for key in [key for key in self.entries if key[0] == token]:
                del self.entries[key]


def shared_cache(size: int) -> PieceCache[Any]:
    """A cache of this process; a forked child must not wait for its parent's reader."""
    cache: PieceCache[Any] = PieceCache(size)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=cache.clear)
    return cache


part_cache = shared_cache(size=3)


class PartTable(NamedTuple):
    """One part of a table, decoded whole by ``load(columns)`` wherever it is read."""

    load: Any  # (columns) -> frame; it travels to the worker that reads the part
    schema: dict[str, Any]
    n_rows: int
    token: str

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        names = tuple(columns)
        frame = part_cache.get((self.token, names), lambda: self.load(names))
        return frame.slice(start, stop - start)

    def cut(self, start: int, stop: int) -> "PartTable":
        return self


def new_token() -> str:
    """A name for a part that no other part has."""
    return uuid.uuid4().hex
