"""One thread pool that maps a function over row blocks, with BLAS held to one thread inside.

Results come back in the order of the items, so nothing depends on who finished first.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import count
from typing import Any

from threadpoolctl import ThreadpoolController

from pellucid.core.runtime.warn import standing_for

_limit: ContextVar[int | None] = ContextVar("pellucid_threads", default=None)
_pools: dict[int, ThreadPoolExecutor] = {}
_inside = threading.local()


def thread_count() -> int:
    """Threads in use: ``limit_threads``, else PELLUCID_NUM_THREADS, else the cores we may use.

    OMP_NUM_THREADS lowers the last: joblib sets it in its workers, so that they share the cores.
    """
    limit = _limit.get()
    if limit is not None:
        return limit
    asked = os.environ.get("PELLUCID_NUM_THREADS", "")
    if asked:
        if not asked.isdigit() or int(asked) < 1:
            raise ValueError(f"PELLUCID_NUM_THREADS must be a whole number >= 1, got {asked!r}")
        return int(asked)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    shared = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]  # a list is for nested regions
    return min(cores, int(shared)) if shared.isdigit() and int(shared) > 0 else cores


@contextmanager
def limit_threads(n: int) -> Iterator[None]:
    """Use at most ``n`` threads inside the block.

    >>> with limit_threads(1):
    ...     thread_count()
    1
    """
    if n < 1:
        raise ValueError(f"threads must be >= 1, got {n!r}")
    token = _limit.set(n)
    try:
        yield
    finally:
        _limit.reset(token)


@cache
def _libraries() -> list[Any]:
    """The controllers of the BLAS libraries of this process."""
    import numpy.linalg  # noqa: F401  both BLAS libraries must be loaded to be found
    import scipy.linalg  # noqa: F401

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _BlasHold:
    """BLAS has one thread while anybody holds it; the limit is the process's, so holders count."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0
        self.before: list[int | None] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.holders == 0:
                self.before = [library.get_num_threads() for library in _libraries()]
                for library, n in zip(_libraries(), self.before, strict=True):
                    if n != 1:
                        library.set_num_threads(1)
            self.holders += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.holders -= 1
            if self.holders == 0:
                for library, n in zip(_libraries(), self.before, strict=True):
                    if n != 1:
                        library.set_num_threads(n)


_hold = _BlasHold()


def single_threaded_blas() -> _BlasHold:
    """Hold BLAS to one thread: our own threads, or small matrices, use the cores better.

    It also makes the bits of a product independent of the machine's number of cores.
    """
    return _hold


def map_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(item)`` in order, computed by the pool; inline when already inside it.

    >>> list(map_threads(abs, [-2, 3]))
    [2, 3]
    """
    items = list(items)
    n = min(thread_count(), len(items))
    if getattr(_inside, "pool", False):  # a nested map would wait for its own worker
        return map(function, items)
    with single_threaded_blas():
        if n <= 1:
            return iter([function(item) for item in items])
        return iter(_share(function, items, n))


def _share(function: Callable[[Any], Any], items: list[Any], n: int) -> list[Any]:
    """The caller and n - 1 threads of the pool take item after item until none is left."""
    results: list[Any] = [None] * len(items)
    tickets = count()  # next() on it is atomic
    failed: list[BaseException] = []
    caller = sys._getframe(1)  # whose user a helper's warnings name; our own would be a cycle

    def work() -> None:
        while (i := next(tickets)) < len(items) and not failed:
            try:
                results[i] = function(items[i])
            except BaseException as error:
                failed.append(error)
                raise

    def help_out() -> None:
        with standing_for(caller):
            work()

    if n not in _pools:
        _pools[n] = ThreadPoolExecutor(n - 1, "pellucid", initializer=_mark)
    helpers = [_pools[n].submit(help_out) for _ in range(n - 1)]
    _inside.pool = True
    try:
        work()
    finally:
        _inside.pool = False
        wait(helpers)
    for helper in helpers:
        helper.result()
    return results


def _mark() -> None:
    _inside.pool = True


def _after_fork() -> None:
    """A forked child has none of the parent's threads, which may have held the lock."""
    global _hold
    _pools.clear()
    _hold = _BlasHold()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def gang(n: int) -> Iterator[Callable[..., list[Any]]]:
    """``n`` threads that are sure to run at the same time, for kernels that meet at barriers.

    The pool of ``map_threads`` gives no such promise: of two maps at once, each might hold a part
    of the threads and wait for the rest for ever. The caller is thread 0; should it be stopped
    (Ctrl-C), ``release()`` must free the others from their barrier.

    >>> with gang(2) as run:
    ...     run(lambda thread: thread + 1)
    [1, 2]
    """
    pool = ThreadPoolExecutor(n - 1, "pellucid-gang") if n > 1 else None

    def run(function: Callable[[int], Any], release: Callable[[], Any] | None = None) -> list[Any]:
        others = [pool.submit(function, t) for t in range(1, n)] if pool is not None else []
        try:
            mine = function(0)
        except BaseException:
            if release is not None:
                release()
            raise
        finally:
            wait(others)
        return [mine, *(other.result() for other in others)]

    try:
        yield run
    finally:
        if pool is not None:
            pool.shutdown()
