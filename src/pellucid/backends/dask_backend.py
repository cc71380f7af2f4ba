"""Sums and maps on a Dask cluster.

The blocks are cut into a few runs per thread of the cluster; a run names its source once and reads
its blocks where it is. A worker sums its run along the fixed tree, workers merge what they have a
few runs at a time, and one result comes back: what passes through this process does not grow with
the number of blocks, and neither does the number of tasks. Blocks stay decoded in the memory of
their worker until the fit ends, as long as they take no more than ``keep`` of it, so a method of
many passes reads its files once.

The function, which may carry parameters, is sent to the scheduler once, as a task of its own: a
worker that is lost takes nothing with it that cannot be computed again.
"""

import hashlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from pellucid.core.loops.statistics import (
    Node,
    Source,
    Span,
    Statistic,
    merge_nodes,
    push,
    summarise_span,
)
from pellucid.core.runtime.threads import single_threaded_blas

RETRIES = 3  # of a task that fails; a lost worker's tasks run elsewhere without being asked
RUNS_PER_THREAD = 4  # shorter runs balance better, longer ones send less
FAN_IN = 8  # results that one task merges
SMALL_SPAN = 1 << 16  # bytes of a span that names its rows; a larger one carries them
Client: TypeAlias = Any  # dask.distributed.Client: Dask is optional
Future: TypeAlias = Any  # dask.distributed.Future
Part: TypeAlias = Any  # a leaf, or what one is made of


