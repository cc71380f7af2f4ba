"""Map on a Ray cluster."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

FLIGHT = 4  # tasks in flight for every processor of the cluster


class Ray:
    """Map on the workers of Ray; results come in order, a few tasks per processor in flight.

    ``ray.init`` is called with its defaults unless it has been; give it the address of a cluster
    before. The function and its parameters are stored once.

    Examples
    --------
    >>> from pellucid.backends import Ray
    >>> list(Ray().map(abs, [-2, 3]))  # doctest: +SKIP
    [2, 3]
    """

    def __init__(self) -> None:
        self.ray = _import_ray()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to every item on the cluster; results in order."""
        ray = self.ray
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        return self._results(ray.put(function), list(items))

    def _results(self, function: Any, items: list[Any]) -> Iterator[Any]:
        ray, rest = self.ray, iter(items)
        call = ray.remote(_call)
        width = FLIGHT * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting: deque[Any] = deque()
        try:
            while True:
                while len(waiting) < width and (item := next(rest, _END)) is not _END:
                    waiting.append(call.remote(function, item))
                if not waiting:
                    return
                try:
                    result = ray.get(waiting[0])
                except ray.exceptions.RayTaskError as error:
                    raise error.cause if error.cause is not None else error from None
                waiting.popleft()
                yield result
        finally:
            for task in waiting:
                ray.cancel(task)

    def __repr__(self) -> str:
        return "Ray()"


_END = object()


def _call(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ImportError('Ray is needed for this: pip install "pellucid[ray]"') from None
    return ray
