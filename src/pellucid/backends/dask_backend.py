"""Map on a Dask cluster.

Items travel as they are: the spans of ``pellucid.data.blocks`` name a file and a range of rows,
so a worker reads its block itself and only summaries come back. The function, which may carry
parameters, is sent to the scheduler once, as a task of its own: a worker that is lost takes
nothing with it that cannot be computed again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

RETRIES = 3  # of a task that fails; a lost worker's tasks run elsewhere without being asked


class Dask:
    """Map on the workers of a ``dask.distributed.Client``; results come in order.

    The tasks of a map that ends early (an error, Ctrl-C, a closed iterator) are cancelled; those
    already running finish, and their results are dropped.

    Parameters
    ----------
    client : dask.distributed.Client, default=None
        None is the current client at the time of the map.

    Examples
    --------
    >>> from dask.distributed import Client
    >>> from pellucid.backends import Dask
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     list(Dask(client).map(abs, [-2, 3]))
    [2, 3]
    """

    def __init__(self, client: Any = None) -> None:
        distributed = _import_distributed()
        if client is not None and not isinstance(client, distributed.Client):
            raise TypeError(
                f"Dask needs a dask.distributed.Client or None, got {client!r}; "
                "to reach a scheduler: Dask(Client('tcp://host:port'))"
            )
        if client is not None and client.asynchronous:
            raise ValueError("Dask needs a synchronous client, got Client(asynchronous=True)")
        self.client = client

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to every item on the cluster; results in order."""
        return _ordered_results(self.client or _current_client(), function, list(items))

    def __repr__(self) -> str:
        return f"Dask(client={self.client!r})"


class _Sealed:
    """Hides its content from Dask, which would look for tasks inside tuples."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _same(sealed: _Sealed) -> _Sealed:
    return sealed


def _call(function: _Sealed, item: _Sealed) -> Any:
    return function.content(item.content)


def _ordered_results(
    client: Any, function: Callable[[Any], Any], items: list[Any]
) -> Iterator[Any]:
    """Submit everything, yield results in order, forget each as it leaves."""
    shared = client.submit(_same, _Sealed(function), pure=False, retries=RETRIES)
    waiting = deque(
        client.submit(_call, shared, _Sealed(item), pure=False, retries=RETRIES, priority=-i)
        for i, item in enumerate(items)  # the first results are asked for first
    )
    try:
        while waiting:
            result = waiting[0].result()
            waiting.popleft().release()
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