class Dask:
    """Sum and map on the workers of a ``dask.distributed.Client``; results come in order.

    The tasks of a map that ends early (an error, Ctrl-C, a closed iterator) are cancelled; those
    already running finish, and their results are dropped.

    Parameters
    ----------
    client : dask.distributed.Client, default=None
        None is the current client at the time of the map.
    keep : float, default=0.4
        The share of a worker's memory in which blocks may stay decoded until the fit ends.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from pellucid.backends import Dask
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     list(Dask(client).map(abs, [-2, 3]))
    [2, 3]
    """

    def __init__(self, client: Client = None, *, keep: float = 0.4) -> None:
        distributed = _import_distributed()
        if client is not None and not isinstance(client, distributed.Client):
            raise TypeError(
                f"Dask needs a dask.distributed.Client or None, got {client!r}; "
                "to reach a scheduler: Dask(Client('tcp://host:port'))"
            )
        if client is not None and client.asynchronous:
            raise ValueError("Dask needs a synchronous client, got Client(asynchronous=True)")
        if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 <= keep < 1:
            raise ValueError(f"keep must be a share of memory, 0 <= keep < 1, got {keep!r}")
        self.client = client
        self.keep = float(keep)
        self._sources: dict[str, Any] = {}

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to every item on the cluster; results in order."""
        return _ordered_results(self.client or _current_client(), function, list(items))

    def reduce_rows(self, statistic: Statistic, source: Source) -> Any:
        """Sum the rows of ``source`` on the workers, merged there along the fixed tree."""
        client = self.client or _current_client()
        spans = source.spans()
        if not spans:
            return merge_nodes([], statistic.merge)  # its sentence
        runs = _runs(len(spans), _threads(client))
        if len(_dumps(spans[0])) > SMALL_SPAN:  # the rows themselves travel, each to one worker
            items: list[Any] = [Carried(spans[run.start : run.stop]) for run in runs]
            shared: Any = None
        else:
            shared, token = self._shared_source(client, source)
            items = [Named(token, self.keep, run.start, run.stop) for run in runs]
        return _merged(client, statistic, shared, items)

    def forget(self) -> None:
        """Give back the memory in which the workers keep blocks; ``fit_blocks`` ends with it."""
        if not self._sources:
            return
        self._sources.clear()
        client = self.client or _current_client()
        if client.status == "running":
            client.run(forget_blocks, on_error="ignore")

    def _shared_source(self, client: Client, source: Source) -> tuple[Any, str]:
        """The source as a task of its own; the passes of a fit share one."""
        token = hashlib.sha256(data := _dumps(source)).hexdigest()
        future = self._sources.get(token)
        if future is None or future.client is not client or future.status in ("lost", "cancelled"):
            future = client.submit(_same, _Sealed(data), pure=False, retries=RETRIES)
            self._sources[token] = future
        return future, token

    def __repr__(self) -> str:
        return f"Dask(client={self.client!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"client": self.client, "keep": self.keep, "_sources": {}}


class _Sealed:
    """Hides its content from Dask, which would look for tasks inside tuples."""

    def __init__(self, content: object) -> None:
        self.content: Any = content


class Carried(NamedTuple):
    """A run of spans that carry their rows."""

    spans: Sequence[Any]

    def summarise(self, statistic: Statistic, source: bytes | None) -> list[Node]:
        """The nodes of the tree that the run fills."""
        return _join((summarise_span(statistic, span) for span in self.spans), statistic.merge)


class Named(NamedTuple):
    """A run of the spans of a source that every worker has."""

    token: str
    keep: float
    start: int
    stop: int

    def summarise(self, statistic: Statistic, source: bytes) -> list[Node]:
        """The nodes of the tree that the run fills; the blocks stay decoded if there is room."""
        spans = kept.spans(self.token, source)[self.start : self.stop]
        room = self.keep * memory_limit()
        held = (kept.span(self.token, span, room) for span in spans)
        return _join((summarise_span(statistic, span) for span in held), statistic.merge)


class KeptSpan(NamedTuple):
    """A span whose leaves are in memory."""

    start: int
    held: list[Any]

    def leaves(self) -> Iterator[Any]:
        return iter(self.held)


class KeepingSpan(NamedTuple):
    """A span that is read now; its leaves stay in memory if they fit."""

    token: str
    span: Span
    room: float

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Any]:
        held: list[Any] | None = []
        for leaf in self.span.leaves():
            if held is not None and kept.fits(size := leaf_bytes(leaf), self.room):
                kept.take(size)
                held.append(leaf)
            elif held is not None:  # no room: what was held of this span is let go
                kept.take(-sum(map(leaf_bytes, held)))
                held = None
            yield leaf
        if held is not None:
            kept.add(self.token, self.start, held)


class KeptBlocks:
    """Decoded blocks of this process, by source and first row; the first to come stay."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        with self.lock:
            self.sources: dict[str, Sequence[Any]] = {}
            self.blocks: dict[tuple[str, int], list[Any]] = {}
            self.bytes = 0
            self.reads = 0
            self.hits = 0

    def spans(self, token: str, source: bytes) -> Sequence[Any]:
        with self.lock:
            if token not in self.sources:
                from distributed.protocol.pickle import loads

                self.sources[token] = loads(source).spans()
            return self.sources[token]

    def span(self, token: str, span: Span, room: float) -> Any:
        with self.lock:
            held = self.blocks.get((token, span.start))
            self.hits += held is not None
            self.reads += held is None
        return KeepingSpan(token, span, room) if held is None else KeptSpan(span.start, held)

    def fits(self, size: int, room: float) -> bool:
        return self.bytes + size <= room

    def take(self, size: int) -> None:
        with self.lock:
            self.bytes += size

    def add(self, token: str, start: int, held: list[Any]) -> None:
        with self.lock:
            if (token, start) in self.blocks:  # two threads read it at the same time
                self.bytes -= sum(map(leaf_bytes, held))
            self.blocks.setdefault((token, start), held)


kept = KeptBlocks()


def forget_blocks() -> None:
    """Let go of all blocks kept in this process."""
    kept.clear()


def kept_counts() -> tuple[int, int, int]:
    """Of this process: blocks read, blocks found in memory, bytes kept."""
    return kept.reads, kept.hits, kept.bytes


def leaf_bytes(leaf: Part) -> int:
    """The memory of a leaf, or of a tuple with one; equal weights take none."""
    if isinstance(leaf, tuple):
        return sum(map(leaf_bytes, leaf))
    if hasattr(leaf, "estimated_size"):  # a Polars frame
        return int(leaf.estimated_size())
    return getattr(leaf, "nbytes", 0) if any(getattr(leaf, "strides", ())) else 0


def memory_limit() -> float:
    """The bytes that this worker may use; without a limit, all of the machine's."""
    from distributed import get_worker
    from distributed.system import MEMORY_LIMIT

    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):
        limit = None
    return float(limit or MEMORY_LIMIT)


