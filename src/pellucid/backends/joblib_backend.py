"""Map through joblib: processes on this machine, or whatever ``parallel_config`` says."""

from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any


class Joblib:
    """Map with ``joblib.Parallel``; results come in order, each as soon as it can.

    Parameters
    ----------
    n_jobs : int, default=None
        Workers at a time; None is what ``joblib.parallel_config`` says, or 1; -1 is every core.

    Examples
    --------
    >>> import joblib
    >>> from pellucid.backends import Joblib
    >>> with joblib.parallel_config("threading", n_jobs=2):
    ...     list(Joblib().map(abs, [-2, 3]))
    [2, 3]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
        if n_jobs is not None and not (whole and n_jobs != 0):
            raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
        self.n_jobs = n_jobs

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to every item with joblib; results in order."""
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
        return parallel(delayed(function)(item) for item in items)

    def __repr__(self) -> str:
        return f"Joblib(n_jobs={self.n_jobs!r})"
