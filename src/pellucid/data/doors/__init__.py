"""Tables that other engines hold: each becomes a table that is read by row range.

Read ``parts`` first: a table whose parts (partitions, row groups) are decoded one at a time.
``arrow_sources`` opens datasets, readers and whatever streams Arrow, ``dask_collections`` frames
and arrays of Dask, ``lazy_plans`` Polars' lazy frames, ``folders`` folders with Hive's columns,
``addresses`` files elsewhere (``s3://``, ``memory://``), ``lakes`` Delta and Iceberg.
"""
