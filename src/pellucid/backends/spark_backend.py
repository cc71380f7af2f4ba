"""Map on a Spark cluster, through ``mapInArrow``."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Spark:
    """Map on the executors of a Spark session; results come in order, a partition at a time.

    The executors need pellucid and the files under the same paths. Items and results travel as
    bytes in Arrow batches.

    Parameters
    ----------
    session : pyspark.sql.SparkSession, default=None
        None is the active session, or a new one.

    Examples
    --------
    >>> from pellucid.backends import Spark
    >>> list(Spark().map(abs, [-2, 3]))  # doctest: +SKIP
    [2, 3]
    """

    def __init__(self, session: Any = None) -> None:
        sql = _import_sql()
        if session is not None and not hasattr(session, "createDataFrame"):
            raise TypeError(f"Spark needs a SparkSession or None, got {session!r}")
        self.session = session or sql.SparkSession.builder.getOrCreate()

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to every item on the cluster; results in order."""
        dumps = _serializer().dumps
        sent = [(i, dumps(item)) for i, item in enumerate(items)]
        return self._results(dumps(function), sent)

    def _results(self, function: bytes, sent: list[tuple[int, bytes]]) -> Iterator[Any]:
        if not sent:
            return
        table = self.session.createDataFrame(sent, "place long, item binary")
        table = table.repartitionByRange(len(sent), "place")
        done = table.mapInArrow(_Apply(function), "place long, item binary")
        for row in done.toLocalIterator(prefetchPartitions=True):
            found, failed = _serializer().loads(bytes(row["item"]))  # our own executors wrote it
            if failed:
                raise found
            yield found

    def __repr__(self) -> str:
        return "Spark()"


class _Apply:
    """The work of an executor: every item of its batches."""

    def __init__(self, function: bytes) -> None:
        self.function = function

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        own = _serializer()
        function = own.loads(self.function)
        for batch in batches:
            items = [own.loads(item) for item in batch.column(1).to_pylist()]
            values = [own.dumps(_outcome(function, item)) for item in items]
            yield pyarrow.RecordBatch.from_arrays(
                [batch.column(0), pyarrow.array(values, pyarrow.binary())], ["place", "item"]
            )


def _outcome(function: Callable[[Any], Any], item: Any) -> tuple[Any, bool]:
    """The value, or the error as it is: Spark would make a text of it."""
    try:
        return function(item), False
    except (ValueError, TypeError, ArithmeticError, LookupError, OSError) as error:
        return error, True


def _serializer() -> Any:
    """What Spark itself sends functions and rows with."""
    from pyspark.serializers import CloudPickleSerializer

    return CloudPickleSerializer()


def _import_sql() -> Any:
    try:
        from pyspark import sql
    except ImportError:
        raise ImportError('Spark is needed for this: pip install "pellucid[spark]"') from None
    return sql
