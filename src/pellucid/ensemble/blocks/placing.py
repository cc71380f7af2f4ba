"""Where the state of each shard is: with a Dask cluster, the worker that made it.

Any backend can ``map``; results are then joined here. On Dask a task goes to the worker that has
held its shard before, another one may take it when that is lost, and results are joined on the
workers, a few at a time: one sum comes back, whatever the number of shards.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Protocol

from pellucid.backends.dask_backend import Dask
from pellucid.core.arrays.typing import Map
from pellucid.core.runtime.threads import map_threads, thread_count

RETRIES = 3  # of a task that fails; those of a lost worker run elsewhere without being asked
FAN_IN = 8  # results that one task joins
MAPPED = 2  # shards at the same time on a backend that does not tell how wide it is


class Placed(Protocol):
    """A map that joins its results."""

    def reduce(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        join: Callable[[Any, Any], Any],
        numbers: Sequence[int],
    ) -> Any:
        """``join`` of ``function`` of all items; item k belongs to shard ``numbers[k]``."""
        ...

    def each_home(self, function: Callable[[Any], Any]) -> None:
        """Call ``function(None)`` in every process that holds states, as far as these are known."""
        ...


class Mapped:
    """A backend that can only map."""

    def __init__(self, map_: Map) -> None:
        self.map_ = map_

    def reduce(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        join: Callable[[Any, Any], Any],
        numbers: Sequence[int],
    ) -> Any:
        """Map, and join here as the results come."""
        return reduce(join, self.map_(function, items))

    def each_home(self, function: Callable[[Any], Any]) -> None:
        """This process."""
        function(None)


class Sealed:
    """Hides its content from Dask, which would look for tasks inside tuples."""

    def __init__(self, content: object) -> None:
        self.content: Any = content


def same(sealed: Sealed) -> Sealed:
    """A task of its own for what all others share."""
    return sealed


def call(function: Sealed, item: Sealed) -> tuple[Any, Any]:
    """The result, and the worker that has it."""
    from distributed import get_worker

    return function.content(item.content), {item.content[0]: get_worker().address}


def join_some(join: Sealed, *results: tuple[Any, Any]) -> tuple[Any, Any]:
    """The results of some tasks as one."""
    homes = reduce(lambda a, b: a | b, (home for _, home in results))
    return reduce(join.content, (value for value, _ in results)), homes


class OnDask:
    """The workers of a client; ``homes`` says which of them had each shard last."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.homes: dict[int, str] = {}

    def reduce(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        join: Callable[[Any, Any], Any],
        numbers: Sequence[int],
    ) -> Any:
        """Submit each item to the home of its shard; one joined result comes back."""
        submit: Callable[..., Any] = self.client.submit
        often = {"pure": False, "retries": RETRIES}
        shared = submit(same, Sealed(function), **often)
        joiner = submit(same, Sealed(join), **often)
        futures = []
        for number, item in zip(numbers, items, strict=True):
            home = self.homes.get(number)
            where = {} if home is None else {"workers": [home], "allow_other_workers": True}
            futures.append(submit(call, shared, Sealed(item), **often, **where))
        everything = [shared, joiner, *futures]
        try:
            while len(futures) > 1:
                groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
                futures = [submit(join_some, joiner, *group, **often) for group in groups]
                everything += futures
            value, homes = futures[0].result()
        except BaseException:
            if self.client.status == "running":
                self.client.cancel(everything, force=True)
            raise
        self.homes |= homes
        return value

    def each_home(self, function: Callable[[Any], Any]) -> None:
        """Every worker that is still there."""
        alive = set(self.client.scheduler_info(n_workers=-1)["workers"])
        homes = sorted(set(self.homes.values()) & alive)
        if homes:
            self.client.run(function, None, workers=homes)


def cluster_of(map_: Map) -> Any:
    """The Dask client behind a backend's ``map``, or None."""
    backend: Any = getattr(map_, "__self__", None)
    if not isinstance(backend, Dask):
        return None
    from distributed import Client

    return backend.client or Client.current()


def find_place(map_: Map) -> Placed:
    """The best that a backend's ``map`` allows."""
    client = cluster_of(map_)
    return Mapped(map_) if client is None else OnDask(client)


def width_of(map_: Map) -> int:
    """About how many shards are worked on at the same time."""
    client = cluster_of(map_)
    if client is not None:
        return max(1, sum(client.nthreads().values()))
    return thread_count() if map_ is map_threads else MAPPED
