r"""Rows that stay where they were read, while orders go round them and sums come back.

A *shard* is a range of rows with a state beside it (codes, scores, the leaf of every row), kept in
the memory of the process that made it. A pass sends one small order to every shard:

    order ->   act(state, payload) changes the state, and gives a sum      on the worker
    sums  <-   joined two by two, on the workers where the backend can

Nothing depends on where a state is. A state that is not there (a worker was lost, the backend gave
the shard to another process, a task ran twice) is told by its version: the shard answers
"missing", and is asked again with a recipe, by which its state is made anew from the rows and from
what has been decided so far. So any backend that can only ``map`` will do; one that knows where a
state is (``placing.py``) is faster.

Shards begin at multiples of STRETCH rows. Sums of floats are rounded over one stretch at a time and
then exactly (``core.algebra.exact_sums``); all others are whole numbers. So the answer has the same
bits for any number of shards, size of blocks, and backend.
"""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Map
from pellucid.core.loops.statistics import Rows, Source, Span
from pellucid.ensemble.blocks.placing import Placed, find_place, width_of

STRETCH = 16_384  # rows over which floats are added up at once, in blocks and in memory
FITS = 2  # whose states a process keeps, the newest
PER_WORKER = 4  # shards: when one is lost, several others share what it held


class Shard(NamedTuple):
    """Spans in a row, from a multiple of STRETCH on."""

    spans: tuple[Span, ...]
    start: int

    def stretches(self) -> Iterator[tuple[int, Rows]]:
        """The rows, STRETCH at a time (the last may be fewer), with the number of the first."""
        start, waiting = self.start, []
        for span in self.spans:
            for leaf in span.leaves():
                waiting.append(leaf)
                if sum(part.n_rows for part in waiting) >= STRETCH:
                    yield start, together(waiting)
                    start, waiting = start + STRETCH, []
        if waiting:
            yield start, together(waiting)


def together(leaves: list[Rows]) -> Rows:
    """Some leaves as one."""
    if len(leaves) == 1:
        return leaves[0]
    X, y, w = (
        None if part[0] is None else np.concatenate(part) for part in zip(*leaves, strict=True)
    )
    return Rows(X, y, w)  # type: ignore[arg-type]


def cut_shards(source: Source, most: int) -> list[Shard]:
    """At most ``most`` shards of about the same number of spans."""
    groups: list[list[Span]] = []
    for span in source.spans():
        if not groups or span.start % STRETCH == 0:
            groups.append([])
        groups[-1].append(span)
    step = -(-len(groups) // most)
    parts = [groups[i : i + step] for i in range(0, len(groups), step)]
    return [Shard(tuple(chain.from_iterable(part)), part[0][0].start) for part in parts]


class Kept:
    """The states of the last fits in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.fits: OrderedDict[str, dict[int, tuple[int, Any]]] = OrderedDict()

    def take(self, fit: str, shard: int, version: int) -> Any:
        """The state, which is then no longer here: None where another version is all there is."""
        with self.lock:
            found = self.fits.get(fit, {}).pop(shard, None)
        return None if found is None or found[0] != version else found[1]

    def put(self, fit: str, shard: int, version: int, state: object) -> None:
        with self.lock:
            self.fits.setdefault(fit, {})[shard] = version, state
            self.fits.move_to_end(fit)
            while len(self.fits) > FITS:
                self.fits.popitem(last=False)

    def forget(self, fit: str) -> None:
        with self.lock:
            self.fits.pop(fit, None)


_kept = Kept()


Recipe = Callable[[Shard, Any], Any]  # (shard, what is kept beside it) -> state


class Order(NamedTuple):
    """What every shard is asked to do; it fits states of one version and makes the next."""

    fit: str
    version: int
    act: Callable[[Any, Any], Any]
    payload: Any
    recipe: Recipe | None  # makes a state anew


class Task(NamedTuple):
    """One shard of an order; the shard itself goes along only with a recipe."""

    number: int
    shard: Shard | None
    beside: Any  # what the recipe needs of this shard alone
    own: Any  # the part of the payload that is this shard's alone, or None


class Answer(NamedTuple):
    """Sums of some shards, and those that are missing in them."""

    value: Any  # None where nothing was found
    missing: tuple[int, ...]


def perform(order: Order, task: Task) -> Answer:
    """Carry out an order on one shard, on the worker."""
    state = _kept.take(order.fit, task.number, order.version)
    if state is None:
        if order.recipe is None or task.shard is None:
            return Answer(None, (task.number,))
        state = order.recipe(task.shard, task.beside)
    value = order.act(state, order.payload if task.own is None else (order.payload, task.own))
    _kept.put(order.fit, task.number, order.version + 1, state)
    return Answer(value, ())


def join_answers(join: Callable[[Any, Any], Any], a: Answer, b: Answer) -> Answer:
    """The answers of two sets of shards as one."""
    missing = a.missing + b.missing
    if a.value is None or b.value is None:
        return Answer(a.value if b.value is None else b.value, missing)
    return Answer(join(a.value, b.value), missing)


def forget(fit: str, _: object) -> None:
    """Let the states of a fit go."""
    _kept.forget(fit)


class Shards:
    """All shards of one fit. ``recipe()`` makes a state of the present version from its rows.

    ``beside(i)`` is what a recipe needs of shard i alone.

    ``passes`` counts the orders, ``received`` the bytes of whole numbers that came back in the
    joined answers, ``rebuilt`` the states that had to be made anew.
    """

    def __init__(
        self,
        source: Source,
        map_: Map,
        recipe: Callable[[], Recipe],
        beside: Callable[[int], Any] = lambda i: None,
    ) -> None:
        self.shards = cut_shards(source, PER_WORKER * width_of(map_))
        self.place: Placed = find_place(map_)
        self.recipe, self.beside = recipe, beside
        self.fit, self.version = uuid.uuid4().hex, 0
        self.passes = self.received = self.rebuilt = 0

    def each(
        self,
        act: Callable[[Any, Any], Any],
        payload: object,
        join: Callable[[Any, Any], Any],
        own: Callable[[int], Any] | None = None,
    ) -> Any:
        """One pass: the joined sums of ``act(state, payload)`` over all shards.

        With ``own`` the payload of shard i is ``(payload, own(i))``.
        """
        numbers: Sequence[int] = range(len(self.shards))
        first = self.version == 0
        got = Answer(None, tuple(numbers))
        if not first:
            order = Order(self.fit, self.version, act, payload, None)
            got = self._run(order, numbers, join, own)
            self.rebuilt += len(got.missing)
        if got.missing:
            order = Order(self.fit, self.version, act, payload, self.recipe())
            more = self._run(order, got.missing, join, own)
            got = join_answers(join, got._replace(missing=()), more)
        self.version += 1
        self.passes += 1
        self.received += size_of(got.value)
        return got.value

    def _run(
        self,
        order: Order,
        numbers: Sequence[int],
        join: Callable[[Any, Any], Any],
        own: Callable[[int], Any] | None,
    ) -> Answer:
        def task(i: int) -> Task:
            given = None if own is None else own(i)
            return (
                Task(i, None, None, given)
                if order.recipe is None
                else Task(i, self.shards[i], self.beside(i), given)
            )

        tasks = [task(i) for i in numbers]
        return self.place.reduce(
            partial(perform, order), tasks, partial(join_answers, join), list(numbers)
        )

    def close(self) -> None:
        """The states are of no more use."""
        self.place.each_home(partial(forget, self.fit))


def size_of(value: object) -> int:
    """The bytes of the arrays of whole numbers in some nested tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(size_of, value)) if isinstance(value, tuple | list) else 0