def _join(parts: Iterable[list[Node]], merge: Callable[[Any, Any], Any]) -> list[Node]:
    """Nodes from left to right, merged wherever two siblings meet."""
    stack: list[Node] = []
    with single_threaded_blas():
        for part in parts:
            for node in part:
                push(stack, node, merge)
    return stack


def _same(sealed: _Sealed) -> _Sealed:
    return sealed


def _call(function: _Sealed, item: _Sealed) -> Any:
    return function.content(item.content)


def _summarise(statistic: _Sealed, source: _Sealed | None, item: _Sealed) -> list[Node]:
    return item.content.summarise(statistic.content, None if source is None else source.content)


def _merge_some(statistic: _Sealed, *parts: list[Node]) -> list[Node]:
    return _join(parts, statistic.content.merge)


def _root(statistic: _Sealed, *parts: list[Node]) -> Any:
    with single_threaded_blas():
        return merge_nodes(itertools.chain(*parts), statistic.content.merge)


def _merged(client: Client, statistic: Statistic, source: Future, items: Sequence[Any]) -> Any:
    """Summarise every item and merge on the workers; only the root comes here."""
    often = {"pure": False, "retries": RETRIES}
    shared = client.submit(_same, _Sealed(statistic), **often)
    homes = sorted(client.scheduler_info(n_workers=-1)["workers"])
    futures = []
    for i, item in enumerate(items):  # in every pass a run goes to the worker that kept its blocks
        home = homes[i * len(homes) // len(items)] if homes else None
        where = {"workers": [home], "allow_other_workers": True} if home else {}
        futures.append(client.submit(_summarise, shared, source, _Sealed(item), **often, **where))
    leaves = list(futures)
    everything = [shared, *futures]
    try:
        while len(futures) > FAN_IN:
            groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
            futures = [client.submit(_merge_some, shared, *group, **often) for group in groups]
            everything += futures
        root = client.submit(_root, shared, *futures, **often)
        everything.append(root)
        return root.result()
    except Exception:
        for leaf in leaves:  # the error of the first rows, whichever came first
            leaf.result()
        raise
    finally:
        if any(not future.done() for future in everything) and client.status == "running":
            client.cancel(everything, force=True)


def _runs(n_spans: int, threads: int) -> list[range]:
    """Runs of about the same number of spans, a few per thread.

    >>> _runs(5, 1)
    [range(0, 1), range(1, 2), range(2, 3), range(3, 5)]
    """
    n = max(1, min(n_spans, RUNS_PER_THREAD * max(threads, 1)))
    ends = [i * n_spans // n for i in range(n + 1)]
    return [range(a, b) for a, b in itertools.pairwise(ends)]


def _threads(client: Client) -> int:
    return sum(client.nthreads().values())


def _dumps(value: object) -> bytes:
    """As Dask itself sends it."""
    from distributed.protocol.pickle import dumps

    return dumps(value)


def _ordered_results(
    client: Client, function: Callable[[Any], Any], items: list[Any]
) -> Iterator[Any]:
    """Keep a few tasks per thread in flight, yield results in order, forget each as it leaves."""
    shared = client.submit(_same, _Sealed(function), pure=False, retries=RETRIES)
    width = 2 * RUNS_PER_THREAD * max(_threads(client), 1)
    waiting: deque[Any] = deque()
    rest = iter(enumerate(items))

    def submit(number: int) -> None:
        for i, item in itertools.islice(rest, number):
            waiting.append(
                client.submit(
                    _call, shared, _Sealed(item), pure=False, retries=RETRIES, priority=-i
                )  # the first results are asked for first
            )

    submit(width)
    try:
        while waiting:
            result = waiting[0].result()
            waiting.popleft().release()
            submit(1)
            yield result
    finally:
        if waiting and client.status == "running":
            client.cancel([*waiting, shared], force=True)


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError('Dask is needed for this: pip install "pellucid[dask]"') from None
    return distributed


def _current_client() -> Any:
    try:
        return _import_distributed().Client.current()
    except ValueError:
        raise ValueError(
            "Dask() found no client: start one with dask.distributed.Client(...) "
            "or give Dask(client)"
        ) from None
