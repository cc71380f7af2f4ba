"""Tables that are not in memory: named, so that nothing computes them in silence."""

STREAMS = {
    "polars": ("LazyFrame",),
    "narwhals": ("LazyFrame",),
    "duckdb": ("DuckDBPyRelation",),
    "_duckdb": ("DuckDBPyRelation",),
    "pyarrow": ("RecordBatchReader", "Scanner", "Dataset", "FileSystemDataset",
                "InMemoryDataset", "UnionDataset"),
    "pyspark": ("DataFrame",),
    "ibis": ("Table",),
    "deltalake": ("DeltaTable",),
    "pyiceberg": ("Table", "StaticTable", "DataScan"),
}  # fmt: skip


def lazy_name(X: object) -> str | None:
    """What a table outside memory is called, None for anything else.

    >>> import polars
    >>> lazy_name(polars.LazyFrame({"a": [1]})), lazy_name([[1.0]])
    ('a LazyFrame of polars', None)
    """
    kind = type(X)
    library = kind.__module__.partition(".")[0]
    if library in ("dask", "dask_expr") and hasattr(X, "__dask_graph__"):
        return f"a {kind.__name__} of dask"
    if kind.__name__ in STREAMS.get(library, ()):
        return f"a {kind.__name__} of {library.lstrip('_')}"
    return None


def refuse_lazy(X: object, what: str = "X") -> None:
    """Raise if ``X`` is not in memory: reading it whole is not for a fit to decide."""
    if (name := lazy_name(X)) is not None:
        raise TypeError(
            f"{what} is {name}, which is not in memory; nothing is read whole in silence: use "
            "fit_blocks (predict_blocks, transform_blocks) with pellucid.data.blocks(table, "
            "target='column'), or pellucid.data.load(table) for a frame in memory"
        )
